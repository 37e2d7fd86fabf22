"""Automatic scores of the judged summaries, to correlate with human ones.

Texts are compared without normalisation, as raters read them; `rouge1_heron` and the like unify
Unicode variants.

Source: HeSum, section 4.2 (ROUGE beside human scores).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from heron.languages import get_language
from heron.metrics.config import BertScoreConfig
from heron.metrics.summary import item_rouge
from heron.tasks.scoring import bertscore_signature, compute_bertscore
from heron_tools.analysis.systems import SummarySystem

from .correlation import Floats
from .study import Metrics
from .systems import metrics_of

WORDS = "words"  # length of a summary; a score that correlates with it may only measure length


def references(systems: Sequence[SummarySystem]) -> dict[str, str]:
    """Join the references of all files, by guid; the first file takes precedence."""
    golds: dict[str, str] = {}
    for system in reversed(systems):
        golds.update(system.references)
    return golds


def measure(
    systems: Sequence[SummarySystem],
    guids: Sequence[str],
    code: str,
    bertscore: BertScoreConfig | None = None,
) -> Metrics:
    """Collect numeric columns of files, and compute ROUGE (fractions) and length (words).

    Args:
        systems: all systems.
        guids: of the drawn articles.
        code: the language, ISO 639-1.
        bertscore: settings of BERTScore; None leaves it out.

    Returns:
        Scores by system, guid and name: `words`, and with a reference `rouge1`, `rouge2`, `rougeL`
        (as papers report them), `rouge1_heron` and so on, `bertscore_f1` and so on. A file's own
        column takes precedence.
    """
    golds = _references(systems, guids)
    measured: Metrics = {}
    for system in systems:
        texts = system.summaries
        own_golds = golds[system.name]
        pairs = [texts[guid] for guid in own_golds], list(own_golds.values())
        scores: dict[str, dict[str, float]] = {guid: {} for guid in guids}

        if own_golds:
            rouge = item_rouge(*pairs, get_language(code))
            _add_scores(scores, own_golds, rouge)
        if own_golds and bertscore:
            # Each system on its own, so that idf counts each reference once; encoder states are
            # cached.
            similarity = compute_bertscore(*pairs, bertscore).items
            _add_scores(scores, own_golds, similarity)

        columns = metrics_of(system)
        for guid in guids:
            scores[guid][WORDS] = float(len(texts[guid].split()))
            scores[guid].update(columns.get(guid, {}))
        measured[system.name] = scores
    return measured


def _add_scores(
    scores: Mapping[str, dict[str, float]], guids: Iterable[str], values: Mapping[str, Floats]
) -> None:
    """Add finite scores to those of each article.

    Args:
        scores: scores by guid and name, which are extended.
        guids: of N summaries.
        values: N scores by name.
    """
    for name, values_N in values.items():
        for guid, value in zip(guids, values_N.tolist(), strict=True):
            if math.isfinite(value):
                scores[guid][name] = value


def sign_measures(
    systems: Sequence[SummarySystem],
    guids: Sequence[str],
    code: str,
    bertscore: BertScoreConfig | None,
) -> dict[str, Any]:
    """Name the settings of BERTScore for the key.

    Args:
        systems: all systems.
        guids: of the drawn articles.
        bertscore: the settings; None if it is not computed.

    Returns:
        `{"bertscore": signature}`; signatures by system if they differ, because of idf over other
        references; empty without scores.
    """
    signatures = {}
    for name, golds in _references(systems, guids).items():
        signature = bertscore_signature(bertscore, list(golds.values()))
        if signature:
            signatures[name] = signature

    different = set(signatures.values())
    if not different:
        return {}
    if len(different) == 1:
        return {"bertscore": different.pop()}
    return {"bertscore": signatures}


def _references(
    systems: Sequence[SummarySystem], guids: Sequence[str]
) -> dict[str, dict[str, str]]:
    """Find the reference of each summary, by system and guid, first in its own file."""
    shared = references(systems)
    golds = {}
    for system in systems:
        by_guid = {**shared, **system.references}
        golds[system.name] = {guid: by_guid[guid] for guid in guids if guid in by_guid}
    return golds
