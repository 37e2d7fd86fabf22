"""Slices of a split, and how often a system is right in each.

Legend: N rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from heron.analysis.rates import share
from heron.base.cells import Cell, Interval, Table

Rows = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Answers:
    """What a system answered, row by row.

    Args:
        gold: N class names.
        correct_N: bool, whether the prediction is the gold class.
        group_N: for each row the number of its group; see `heron.analysis.rates`.
    """

    gold: Sequence[str]
    correct_N: npt.NDArray[np.bool_]
    group_N: npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Slice:
    """One slice of a split.

    Args:
        name: what its rows have in common.
        rows: how many there are.
        accuracy: share of them that is right, with its 95 % interval; None without rows.
        largest: share of the largest gold class among them: what answering it always would get.
        mean: mean of the value that the rows were sliced by; None where it is no number.
    """

    name: str
    rows: int
    accuracy: Interval | None
    largest: float
    mean: float | None = None


@dataclass(frozen=True, slots=True)
class Slicing:
    """A split in slices; rows may be in several of them, or in none.

    Args:
        title: for tables and figures.
        value: what was looked at, with its unit; heads the column of means.
        slices: in order.
    """

    title: str
    value: str
    slices: tuple[Slice, ...]

    def table(self, note: str = "") -> Table:
        """Lay the slices out as a table."""
        numeric = any(one.mean is not None for one in self.slices)
        columns = ("slice", "rows", "accuracy", "largest class")
        rows: list[tuple[Cell, ...]] = [
            (one.name, one.rows, one.accuracy, one.largest, *([one.mean] if numeric else []))
            for one in self.slices
        ]
        return Table(self.title, (*columns, *([self.value] if numeric else [])), tuple(rows), note)


def quantile_bins(values_N: npt.ArrayLike, bins: int) -> list[tuple[str, Rows]]:
    """Part rows into bins of about equal size by their values.

    Equal values are never parted, so where many rows share a value there are fewer bins.

    Args:
        values_N: numbers.
        bins: how many bins, at most.

    Returns:
        For each bin its name, such as `0.52 to 0.61` (its least and greatest value), and its rows,
        in order of value.
    """
    values = np.asarray(values_N, dtype=np.float64)
    if len(values) == 0:
        return []
    inner = np.unique(np.quantile(values, np.arange(1, bins) / bins))
    bin_N = np.searchsorted(inner, values, side="right")
    found = []
    for number in range(len(inner) + 1):
        rows = np.flatnonzero(bin_N == number)
        if len(rows):
            found.append((_span(values[rows].min(), values[rows].max()), rows))
    return found


def _span(low: float, high: float) -> str:
    """Name a range by its ends, without decimals where they are whole numbers."""
    whole = low == int(low) and high == int(high)
    ends = [f"{end:.0f}" if whole else f"{end:.3f}" for end in (low, high)]
    return ends[0] if low == high else " to ".join(ends)


def category_slices(categories: Sequence[Iterable[str]]) -> list[tuple[str, Rows]]:
    """Collect the rows of each category; a row may have several, or none.

    Args:
        categories: for each row its categories.

    Returns:
        Each category and its rows, the largest first; rows without any come last as `(none)`.
    """
    rows: dict[str, list[int]] = {}
    none: list[int] = []
    for row, names in enumerate(categories):
        distinct = dict.fromkeys(names)
        for name in distinct:
            rows.setdefault(name, []).append(row)
        if not distinct:
            none.append(row)
    ordered = sorted(rows.items(), key=lambda item: (-len(item[1]), item[0]))
    found = [*ordered, *([("(none)", none)] if none else [])]
    return [(name, np.asarray(members, dtype=np.int64)) for name, members in found]


def measure(
    answers: Answers,
    parts: Iterable[tuple[str, Rows]] | Mapping[str, Rows],
    values_N: npt.ArrayLike | None = None,
) -> tuple[Slice, ...]:
    """Compute each slice's accuracy.

    Args:
        answers: of the whole split.
        parts: the slices' names and rows.
        values_N: what the rows were sliced by, for the slices' means.
    """
    pairs = parts.items() if isinstance(parts, Mapping) else parts
    values = None if values_N is None else np.asarray(values_N, dtype=np.float64)
    return tuple(_slice(answers, name, rows, values) for name, rows in pairs)


def _slice(
    answers: Answers, name: str, rows: Rows, values: npt.NDArray[np.float64] | None
) -> Slice:
    counts = Counter(answers.gold[row] for row in rows)
    largest = max(counts.values(), default=0) / max(len(rows), 1)
    mean = None if values is None or not len(rows) else float(values[rows].mean())
    accuracy = share(answers.correct_N[rows], answers.group_N[rows])
    return Slice(name, len(rows), accuracy, largest, mean)
