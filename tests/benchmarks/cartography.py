"""`python -m tests.benchmarks.cartography`: from dynamics on disk to every statistic.

The same synthetic dynamics twice: as heron writes and reads them, and as existing tools do, one
JSON line per example and epoch, statistics one example at a time. See README.md here.

Shape suffixes: E records, N examples, C classes.
"""

from __future__ import annotations

import itertools
import json
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from heron.base.errors import HeronError
from heron.config.constraints import Count
from heron.dynamics.cartography import NEVER_LEARNT, Statistics, statistics
from heron.dynamics.files import (
    Meta,
    dynamics_table,
    export_jsonl,
    judge,
    read_dynamics,
    write_dynamics,
)

from .frame import Found, main, set_beside, time_rounds

CLASSES = 3
LINES, HERON = "line by line", "heron"


@dataclass
class Options:
    """Options of the benchmark."""

    examples: Count = 550_000  # of heron's way
    lines: Count = 55_000  # of the other one; its seconds are scaled, each example costs the same
    records: Count = 6  # epochs
    rounds: Count = 3
    out: Path = Path("runs/benchmark_dynamics.json")


def run(options: Options) -> Found:
    """Write, read and compute in both ways."""
    lines = min(options.lines, options.examples)
    tables = generate(options.examples, options.records)
    part = [table.slice(0, lines) for table in tables]
    with tempfile.TemporaryDirectory() as made:
        whole, some = Path(made) / "run" / "dynamics", Path(made) / "part" / "dynamics"
        write(part, some)
        writing = {
            LINES: lambda: export_jsonl(some.parent, Path(made)),
            HERON: lambda: write(tables, whole),
        }
        reading = {
            LINES: lambda: line_statistics(read_lines(Path(made) / "training_dynamics")),
            HERON: lambda: statistics(read_dynamics(whole), never=NEVER_LEARNT),
        }
        times = {
            "to disk": time_rounds(writing, options.rounds),
            "files to statistics": time_rounds(reading, options.rounds, check),
        }
    for spent in times.values():
        spent[LINES] = [each * options.examples / lines for each in spent[LINES]]
    bars = {"files to statistics": {HERON: 100.0}}
    return set_beside(f"dynamics of {options.examples:,} examples", times, LINES, bars=bars)


def generate(examples: int, records: int) -> list[pa.Table]:
    """Make up dynamics in which the gold logit rises, at another pace for each example."""
    random = np.random.default_rng(0)
    gold_N = random.integers(0, CLASSES, examples)
    pace_N = random.normal(1, 1, examples)
    guids = pa.array([f"train-{number:07d}" for number in range(examples)])
    tables = []
    for record in range(records):
        logits_NC = random.normal(size=(examples, CLASSES)).astype(np.float32)
        logits_NC[np.arange(examples), gold_N] += (pace_N * record).astype(np.float32)
        meta, ones_N = Meta(record + 1.0, "train", "nli", tuple("abc")), np.ones(examples)
        tables.append(
            dynamics_table(guids, gold_N, *judge(logits_NC, gold_N), ones_N, logits_NC, meta)
        )
    return tables


def write(tables: Sequence[pa.Table], folder: Path) -> None:
    """Write every record as a run does."""
    for record, part in enumerate(tables):
        write_dynamics(folder / f"epoch={record}.parquet", part)


Trajectories = dict[str, tuple[int, list[list[float]]]]


def read_lines(folder: Path) -> Trajectories:
    """Read line by line into one entry per guid, as existing tools do."""
    trajectories: Trajectories = {}
    for record in range(len(list(folder.iterdir()))):
        with open(folder / f"dynamics_epoch_{record}.jsonl", encoding="utf-8") as file:
            for text in file:
                row = json.loads(text)
                _, logits = trajectories.setdefault(row["guid"], (row["gold"], []))
                logits.append(row[f"logits_epoch_{record}"])
    return trajectories


def line_statistics(trajectories: Trajectories) -> dict[str, tuple[float, float, int, int]]:
    """Compute confidence, variability, correctness and forgetting one example at a time."""
    result = {}
    for guid, (gold, logits) in trajectories.items():
        p_gold, correct = [], []
        for values in logits:
            powers = np.exp(np.array(values) - max(values))
            p_gold.append(float(powers[gold] / powers.sum()))
            correct.append(bool(np.argmax(values) == gold))
        events = sum(before and not now for before, now in itertools.pairwise(correct))
        forgotten = events if any(correct) else NEVER_LEARNT
        result[guid] = (float(np.mean(p_gold)), float(np.std(p_gold)), sum(correct), forgotten)
    return result


def check(found: dict[str, Any]) -> None:
    """Compare the four statistics of the examples that both have; they come first in heron's."""
    ours: Statistics = found[HERON]
    theirs: dict[str, tuple[float, ...]] = found[LINES]
    columns = (ours.confidence_N, ours.variability_N, ours.correctness_N, ours.forgetting_N)
    apart = np.stack(columns, axis=1)[: len(theirs)] - np.array(list(theirs.values()))
    if ours.guids[: len(theirs)] != list(theirs) or abs(apart).max() > 1e-6:
        raise HeronError("the two ways compute other statistics")


if __name__ == "__main__":
    raise SystemExit(main(Options, run))
