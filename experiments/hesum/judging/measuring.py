"""Automatic scores of the judged summaries, to correlate with human ones.

Texts are compared without normalisation, as raters read them; `rouge1_heron` and the like unify
Unicode variants.

Source: HeSum, section 4.2 (ROUGE beside human scores).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from heron.languages import get_language
from heron.metrics.config import BertScoreConfig
from heron.metrics.summary import item_rouge
from heron.tasks.summarization.scores import compute_asked, sign_asked
from heron_tools.analysis.systems import SummarySystem

from .systems import metrics_of

WORDS = "words"  # shows whether another score only measures length


def references(systems: Sequence[SummarySystem]) -> dict[str, str]:
    """Join the references of all files, by guid; the first file takes precedence."""
    return {guid: text for one in reversed(systems) for guid, text in one.references.items()}


def measure(
    systems: Sequence[SummarySystem],
    guids: Sequence[str],
    code: str,
    by_encoder: BertScoreConfig | None = None,
) -> dict[str, dict[str, Mapping[str, float]]]:
    """Collect numeric columns of files, and compute ROUGE (fractions) and length (words).

    Args:
        systems: all systems.
        guids: of the drawn articles.
        code: the language, ISO 639-1.
        by_encoder: settings of BERTScore; None leaves it out.

    Returns:
        Scores by system, guid and name: `words`, and with a reference `rouge1`, `rouge2`, `rougeL`
        (as papers report them), `rouge1_heron` and so on, `bertscore_f1` and so on. A file's own
        column takes precedence.
    """
    read = _references(systems, guids)
    written = {s.name: {guid: s.summaries[guid] for guid in guids} for s in systems}
    like = _by_encoder(written, read, by_encoder) if by_encoder else {}
    found: dict[str, dict[str, Mapping[str, float]]] = {}
    for system in systems:
        texts, golds, own = written[system.name], read[system.name], metrics_of(system)
        computed = _rouge({guid: texts[guid] for guid in golds}, golds, code)
        found[system.name] = {
            guid: {
                **computed.get(guid, {}),
                **like.get((system.name, guid), {}),
                WORDS: float(len(texts[guid].split())),
                **own.get(guid, {}),
            }
            for guid in guids
        }
    return found


def sign_measures(
    systems: Sequence[SummarySystem],
    guids: Sequence[str],
    code: str,
    by_encoder: BertScoreConfig | None,
) -> dict[str, Any]:
    """Name the settings of BERTScore for the key: `{"bertscore": signature}`.

    Signatures are by system if they differ, because of idf over other references. Empty without
    scores.
    """
    golds = _references(systems, guids)
    found = {name: sign_asked(by_encoder, list(mine.values())) for name, mine in golds.items()}
    signed = {name: signature for name, signature in found.items() if signature}
    if not signed:
        return {}
    same = len(set(signed.values())) == 1
    return {"bertscore": next(iter(signed.values())) if same else signed}


def _references(
    systems: Sequence[SummarySystem], guids: Sequence[str]
) -> dict[str, dict[str, str]]:
    """Find the reference of each summary, by system and guid, first in its own file."""
    known = references(systems)
    own = {system.name: {**known, **system.references} for system in systems}
    return {
        name: {guid: by_guid[guid] for guid in guids if guid in by_guid}
        for name, by_guid in own.items()
    }


def _rouge(
    summaries: Mapping[str, str], golds: Mapping[str, str], code: str
) -> dict[str, dict[str, float]]:
    if not golds:
        return {}
    found = item_rouge(list(summaries.values()), list(golds.values()), get_language(code))
    rows = zip(*(values.tolist() for values in found.values()), strict=True)
    return {guid: dict(zip(found, row, strict=True)) for guid, row in zip(golds, rows, strict=True)}


def _by_encoder(
    written: Mapping[str, Mapping[str, str]],
    golds: Mapping[str, Mapping[str, str]],
    config: BertScoreConfig,
) -> dict[tuple[str, str], dict[str, float]]:
    """Compute BERTScore of each system, by system and guid.

    Systems are scored separately, so that idf counts each reference once; encoder states are
    cached.
    """
    scores: dict[tuple[str, str], dict[str, float]] = {}
    for name, mine in golds.items():
        if not mine:
            continue
        texts = [written[name][guid] for guid in mine], list(mine.values())
        found = compute_asked(*texts, config)
        for row, guid in enumerate(mine):
            values = {score: float(values_N[row]) for score, values_N in found.items.items()}
            scores[name, guid] = {n: v for n, v in values.items() if math.isfinite(v)}
    return scores
