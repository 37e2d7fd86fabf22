"""The data of a map: examples, their statistics in one or two runs, columns to colour by.

Shape suffixes: N examples.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from heron.base.tables import cell_text, is_missing

# A column of numbers with at most this many distinct values is shown value by value.
FEW = 7


class Numbers(NamedTuple):
    """A column of numbers: float32 [N], NaN where there is none."""

    name: str
    values_N: NDArray[np.float32]


class Categories(NamedTuple):
    """A column of names: for each example an index into `names`, int32 [N], -1 for none."""

    name: str
    names: tuple[str, ...]
    codes_N: NDArray[np.int32]

    def name_at(self, row: int) -> str:
        """Look a row's name up; empty where it has none."""
        code = int(self.codes_N[row])
        return self.names[code] if code >= 0 else ""


Column = Numbers | Categories


@dataclass(frozen=True, slots=True)
class MapRun:
    """One run's statistics, in the order of the map's examples.

    Args:
        name: of the run.
        records: number of records of dynamics.
        values: float32 [N] by statistic; `confidence`, `variability`, `correctness` (a fraction)
            and others; NaN where the run has not seen the example.
        predicted: labels in the last record; None where logits were not recorded.
    """

    name: str
    records: int
    values: Mapping[str, NDArray[np.float32]]
    predicted: Categories | None = None


@dataclass(frozen=True, slots=True)
class Texts:
    """The examples' texts, None for unknown ones.

    Args:
        first: N texts.
        second: N second texts (hypotheses); empty where the data has single texts.
        language: ISO 639-1 code, or empty.
        direction: `rtl`, `ltr`, or `auto`.
    """

    first: Sequence[str | None]
    second: Sequence[str | None] = ()
    language: str = ""
    direction: str = "auto"


@dataclass(frozen=True, slots=True)
class MapData:
    """Everything the interactive page holds.

    Args:
        title: its heading.
        guids: N ids.
        runs: one run, or two to compare.
        columns: what points can be coloured by, beside the statistics.
        texts: None where the data is gone.
        notes: what is missing or was left out.
        synthetic: warning of generated data; empty for other data.
    """

    title: str
    guids: Sequence[str]
    runs: tuple[MapRun, ...]
    columns: tuple[Column, ...] = ()
    texts: Texts | None = None
    notes: tuple[str, ...] = ()
    synthetic: str = ""


def rows_of(guids: Sequence[str], wanted: Iterable[str]) -> NDArray[np.int64]:
    """Find the row of each wanted guid in `guids`; -1 where it is absent."""
    row = {guid: number for number, guid in enumerate(guids)}
    return np.fromiter((row.get(guid, -1) for guid in wanted), np.int64)


def take_rows(values_M: NDArray[Any], rows_N: NDArray[np.int64], absent: Any) -> NDArray[Any]:
    """Take values by row; a row of -1 gets `absent`."""
    if not len(values_M):
        return np.full(len(rows_N), absent, values_M.dtype)
    return np.where(rows_N >= 0, values_M[rows_N], np.asarray(absent, values_M.dtype))


def as_column(name: str, values: Sequence[Any]) -> Column:
    """Make a column of N cells: of numbers if all cells that are not missing are numbers.

    Otherwise, and for at most `FEW` distinct numbers (0 and 1, say), a column of names.
    """
    present = [value for value in values if not is_missing(value)]
    numbers = [_finite(value) for value in present]
    if None not in numbers and len(set(numbers)) > FEW:
        cells = (math.nan if is_missing(value) else _finite(value) for value in values)
        return Numbers(name, np.array(list(cells), np.float32))
    return categories(name, [None if is_missing(value) else cell_text(value) for value in values])


def categories(name: str, values: Sequence[str | None]) -> Categories:
    """Make a column of names, the most frequent first (ties in alphabetical order)."""
    counts = Counter(value for value in values if value is not None)
    names = tuple(sorted(counts, key=lambda value: (-counts[value], value)))
    code = {value: number for number, value in enumerate(names)}
    codes = (-1 if value is None else code[value] for value in values)
    return Categories(name, names, np.fromiter(codes, np.int32, len(values)))


def _finite(value: Any) -> float | None:
    """Read a finite number; None for anything else. True and False are names."""
    if isinstance(value, bool):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) else None
