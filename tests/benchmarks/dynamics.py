"""From dynamics on disk to every statistic.

The same synthetic dynamics twice: as heron writes and reads them, and as existing tools do, one
JSON line per example and epoch, statistics one example at a time.

Shape suffixes: N examples, C classes.
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
from heron.dynamics.cartography import statistics
from heron.dynamics.files import (
    Meta,
    dynamics_table,
    export_jsonl,
    judge,
    read_dynamics,
    write_dynamics,
)

from .frame import Found, Out, beside, time_rounds

CLASSES = 3
LINES, HERON = "line by line", "heron"


@dataclass
class Options(Out):
    """Options of the benchmark."""

    examples: Count = 550_000  # of heron's way
    lines: Count = 55_000  # of the other one; its seconds are scaled, each example costs the same
    records: Count = 6  # epochs
    rounds: Count = 3


def run(options: Options) -> Found:
    """Read and compute in both ways."""
    lines = min(options.lines, options.examples)
    tables, scaled = generate(options.examples, options.records), {LINES: options.examples / lines}
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder)
        whole, some = made / "run" / "dynamics", made / "part" / "dynamics"
        write([table.slice(0, lines) for table in tables], some)
        write(tables, whole)
        export_jsonl(some.parent, made)
        ways = {
            LINES: lambda: line_statistics(made / "training_dynamics"),
            HERON: lambda: statistics(read_dynamics(whole)),
        }
        times = time_rounds(ways, options.rounds, check, scaled)
    work = f"dynamics of {options.examples:,} examples to statistics"
    return Found(beside(work, times, LINES, {HERON: "≥ 100"}))


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
        judged = judge(logits_NC, gold_N)
        tables.append(dynamics_table(guids, gold_N, *judged, ones_N, logits_NC, meta))
    return tables


def write(tables: Sequence[pa.Table], folder: Path) -> None:
    """Write every record as a run does."""
    for record, part in enumerate(tables):
        write_dynamics(folder / f"epoch={record}.parquet", part)


def line_statistics(folder: Path) -> dict[str, tuple[float, ...]]:
    """Read line by line into one entry per guid; statistics of one example at a time."""
    trajectories: dict[str, tuple[int, list[list[float]]]] = {}
    for record in range(len(list(folder.iterdir()))):
        with open(folder / f"dynamics_epoch_{record}.jsonl", encoding="utf-8") as file:
            for row in map(json.loads, file):
                _, logits = trajectories.setdefault(row["guid"], (row["gold"], []))
                logits.append(row[f"logits_epoch_{record}"])
    result = {}
    for guid, (gold, logits) in trajectories.items():
        powers = [np.exp(np.array(values) - max(values)) for values in logits]
        p_gold = [float(each[gold] / each.sum()) for each in powers]
        correct = [bool(np.argmax(values) == gold) for values in logits]
        events = sum(before and not now for before, now in itertools.pairwise(correct))
        forgotten = events if any(correct) else len(correct)
        result[guid] = (float(np.mean(p_gold)), float(np.std(p_gold)), sum(correct), forgotten)
    return result


def check(found: dict[str, Any]) -> None:
    """Compare the four statistics of the examples that both have; they come first in heron's."""
    ours, theirs = found[HERON], found[LINES]
    columns = (ours.confidence_N, ours.variability_N, ours.correctness_count_N, ours.forgetting_N)
    apart = np.stack(columns, axis=1)[: len(theirs)] - np.array(list(theirs.values()))
    if ours.guids[: len(theirs)] != list(theirs) or abs(apart).max() > 1e-6:
        raise HeronError("the two ways compute other statistics")
