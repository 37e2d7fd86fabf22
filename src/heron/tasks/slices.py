"""Slices of a split: named sets of rows that share a property, and the scores of each.

A row may be in several slices, or in none. Legend: N rows, M of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from heron.base.cells import Cell, Table
from heron.base.errors import ConfigError, nearest
from heron.languages.words import TOKENIZERS

Rows = npt.NDArray[np.int64]
Parts = Sequence[tuple[str, Rows]]
Words = Callable[[str], list[str]]


@dataclass(frozen=True, slots=True)
class Slice:
    """One slice of a split."""

    name: str  # what its rows share
    rows_M: Rows  # row numbers, from 0
    cells: Mapping[str, Cell]  # number of rows and scores, by column


@dataclass(frozen=True, slots=True)
class Slicing:
    """The slices by one property, in order, none of them empty."""

    title: str
    slices: tuple[Slice, ...]


def slice_table(title: str, slices: Sequence[Slice], note: str) -> Table:
    """Lay out slices, one per row."""
    columns = tuple(slices[0].cells) if slices else ()
    rows: list[tuple[Cell, ...]] = [(one.name, *one.cells.values()) for one in slices]
    return Table(title, ("slice", *columns), tuple(rows), note)


def quantile_bins(values_N: npt.ArrayLike, bins: int, unknown: str = "") -> list[tuple[str, Rows]]:
    """Put rows into bins of about equal size by a number.

    Equal values stay in one bin, so there may be fewer bins.

    Args:
        values_N: numbers, or NaN.
        bins: the largest number of bins.
        unknown: name of the last bin, which has the rows with NaN.

    Returns:
        Name and rows of each bin, in order of value. A name is the least and the greatest value,
        such as `0.52 to 0.61`.
    """
    values = np.asarray(values_N, dtype=np.float64)
    known = np.flatnonzero(np.isfinite(values))
    found = []
    if len(known):
        inner = np.unique(np.quantile(values[known], np.arange(1, bins) / bins))
        bin_N = np.searchsorted(inner, values[known], side="right")
        parts = [known[bin_N == number] for number in range(len(inner) + 1)]
        found = [
            (_range_name(values[rows].min(), values[rows].max()), rows)
            for rows in parts
            if rows.size
        ]
    rest = np.flatnonzero(~np.isfinite(values))
    return [*found, (unknown, rest)] if len(rest) else found


def _range_name(low: float, high: float) -> str:
    whole = low == int(low) and high == int(high)
    ends = [f"{end:.0f}" if whole else f"{end:.3f}" for end in (low, high)]
    return ends[0] if low == high else " to ".join(ends)


def category_slices(categories: Sequence[Iterable[str]]) -> list[tuple[str, Rows]]:
    """Collect the rows of each category.

    Args:
        categories: those of each row; a row may have several, or none.

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


def class_slices(names: Sequence[str], order: Iterable[str]) -> list[tuple[str, Rows]]:
    """Collect the rows of each class, in the given order, without empty classes."""
    name_N = np.asarray(names, dtype=object)
    parts = [(name, np.flatnonzero(name_N == name)) for name in order]
    return [(name, rows_M) for name, rows_M in parts if len(rows_M)]


def require_column(
    by: str, analyses: Iterable[str], columns: Iterable[str], more: str = ""
) -> None:
    """Check that a split can be sliced by a column.

    Args:
        by: the value of the option, none of `analyses`.
        analyses: the other values that the option may have.
        columns: side columns of the data.
        more: further advice for the message.

    Raises:
        ConfigError: there is no such column.
    """
    columns = list(dict.fromkeys(columns))
    if by not in columns:
        hint = nearest(by, [*analyses, *columns])
        raise ConfigError(
            f"by={by}: neither an analysis nor a side column of the data.{hint} "
            f"data.columns.side=[{by}] reads the column{more}"
        )


def find_tokenizer(name: str) -> Words:
    """Find the definition of a word that `words=` names; see `heron.languages.words`.

    Raises:
        ConfigError: there is none of this name.
    """
    if name not in TOKENIZERS:
        raise ConfigError(f"words={name}: unknown.{nearest(name, TOKENIZERS)}")
    return TOKENIZERS[name]
