"""Scores of classes: the confusion matrix, scores computed from it, and each task's scores.

Every score takes confusion matrices `[..., C, C]` and returns `[...]` (or `[..., C]` per class), so
the same function scores one system and a thousand bootstrap resamples of it.

A ratio without a denominator is 0 (scikit-learn's `zero_division=0`): a class nobody predicted has
precision 0, a class nobody annotated recall 0. Averages run over all C classes, whether or not they
occur in the split, as scikit-learn's do when it is given `labels`.

Temporal relations also have scores that are relaxed about VAGUE. VAGUE means that the text does not
say which of two events came first; a system that names an order there has not clearly contradicted
the annotators. Papers call different things relaxed; heron computes three, named:

- `recode`: where gold is VAGUE, gold becomes the prediction; then macro and weighted F1 over all
  classes. A forgiven row is a true positive of the predicted class, and VAGUE's recall is 1.
- `drop`: rows whose gold is VAGUE are left out; then macro and weighted F1 over the other classes.
  On the rows that stay, predicting VAGUE misses the gold class.
- `matres_micro`: VAGUE counts as "no relation"; precision, recall and F1 of all other predictions,
  pooled. It forgives nothing, and does not reward finding VAGUE.

Legend: N rows, C classes, G groups of rows. Matrix rows are gold labels, columns predictions.
Source: Yanko, Pariente and Bar, Temporal Relation Classification in Hebrew ("ignoring mistakes of
non-VAGUE predictions on VAGUE samples"), and its released evaluation, which is `recode`;
Ning et al. 2018 (MATRES) for `matres_micro`.
Deviates: the paper's text can be read as `drop`; only `recode` agrees with its code and with its
Limitations section, which calls such rows true positives.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from heron.base.errors import ConfigError, DataError, Problem, nearest
from heron.config.registries import TASKS
from heron.metrics import intervals

Counts = npt.NDArray[np.int64]
Fractions = npt.NDArray[np.float64]
Score = Callable[[npt.NDArray[Any]], Fractions]  # of sums over rows, [..., X] to [...]
Headline = Callable[[Counts], dict[str, Fractions]]  # scores of matrices by name

VAGUE = "VAGUE"
RELATIONS = ("BEFORE", "AFTER", "EQUAL", VAGUE)
MODES = ("recode", "drop", "matres_micro")


def confusion_matrix(
    gold_N: Sequence[str], prediction_N: Sequence[str], classes: Sequence[str]
) -> Counts:
    """Count the rows of each gold label and prediction, int64 `[C, C]`.

    Raises:
        DataError: unequal lengths, or labels that are not among `classes`.
    """
    return confusion_matrices(gold_N, prediction_N, classes, np.zeros(len(gold_N), np.int64))[0]


def confusion_matrices(
    gold_N: Sequence[str], prediction_N: Sequence[str], classes: Sequence[str], group_N: Counts
) -> Counts:
    """Count each group of rows separately; groups are numbered from 0.

    Returns:
        int64 `[max(G, 1), C, C]`; the sum over groups is the split's confusion matrix.

    Raises:
        DataError: as `confusion_matrix`.
    """
    if len(gold_N) != len(prediction_N):
        what = f"{len(gold_N)} gold labels but {len(prediction_N)} predictions"
        raise DataError(Problem("scores", what, "one prediction for each gold label"))
    size = len(classes)
    problems: list[Problem] = []
    gold_ids = _class_ids(gold_N, classes, "gold label", problems)
    prediction_ids = _class_ids(prediction_N, classes, "prediction", problems)
    if problems:
        raise DataError(problems)
    groups = int(group_N.max(initial=0)) + 1
    cells = (group_N * size + gold_ids) * size + prediction_ids
    return np.bincount(cells, minlength=groups * size * size).reshape(groups, size, size)


def _class_ids(
    labels: Sequence[str], classes: Sequence[str], kind: str, problems: list[Problem]
) -> Counts:
    """Number the labels; unknown ones are added to `problems`."""
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
    return _ratio(matrix.sum(-2), matrix.sum((-2, -1))[..., None])


def precision(matrix: Counts) -> Fractions:
    """Precision of each class."""
    return _ratio(_hits(matrix), matrix.sum(-2))


def recall(matrix: Counts) -> Fractions:
    """Recall of each class."""
    return _ratio(_hits(matrix), matrix.sum(-1))


def f1(matrix: Counts) -> Fractions:
    """F1 of each class."""
    return _ratio(2 * _hits(matrix), matrix.sum(-1) + matrix.sum(-2))


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


def _ratio(numerator: npt.NDArray, denominator: npt.NDArray) -> Fractions:
    # Where a denominator is 0 its numerator is too, and 0 / 1 is the 0 we want.
    return numerator / np.maximum(denominator, 1)


_OF_ANY_TASK: dict[str, Score] = {
    "accuracy": accuracy,
    "macro_f1": macro_f1,
    "weighted_f1": weighted_f1,
}
_PER_CLASS = {
    "precision": precision,
    "recall": recall,
    "f1": f1,
    "support": support,
    "predicted": predicted,
}


def _plain_scores(matrix: Counts) -> dict[str, Fractions]:
    return {name: score(matrix) for name, score in _OF_ANY_TASK.items()}


def _nli_scores(matrix: Counts) -> dict[str, Fractions]:
    """Add accuracy under the name `micro_f1`: RoNLI prints it so, LCHAIM as accuracy."""
    return {**_plain_scores(matrix), "micro_f1": accuracy(matrix)}


def _relation_scores(matrix: Counts, vague: int, relaxed: str) -> dict[str, Fractions]:
    """Compute the strict and all relaxed scores.

    Args:
        matrix: int64 `[..., C, C]`.
        vague: the class id of VAGUE.
        relaxed: the mode that `relaxed_macro_f1`, `relaxed_weighted_f1` (`relaxed_micro_f1` for
            `matres_micro`) stand for.
    """
    classes = np.arange(matrix.shape[-1])
    others = np.delete(classes, vague)
    dropped = matrix.copy()
    dropped[..., vague, :] = 0
    recoded = dropped.copy()
    recoded[..., classes, classes] += matrix[..., vague, :]
    by_mode = {
        "recode": {"macro": macro_f1(recoded), "weighted": weighted_f1(recoded)},
        # No row of VAGUE is left, so its weight is 0: only the plain mean has to leave it out.
        "drop": {"macro": f1(dropped)[..., others].mean(-1), "weighted": weighted_f1(dropped)},
        "matres": {"micro": micro_f1(matrix, others.tolist())},
    }
    chosen = by_mode[relaxed.removesuffix("_micro")]
    return {
        **_plain_scores(matrix),
        **{f"relaxed_{average}_f1": score for average, score in chosen.items()},
        **{
            f"relaxed_{mode}_{average}_f1": score
            for mode, averages in by_mode.items()
            for average, score in averages.items()
        },
    }


def classification_headline(classes: Sequence[str], relaxed: str) -> Headline:
    """Choose the headline scores of a task that names none of its own."""
    return _plain_scores


def nli_headline(classes: Sequence[str], relaxed: str) -> Headline:
    """Choose the headline scores of natural language inference."""
    return _nli_scores


def relation_headline(classes: Sequence[str], relaxed: str) -> Headline:
    """Choose the headline scores of relations; without VAGUE, those of any classification."""
    if VAGUE not in classes:
        return _plain_scores
    return partial(_relation_scores, vague=list(classes).index(VAGUE), relaxed=relaxed)


def headline(task: str, classes: Sequence[str], relaxed: str = "recode") -> Headline:
    """Find a task's headline scores, as a function of confusion matrices `[..., C, C]`.

    Args:
        task: the name of a task with classes, perhaps a fork's.
        classes: class names, in the matrices' order.
        relaxed: what `relaxed_*` stands for, one of `MODES`.

    Raises:
        ConfigError: an unknown task or mode.
    """
    rules = TASKS[task]
    if relaxed not in MODES:
        raise ConfigError(f"unknown mode relaxed={relaxed}.{nearest(relaxed, MODES)}")
    return rules.headline(classes, relaxed)


def score_function(
    metric: str, classes: Sequence[str], *, task: str = "classification", relaxed: str = "recode"
) -> Score:
    """Find a score as a function of confusion matrices, `[..., C, C]` to `[...]`.

    Args:
        metric: `macro_f1`, `micro_f1` (equal to `accuracy`), `weighted_f1`, or another headline
            score of the task (`relaxed_macro_f1`).
        classes, task, relaxed: as in `headline`.

    Raises:
        ConfigError: an unknown metric, task or mode.
    """
    plain = {**_OF_ANY_TASK, "micro_f1": accuracy}
    scores = headline(task, classes, relaxed)
    if metric in plain:
        return plain[metric]
    names = scores(np.zeros((len(classes), len(classes)), dtype=np.int64))
    if metric not in names:
        hint = nearest(metric, [*plain, *names], listed=True)
        raise ConfigError(f"metric={metric}: no such score.{hint}")
    return lambda matrix: scores(matrix)[metric]


def score_matrix(
    task: str, matrix_CC: Counts, classes: Sequence[str], *, relaxed: str = "recode"
) -> dict[str, float]:
    """Compute every score of one split from its confusion matrix.

    Returns:
        Fractions from 0 to 1: the headline scores, then for each class `precision/<class>`,
        `recall/<class>`, `f1/<class>`, `support/<class>` (a count) and `predicted/<class>`, the
        share of rows predicted as it. All 0 for an empty split.

    Raises:
        ConfigError: an unknown task or mode.
    """
    scores = headline(task, classes, relaxed)(matrix_CC)
    for name, score in _PER_CLASS.items():
        values_C = score(matrix_CC)
        scores |= {f"{name}/{label}": value for label, value in zip(classes, values_C, strict=True)}
    return {name: value.item() for name, value in scores.items()}


def score_task(
    task: str,
    gold: Sequence[str],
    prediction: Sequence[str],
    labels: Sequence[str],
    *,
    relaxed: str = "recode",
) -> dict[str, float]:
    """Compute every score of N rows, as `score_matrix`; `labels` are all class names.

    Raises:
        ConfigError: an unknown task or mode.
        DataError: unequal lengths, or labels that are not among `labels`.
    """
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
    """Compute 95 % bootstrap intervals of the headline scores.

    Args:
        task, gold, prediction, labels, relaxed: as in `score_task`.
        groups: None draws rows; N group names (windows, documents) draw whole groups, the cluster
            bootstrap, for rows that are not independent.
        resamples: number of draws.
        seed: the same seed gives the same intervals, whatever the order of the rows.

    Returns:
        `<score>_low` and `<score>_high` of each headline score.

    Raises:
        ConfigError, DataError: as `score_task`.
    """
    scores = headline(task, labels, relaxed)
    if groups is None:
        matrix_CC = confusion_matrix(gold, prediction, labels)
        matrix_RCC = intervals.resample_rows(matrix_CC, resamples, seed)
    else:
        _, group_N = np.unique(np.asarray(groups), return_inverse=True)
        matrix_GCC = confusion_matrices(gold, prediction, labels, group_N)
        matrix_RCC = intervals.resample_groups(matrix_GCC, resamples, seed)
    return intervals.percentile_intervals(scores(matrix_RCC))
