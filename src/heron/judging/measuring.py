"""Automatic scores of the summaries that are judged, to be correlated with people's.

Source: HeSum, section 4.2 (ROUGE beside human scores).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from heron.judging.systems import System
from heron.languages import get_language
from heron.metrics.summary import item_rouge

WORDS = "words"  # a score that is nothing but length is told apart by it


def references(systems: Sequence[System]) -> dict[str, str]:
    """Join the references of all files, by guid; the first file's win."""
    return {guid: text for one in reversed(systems) for guid, text in one.references.items()}


def measure(
    systems: Sequence[System], guids: Sequence[str], code: str
) -> dict[str, dict[str, Mapping[str, float]]]:
    """Collect the numbers that files have, and compute ROUGE (fractions) and length (words).

    Args:
        systems: all of them.
        guids: of the articles that were drawn.
        code: the language, ISO 639-1.

    Returns:
        Scores by system, guid and name: `rouge1`, `rouge2`, `rougeL` (as papers report them),
        `rouge1_heron` and so on where there is a reference; `words`. A file's own column wins.
    """
    known = references(systems)
    found: dict[str, dict[str, Mapping[str, float]]] = {}
    for system in systems:
        own = {guid: {**known, **system.references}.get(guid) for guid in guids}
        golds = {guid: text for guid, text in own.items() if text is not None}
        computed = _rouge({guid: system.summaries[guid] for guid in golds}, golds, code)
        found[system.name] = {
            guid: {
                **computed.get(guid, {}),
                WORDS: float(len(system.summaries[guid].split())),
                **system.metrics.get(guid, {}),
            }
            for guid in guids
        }
    return found


def _rouge(
    summaries: Mapping[str, str], golds: Mapping[str, str], code: str
) -> dict[str, dict[str, float]]:
    if not golds:
        return {}
    found = item_rouge(list(summaries.values()), list(golds.values()), get_language(code))
    rows = zip(*(values.tolist() for values in found.values()), strict=True)
    return {guid: dict(zip(found, row, strict=True)) for guid, row in zip(golds, rows, strict=True)}
