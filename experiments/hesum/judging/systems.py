"""Further data of a study's systems: articles, scores, a common spelling."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from heron.base.tables import is_missing, table_format
from heron.languages.unicode import Spell, coarsest, speller
from heron_tools.analysis.systems import SummarySystem

GOLD = "gold"  # the references as a system
_ARTICLES = ("text", "article", "document")
_NO_METRICS = frozenset(("group", "index", "line", "row", "seed", "document", "article_id"))


def articles_of(system: SummarySystem) -> dict[str, str]:
    """Read the articles by guid, if the file has them."""
    frame = system.predictions
    pairs = zip(frame["guid"], frame.texts(_article_column(system)), strict=True)
    return {guid: text for guid, text in pairs if text}


def metrics_of(system: SummarySystem) -> Mapping[str, Mapping[str, float]]:
    """Read every column of numbers, by guid."""
    columns = system.predictions.columns
    used = ("guid", "gold", "prediction", _article_column(system))
    others = {name: cells for name, cells in columns.items() if name not in used}
    return numbers(system.path, system.predictions["guid"], others)


def _article_column(system: SummarySystem) -> str:
    return next((name for name in _ARTICLES if name in system.predictions), "")


def shared_speller(systems: Sequence[SummarySystem], language: str) -> Spell:
    """Make a function that unifies spellings as the systems' runs do."""
    return speller(language, coarsest(one.unicode for one in systems if one.unicode))


def numbers(
    path: Path, guids: Sequence[str], columns: Mapping[str, Sequence[Any]]
) -> dict[str, dict[str, float]]:
    """Read the scores among the columns, by guid and column: those with numbers or empty cells.

    Columns with row numbers or document names are not scores. Texts are parsed as numbers in CSV
    only, where every cell is text.
    """
    found: dict[str, dict[str, float]] = {guid: {} for guid in guids}
    texts = table_format(path) in (".csv", ".tsv")
    for column, values in columns.items():
        if column in _NO_METRICS:
            continue
        if not texts and any(isinstance(value, str) for value in values):
            continue
        cells = [read_number(value) for value in values]
        if None in cells or all(math.isnan(value) for value in cells if value is not None):
            continue
        for guid, value in zip(guids, cells, strict=True):
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
