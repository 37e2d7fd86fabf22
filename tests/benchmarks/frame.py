"""The harness: ways side by side in rounds, one table of rows, a JSON file.

A benchmark is a module with a dataclass `Options` and a function `run`, which returns `Found`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from heron.base.cells import Formatted, Table, show

Times = dict[str, list[float]]  # way: its seconds, one number per round


@dataclass
class Out:
    """The option of every benchmark."""

    out: Path = Path("runs/benchmarks")  # the folder of its file


@dataclass(frozen=True)
class Row:
    """What was measured of some work.

    Args:
        work: what is done.
        rival: who or what does the same; empty where `values` are heron's own.
        values: one per round; beside a rival, its time over heron's, side by side in the round.
        unit: of the values; `times` as fast as the rival.
        limit: what the median has to reach, `≥ 15` or `≤ 0.05`; empty where there is none.
    """

    work: str
    rival: str
    values: Sequence[float]
    unit: str = "times"
    limit: str = ""

    def cells(self) -> tuple[str, ...]:
        """Lay it out: work, rival, median (lowest to highest), and whether the limit is kept."""
        low, middle, high = (show(number(of(self.values))) for of in (min, median, max))
        spread, limit = f" ({low} to {high})" * (len(self.values) > 1), self.limit
        if limit:
            sign, bound = limit.split()
            over = median(self.values) - float(bound)
            limit += ": reached" if (over >= 0 if sign == "≥" else over <= 0) else ": missed"
        return self.work, self.rival, f"{middle} {self.unit}".strip() + spread, limit


@dataclass(frozen=True)
class Found:
    """What a benchmark has found: rows, further tables to print, and what else its file keeps."""

    rows: Sequence[Row] = ()
    tables: Sequence[Table] = ()
    record: Mapping[str, Any] = field(default_factory=dict)


def table(title: str, kept: Mapping[str, Mapping[str, Any]]) -> Table:
    """Set out what the files of benchmarks hold, by their names."""
    columns = ("command", "work", "rival", "measured", "limit", "machine")
    rows = [
        (f"bench-{name}", *Row(**row).cells(), each["machine"])
        for name, each in kept.items()
        for row in each["rows"]
    ]
    return Table(title, columns, tuple(rows))


def time_rounds(
    ways: Mapping[str, Callable[[], Any]],
    rounds: int,
    check: Callable[[dict[str, Any]], None] = lambda results: None,
    scaled: Mapping[str, float] = {},
    clock: Callable[[], float] = time.process_time,
) -> Times:
    """Run every way once a round; returns processor seconds, which others disturb least.

    Args:
        ways: what is timed, by name.
        rounds: how often each runs.
        check: compares what the ways of a round returned.
        scaled: by what the seconds of a way that does a part of the work are multiplied.
        clock: reads other seconds.
    """
    times: Times = {name: [] for name in ways}
    for _ in range(rounds):
        results = {}
        for name, way in ways.items():
            began = clock()
            results[name] = way()
            times[name].append((clock() - began) * scaled.get(name, 1))
        check(results)
    return times


def ratios(times: Times, rival: str, way: str) -> list[float]:
    """Divide a rival's seconds by a way's within each round: load changes between rounds."""
    return [theirs / ours for theirs, ours in zip(times[rival], times[way], strict=True)]


def beside(work: str, times: Times, rival: str, limits: Mapping[str, str] = {}) -> list[Row]:
    """Set ways beside a rival: its seconds, and how many times as fast the others are."""
    faster = {way: ratios(times, rival, way) for way in times if way != rival}
    return [
        Row(f"{work}: {rival}", "", times[rival], "s"),
        *(Row(f"{work}: {w}", rival, r, limit=limits.get(w, "")) for w, r in faster.items()),
    ]


def number(value: float) -> Formatted:
    """Show three digits, or all before the point."""
    return Formatted(value, ".0f" if value >= 100 else ".3g")
