"""The confusion matrix, and the scores that are functions of it.

Every score takes matrices `[..., C, C]` and returns `[...]` (or `[..., C]` per class), so the same
line of code scores one system and a thousand bootstrap resamples of it.

Legend: N rows of a split, C classes, G groups of rows. Gold labels run down, predictions across.
A ratio without a denominator is 0 (scikit-learn's `zero_division=0`): a class nobody predicted has
precision 0, a class nobody annotated recall 0. Averages always run over all C classes, whether or
not they occur in the split, as scikit-learn's do when it is given `labels`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from heron.base.errors import DataError, Problem, nearest

Counts = npt.NDArray[np.int64]
Fractions = npt.NDArray[np.float64]


def confusion_matrix(
    gold_N: Sequence[str], prediction_N: Sequence[str], classes: Sequence[str]
) -> Counts:
    """Count how often each gold label met each prediction.

    Args:
        gold_N: class names.
        prediction_N: class names, row by row beside `gold_N`.
        classes: all class names, in the order of rows and columns.

    Returns:
        int64 `[C, C]`, rows gold, columns predictions.

    Raises:
        DataError: unequal lengths, or labels that are not among `classes`.
    """
    return confusion_matrices(gold_N, prediction_N, classes, np.zeros(len(gold_N), np.int64))[0]


def confusion_matrices(
    gold_N: Sequence[str], prediction_N: Sequence[str], classes: Sequence[str], group_N: Counts
) -> Counts:
    """Count as `confusion_matrix` does, each group of rows by itself.

    Args:
        gold_N: class names.
        prediction_N: class names.
        classes: all class names.
        group_N: for each row the number of its group, from 0 to G - 1.

    Returns:
        int64 `[max(G, 1), C, C]`; their sum is the confusion matrix of the split.

    Raises:
        DataError: as `confusion_matrix`.
    """
    if len(gold_N) != len(prediction_N):
        what = f"{len(gold_N)} gold labels but {len(prediction_N)} predictions"
        raise DataError(Problem("scores", what, "one prediction for each gold label"))
    size = len(classes)
    problems: list[Problem] = []
    gold_ids = _indices(gold_N, classes, "gold label", problems)
    prediction_ids = _indices(prediction_N, classes, "prediction", problems)
    if problems:
        raise DataError(problems)
    groups = int(group_N.max(initial=0)) + 1
    cells = (group_N * size + gold_ids) * size + prediction_ids
    return np.bincount(cells, minlength=groups * size * size).reshape(groups, size, size)


def support(matrix: Counts) -> Counts:
    """Count the gold rows of each class; `[..., C, C]` to `[..., C]`."""
    return matrix.sum(-1)


def predicted(matrix: Counts) -> Fractions:
    """Share of all rows that were predicted as each class; `[..., C, C]` to `[..., C]`."""
    return _ratio(matrix.sum(-2), matrix.sum((-2, -1))[..., None])


def precision(matrix: Counts) -> Fractions:
    """Of the rows predicted as a class, the fraction that are; `[..., C, C]` to `[..., C]`."""
    return _ratio(_hits(matrix), matrix.sum(-2))


def recall(matrix: Counts) -> Fractions:
    """Of the rows of a class, the fraction predicted as it; `[..., C, C]` to `[..., C]`."""
    return _ratio(_hits(matrix), matrix.sum(-1))


def f1(matrix: Counts) -> Fractions:
    """Harmonic mean of precision and recall of each class; `[..., C, C]` to `[..., C]`."""
    return _ratio(2 * _hits(matrix), matrix.sum(-1) + matrix.sum(-2))


def accuracy(matrix: Counts) -> Fractions:
    """Fraction of rows predicted right; over all classes this is also the micro F1."""
    return _ratio(_hits(matrix).sum(-1), matrix.sum((-2, -1)))


def macro_f1(matrix: Counts) -> Fractions:
    """Mean F1 over classes, each counting the same."""
    return f1(matrix).mean(-1)


def weighted_f1(matrix: Counts) -> Fractions:
    """Mean F1 over classes, each weighted by its support."""
    return _ratio((f1(matrix) * support(matrix)).sum(-1), support(matrix).sum(-1))


def micro_f1(matrix: Counts, among: Sequence[int]) -> Fractions:
    """F1 of the pooled decisions about some of the classes.

    Args:
        matrix: int64 `[..., C, C]`.
        among: the classes that count. The others mean "none of these": predicting one of them
            on a row of `among` lowers recall, predicting one of `among` on a row of theirs lowers
            precision.
    """
    chosen = list(among)
    columns, rows = matrix[..., chosen].sum((-2, -1)), matrix[..., chosen, :].sum((-2, -1))
    return _ratio(2 * _hits(matrix)[..., chosen].sum(-1), columns + rows)


def _hits(matrix: Counts) -> Counts:
    return np.diagonal(matrix, axis1=-2, axis2=-1)


def _ratio(numerator: npt.NDArray, denominator: npt.NDArray) -> Fractions:
    # Where a denominator is 0 its numerator is too, and 0 / 1 is the 0 we want.
    return numerator / np.maximum(denominator, 1)


def _indices(
    labels: Sequence[str], classes: Sequence[str], kind: str, problems: list[Problem]
) -> Counts:
    """Number the labels; those that are no class are added to `problems`."""
    numbers = {name: number for number, name in enumerate(classes)}
    allowed = f"allowed: {', '.join(classes)}"
    for row, label in enumerate(labels, 1):
        if label not in numbers:
            what = f"unknown {kind} '{label}'.{nearest(str(label), classes)}"
            problems.append(Problem(f"row {row}", what, allowed))
    return np.fromiter((numbers.get(label, 0) for label in labels), np.int64, len(labels))
