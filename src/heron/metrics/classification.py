"""Scores of classes: the confusion matrix, scores computed from it, and each task's scores.

Every score takes confusion matrices `[..., C, C]` and returns `[...]` (or `[..., C]` per class), so
the same function scores one system and a thousand bootstrap resamples of it.

The precision, recall and F1 of a class are 0 without a denominator (scikit-learn's
`zero_division=0`). Macro averages run over the classes that occur among the gold labels or the
predictions, in a split as in a resample of it: a resample that lacks a rare class says nothing of
that class, and a right prediction of every row always has macro F1 1. A score of rows of which none
counts is NaN; a resample has no such score, and a split 0.

A row without a prediction (an empty one, such as an answer of a language model that names no class)
is wrong: it counts in an additional last column, `[..., C, C + 1]`.

Legend: N rows, C classes, G groups of rows, R resamples, K filled cells of groups, X cells of a
matrix. Its rows are gold labels, its columns predictions.
Source: scikit-learn's averages without `labels`; torchmetrics leaves out absent classes as well.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heron.base.errors import Problem, nearest, raise_all
from heron.data import TASKS
from heron.metrics import require_rows
from heron.metrics.arrays import Counts, Floats

Score = Callable[[Any], Floats]  # of sums over rows, [..., X], to [...]
Headline = Callable[[Any], dict[str, Floats]]  # scores of matrices by name


def confusion_matrix(
    gold_N: Sequence[str], prediction_N: Sequence[str], classes: Sequence[str]
) -> Counts:
    """Count the rows of each gold label and prediction.

    Args:
        gold_N: class names.
        prediction_N: class names; empty where a row has no prediction.
        classes: class names in the order of the matrix.

    Returns:
        int64 `[C, C]`; `[C, C + 1]` where a prediction is empty.

    Raises:
        DataError: unequal lengths, or labels that are not among `classes`.
    """
    gold_ids, prediction_ids, width = _ids(gold_N, prediction_N, classes)
    counts = np.bincount(gold_ids * width + prediction_ids, minlength=len(classes) * width)
    return counts.reshape(len(classes), width)


def _ids(
    gold_N: Sequence[str], prediction_N: Sequence[str], classes: Sequence[str]
) -> tuple[Counts, Counts, int]:
    """Map gold labels and predictions to ids; also count a matrix's columns."""
    require_rows("scores", gold_N, prediction_N)
    columns = list(classes)
    if "" in prediction_N:
        columns.append("")
    return _class_ids(gold_N, classes), _class_ids(prediction_N, columns), len(columns)


def _class_ids(labels: Sequence[str], classes: Sequence[str]) -> Counts:
    """Look up the number of each label; a DataError names each that is no class."""
    ids = {name: number for number, name in enumerate(classes)}
    problems = []
    for row, label in enumerate(labels, start=1):
        if label not in ids:
            what = f"unknown label '{label}'.{nearest(label, ids)}"
            problems.append(Problem(f"row {row}", what))
    raise_all(problems)
    return np.array([ids[label] for label in labels], dtype=np.int64)


def support(matrix: Counts) -> NDArray[Any]:
    """Count the gold rows of each class."""
    return matrix.sum(-1)


def predicted(matrix: Counts) -> Floats:
    """Share of all rows that were predicted as each class."""
    return _ratio(_columns(matrix), support(matrix).sum(-1)[..., None])


def precision(matrix: Counts) -> Floats:
    """Precision of each class."""
    return _ratio(_hits(matrix), _columns(matrix))


def recall(matrix: Counts) -> Floats:
    """Recall of each class."""
    return _ratio(_hits(matrix), support(matrix))


def f1(matrix: Counts) -> Floats:
    """F1 of each class."""
    return _ratio(2 * _hits(matrix), _decisions(matrix))


def accuracy(matrix: Counts) -> Floats:
    """Fraction of rows predicted right; over all classes this is also the micro F1."""
    return _average(_hits(matrix).sum(-1), support(matrix).sum(-1))


def macro_f1(matrix: Counts, among: Counts | slice = slice(None)) -> Floats:
    """Mean F1, unweighted, over the classes that occur; `among` limits them."""
    occurs = _decisions(matrix)[..., among] > 0
    return _average(f1(matrix)[..., among].sum(-1), occurs.sum(-1))


def weighted_f1(matrix: Counts) -> Floats:
    """Mean F1 over classes, weighted by support."""
    weight = support(matrix)
    return _average((f1(matrix) * weight).sum(-1), weight.sum(-1))


def micro_f1(matrix: Counts, among: Counts) -> Floats:
    """F1 of the pooled decisions about the classes `among`; the others mean "none of these"."""
    hits = _hits(matrix)[..., among]
    decisions = _decisions(matrix)[..., among]
    return _average(2 * hits.sum(-1), decisions.sum(-1))


def _hits(matrix: Counts) -> NDArray[Any]:
    return np.diagonal(matrix, axis1=-2, axis2=-1)


def _columns(matrix: Counts) -> NDArray[Any]:
    return matrix.sum(-2)[..., : matrix.shape[-2]]


def _decisions(matrix: Counts) -> NDArray[Any]:
    """Count each class's gold rows and its predictions."""
    return support(matrix) + _columns(matrix)


def _average(total: NDArray, count: NDArray) -> Floats:
    undefined = np.full(np.shape(count), np.nan)
    return np.divide(total, count, out=undefined, where=count > 0)[()]


def _ratio(numerator: NDArray, denominator: NDArray) -> Floats:
    # Where a denominator is 0 its numerator is too, and 0 / 1 is the 0 we want.
    return numerator / np.maximum(denominator, 1)


PLAIN_SCORES: dict[str, Score] = {s.__name__: s for s in (accuracy, macro_f1, weighted_f1)}


def plain_scores(matrix: Counts) -> dict[str, Floats]:
    """Compute the headline scores that every task with classes has."""
    return {name: score(matrix) for name, score in PLAIN_SCORES.items()}


def headline(task: str, classes: Sequence[str], relaxed: str = "recode") -> Headline:
    """Find the headline scores of a task with classes, as a function of confusion matrices.

    Args:
        task: its name.
        classes: class names in the order of the matrices.
        relaxed: the mode of `relaxed_*`: `recode`, `drop` or `matres_micro`.
    """
    rules = TASKS[task]
    if rules.headline is None:
        return plain_scores
    return rules.headline(classes, relaxed)


def score_matrix(
    task: str, matrix_CC: Counts, classes: Sequence[str], *, relaxed: str = "recode"
) -> dict[str, float]:
    """Compute every score of one split from its confusion matrix.

    Returns:
        Fractions from 0 to 1: the headline scores, then for each class `precision/<class>`,
        `recall/<class>`, `f1/<class>`, `support/<class>` (a count) and `predicted/<class>`, the
        share of rows predicted as it. All 0 for an empty split.
    """
    scores = headline(task, classes, relaxed)(matrix_CC)
    for score in (precision, recall, f1, support, predicted):
        for label, value in zip(classes, score(matrix_CC), strict=True):
            scores[f"{score.__name__}/{label}"] = value
    return {name: np.nan_to_num(value).item() for name, value in scores.items()}


def score_task(
    task: str,
    gold: Sequence[str],
    prediction: Sequence[str],
    labels: Sequence[str],
    *,
    relaxed: str = "recode",
) -> dict[str, float]:
    """Compute every score of N rows.

    Args:
        task: its name.
        gold, prediction: class names of the rows; an empty prediction is wrong.
        labels: class names, in their order.
        relaxed: see `headline`.

    Returns:
        As `score_matrix`.

    Raises:
        DataError: as `confusion_matrix`.
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
    """Compute 95 % bootstrap intervals of the headline scores: `<score>_low`, `<score>_high`.

    Args:
        task, gold, prediction, labels, relaxed: as in `score_task`, which raises the same errors.
        groups: None draws rows; N group names (windows, documents) draw whole groups. One group
            alone gives no intervals.
        seed: the same seed gives the same intervals, whatever the order of the rows.
    """
    from heron.metrics import intervals  # start-up time: task.bootstrap=0 needs none

    gold_N, prediction_N, width = _ids(gold, prediction, labels)
    rows = len(gold_N)
    classes = len(labels)
    numbers = classes * width  # of a matrix
    group_N = np.zeros_like(gold_N)
    if groups is not None:
        group_N = intervals.number_groups(groups)
        if rows and not group_N.any():
            return {}
    group_count = int(group_N.max(initial=0)) + 1

    # The filled cells of each group's matrix, and the last cell: with it, the number of empty cells
    # does not change the draws.
    cell_N = (gold_N * width + prediction_N) * group_count + group_N
    last_cell = numbers * group_count - 1
    cell_K, count_K = np.unique([*cell_N, last_cell], return_counts=True)
    count_K[-1] -= 1
    cell_X, first_X = np.unique(cell_K // group_count, return_index=True)

    scores = headline(task, labels, relaxed)
    random = np.random.default_rng(seed)
    scores_of: dict[str, list[Floats]] = {}
    for batch in intervals.batches(resamples, group_count + len(count_K) + numbers):
        draws = len(batch)
        if groups is None:  # one multinomial draw over the cells
            count_RK = random.multinomial(rows, count_K / max(rows, 1), draws)
        else:
            weight_RG = intervals.draw_groups(group_count, draws, random)
            count_RK = weight_RG[:, cell_K % group_count] * count_K
        matrix_RX = np.zeros((draws, numbers))
        matrix_RX[:, cell_X] = np.add.reduceat(count_RK, first_X, axis=1)
        for name, score_R in scores(matrix_RX.reshape(draws, classes, width)).items():
            scores_of.setdefault(name, []).append(score_R)
    merged = {name: np.concatenate(parts) for name, parts in scores_of.items()}
    return intervals.percentile_intervals(merged)
