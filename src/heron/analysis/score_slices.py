"""A split in slices, and the mean scores of each: what analyses of answers and of summaries share.

Legend: N rows, M of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from heron.analysis.answered import RESAMPLES, intervals_of
from heron.base.cells import Cell, Interval, Table
from heron.base.errors import ConfigError, nearest
from heron.metrics.paired_units import Floats

Rows = npt.NDArray[np.int64]
Scores = Mapping[str, Floats]

NOTE = f"[low, high]: 95 %, bootstrap of whole articles ({RESAMPLES:,} resamples)."


@dataclass(frozen=True, slots=True)
class ScoredSlice:
    """One slice of a split.

    Args:
        name: what its rows have in common.
        rows_M: which they are, numbers from 0.
        scores: each score's mean with its interval (the mean alone where all rows are of one
            article); None where no row counts.
    """

    name: str
    rows_M: Rows
    scores: dict[str, Interval | float | None]


@dataclass(frozen=True, slots=True)
class ScoreBreakdown:
    """One analysis of a split.

    Args:
        by: what it slices by.
        title: the same in words.
        slices: in order, none of them empty.
        tables: what to print and store; the last one has a row for each slice and one for all.
        facts: definitions that the numbers depend on.
    """

    by: str
    title: str
    slices: tuple[ScoredSlice, ...]
    tables: tuple[Table, ...]
    facts: dict[str, Any]


def score_slice(
    name: str, rows_M: Rows, scores: Scores, groups: Sequence[str], seed: int = 0
) -> ScoredSlice:
    """Compute a slice's means and intervals.

    Args:
        name: of the slice.
        rows_M: its rows.
        scores: float64 `[N]` each, of the whole split; NaN does not count.
        groups: N names of what intervals draw.
        seed: of the draws.
    """
    values = {score: value_N[rows_M] for score, value_N in scores.items()}
    drawn = [groups[row] for row in rows_M]
    return ScoredSlice(name, rows_M, intervals_of(values, drawn, seed))


def score_table(
    title: str, slices: Sequence[ScoredSlice], everything: ScoredSlice, note: str = NOTE
) -> Table:
    """Lay slices out: rows, share of all rows, scores; the whole split below them."""
    number = max(len(everything.rows_M), 1)
    rows: list[tuple[Cell, ...]] = [
        (one.name, len(one.rows_M), len(one.rows_M) / number, *one.scores.values())
        for one in (*slices, everything)
    ]
    return Table(title, ("slice", "n", "share", *everything.scores), tuple(rows), note)


def side_values(
    sides: Sequence[Mapping[str, Any]], by: str, known: Sequence[str]
) -> list[list[str]]:
    """Read a side column as categories; none where it is empty.

    Args:
        sides: of N examples.
        by: the column.
        known: what else the split can be sliced by, for the message.

    Raises:
        ConfigError: there is no such column.
    """
    for side in sides:
        if by not in side:
            hint = nearest(by, [*known, *side])
            raise ConfigError(f"by={by}: neither an analysis nor a side column of the data.{hint}")
    return [[] if side[by] in (None, "") else [str(side[by])] for side in sides]
