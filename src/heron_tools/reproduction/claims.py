"""The papers' arithmetic and prose, recomputed from their published numbers: `heron claims`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

from heron.base.cells import Table, to_markdown
from heron.base.errors import ConfigError
from heron.base.files import read_yaml, write_file, write_json
from heron.base.terminal import print_lines, print_tables
from heron.config.constraints import OneOf
from heron.config.parsing import parse_options
from heron.results import CLAIMS
from heron_tools.reproduction.published import (
    PublishedPart,
    find_published,
    published_cells,
    published_value,
)

HOLDS = "holds"
FAILS = "does not hold"
OPEN = "cannot be decided"
_COLUMNS = ("claim", "where", "the paper says", "recomputed", "verdict", "calculation")


@dataclass(frozen=True, slots=True)
class Claim:
    """One statement of a paper, recomputed from its own numbers."""

    name: str  # such as `total`, unique in its paper
    where: str  # section, table or figure
    printed: str  # the statement, in short
    value: float | None  # the calculation's result; None: not a number
    calculation: str  # the formula with its numbers
    holds: bool | None  # None: cannot be decided from published numbers

    @property
    def verdict(self) -> str:
        """The verdict as text."""
        return {True: HOLDS, False: FAILS, None: OPEN}[self.holds]


class Published:
    """A paper's published numbers, by the names of table, row and column."""

    def __init__(self, paper: str):
        path = find_published(paper)
        if path is None:
            raise ConfigError(f"experiments/{paper} has no published.yaml")
        self._tables: PublishedPart = read_yaml(path)["tables"]

    def __call__(self, table: str, *names: str, printed: bool = False) -> float:
        """Find a number, corrected unless `printed`; fractions from 0 to 1, or counts."""
        cell = dict(published_cells(self._tables[table]))[names]
        if printed and isinstance(cell, Mapping):
            return float(cell["printed"])
        return float(published_value(cell))

    def names(self, table: str, *rows: str) -> list[str]:
        """List the names of a table's rows, or of those within `rows`."""
        content = self._tables[table]["rows"]
        for row in rows:
            content = content[row]
        return list(content)


def whole(share: float, rows: int, decimals: int) -> bool:
    """Tell whether a number of rows gives `share`, rounded or truncated to `decimals`.

    Args:
        share: as printed, a fraction.
        rows: number of all rows.
        decimals: of the printed fraction.
    """
    unit = 10**decimals
    for count in (math.floor(share * rows), math.ceil(share * rows)):
        scaled = count / rows * unit
        for last_digit in (round(scaled), math.floor(scaled)):
            if abs(last_digit / unit - share) < 1e-9:
                return True
    return False


def f1_range(precision: float, recall: float, half: float, rows: int = 0) -> tuple[float, float]:
    """Compute the lowest and highest F1 that a rounded precision and recall allow.

    Args:
        precision, recall: as printed, fractions.
        half: half a unit of the last printed digit.
        rows: of the class, if known: recall times rows must be an integer. If none fits, the
            lowest F1 is above the highest.
    """
    low = recall - half
    high = recall + half
    if rows:
        low = math.ceil(low * rows) / rows
        high = math.floor(high * rows) / rows
    lowest = _f1(max(precision - half, 0.0), max(low, 0.0))
    return lowest, _f1(precision + half, high)


def _f1(precision: float, recall: float) -> float:
    total = precision + recall
    if not total:
        return 0.0
    return 2 * precision * recall / total


def claims_table(paper: str, claims: Sequence[Claim]) -> Table:
    """Lay out claims, with the number of those that do not hold in the title."""
    rows = []
    for claim in claims:
        row = (
            claim.name,
            claim.where,
            claim.printed,
            None if claim.value is None else _number(claim.value),
            claim.verdict,
            claim.calculation,
        )
        rows.append(row)
    failed = sum(claim.holds is False for claim in claims)
    title = f"{paper}: {len(claims)} claims, {failed} do not hold"
    return Table(title, _COLUMNS, rows)


def _number(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) else f"{value:.4g}"


VERDICTS = {"holds": HOLDS, "failed": FAILS, "open": OPEN}


@dataclass
class ClaimsOptions:
    """Options of `heron claims`."""

    paper: str = ""  # empty: all
    only: Annotated[str, OneOf("", *VERDICTS)] = ""
    out: Path | None = None  # a folder for `claims.md` and `claims.json`


def run(arguments: Sequence[str]) -> int:
    """Print the claims of one paper or of all; returns the exit code."""
    words = [word if "=" in word else f"paper={word}" for word in arguments]
    options = parse_options(ClaimsOptions, words)
    papers = [options.paper] if options.paper else sorted(CLAIMS)
    verdict = VERDICTS.get(options.only)
    tables = []
    stored = {}
    for paper in papers:
        claims = []
        for claim in CLAIMS[paper]():
            if verdict in (None, claim.verdict):
                claims.append(claim)
        tables.append(claims_table(paper, claims))
        stored[paper] = [{**asdict(claim), "verdict": claim.verdict} for claim in claims]

    print_tables(tables)
    if options.out:
        text = "\n".join(map(to_markdown, tables))
        print_lines(write_file(options.out / "claims.md", text))
        path = options.out / "claims.json"
        write_json(path, stored)
        print_lines(path)
    return 0
