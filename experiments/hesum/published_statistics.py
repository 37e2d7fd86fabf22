"""A paper's statistics of articles and summaries, shown beside measured ones.

The numbers come from `experiments/<paper>/published.yaml`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from heron.base.cells import Cell, Formatted, Row, Table
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
Rows = list[Row]


@dataclass(frozen=True, slots=True)
class PublishedStatistics:
    """A paper's numbers: fractions, counts and lengths; None: not printed.

    `heron_tools.statistics.summaries` shows them beside the numbers of a data set.

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
        """Put the paper's rows before the measured ones."""
        rows: Rows = []
        for name, printed in self.texts.items():
            cells = [_as_printed(printed.get(key)) for key in TEXTS]
            rows.append((f"{name}, paper", *cells))
        return replace(table, rows=(*rows, *table.rows))

    def with_shares(self, table: Table, measured: Mapping[str, Mapping[str, Shares]]) -> Table:
        """Put the paper's rows first, and a row of differences below each unit.

        Args:
            table: rows of names and units of tokens.
            measured: the shares of these rows, by name and unit.
        """
        rows = _rows_of(self.summaries)
        for row in table.rows:
            rows.append((*row, None))

            name = str(row[0])
            unit = str(row[1])
            if unit not in self.beside:
                continue
            shares = measured[name].get(unit)
            if shares:
                rows.append(self._difference(shares, self.beside[unit]))

        inside = "inside: how many of its numbers lie in our intervals."
        note = f"{table.note} Paper: {self.paper}; {inside}"
        return Table(table.title, (*table.columns, "inside"), rows, note)

    def with_systems(self, table: Table) -> Table:
        """Put the paper's rows of systems before the measured ones."""
        return replace(table, rows=(*_rows_of(self.systems), *table.rows))

    def _difference(self, shares: Shares, row: str) -> tuple[Cell, ...]:
        """Subtract a row of the paper from measured shares.

        Returns:
            A row of the table: the differences, and how many of the paper's numbers lie in the
            measured intervals.
        """
        printed_row = self.summaries[row]
        cells: list[Cell] = []
        inside = 0
        compared = 0
        for key in SHARES:
            measured = shares.get(key)
            printed = printed_row.get(key)
            if measured is None or printed is None:
                cells.append(None)
                continue

            difference = measured.value - printed
            cells.append(Formatted(difference, "+.3f"))
            compared += 1
            if measured.low <= printed <= measured.high:
                inside += 1
        return ("", f"- {row}", None, *cells, f"{inside} of {compared}")

    def rank(self, ways: Sequence[Definition]) -> list[Definition]:
        """Compute each definition's distance from the paper, and sort by it.

        Returns:
            The nearest definition first; those that are not compared last.
        """
        compared = [self._compared(way) for way in ways]
        return sorted(compared, key=_distance)

    def _compared(self, way: Definition) -> Definition:
        """Add the mean and the largest distance from the paper's row of the unit."""
        if way.unit not in self.beside:
            return way

        row = self.beside[way.unit]
        distances = []
        for name, printed in self.summaries[row].items():
            measured = way.shares[name]
            # Summaries shorter than n have no n-grams, and a paper may leave a share out.
            if printed is not None and not math.isnan(measured):
                distances.append(abs(measured - printed))
        if not distances:
            return way._replace(row=row)

        mean = float(np.mean(distances))
        largest = max(distances)
        count = len(distances)
        return way._replace(row=row, mean_distance=mean, largest=largest, compared=count)

    def nearest(self, ranked: Mapping[str, Sequence[Definition]]) -> Table:
        """Show which definitions of tokens, counts and means are nearest to the paper.

        Args:
            ranked: by the name of a set, its definitions as `rank` sorts them.
        """
        rows: Rows = []
        counts: list[int] = []  # of compared shares
        for name, ways in ranked.items():
            by_row: dict[str, list[Definition]] = {}
            for way in ways:
                if way.row:
                    by_row.setdefault(way.row, []).append(way)
                    counts.append(way.compared)

            for row in sorted(by_row):
                for way in by_row[row][:_NEAREST]:
                    mean = _precise(way.mean_distance)
                    largest = _precise(way.largest)
                    rows.append((name, row, way.unit, way.counted, way.average, mean, largest))

        compared = str(max(counts, default=len(SHARES)))
        if len(set(counts)) > 1:
            compared = f"{min(counts)} to {compared}"
        note = (
            f"Over the shares that both have, {compared} of {len(SHARES)}, as fractions; the "
            f"{_NEAREST} nearest to each row of the paper, the files have them all. Marks: "
            "punctuation marks are tokens."
        )
        columns = ("texts", "paper", "tokens", "count", "mean over", "mean |Δ|", "largest |Δ|")
        return Table("Definitions nearest to the paper", columns, rows, note)


def _distance(way: Definition) -> float:
    if way.mean_distance is None:
        return math.inf
    return way.mean_distance


def _rows_of(printed: Printed) -> Rows:
    """Lay out printed shares as rows of a table of shares."""
    rows: Rows = []
    for name, values in printed.items():
        shares = [_precise(values.get(key)) for key in SHARES]
        rows.append((name, "paper", None, *shares, None))
    return rows


def _as_printed(value: float | None) -> Cell:
    if value is None or isinstance(value, int):
        return value
    return Formatted(value, "g")


def _precise(value: float | None) -> Cell:
    if value is None:
        return None
    return Formatted(value, ".4f")


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

    for file in all_published():
        content = read_yaml(file)
        statistics = content.get("statistics") or {}
        names = statistics.get("data") or ()
        if data in names:
            return _read(file, content)
    return None


def _read(path: Path, content: Any) -> PublishedStatistics:
    """Read the statistics of a published.yaml: the tables that its `statistics` name.

    Raises:
        ConfigError: the statistics, or a table that they name, are missing or not valid.
    """
    content = _mapping(content)
    statistics = _mapping(content.get("statistics"))
    if not statistics.keys() >= set(_KEYS):
        known = ", ".join(f"statistics.{key}" for key in _KEYS)
        raise ConfigError(f"{path}: no statistics of summaries; expected {known}")

    paper = content.get("paper")
    if not isinstance(paper, str):
        raise ConfigError(f"{path}: paper: expected the paper's authors and name")

    tables = _mapping(content.get("tables"))
    texts = _table(path, "texts", statistics, tables)
    summaries = _table(path, "summaries", statistics, tables)
    systems = _table(path, "systems", statistics, tables)

    for row in (*summaries.values(), *systems.values()):
        for name in row:
            if name not in SHARES:
                hint = nearest(str(name), SHARES)
                raise ConfigError(f"{path}: '{name}' is not a statistic of summaries.{hint}")

    beside = _mapping(statistics["beside"])
    for unit, beside_row in beside.items():
        where = f"{path}: statistics.beside.{unit}"
        if unit not in UNITS:
            raise ConfigError(f"{where}: unknown unit of tokens.{nearest(str(unit), UNITS)}")

        if not isinstance(beside_row, str) or beside_row not in summaries:
            hint = nearest(str(beside_row), summaries)
            table = statistics["summaries"]
            raise ConfigError(f"{where}={beside_row}: no such row of {table}.{hint}")

    return PublishedStatistics(paper, texts, summaries, systems, beside)


def _mapping(value: Any) -> Mapping[str, Any]:
    """Return a mapping, or an empty one in place of another value."""
    if isinstance(value, Mapping):
        return value
    return {}


def _table(
    path: Path, key: str, statistics: Mapping[str, Any], tables: Mapping[str, Any]
) -> dict[str, dict[str, float | None]]:
    """Read the numbers of the table that `statistics.<key>` names.

    Args:
        path: of the published.yaml, for messages.
        key: `texts`, `summaries` or `systems`.
        statistics: names of tables by key.
        tables: all tables of the file.

    Returns:
        By row and column, numbers, and None for what the paper does not print.

    Raises:
        ConfigError: there is no such table, or it has other cells than numbers.
    """
    name = statistics[key]
    if not isinstance(name, str) or name not in tables:
        hint = nearest(str(name), tables)
        raise ConfigError(f"{path}: statistics.{key}={name}: no such table.{hint}")

    table = _mapping(tables[name])
    columns = table.get("columns")
    rows = table.get("rows")
    if not isinstance(columns, list) or not isinstance(rows, Mapping):
        raise ConfigError(f"{path}: tables.{name}: expected columns: [NAME, ...] and rows: {{...}}")

    numbers = {}
    for row, values in rows.items():
        where = f"{path}: tables.{name}.rows.{row}"
        if not isinstance(values, list) or len(values) != len(columns):
            size = len(values) if isinstance(values, list) else repr(values)
            raise ConfigError(
                f"{where}: expected a value for each of {len(columns)} columns: {size}"
            )

        for value in values:
            is_number = isinstance(value, int | float) and not isinstance(value, bool)
            if value is not None and not is_number:
                raise ConfigError(f"{where}: {value!r} is not a number (null: not printed)")
        numbers[str(row)] = dict(zip(columns, values, strict=True))
    return numbers
