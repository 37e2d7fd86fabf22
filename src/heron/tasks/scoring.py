"""How labels and texts are scored: one function each, for runs and for `heron score`.

Shape suffixes: N rows, C classes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from heron.languages.language import Language
from heron.metrics.calibration import TOLERANCE, calibration_scores
from heron.metrics.classification import bootstrap_intervals, score_task
from heron.metrics.intervals import score_intervals
from heron.metrics.span import mean_scores
from heron.tasks.task import TextScores

if TYPE_CHECKING:  # start-up time
    from heron.metrics.bertscore import BertScores


def score_classes(
    task: str,
    golds: Sequence[str],
    predicted: Sequence[str],
    labels: Sequence[str],
    *,
    relaxed: str = "recode",
    probabilities_NC: np.ndarray | None = None,
    classes: Sequence[str] = (),
    tolerance: float = TOLERANCE,
    groups: Sequence[str] | None,
    resamples: int,
    seed: int = 0,
) -> dict[str, float]:
    """Score N predicted labels: headline scores, calibration and 95 % intervals.

    Args:
        task, golds, predicted, labels, relaxed: as in `score_task`.
        probabilities_NC: of every class; a row of NaN does not count. None: no calibration.
        classes: the columns' names, which include `labels`.
        tolerance: how far a row of probabilities may be from a sum of 1.
        groups: see `bootstrap_intervals`.
        resamples: of the bootstrap; 0 computes no intervals.
        seed: of the bootstrap.
    """
    scores = score_task(task, golds, predicted, labels, relaxed=relaxed)
    if probabilities_NC is not None:
        place = {name: column for column, name in enumerate(classes)}
        gold_N = np.array([place[gold] for gold in golds], dtype=np.int64)
        known_N = ~np.isnan(probabilities_NC).all(axis=1)
        scores |= calibration_scores(
            probabilities_NC[known_N], gold_N[known_N], tolerance=tolerance
        )
    if resamples:
        scores |= bootstrap_intervals(
            task,
            golds,
            predicted,
            labels,
            relaxed=relaxed,
            groups=groups,
            resamples=resamples,
            seed=seed,
        )
    return scores


def score_texts(
    kind: TextScores,
    texts: Sequence[str],
    golds: Sequence[Sequence[str]],
    *,
    language: Language,
    no_answer: bool | None = None,
    bertscores: BertScores | None = None,
    of_file: Mapping[str, float],
    groups: Sequence[str] | None,
    resamples: int,
    seed: int = 0,
) -> dict[str, float]:
    """Score N predicted texts: means over the texts, and 95 % intervals of them.

    Args:
        kind: of the task.
        texts: what is predicted.
        golds: the gold texts of each row.
        language: of the texts.
        no_answer: whether "no answer" can be right; None: if a gold says so.
        bertscores: of the texts, where BERTScore is computed.
        of_file: scores of the whole file, which are no means.
        groups: see `score_intervals`.
        resamples: of the bootstrap; 0 computes no intervals.
        seed: of the bootstrap.
    """
    items = kind.items(texts, golds, language, no_answer)
    scores = mean_scores(items)
    if bertscores is not None:
        items |= bertscores.known()
        scores |= bertscores.means()
    scores |= of_file
    if resamples:
        scores |= score_intervals(items, groups, resamples=resamples, seed=seed)
    return scores
