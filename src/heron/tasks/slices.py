"""Slices of a split: named sets of rows that have something in common, and scores in each of them.

A slicing by numbers puts rows into bins, one by categories collects the rows of each category. A
row may be in several slices, or in none.

Legend: N rows, M of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from heron.base.cells import Cell, Table
from heron.base.errors import ConfigError, nearest
from heron.data.examples import Example
from heron.languages.words import TOKENIZERS

Rows = npt.NDArray[np.int64]
Parts = Sequence[tuple[str, Rows]]
Words = Callable[[str], list[str]]


@dataclass(frozen=True, slots=True)
class Slice:
    """One slice of a split.

    Args:
        name: what its rows have in common.
        rows_M: which they are, numbers from 0.
        cells: their number and scores, by column.
    """

    name: str
    rows_M: Rows
    cells: Mapping[str, Cell]


@dataclass(frozen=True, slots=True)
class Slicing:
    """A split in slices.

    Args:
        title: what it is sliced by.
        slices: in order, none of them empty.
    """

    title: str
    slices: tuple[Slice, ...]


def slice_table(title: str, slices: Sequence[Slice], note: str) -> Table:
    """Lay slices out, one a row."""
    columns = tuple(slices[0].cells) if slices else ()
    rows: list[tuple[Cell, ...]] = [(one.name, *one.cells.values()) for one in slices]
    return Table(title, ("slice", *columns), tuple(rows), note)


def quantile_bins(values_N: npt.ArrayLike, bins: int, unknown: str = "") -> list[tuple[str, Rows]]:
    """Put rows into bins of about equal size by their values.

    Equal values are never parted, so where many rows share a value there are fewer bins.

    Args:
        values_N: numbers; rows without one (NaN) come last.
        bins: how many bins, at most.
        unknown: name of the rows without a number.

    Returns:
        For each bin its name, such as `0.52 to 0.61` (its least and greatest value), and its rows,
        in order of value.
    """
    values = np.asarray(values_N, dtype=np.float64)
    known = np.flatnonzero(np.isfinite(values))
    found = []
    if len(known):
        inner = np.unique(np.quantile(values[known], np.arange(1, bins) / bins))
        bin_N = np.searchsorted(inner, values[known], side="right")
        parts = [known[bin_N == number] for number in range(len(inner) + 1)]
        found = [
            (_span(values[rows].min(), values[rows].max()), rows) for rows in parts if rows.size
        ]
    rest = np.flatnonzero(~np.isfinite(values))
    return [*found, (unknown, rest)] if len(rest) else found


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


def class_slices(names: Sequence[str], order: Iterable[str]) -> list[tuple[str, Rows]]:
    """Collect the rows of each class, in the order of the classes; empty ones are left out."""
    name_N = np.asarray(names, dtype=object)
    parts = [(name, np.flatnonzero(name_N == name)) for name in order]
    return [(name, rows_M) for name, rows_M in parts if len(rows_M)]


def require_column(
    by: str, analyses: Iterable[str], columns: Iterable[str], more: str = ""
) -> None:
    """Check that a split can be sliced by a column.

    Args:
        by: what was asked for, none of `analyses`.
        analyses: what else a split can be sliced by.
        columns: side columns of the data.
        more: what else the message advises.

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


class Shape(NamedTuple):
    """Lengths and overlap of one example.

    Args:
        first: words of the premise, or of the only text.
        second: words of the hypothesis; None where there is one text.
        overlap: Jaccard overlap of the two texts' sets of words, a fraction; None likewise.
    """

    first: int
    second: int | None
    overlap: float | None


def shape(example: Example, words: Words) -> Shape:
    """Measure one example."""
    first = words(example.text)
    if example.text_pair is None:
        return Shape(len(first), None, None)
    second = words(example.text_pair)
    return Shape(len(first), len(second), jaccard(first, second))


def jaccard(one: Sequence[str], other: Sequence[str]) -> float:
    """Divide the number of distinct words in both texts by that in either; 0 without words."""
    first, second = set(one), set(other)
    return len(first & second) / max(len(first | second), 1)


def find_tokenizer(name: str) -> Words:
    """Find a definition of a word, `words` or `whitespace`; see `heron.languages.words`.

    Raises:
        ConfigError: neither.
    """
    if name not in TOKENIZERS:
        raise ConfigError(f"words={name}: unknown.{nearest(name, TOKENIZERS)}")
    return TOKENIZERS[name]


def split_categories(value: Any) -> list[str]:
    """Read a cell of categories: a list, or text with `,`, `;` or `|` between them."""
    if value is None:
        return []
    if isinstance(value, str):
        for separator in ";|":
            value = value.replace(separator, ",")
        value = value.split(",")
    elif not isinstance(value, Iterable):
        value = [value]
    return [text for one in value if (text := str(one).strip())]
