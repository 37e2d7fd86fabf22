"""Automatic scores of the summaries that are judged, to be correlated with people's.

Source: HeSum, section 4.2 (ROUGE beside human scores).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from heron.bertscore_options import compute_asked
from heron.judging.systems import System
from heron.languages import get_language
from heron.metrics.summary import item_rouge
from heron.schema import BertScoreConfig

WORDS = "words"  # a score that is nothing but length is told apart by it


def references(systems: Sequence[System]) -> dict[str, str]:
    """Join the references of all files, by guid; the first file's win."""
    return {guid: text for one in reversed(systems) for guid, text in one.references.items()}


def measure(
    systems: Sequence[System],
    guids: Sequence[str],
    code: str,
    by_encoder: BertScoreConfig | None = None,
) -> dict[str, dict[str, Mapping[str, float]]]:
    """Collect the numbers that files have, and compute ROUGE (fractions) and length (words).

    Args:
        systems: all of them.
        guids: of the articles that were drawn.
        code: the language, ISO 639-1.
        by_encoder: how BERTScore is to be computed as well.

    Returns:
        Scores by system, guid and name: `rouge1`, `rouge2`, `rougeL` (as papers report them),
        `rouge1_heron` and so on where there is a reference; `words`; `bertscore_f1` and so on, but
        not for pairs that it leaves out. A file's own column wins.
    """
    known = references(systems)
    found: dict[str, dict[str, Mapping[str, float]]] = {}
    own = {s.name: {guid: {**known, **s.references}.get(guid) for guid in guids} for s in systems}
    read = {
        name: {guid: text for guid, text in by_guid.items() if text is not None}
        for name, by_guid in own.items()
    }
    like = _by_encoder(systems, read, by_encoder) if by_encoder else {}
    for system in systems:
        golds = read[system.name]
        computed = _rouge({guid: system.summaries[guid] for guid in golds}, golds, code)
        found[system.name] = {
            guid: {
                **computed.get(guid, {}),
                **like.get((system.name, guid), {}),
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


def _by_encoder(
    systems: Sequence[System], golds: Mapping[str, Mapping[str, str]], config: BertScoreConfig
) -> dict[tuple[str, str], dict[str, float]]:
    """Compute BERTScore of each system, by system and guid.

    One by one, so that idf counts every reference once; the cache keeps their states.
    """
    scores: dict[tuple[str, str], dict[str, float]] = {}
    for system in systems:
        mine = golds[system.name]
        if not mine:
            continue
        texts = [system.summaries[guid] for guid in mine], list(mine.values())
        found = compute_asked(*texts, config)
        for row, guid in enumerate(mine):
            values = {name: float(values_N[row]) for name, values_N in found.items.items()}
            scores[system.name, guid] = {n: v for n, v in values.items() if math.isfinite(v)}
    return scores
