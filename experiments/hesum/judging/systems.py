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
    texts = frame.texts(_article_column(system))
    pairs = zip(frame["guid"], texts, strict=True)
    return {guid: text for guid, text in pairs if text}


def metrics_of(system: SummarySystem) -> Mapping[str, Mapping[str, float]]:
    """Read every column of numbers, by guid."""
    frame = system.predictions
    used = ("guid", "gold", "prediction", _article_column(system))
    others = {name: cells for name, cells in frame.columns.items() if name not in used}
    return numbers(system.path, frame["guid"], others)


def _article_column(system: SummarySystem) -> str:
    """Find the column of the articles; empty without one."""
    for name in _ARTICLES:
        if name in system.predictions:
            return name
    return ""


def shared_speller(systems: Sequence[SummarySystem], language: str) -> Spell:
    """Make a function that unifies spellings as the systems' runs do."""
    normalizations = [system.unicode for system in systems if system.unicode]
    return speller(language, coarsest(normalizations))


def numbers(
    path: Path, guids: Sequence[str], columns: Mapping[str, Sequence[Any]]
) -> dict[str, dict[str, float]]:
    """Read the scores among the columns of a table.

    A score has numbers or empty cells only. Columns with row numbers or document names are not
    scores.

    Args:
        path: the table. Texts are parsed as numbers in CSV only, where every cell is text.
        guids: of the rows.
        columns: cells by column.

    Returns:
        Finite numbers by guid and column.
    """
    scores: dict[str, dict[str, float]] = {guid: {} for guid in guids}
    is_csv = table_format(path) in (".csv", ".tsv")
    for column, cells in columns.items():
        if column in _NO_METRICS:
            continue
        if not is_csv and any(isinstance(cell, str) for cell in cells):
            continue

        values = [read_number(cell) for cell in cells]
        if None in values:
            continue
        for guid, value in zip(guids, values, strict=True):
            if value is not None and math.isfinite(value):
                scores[guid][column] = value
    return scores


def read_number(cell: Any) -> float | None:
    """Read one cell: NaN for an empty one, None for anything but a number."""
    if is_missing(cell):
        return math.nan
    if isinstance(cell, bool) or not isinstance(cell, str | int | float):
        return None
    try:
        return float(cell)
    except (ValueError, OverflowError):
        return None
