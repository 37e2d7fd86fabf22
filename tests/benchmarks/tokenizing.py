"""`python -m tests.benchmarks.tokenizing`: pairs of sentences to stored features.

60,000 pairs of real sentences: `datasets.map` with the tokenizer, as run_glue calls it, and heron's
`text_features` with its store; then both find what they have stored. Each way is a process of its
own; the token ids are compared. See README.md.
"""

from __future__ import annotations

import hashlib
import json
import random
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

from rich.console import Console
from rich.table import Table

from heron.base.errors import HeronError
from heron.base.files import read_json, write_json
from heron.config.options import parse_options

from .processes import ROOT, environment, folder, missing_encoder, wide_console

MOST = 128  # tokens of a pair: run_glue's default
_END = re.compile(r"(?<=[.!?])\s+|\n")


@dataclass
class Options:
    """Options of the benchmark.

    Args:
        encoder: folder with a tokenizer; `HERON_ENCODER` where absent.
        data: folder whose JSON and CoNLL-U files have the sentences; `HERON_DATA` where absent.
        pairs: how many, each of two different sentences drawn at random.
        rounds: every way is timed so often; ratios are taken within a round.
        out: JSON file with every measurement.
        way: measure this one in this process (`datasets` or `heron`), in the folder `made`.
        made: folder with `pairs.jsonl`.
    """

    encoder: Path | None = None
    data: Path | None = None
    pairs: int = 60_000
    rounds: int = 3
    out: Path = Path("runs/benchmark_tokenizing.json")
    way: str = ""
    made: Path | None = None


def sentences(data: Path) -> list[str]:
    """Collect the different sentences of 20 to 400 characters in the files below a folder."""

    def texts(value: Any) -> Iterator[str]:
        if isinstance(value, str):
            yield from _END.split(value)
        elif isinstance(value, (list, dict)):
            for part in value.values() if isinstance(value, dict) else value:
                yield from texts(part)

    found: set[str] = set()
    for path in sorted(data.rglob("*")):
        values: list[Any] = []
        if path.suffix == ".json":
            values = [read_json(path)]
        elif path.suffix == ".jsonl":
            values = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        elif path.suffix == ".conllu":
            lines = path.read_text("utf-8").splitlines()
            values = [line[9:] for line in lines if line.startswith("# text = ")]
        found.update(text for text in texts(values) if 20 <= len(text) <= 400)
    return sorted(found)


def write_pairs(path: Path, known: Sequence[str], count: int) -> None:
    """Draw pairs and write them as JSON lines."""
    draw = random.Random(0)
    with path.open("w", encoding="utf-8") as file:
        for number in range(count):
            premise, hypothesis = draw.sample(known, 2)
            row = {"guid": str(number), "premise": premise, "hypothesis": hypothesis}
            file.write(json.dumps(row, ensure_ascii=False) + "\n")


def with_datasets(encoder: Path, made: Path) -> tuple[float, float, Any]:
    """Return the processor seconds of `map`, those until its result is open, and token ids.

    Imports are not counted.
    """
    import datasets
    from transformers import AutoTokenizer

    began = time.process_time()
    datasets.disable_progress_bars()
    tokenizer = AutoTokenizer.from_pretrained(encoder)
    file, cache = {"train": str(made / "pairs.jsonl")}, str(made / "datasets")
    rows = datasets.load_dataset("json", data_files=file, cache_dir=cache)["train"]
    loaded = time.process_time()
    rows = rows.map(
        lambda row: tokenizer(
            row["premise"], row["hypothesis"], truncation="longest_first", max_length=MOST
        ),
        batched=True,
    )
    opened = time.process_time()
    return opened - loaded, opened - began, (row["input_ids"] for row in rows)


def with_heron(encoder: Path, made: Path) -> tuple[float, float, Any]:
    """Return the processor seconds of tokenizing and storing, of opening alone, and token ids."""
    from transformers import AutoTokenizer

    from heron.data.examples import Example
    from heron.data.features import FeatureOptions, load_features
    from heron.tasks.text_features import text_features

    tokenizer = AutoTokenizer.from_pretrained(encoder)
    options = FeatureOptions("pair", ("", "", "", ""), MOST, (), truncation="longest_first")
    with (made / "pairs.jsonl").open(encoding="utf-8") as file:
        rows = map(json.loads, file)
        examples = [Example(r["guid"], r["premise"], r["hypothesis"], (), None) for r in rows]
    began = time.process_time()
    load_features(made / "heron", "pairs", lambda: text_features(examples, tokenizer, options))
    stored = time.process_time()
    features = load_features(made / "heron", "pairs", lambda: text_features([], tokenizer, options))
    opened = time.process_time()
    ends = features.offsets_S.tolist()
    ids = (features.tokens_T[a:b].tolist() for a, b in pairwise(ends))
    return stored - began, opened - stored, ids


WAYS = {"datasets": with_datasets, "heron": with_heron}


def measure_here(way: str, encoder: Path, made: Path) -> dict[str, Any]:
    """Measure one way in this process."""
    spent, opened, ids = WAYS[way](encoder, made)
    digest = hashlib.sha256()
    for each in ids:
        digest.update(repr(list(each)).encode())
    return {"tokenize": spent, "open": opened, "ids": digest.hexdigest()}


def measure(
    options: Options, encoder: Path, data: Path
) -> tuple[dict[str, dict[str, list[float]]], int]:
    """Measure both ways in every round, each first without and then with what it has stored."""
    known = sentences(data)
    if len(known) < 2:
        raise HeronError(f"{data} has no sentences")
    times: dict[str, Any] = {part: {way: [] for way in WAYS} for part in ("tokenize", "open")}
    for _ in range(options.rounds):
        with tempfile.TemporaryDirectory() as made:
            write_pairs(Path(made) / "pairs.jsonl", known, options.pairs)
            digests = set()
            for way in WAYS:
                for part in times:
                    path = Path(made) / f"{way}-{part}.json"
                    words = [f"way={way}", f"made={made}", f"encoder={encoder}", f"out={path}"]
                    command = [sys.executable, "-m", "tests.benchmarks.tokenizing", *words]
                    subprocess.run(command, cwd=ROOT, env=environment(1), check=True)
                    found = read_json(path)
                    times[part][way].append(found[part])
                    digests.add(found["ids"])
            if len(digests) > 1:
                raise HeronError("the token ids differ")
    return times, len(known)


def run(arguments: Sequence[str], console: Console) -> int:
    """Measure, print the table, write the JSON file; returns the exit code."""
    options = parse_options(Options, arguments)
    encoder, data = folder(options.encoder, "HERON_ENCODER"), folder(options.data, "HERON_DATA")
    if options.way and options.made and encoder:
        write_json(options.out, measure_here(options.way, encoder, options.made))
        return 0
    absent = missing_encoder(encoder)
    if data is None or not data.is_dir():
        absent.append(f"no texts ({data}): set HERON_DATA or data= to a folder of data sets")
    if absent or encoder is None or data is None:
        console.print("benchmark skipped:", *absent, sep="\n  ", markup=False, soft_wrap=True)
        return 0
    times, count = measure(options, encoder, data)
    title = f"{options.pairs:,} pairs of {count:,} sentences: processor seconds of one thread"
    table = Table("", "datasets", "heron", "times", title=title)
    for part, name in (("tokenize", "tokenize and store"), ("open", "open what is stored")):
        spent = list(times[part].values())
        ratio = median(a / b for a, b in zip(*spent, strict=True))
        table.add_row(name, *(f"{median(each):.3f}" for each in spent), f"{ratio:.1f}")
    console.print(table)
    write_json(options.out, {"seconds": times, "pairs": options.pairs, "sentences": count})
    return 0


if __name__ == "__main__":
    try:
        sys.exit(run(sys.argv[1:], wide_console()))
    except HeronError as error:
        sys.exit(f"benchmark: {error}")
