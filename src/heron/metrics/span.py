"""Scores of extractive question answering: exact match, token F1, and TLNLS.

A prediction is compared with each of a question's gold answers and keeps its best score. The
standard scores, `exact_match` and `f1`, are those of the official SQuAD evaluation; a language's
own come beside them (`he_f1`; see `heron.metrics.span_profiles`), and so does `tlnls`, which gives
credit for a word of which only the prefix is wrong (כנסת for הכנסת: F1 0, TLNLS .8).

Where data have unanswerable questions, SQuAD 2.0's rules hold: an empty prediction is right for
them (1) and wrong for all others (0). Without, the rules of 1.1 do. They also differ where nothing
is left of both answers after normalisation: F1 is then 0 in 1.1 and 1 in 2.0.

Legend: N questions, G groups of them, R resamples, S scores.
Source: Rajpurkar et al. 2016 and 2018 and their evaluation scripts (1.1 and 2.0); Cohen et al. 2023
(HeQ) for TLNLS.
Deviates: fractions, where the scripts print percent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from heron.base.errors import DataError, Problem
from heron.metrics.span_pairs import Floats, overlap_scores, pair_up, tlnls
from heron.metrics.span_profiles import SQUAD, Profile


def item_scores(
    predictions: Sequence[str],
    golds: Sequence[Sequence[str]],
    profiles: Sequence[Profile] = (),
    *,
    no_answer: bool | None = None,
) -> dict[str, Floats]:
    """Score each question.

    Args:
        predictions: N answers, spelt as in the text; empty for no answer.
        golds: N lists of right answers; an empty list where the question has none.
        profiles: language profiles whose exact match and F1 come beside the standard ones.
        no_answer: whether SQuAD 2.0's rules hold; None: where any question has no gold. State it
            for parts of a split, which may happen to have none.

    Returns:
        float64 `[N]`, fractions: `exact_match`, `f1`, each profile's `<name>_exact_match` and
        `<name>_f1`, and `tlnls`. By SQuAD 2.0's rules also `answerable_<score>` for each of them,
        NaN where the question has no gold, and `no_answer_accuracy`, NaN where it has one.

    Raises:
        DataError: unequal lengths, or a question without a gold while `no_answer` is False.
    """
    _check(predictions, golds, no_answer)
    answerable_N = np.array([len(answers) > 0 for answers in golds], dtype=bool)
    squad_2 = not answerable_N.all() if no_answer is None else no_answer
    pairs = pair_up(predictions, golds, squad_2=bool(squad_2))
    standard = SQUAD.tokens(pairs.texts)
    scores: dict[str, Floats] = {}
    for profile in (SQUAD, *profiles):
        tokens = standard if profile is SQUAD else profile.tokens(pairs.texts)
        names = profile.score("exact_match"), profile.score("f1")
        scores |= zip(names, overlap_scores(tokens, pairs), strict=True)
    scores["tlnls"] = tlnls(standard, pairs)
    if not squad_2:
        return scores
    answerable = {
        f"answerable_{name}": np.where(answerable_N, score_N, np.nan)
        for name, score_N in scores.items()
    }
    right_N = np.where(answerable_N, np.nan, scores["exact_match"])
    return {**scores, **answerable, "no_answer_accuracy": right_N}


def span_scores(
    predictions: Sequence[str],
    golds: Sequence[Sequence[str]],
    profiles: Sequence[Profile] = (),
    *,
    no_answer: bool | None = None,
) -> dict[str, float]:
    """Score a split: the means of `item_scores`, whose arguments and errors these are.

    Returns:
        Fractions by name, in the same order; 0 where no question counts.
    """
    return mean_scores(item_scores(predictions, golds, profiles, no_answer=no_answer))


def mean_scores(items: Mapping[str, Floats]) -> dict[str, float]:
    """Take each score's mean over the questions that count (those that are not NaN)."""
    return {
        name: float(np.nanmean(score_N)) if not np.isnan(score_N).all() else 0.0
        for name, score_N in items.items()
    }


def _check(
    predictions: Sequence[str], golds: Sequence[Sequence[str]], no_answer: bool | None
) -> None:
    if len(predictions) != len(golds):
        what = f"{len(predictions)} predictions for {len(golds)} questions"
        raise DataError(Problem("span scores", what, "one prediction a question"))
    lacking = [number for number, answers in enumerate(golds, 1) if not answers]
    if lacking and no_answer is False:
        fix = "give one, or score with no_answer=True, by the rules of SQuAD 2.0"
        raise DataError([Problem(f"question {n}", "no gold answer", fix) for n in lacking])
