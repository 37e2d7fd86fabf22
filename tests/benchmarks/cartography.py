"""`python -m tests.benchmarks.cartography`: from dynamics on disk to every statistic.

The same synthetic dynamics twice: as heron writes and reads them, and as existing tools do, one
JSON line per example and epoch, statistics one example at a time. See README.md here.

Shape suffixes: E records, N examples, C classes.
"""

from __future__ import annotations

import itertools
import json
import statistics as of_rounds
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from heron.base.cells import Cell, Formatted, Table
from heron.base.errors import HeronError
from heron.config.constraints import Checked, Count, Seed
from heron.dynamics.cartography import NEVER_LEARNT, Statistics, statistics
from heron.dynamics.files import Meta, dynamics_table, read_dynamics, write_dynamics
from heron.dynamics.jsonl import export_jsonl, judge

from .frame import Found, main

TARGET = 1.0  # seconds from files to all statistics
TARGET_EXAMPLES = 550_000
CLASSES = 3


@dataclass
class Options(Checked):
    """Options of the benchmark.

    Args:
        examples: of heron's route.
        lines: examples of the line-by-line route, at most `examples`; its seconds are scaled to
            them, as each example costs the same. About 25 s for 55,000.
        records: epochs.
        rounds: heron's route is timed so many times; medians are shown.
        seed: of the dynamics.
        out: JSON file with every measurement.
    """

    examples: Count = TARGET_EXAMPLES
    lines: Count = 55_000
    records: Count = 6
    rounds: Count = 5
    seed: Seed = 0
    out: Path = Path("runs/benchmark_dynamics.json")

    def problems(self) -> Iterator[str]:
        """Check that the slow route has no more examples than the fast one."""
        if self.lines > self.examples:
            yield f"lines={self.lines}: 1 to examples={self.examples} is allowed"


@dataclass(frozen=True, slots=True)
class Route:
    """Clock seconds and size of one way to keep and read dynamics.

    Args:
        examples: how many there were.
        write: all records to disk.
        read: from disk to memory.
        compute: from there to all statistics.
        megabytes: on disk.
    """

    examples: int
    write: float
    read: float
    compute: float
    megabytes: float

    @property
    def total(self) -> float:
        """Seconds from the files to all statistics."""
        return self.read + self.compute


def run(options: Options) -> Found:
    """Measure both routes."""
    with tempfile.TemporaryDirectory() as made:
        heron, lines, difference = measure(options, Path(made))
    scaled, shown = scale(lines, options.examples), median(heron)
    record = {
        "heron": [asdict(route) | {"total": route.total} for route in heron],
        "lines": asdict(lines) | {"total": lines.total},
        "ratio": {key: getattr(scaled, key) / getattr(shown, key) for key in _COLUMNS},
        "largest_difference": difference,
    }
    said = f"largest difference between the routes' statistics: {difference:.1e}"
    return Found(record, [table(heron, lines, options)], [said, verdict(heron)])


def measure(options: Options, made: Path) -> tuple[list[Route], Route, float]:
    """Run both routes in `made`; returns heron's rounds, the lines' one, and how they differ."""
    synthetic = list(generate(options.examples, options.records, options.seed))
    heron_rounds = []
    for _ in range(options.rounds):
        folder = made / "run" / "dynamics"
        written = timed(lambda folder=folder: write(synthetic, folder))[0]
        read_seconds, dynamics = timed(lambda folder=folder: read_dynamics(folder))
        compute_seconds, ours = timed(lambda found=dynamics: statistics(found, never=NEVER_LEARNT))
        route = Route(options.examples, written, read_seconds, compute_seconds, megabytes(folder))
        heron_rounds.append(route)
    write([part.slice(0, options.lines) for part in synthetic], made / "part" / "dynamics")
    written = timed(lambda: export_jsonl(made / "part", made))[0]
    read_seconds, trajectories = timed(lambda: read_lines(made / "training_dynamics"))
    compute_seconds, theirs = timed(lambda: line_statistics(trajectories))
    size = megabytes(made / "training_dynamics")
    lines = Route(options.lines, written, read_seconds, compute_seconds, size)
    return heron_rounds, lines, largest_difference(ours, theirs)


def generate(examples: int, records: int, seed: int) -> list[pa.Table]:
    """Make up dynamics in which the gold logit rises, at another pace for each example."""
    random = np.random.default_rng(seed)
    gold_N = random.integers(0, CLASSES, examples)
    pace_N = random.normal(1, 1, examples)
    guids = pa.array([f"train-{number:07d}" for number in range(examples)])
    tables = []
    for record in range(records):
        logits_NC = random.normal(size=(examples, CLASSES)).astype(np.float32)
        logits_NC[np.arange(examples), gold_N] += (pace_N * record).astype(np.float32)
        meta = Meta(record + 1.0, "train", "nli", tuple("abc"))
        ones_N = np.ones(examples)
        tables.append(
            dynamics_table(guids, gold_N, *judge(logits_NC, gold_N), ones_N, logits_NC, meta)
        )
    return tables


def write(tables: Sequence[pa.Table], folder: Path) -> None:
    """Write every record as a run does."""
    for record, part in enumerate(tables):
        write_dynamics(folder / f"epoch={record}.parquet", part)


def timed(action: Callable[[], Any]) -> tuple[float, Any]:
    """Return clock seconds and the result."""
    started = time.perf_counter()
    result = action()
    return time.perf_counter() - started, result


def megabytes(folder: Path) -> float:
    """Add up the files of a folder, in 10^6 bytes."""
    return sum(path.stat().st_size for path in folder.iterdir()) / 1e6


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


def largest_difference(ours: Statistics, theirs: dict[str, tuple[float, ...]]) -> float:
    """Compare the four statistics of the examples that both have; they come first in `ours`."""
    columns = (ours.confidence_N, ours.variability_N, ours.correctness_N, ours.forgetting_N)
    found = np.stack(columns, axis=1)[: len(theirs)]
    if ours.guids[: len(theirs)] != list(theirs):
        raise HeronError("the two routes have other examples, or in another order")
    return float(np.abs(found - np.array(list(theirs.values()))).max())


def table(heron: Sequence[Route], lines: Route, options: Options) -> Table:
    """Set the routes side by side."""
    shown = median(heron)
    scaled = scale(lines, shown.examples)
    rows = [
        ("heron: Parquet, arrays", *cells(shown)),
        ("a line and an example at a time", *cells(lines)),
        *([("the same, scaled", *cells(scaled))] if lines.examples != shown.examples else []),
        (
            "ratio",
            None,
            *(Formatted(getattr(scaled, k) / getattr(shown, k), ",.1f") for k in _COLUMNS),
        ),
    ]
    title = f"{options.records} epochs of {CLASSES} classes, clock seconds"
    columns = ("", "examples", "write", "read", "statistics", "read + statistics", "MB")
    return Table(title, columns, tuple(rows))


_COLUMNS = ("write", "read", "compute", "total", "megabytes")


def cells(route: Route) -> tuple[Cell, ...]:
    """Lay out a row of the table."""
    return (route.examples, *(Formatted(getattr(route, key), ",.2f") for key in _COLUMNS))


def scale(route: Route, examples: int) -> Route:
    """Scale a route to another number of examples."""
    times = examples / route.examples
    fields = (route.write, route.read, route.compute, route.megabytes)
    return Route(examples, *(value * times for value in fields))


def median(routes: Sequence[Route]) -> Route:
    """Take the round whose seconds from files to statistics are the median."""
    middle = of_rounds.median_low(route.total for route in routes)
    return next(route for route in routes if route.total == middle)


def verdict(heron: Sequence[Route]) -> str:
    """Say whether heron's route reaches its target, which is for so many examples."""
    shown = median(heron)
    low, high = min(route.total for route in heron), max(route.total for route in heron)
    said = f"files to statistics: {shown.total:.2f} s ({low:.2f} to {high:.2f})"
    if shown.examples < TARGET_EXAMPLES:
        return f"{said}; no verdict, the target is for {TARGET_EXAMPLES:,} examples"
    return f"{said}; target {TARGET:.1f} s {'reached' if shown.total < TARGET else 'missed'}"


if __name__ == "__main__":
    raise SystemExit(main(Options, run))
