"""What a study needs of systems beside their summaries: articles, numbers, one spelling."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from heron.base.tables import is_missing, table_format
from heron.languages.spelling import Spell, coarsest, speller
from heron.results.systems import NAMES, SummarySystem

GOLD = "gold"  # the references as a system
_ARTICLES = ("text", "article", "document")
_NO_METRICS = frozenset(("group", "index", "line", "row", "seed", "document", "article_id"))


def articles_of(system: SummarySystem) -> dict[str, str]:
    """Read the articles by guid, where the file has them."""
    column = _first(system, _ARTICLES)
    found = {row.guid: row.text(column) for row in system.predictions.rows}
    return {guid: text for guid, text in found.items() if text}


def metrics_of(system: SummarySystem) -> Mapping[str, Mapping[str, float]]:
    """Read every column of numbers, by guid."""
    kinds = (NAMES.guid, NAMES.prediction, NAMES.gold, _ARTICLES)
    used = {_first(system, names) for names in kinds}
    others = [name for name in system.predictions.columns if name not in used]
    return numbers(system.path, {r.guid: r.cells for r in system.predictions.rows}, others)


def _first(system: SummarySystem, names: Sequence[str]) -> str:
    return next((name for name in names if name in system.predictions.columns), "")


def shared_speller(systems: Sequence[SummarySystem], language: str) -> Spell:
    """Make the function that unifies spellings as the runs among the systems do."""
    return speller(language, coarsest(one.unicode for one in systems if one.unicode))


def numbers(
    path: Path, rows: Mapping[str, Mapping[str, Any]], columns: Sequence[str]
) -> dict[str, dict[str, float]]:
    """Read the scores among the columns, by guid and column: those with numbers or empty cells.

    Columns that number rows or name documents are no scores. Texts count as numbers in CSV only,
    where every cell is text.
    """
    found: dict[str, dict[str, float]] = {guid: {} for guid in rows}
    texts = table_format(path) in (".csv", ".tsv")
    for column in columns:
        if column in _NO_METRICS:
            continue
        values = [row[column] for row in rows.values()]
        if not texts and any(isinstance(value, str) for value in values):
            continue
        cells = [read_number(value) for value in values]
        if None in cells or all(math.isnan(value) for value in cells if value is not None):
            continue
        for guid, value in zip(rows, cells, strict=True):
            if value is not None and math.isfinite(value):
                found[guid][column] = value
    return found


def read_number(value: Any) -> float | None:
    """Read one cell: NaN for an empty one, None for anything but a number."""
    if is_missing(value):
        return math.nan
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    try:
        return float(value)
    except (ValueError, OverflowError):
        return None
