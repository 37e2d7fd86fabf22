"""Slices of a split: named sets of rows that share a property, and the scores of each.

A row may be in several slices, or in none. Legend: N rows, M of them.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from heron.base.cells import Cell
from heron.base.errors import ConfigError, nearest
from heron.languages.words import TOKENIZERS

Rows = npt.NDArray[np.int64]
Parts = Sequence[tuple[str, Rows]]
Words = Callable[[str], list[str]]


@dataclass(frozen=True, slots=True)
class Slice:
    """One slice of a split: what its rows share, their numbers (from 0), and cells by column."""

    name: str
    rows_M: Rows
    cells: Mapping[str, Cell]


@dataclass(frozen=True, slots=True)
class Slicing:
    """The slices by one property, in order, none of them empty."""

    title: str
    slices: tuple[Slice, ...]


def quantile_bins(values_N: npt.ArrayLike, bins: int, unknown: str = "") -> list[tuple[str, Rows]]:
    """Put rows into bins of about equal size by a number; equal values stay in one bin.

    Returns:
        Name and rows of each bin, in order of value. A name is the least and the greatest value,
        such as `0.52 to 0.61`; rows with NaN are in a last bin named `unknown`.
    """
    values = np.asarray(values_N, dtype=np.float64)
    known, rest = np.flatnonzero(np.isfinite(values)), np.flatnonzero(~np.isfinite(values))
    parts = []
    if len(known):
        inner = np.unique(np.quantile(values[known], np.arange(1, bins) / bins))
        bin_N = np.searchsorted(inner, values[known], side="right")
        parts = [known[bin_N == number] for number in range(len(inner) + 1)]
    found = [(_range_name(values[rows]), rows) for rows in parts if rows.size]
    return [*found, (unknown, rest)] if len(rest) else found


def _range_name(values: npt.NDArray[np.float64]) -> str:
    low, high = float(values.min()), float(values.max())
    whole = low == int(low) and high == int(high)
    ends = [f"{end:.0f}" if whole else f"{end:.3f}" for end in (low, high)]
    return ends[0] if low == high else " to ".join(ends)


def category_slices(categories: Sequence[Iterable[str]]) -> list[tuple[str, Rows]]:
    """Collect the rows of each category, the largest first; rows without any come last (`(none)`).

    A row may have several categories.
    """
    rows: dict[str | None, list[int]] = {}
    for row, names in enumerate(categories):
        for name in dict.fromkeys(names) or (None,):
            rows.setdefault(name, []).append(row)
    none = {"(none)": rows.pop(None)} if None in rows else {}
    ordered = sorted(rows.items(), key=lambda item: (-len(item[1]), str(item[0])))
    found = [*ordered, *none.items()]
    return [(str(name), np.asarray(members, dtype=np.int64)) for name, members in found]


def class_slices(names: Sequence[str], order: Iterable[str]) -> list[tuple[str, Rows]]:
    """Collect the rows of each class, in the given order, without empty classes."""
    name_N = np.asarray(names, dtype=object)
    parts = [(name, np.flatnonzero(name_N == name)) for name in order]
    return [(name, rows_M) for name, rows_M in parts if len(rows_M)]


def require_column(
    by: str, analyses: Iterable[str], columns: Iterable[str], more: str = ""
) -> None:
    """Raise a ConfigError where `by`, none of the `analyses`, is no side column of the data either.

    `more` is further advice for the message.
    """
    columns = list(dict.fromkeys(columns))
    if by not in columns:
        hint = nearest(by, [*analyses, *columns])
        raise ConfigError(
            f"by={by}: neither an analysis nor a side column of the data.{hint} "
            f"data.columns.side=[{by}] reads the column{more}"
        )


def find_tokenizer(name: str) -> Words:
    """Find the definition of a word that `words=` names; raises ConfigError for another name."""
    if name not in TOKENIZERS:
        raise ConfigError(f"words={name}: unknown.{nearest(name, TOKENIZERS)}")
    return TOKENIZERS[name]
