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
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any

from heron.base.errors import HeronError
from heron.config.constraints import Count, OneOf

from .frame import Found, Times, find, main, measure_apart, set_beside

MOST = 128  # tokens of a pair: run_glue's default
_END = re.compile(r"(?<=[.!?])\s+|\n")


@dataclass
class Options:
    """Options of the benchmark."""

    encoder: Path | None = None  # folder with a tokenizer; default `HERON_ENCODER`
    data: Path | None = None  # its JSON and CoNLL-U files have the sentences; default `HERON_DATA`
    pairs: Count = 60_000  # each of two different sentences drawn at random
    rounds: Count = 3
    out: Path = Path("runs/benchmark_tokenizing.json")
    way: Annotated[str, OneOf(*WAYS)] | None = None  # measure this one in this process, in `made`
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
        if path.suffix in (".json", ".jsonl"):
            text = path.read_text("utf-8")
            try:
                values = [json.loads(text)]
            except ValueError:  # JSON lines, whatever the name
                values = [json.loads(line) for line in text.splitlines()]
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


Measured = tuple[dict[str, float], Any]  # processor seconds of `PARTS`, and token ids


def with_datasets(encoder: Path, made: Path) -> Measured:
    """Measure `map`, and how long its result takes to open."""
    from transformers import AutoTokenizer

    started = time.process_time()
    import datasets

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
    spent = {"tokenize": opened - loaded, "open": opened - began, "import": opened - started}
    return spent, (row["input_ids"] for row in rows)


def with_heron(encoder: Path, made: Path) -> Measured:
    """Measure tokenizing and storing, or, where that is done, opening."""
    from transformers import AutoTokenizer

    started = time.process_time()
    from heron.data.examples import Example
    from heron.data.features import FeatureOptions, load_features
    from heron.tasks.text_features import text_features

    imports = time.process_time() - started
    tokenizer = AutoTokenizer.from_pretrained(encoder)
    options = FeatureOptions("pair", MOST, (), truncation="longest_first")
    with (made / "pairs.jsonl").open(encoding="utf-8") as file:
        rows = map(json.loads, file)
        examples = [Example(r["guid"], r["premise"], r["hypothesis"], (), None) for r in rows]
    began = time.process_time()
    features = load_features(
        made / "heron", "pairs", lambda: text_features(examples, tokenizer, options)
    )
    opened = time.process_time() - began
    ends = features.offsets_S.tolist()
    ids = (features.tokens_T[a:b].tolist() for a, b in pairwise(ends))
    return {"tokenize": opened, "open": opened, "import": opened + imports}, ids


WAYS = {"datasets": with_datasets, "heron": with_heron}
PARTS = {
    "tokenize": "tokenize and store",
    "open": "open what is stored",
    "import": "the same, with its imports",
}


def measure_here(way: str, encoder: Path, made: Path) -> dict[str, Any]:
    """Measure one way in this process."""
    spent, ids = WAYS[way](encoder, made)
    digest = hashlib.sha256()
    for each in ids:
        digest.update(repr(list(each)).encode())
    return {**spent, "ids": digest.hexdigest()}


def measure(options: Options, encoder: Path, data: Path) -> tuple[dict[str, Times], int]:
    """Measure both ways in every round, each first without and then with what it has stored."""
    known = sentences(data)
    if len(known) < 2:
        raise HeronError(f"{data} has no sentences")
    times: dict[str, Times] = {part: {way: [] for way in WAYS} for part in PARTS}
    for _ in range(options.rounds):
        with tempfile.TemporaryDirectory() as made:
            write_pairs(Path(made) / "pairs.jsonl", known, options.pairs)
            digests = set()
            for way in WAYS:
                words = (f"way={way}", f"made={made}", f"encoder={encoder}")
                first, again = (
                    measure_apart("tests.benchmarks.tokenizing", *words) for _ in range(2)
                )
                for part in PARTS:
                    times[part][way].append((first if part == "tokenize" else again)[part])
                digests |= {first["ids"], again["ids"]}
            if len(digests) > 1:
                raise HeronError("the token ids differ")
    return times, len(known)


def run(options: Options) -> Found:
    """Measure both ways, or one of them in this process."""
    if options.way and options.made:
        (encoder,) = find(options, encoder="config.json")
        return Found(lines=[json.dumps(measure_here(options.way, encoder, options.made))])
    encoder, data = find(options, encoder="config.json", data="")
    times, count = measure(options, encoder, data)
    cases = {PARTS[part]: spent for part, spent in times.items()}
    bars = {"tokenize and store": {"heron": 3.0}, "open what is stored": {"heron": 50.0}}
    title = f"{options.pairs:,} pairs of {count:,} sentences"
    return set_beside(title, cases, "datasets", bars=bars)


if __name__ == "__main__":
    raise SystemExit(main(Options, run))
