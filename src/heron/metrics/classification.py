"""Scores of classes: the confusion matrix, scores computed from it, and each task's scores.

Every score takes confusion matrices `[..., C, C]` and returns `[...]` (or `[..., C]` per class), so
the same function scores one system and a thousand bootstrap resamples of it.

A ratio without a denominator is 0 (scikit-learn's `zero_division=0`): a class nobody predicted has
precision 0, a class nobody annotated recall 0. Averages run over all C classes, whether or not they
occur in the split, as scikit-learn's do when it is given `labels`.

A row without a prediction (an empty one, such as an answer of a language model that names no class)
is wrong: it counts in an additional last column, `[..., C, C + 1]`.

Legend: N rows, C classes, G groups of rows. Matrix rows are gold labels, columns predictions.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from heron.base.errors import ConfigError, DataError, Problem, nearest
from heron.config.registries import TASKS

Counts = npt.NDArray[np.int64]
Fractions = npt.NDArray[np.float64]
Score = Callable[[npt.NDArray[Any]], Fractions]  # of sums over rows, [..., X] to [...]
Headline = Callable[[Counts], dict[str, Fractions]]  # scores of matrices by name

MODES = ("recode", "drop", "matres_micro")  # what a task may call relaxed


def confusion_matrix(
    gold_N: Sequence[str], prediction_N: Sequence[str], classes: Sequence[str]
) -> Counts:
    """Count the rows of each gold label and prediction, int64 `[C, C]`; raises as the next one."""
    return confusion_matrices(gold_N, prediction_N, classes, np.zeros(len(gold_N), np.int64))[0]


def confusion_matrices(
    gold_N: Sequence[str], prediction_N: Sequence[str], classes: Sequence[str], group_N: Counts
) -> Counts:
    """Count each group of rows separately, int64 `[max(G, 1), C, C]`; groups are numbered from 0.

    `[max(G, 1), C, C + 1]` where a prediction is empty.

    Raises:
        DataError: unequal lengths, or labels that are not among `classes`.
    """
    if len(gold_N) != len(prediction_N):
        what = f"{len(gold_N)} gold labels but {len(prediction_N)} predictions"
        raise DataError(Problem("scores", what, "one prediction for each gold label"))
    columns = [*classes, ""] if "" in prediction_N else classes
    size, width = len(classes), len(columns)
    problems: list[Problem] = []
    gold_ids = _class_ids(gold_N, classes, "gold label", problems)
    prediction_ids = _class_ids(prediction_N, columns, "prediction", problems)
    if problems:
        raise DataError(problems)
    groups = int(group_N.max(initial=0)) + 1
    cells = (group_N * size + gold_ids) * width + prediction_ids
    return np.bincount(cells, minlength=groups * size * width).reshape(groups, size, width)


def _class_ids(
    labels: Sequence[str], classes: Sequence[str], kind: str, problems: list[Problem]
) -> Counts:
    """Number the labels; add unknown ones to `problems`."""
    ids = {name: number for number, name in enumerate(classes)}
    allowed = f"allowed: {', '.join(classes)}"
    for row, label in enumerate(labels, 1):
        if label not in ids:
            what = f"unknown {kind} '{label}'.{nearest(str(label), classes)}"
            problems.append(Problem(f"row {row}", what, allowed))
    return np.fromiter((ids.get(label, 0) for label in labels), np.int64, len(labels))


def support(matrix: Counts) -> Counts:
    """Count the gold rows of each class."""
    return matrix.sum(-1)


def predicted(matrix: Counts) -> Fractions:
    """Share of all rows that were predicted as each class."""
    return _ratio(_columns(matrix), matrix.sum((-2, -1))[..., None])


def precision(matrix: Counts) -> Fractions:
    """Precision of each class."""
    return _ratio(_hits(matrix), _columns(matrix))


def recall(matrix: Counts) -> Fractions:
    """Recall of each class."""
    return _ratio(_hits(matrix), matrix.sum(-1))


def f1(matrix: Counts) -> Fractions:
    """F1 of each class."""
    return _ratio(2 * _hits(matrix), matrix.sum(-1) + _columns(matrix))


def accuracy(matrix: Counts) -> Fractions:
    """Fraction of rows predicted right; over all classes this is also the micro F1."""
    return _ratio(_hits(matrix).sum(-1), matrix.sum((-2, -1)))


def macro_f1(matrix: Counts) -> Fractions:
    """Mean F1 over classes, unweighted."""
    return f1(matrix).mean(-1)


def weighted_f1(matrix: Counts) -> Fractions:
    """Mean F1 over classes, weighted by support."""
    return _ratio((f1(matrix) * support(matrix)).sum(-1), support(matrix).sum(-1))


def micro_f1(matrix: Counts, among: Sequence[int]) -> Fractions:
    """F1 of the pooled decisions about the classes `among`; the others mean "none of these"."""
    chosen = list(among)
    columns, rows = matrix[..., chosen].sum((-2, -1)), matrix[..., chosen, :].sum((-2, -1))
    return _ratio(2 * _hits(matrix)[..., chosen].sum(-1), columns + rows)


def _hits(matrix: Counts) -> Counts:
    return np.diagonal(matrix, axis1=-2, axis2=-1)


def _columns(matrix: Counts) -> Counts:
    return matrix.sum(-2)[..., : matrix.shape[-2]]


def _ratio(numerator: npt.NDArray, denominator: npt.NDArray) -> Fractions:
    # Where a denominator is 0 its numerator is too, and 0 / 1 is the 0 we want.
    return numerator / np.maximum(denominator, 1)


PLAIN_SCORES: dict[str, Score] = {s.__name__: s for s in (accuracy, macro_f1, weighted_f1)}


def plain_scores(matrix: Counts) -> dict[str, Fractions]:
    """Compute the headline scores that every task with classes has."""
    return {name: score(matrix) for name, score in PLAIN_SCORES.items()}


def plain_headline(_classes: Sequence[str], _relaxed: str) -> Headline:
    """Choose the headline scores of a task that names none of its own."""
    return plain_scores


def headline(task: str, classes: Sequence[str], relaxed: str = "recode") -> Headline:
    """Find the headline scores of a task with classes, as a function of confusion matrices.

    `relaxed`, one of `MODES`, is what `relaxed_*` stands for.

    Raises:
        ConfigError: an unknown task or mode.
    """
    rules = TASKS[task]
    if relaxed not in MODES:
        raise ConfigError(f"unknown mode relaxed={relaxed}.{nearest(relaxed, MODES)}")
    return rules.headline(classes, relaxed)


def score_matrix(
    task: str, matrix_CC: Counts, classes: Sequence[str], *, relaxed: str = "recode"
) -> dict[str, float]:
    """Compute every score of one split from its confusion matrix.

    Returns:
        Fractions from 0 to 1: the headline scores, then for each class `precision/<class>`,
        `recall/<class>`, `f1/<class>`, `support/<class>` (a count) and `predicted/<class>`, the
        share of rows predicted as it. All 0 for an empty split.

    Raises:
        ConfigError: as `headline`.
    """
    scores = headline(task, classes, relaxed)(matrix_CC)
    for score in (precision, recall, f1, support, predicted):
        values_C = zip(classes, score(matrix_CC), strict=True)
        scores |= {f"{score.__name__}/{label}": value for label, value in values_C}
    return {name: value.item() for name, value in scores.items()}


def score_task(
    task: str,
    gold: Sequence[str],
    prediction: Sequence[str],
    labels: Sequence[str],
    *,
    relaxed: str = "recode",
) -> dict[str, float]:
    """Compute every score of N rows, as `score_matrix`; raises as it and `confusion_matrix`."""
    return score_matrix(task, confusion_matrix(gold, prediction, labels), labels, relaxed=relaxed)


def bootstrap_intervals(
    task: str,
    gold: Sequence[str],
    prediction: Sequence[str],
    labels: Sequence[str],
    *,
    relaxed: str = "recode",
    groups: Sequence[str] | None = None,
    resamples: int = 1000,
    seed: int = 0,
) -> dict[str, float]:
    """Compute 95 % bootstrap intervals of the headline scores: `<score>_low`, `<score>_high`.

    Args:
        task, gold, prediction, labels, relaxed: as in `score_task`, which raises the same errors.
        groups: None draws rows; N group names (windows, documents) draw whole groups. One group
            tells nothing of others and gives no intervals.
        seed: the same seed gives the same intervals, whatever the order of the rows.
    """
    from heron.metrics import intervals  # start-up time: task.bootstrap=0 needs none

    scores = headline(task, labels, relaxed)
    if groups is None:
        matrix_CC = confusion_matrix(gold, prediction, labels)
        matrix_RCC = intervals.resample_rows(matrix_CC, resamples, seed)
    else:
        matrix_GCC = confusion_matrices(gold, prediction, labels, intervals.number_groups(groups))
        if len(matrix_GCC) == 1 and len(gold):
            return {}
        matrix_RCC = intervals.resample_groups(matrix_GCC, resamples, seed)
    return intervals.percentile_intervals(scores(matrix_RCC))
