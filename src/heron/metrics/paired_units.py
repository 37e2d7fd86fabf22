"""Two systems on the same rows, as the units that tests draw or swap whole, and what they add.

A score is a function of sums over rows: of confusion matrices (macro F1), or of a value and a one
for each row, whose ratio is the mean (token F1 of answers, ROUGE). Rows that add the same under
both systems are counted, not listed. With several runs (seeds) of a system, a row's kind is what
all of them predicted: it is drawn, or swapped, with all its runs.

Legend: N rows, U kinds of units (alike rows, or groups), K and J runs, M runs of both, C classes; X
the axes of what is summed, [C, C] for a confusion matrix, [2] for values and their number.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from heron.base.errors import DataError, Problem
from heron.metrics.confusion import Counts, Fractions

Score = Callable[[npt.NDArray[Any]], Fractions]  # of sums, [..., X] to [...]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class PairedUnits:
    """Two systems on the same rows, as the units that are drawn or swapped whole.

    Args:
        count_U: int64, how many units of each kind there are.
        first_UKX: float64, what one unit adds to the sums that each of A's runs is scored by.
        second_UJX: float64, the same of B's runs.
    """

    count_U: Counts
    first_UKX: Floats
    second_UJX: Floats

    def scores(self, score: Score) -> tuple[Fractions, Fractions]:
        """Compute the score of each of A's runs, `[K]`, and of B's, `[J]`."""
        first_K, second_J = (
            score(np.tensordot(self.count_U, unit, 1)) for unit in (self.first_UKX, self.second_UJX)
        )
        return first_K, second_J

    def difference(self, score: Score) -> float:
        """Compute A's mean score over its runs minus B's."""
        first_K, second_J = self.scores(score)
        return float(first_K.mean() - second_J.mean())


def paired_counts(
    gold_N: Counts,
    first_KN: Counts,
    second_JN: Counts,
    classes: int,
    group_N: npt.ArrayLike | None = None,
) -> PairedUnits:
    """Count what each unit adds to the confusion matrices of both systems.

    Args:
        gold_N: class ids from 0 to C - 1.
        first_KN: class ids that each run of A predicted; `[N]` is one run.
        second_JN: the same of B, for the same rows in the same order.
        classes: C.
        group_N: None makes each row a unit; else any labels of the groups that stay whole.

    Raises:
        DataError: unequal numbers of rows.
    """
    first_KN, second_JN = np.atleast_2d(first_KN), np.atleast_2d(second_JN)
    if {len(gold_N)} != {first_KN.shape[1], second_JN.shape[1]}:
        what = (
            f"{len(gold_N)} gold labels, {first_KN.shape[1]} and {second_JN.shape[1]} predictions"
        )
        raise _unequal(what)
    if group_N is None:
        columns = np.vstack([gold_N[None], first_KN, second_JN])
        cells, count_U = np.unique(columns, axis=1, return_counts=True)
        gold_N, first_KN, second_JN = np.split(cells, [1, 1 + len(first_KN)])
        gold_N, unit_N = gold_N[0], np.arange(cells.shape[1])
    else:
        unit_N, count_U = _groups(group_N)
    return PairedUnits(
        count_U,
        _matrices(unit_N, gold_N, first_KN, classes, len(count_U)),
        _matrices(unit_N, gold_N, second_JN, classes, len(count_U)),
    )


def paired_values(
    first_KN: npt.ArrayLike, second_JN: npt.ArrayLike, group_N: npt.ArrayLike | None = None
) -> PairedUnits:
    """Sum each unit's values under both systems; the score is then `mean_value`.

    Args:
        first_KN: a number for each row and run of A, such as an answer's F1; `[N]` is one run.
        second_JN: the same of B, for the same rows in the same order.
        group_N: None makes each row a unit; else any labels of the groups that stay whole. Groups
            of many rows then weigh more, as they do in the mean over rows.

    Raises:
        DataError: unequal numbers of rows, or a value that is not finite.
    """
    first_KN, second_JN = (
        np.atleast_2d(np.asarray(values, dtype=np.float64)) for values in (first_KN, second_JN)
    )
    if first_KN.shape[1] != second_JN.shape[1]:
        raise _unequal(f"{first_KN.shape[1]} and {second_JN.shape[1]} values")
    columns = np.vstack([first_KN, second_JN])
    if not np.isfinite(columns).all():
        what = f"{int((~np.isfinite(columns)).sum())} values are no finite numbers"
        raise DataError(Problem("scores", what, "leave out rows that have no value"))
    if group_N is None:
        columns, count_U = np.unique(columns, axis=1, return_counts=True)
        unit_N = np.arange(len(count_U))
    else:
        unit_N, count_U = _groups(group_N)
        # Sums are rounded, so the order of rows would show in the last digit.
        order = np.lexsort([*columns, unit_N])
        columns, unit_N = columns[:, order], unit_N[order]
    sum_UM = np.column_stack([np.bincount(unit_N, row, len(count_U)) for row in columns])
    rows_U1 = np.bincount(unit_N, minlength=len(count_U))[:, None]
    sums_UM2 = np.stack(np.broadcast_arrays(sum_UM, rows_U1), axis=-1).astype(np.float64)
    return PairedUnits(count_U, *np.split(sums_UM2, [len(first_KN)], axis=1))


def mean_value(sums: Counts) -> Fractions:
    """Divide sums of values by their number, `[..., 2]` to `[...]`: the score of a mean."""
    means: Fractions = sums[..., 0] / sums[..., 1]
    return means


def _groups(group_N: npt.ArrayLike) -> tuple[Counts, Counts]:
    """Number the groups: each row's, and one of each kind."""
    _, unit_N = np.unique(np.asarray(group_N), return_inverse=True)
    return unit_N, np.ones(unit_N.max(initial=-1) + 1, dtype=np.int64)


def _unequal(what: str) -> DataError:
    return DataError(Problem("scores", what, "both systems on the same rows"))


def _matrices(
    unit_N: Counts, gold_N: Counts, prediction_KN: Counts, classes: int, units: int
) -> Floats:
    """Build the confusion matrix of every unit and run, `[U, K, C, C]`."""
    runs = len(prediction_KN)
    run_K1 = np.arange(runs)[:, None]
    cells = ((unit_N * runs + run_K1) * classes + gold_N) * classes + prediction_KN
    counts = np.bincount(cells.ravel(), minlength=units * runs * classes**2)
    return counts.reshape(units, runs, classes, classes).astype(np.float64)
