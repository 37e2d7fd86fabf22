"""A paper's statistics of articles and summaries, shown beside measured ones.

The numbers come from `experiments/<paper>/published.yaml`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from heron.base.cells import Cell, Formatted, Table
from heron.base.errors import ConfigError, nearest
from heron.base.files import read_yaml
from heron.metrics.summary import SHARES
from heron_tools.reproduction.published import all_published
from heron_tools.statistics.profiles import UNITS, Definition, Shares

_KEYS = ("texts", "summaries", "systems", "beside")
# Names in published.yaml of the columns of Table 1, in their order.
TEXTS = (
    "rows",
    "lemmas",
    "tokens",
    "article_length",
    "summary_length",
    "ambiguity",
    "anaphors_article",
    "constructs_summary",
    "bertscore",
)
_NEAREST = 2  # definitions shown for each set and row; the files have them all

Printed = Mapping[str, Mapping[str, float | None]]


@dataclass(frozen=True, slots=True)
class PublishedStatistics:
    """A paper's numbers: fractions, counts and lengths; None: not printed.

    `heron_tools.statistics.summaries` shows them beside a data set's.

    Args:
        paper: authors and title.
        texts: statistics of texts by split and name (`article_length`, ...).
        summaries: the shares `novel_1` to `redundancy_2` by data set.
        systems: the same of systems' summaries.
        beside: the row of `summaries` that a unit is compared with.
    """

    paper: str
    texts: Printed
    summaries: Printed
    systems: Printed
    beside: Mapping[str, str]

    def with_texts(self, table: Table) -> Table:
        """Put the paper's rows first."""
        rows = [
            (f"{name}, paper", *(_as_printed(printed.get(key)) for key in TEXTS))
            for name, printed in self.texts.items()
        ]
        return Table(table.title, table.columns, (*rows, *table.rows), table.note)

    def with_shares(self, table: Table, measured: Mapping[str, Mapping[str, Shares]]) -> Table:
        """Put the paper's rows first, and a row of differences below each unit."""
        rows: list[tuple[Cell, ...]] = _rows_of(self.summaries)
        for row in table.rows:
            rows.append((*row, None))
            name, unit = str(row[0]), str(row[1])
            if unit in self.beside and (shares := measured[name].get(unit)):
                rows.append(self._difference(shares, self.beside[unit]))
        inside = "inside: how many of its numbers lie in our intervals."
        note = f"{table.note} Paper: {self.paper}; {inside}"
        return Table(table.title, (*table.columns, "inside"), tuple(rows), note)

    def with_systems(self, table: Table) -> Table:
        """Put the paper's rows first."""
        rows = (*_rows_of(self.systems), *table.rows)
        return Table(table.title, table.columns, rows, table.note)

    def _difference(self, shares: Shares, row: str) -> tuple[Cell, ...]:
        """Subtract a row of the paper from measured shares."""
        cells: list[Cell] = []
        inside = compared = 0
        for key in SHARES:
            measured, printed = shares.get(key), self.summaries[row].get(key)
            if measured is None or printed is None:
                cells.append(None)
                continue
            cells.append(Formatted(measured.value - printed, "+.3f"))
            compared += 1
            inside += measured.low <= printed <= measured.high
        return ("", f"- {row}", None, *cells, f"{inside} of {compared}")

    def rank(self, ways: Sequence[Definition]) -> list[Definition]:
        """Compute each definition's distance from the paper, and sort by it."""
        found = map(self._compared, ways)
        return sorted(found, key=lambda one: (one.mean_distance is None, one.mean_distance or 0.0))

    def _compared(self, way: Definition) -> Definition:
        if way.unit not in self.beside:
            return way
        row = self.beside[way.unit]
        # Summaries shorter than n have no n-grams, and a paper may leave a share out.
        distances = [
            abs(way.shares[name] - value)
            for name, value in self.summaries[row].items()
            if value is not None and not np.isnan(way.shares[name])
        ]
        if not distances:
            return way._replace(row=row)
        mean, largest = float(np.mean(distances)), max(distances)
        return way._replace(row=row, mean_distance=mean, largest=largest, compared=len(distances))

    def nearest(self, found: Mapping[str, Sequence[Definition]]) -> Table:
        """Show which definitions of tokens, counts and means are nearest to the paper."""
        rows: list[tuple[Cell, ...]] = []
        for name, ways in found.items():
            for row in sorted({one.row for one in ways if one.row}):
                for one in [way for way in ways if way.row == row][:_NEAREST]:
                    distances = (_precise(one.mean_distance), _precise(one.largest))
                    rows.append((name, row, one.unit, one.counted, one.average, *distances))
        columns = ("texts", "paper", "tokens", "count", "mean over", "mean |Δ|", "largest |Δ|")
        compared = [one.compared for ways in found.values() for one in ways if one.row]
        fewest, most = min(compared, default=len(SHARES)), max(compared, default=len(SHARES))
        over = f"{fewest} to {most}" if fewest < most else str(most)
        note = (
            f"Over the shares that both have, {over} of {len(SHARES)}, as fractions; the "
            f"{_NEAREST} nearest to each row of the paper, the files have them all. Marks: "
            "punctuation marks are tokens."
        )
        return Table("Definitions nearest to the paper", columns, tuple(rows), note)


def _rows_of(printed: Printed) -> list[tuple[Cell, ...]]:
    return [
        (name, "paper", None, *(_precise(values.get(key)) for key in SHARES), None)
        for name, values in printed.items()
    ]


def _as_printed(value: float | None) -> Cell:
    return value if value is None or isinstance(value, int) else Formatted(value, "g")


def _precise(value: float | None) -> Cell:
    return None if value is None else Formatted(value, ".4f")


def published_statistics(data: str, path: Path | None = None) -> PublishedStatistics | None:
    """Read the statistics of the paper about a data set.

    Args:
        data: name of the data set.
        path: the paper's published.yaml; default that of the paper with the data set's name in
            `statistics.data`, if there is one.

    Raises:
        ConfigError: the file is missing, or has no valid statistics.
    """
    if path is not None:
        if not path.is_file():
            raise ConfigError(f"published={path}: no such file")
        return _read(path, read_yaml(path))
    for found in all_published():
        content = read_yaml(found)
        statistics = content.get("statistics") or {}
        if data in (statistics.get("data") or ()):
            return _read(found, content)
    return None


def _read(path: Path, content: Any) -> PublishedStatistics:
    content = _mapping(content)
    found, tables = _mapping(content.get("statistics")), _mapping(content.get("tables"))
    if any(key not in found for key in _KEYS):
        known = ", ".join(f"statistics.{key}" for key in _KEYS)
        raise ConfigError(f"{path}: no statistics of summaries; expected {known}")
    if not isinstance(content.get("paper"), str):
        raise ConfigError(f"{path}: paper: expected the paper's authors and name")
    for key in _KEYS[:3]:
        if not isinstance(found[key], str) or found[key] not in tables:
            hint = nearest(str(found[key]), tables)
            raise ConfigError(f"{path}: statistics.{key}={found[key]}: no such table.{hint}")
    texts, summaries, systems = (_rows(path, found[key], tables[found[key]]) for key in _KEYS[:3])
    for name in (name for row in (*summaries.values(), *systems.values()) for name in row):
        if name not in SHARES:
            hint = nearest(str(name), SHARES)
            raise ConfigError(f"{path}: '{name}' is not a statistic of summaries.{hint}")
    beside = _mapping(found["beside"])
    for unit, row in beside.items():
        where = f"{path}: statistics.beside.{unit}"
        if unit not in UNITS:
            raise ConfigError(f"{where}: unknown unit of tokens.{nearest(str(unit), UNITS)}")
        if not isinstance(row, str) or row not in summaries:
            raise ConfigError(
                f"{where}={row}: no such row of {found['summaries']}.{nearest(str(row), summaries)}"
            )
    return PublishedStatistics(content["paper"], texts, summaries, systems, beside)


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _rows(path: Path, name: str, table: Any) -> dict[str, dict[str, float | None]]:
    """Read the rows of a table, with its columns as keys."""
    columns, rows = _mapping(table).get("columns"), _mapping(table).get("rows")
    if not isinstance(columns, list) or not isinstance(rows, Mapping):
        raise ConfigError(f"{path}: tables.{name}: expected columns: [NAME, ...] and rows: {{...}}")
    for row, values in rows.items():
        where = f"{path}: tables.{name}.rows.{row}"
        if not isinstance(values, list) or len(values) != len(columns):
            size = len(values) if isinstance(values, list) else repr(values)
            raise ConfigError(
                f"{where}: expected a value for each of {len(columns)} columns: {size}"
            )
        for value in values:
            if value is not None and (
                isinstance(value, bool) or not isinstance(value, int | float)
            ):
                raise ConfigError(f"{where}: {value!r} is not a number (null: not printed)")
    return {str(row): dict(zip(columns, values, strict=True)) for row, values in rows.items()}
