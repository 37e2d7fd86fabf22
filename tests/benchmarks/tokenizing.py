"""Pairs of real sentences to stored features.

`datasets.map` with the tokenizer, as run_glue calls it, and heron's `text_features` with its store;
then both find what they have stored. Each way is a process of its own; token ids are compared.
"""

from __future__ import annotations

import hashlib
import json
import random
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from heron.base.errors import HeronError
from heron.config.constraints import Count

from .apart import apart, needed
from .frame import Found, Out, Times, beside
from .words import read_sentences

MOST = 128  # tokens of a pair: run_glue's default
LIMITS = {"tokenize and store": "≥ 3", "open what is stored": "≥ 50"}


@dataclass
class Options(Out):
    """Options of the benchmark."""

    pairs: Count = 60_000  # each of two different sentences drawn at random
    rounds: Count = 3


def with_datasets(encoder: str, made: str) -> tuple[dict[str, float], str]:
    """Measure `map`, and how long its result takes to open."""
    import datasets
    from transformers import AutoTokenizer

    began = time.process_time()
    datasets.disable_progress_bars()
    tokenizer = AutoTokenizer.from_pretrained(encoder)
    file, cache = {"train": f"{made}/pairs.jsonl"}, f"{made}/datasets"
    rows = datasets.load_dataset("json", data_files=file, cache_dir=cache)["train"]
    loaded = time.process_time()
    own = {"truncation": "longest_first", "max_length": MOST}
    rows = rows.map(lambda r: tokenizer(r["premise"], r["hypothesis"], **own), batched=True)
    opened = time.process_time()
    return dict(zip(LIMITS, (opened - loaded, opened - began), strict=True)), digest(
        row["input_ids"] for row in rows
    )


def with_heron(encoder: str, made: str) -> tuple[dict[str, float], str]:
    """Measure tokenizing and storing, or, where that is done, opening."""
    from transformers import AutoTokenizer

    from heron.data.examples import Example
    from heron.data.features import FeatureOptions, load_features
    from heron.tasks.text_features import text_features

    tokenizer, given = AutoTokenizer.from_pretrained(encoder), Path(made, "pairs.jsonl")
    options = FeatureOptions("pair", MOST, (), truncation="longest_first")
    rows = map(json.loads, given.read_text("utf-8").splitlines())
    examples = [Example(r["guid"], r["premise"], r["hypothesis"], (), None) for r in rows]
    began = time.process_time()
    found = load_features(Path(made), "pairs", lambda: text_features(examples, tokenizer, options))
    opened = time.process_time() - began
    ids = (found.tokens_T[a:b].tolist() for a, b in pairwise(found.offsets_S.tolist()))
    return dict.fromkeys(LIMITS, opened), digest(ids)


def digest(ids: Iterator[list[int]]) -> str:
    """Put token ids in one short text."""
    found = hashlib.sha256()
    for each in ids:
        found.update(repr(list(each)).encode())
    return found.hexdigest()


RIVAL = "datasets.map"
WAYS = {RIVAL: with_datasets, "heron": with_heron}


def run(options: Options) -> Found:
    """Measure both ways in every round, each first without and then with what it has stored.

    Raises:
        HeronError: there are no sentences, or the token ids differ.
    """
    encoder, data = needed(HERON_ENCODER="config.json", HERON_DATA="")
    if len(known := read_sentences(data)) < 2:
        raise HeronError(f"{data} has no sentences")
    times: dict[str, Times] = {part: {way: [] for way in WAYS} for part in LIMITS}
    for _ in range(options.rounds):
        with tempfile.TemporaryDirectory() as made:
            draw, digests = random.Random(0), set()
            with Path(made, "pairs.jsonl").open("w", encoding="utf-8") as file:
                for number in range(options.pairs):
                    row = dict(zip(("premise", "hypothesis"), draw.sample(known, 2), strict=True))
                    print(json.dumps({"guid": str(number), **row}), file=file)
            for way, work in WAYS.items():
                (first, ids), (again, same) = (apart(work, encoder, made) for _ in range(2))
                for part in LIMITS:
                    times[part][way].append((again if part.startswith("open") else first)[part])
                digests |= {ids, same}
            if len(digests) > 1:
                raise HeronError("the token ids differ")
    pairs = f"{options.pairs:,} pairs of {len(known):,} sentences"
    rows = [(f"{part}: {pairs}", times[part], limit) for part, limit in LIMITS.items()]
    return Found([row for w, t, own in rows for row in beside(w, t, RIVAL, {"heron": own})])
