"""Calibration: confidence (the predicted class's probability) beside accuracy, in equal bins.

Legend: N rows, C classes, M bins.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from heron.base.errors import Problem, raise_all
from heron.metrics import require_rows
from heron.metrics.arrays import Floats, Ids

TOLERANCE = 0.01  # how far from 1 a row's probabilities may add up


@dataclass(frozen=True, slots=True)
class ReliabilityBins:
    """A reliability diagram; an empty bin has count 0 and both means 0."""

    # Float64 `[M + 1]`, from 0 to 1. A bin includes its lower edge, the last one both.
    edges: Floats
    count: Ids  # int64 `[M]`, rows in each bin
    confidence: Floats  # float64 `[M]`, their mean
    accuracy: Floats  # float64 `[M]`, the share of right predictions

    @property
    def gap(self) -> Floats:
        """Accuracy minus confidence, `[M]`; negative where the system is overconfident."""
        return self.accuracy - self.confidence


def calibration_scores(
    probabilities_NC: ArrayLike,
    gold_N: ArrayLike,
    bins: int = 15,
    tolerance: float = TOLERANCE,
) -> dict[str, float]:
    """Compute calibration errors, from class ids and rows that sum to 1 (up to `tolerance`).

    Returns:
        `ece`, the mean gap between confidence and accuracy over rows, and `mce`, the largest gap of
        a bin, both from 0 to 1; `brier`, the mean squared distance from the gold distribution, from
        0 to 2. All 0 for an empty split.

    Raises:
        DataError: unequal lengths, class ids out of range, or rows that are not distributions.

    Source: Guo et al. 2017, section 2 (ECE, MCE); Brier 1950 (the multi-class form).
    """
    return calibration_of_rows(calibration_rows(probabilities_NC, gold_N, tolerance), bins)


def calibration_rows(
    probabilities_NC: ArrayLike, gold_N: ArrayLike, tolerance: float = TOLERANCE
) -> Floats:
    """Compute each row's confidence, whether it is right, and its squared distance from gold.

    float64 `[N, 3]`; arguments and errors as for `calibration_scores`.
    """
    probabilities_NC = np.asarray(probabilities_NC, dtype=np.float64)
    gold_N = np.asarray(gold_N, dtype=np.int64)
    _check_distributions(probabilities_NC, gold_N, tolerance)

    gold_NC = np.eye(probabilities_NC.shape[1])[gold_N]
    squares_N = ((probabilities_NC - gold_NC) ** 2).sum(axis=1)
    right_N = probabilities_NC.argmax(axis=1) == gold_N
    confidence_N = probabilities_NC.max(axis=1)
    return np.stack([confidence_N, right_N, squares_N], axis=1)


def calibration_of_rows(rows_N3: Floats, bins: int = 15) -> dict[str, float]:
    """Compute `calibration_scores` from `calibration_rows`, whatever their order."""
    rows_N3 = rows_N3[np.lexsort(rows_N3.T)]  # the order of a sum changes its last bit
    rows = max(len(rows_N3), 1)
    diagram = _bins(rows_N3, bins)
    gap = np.abs(diagram.gap)
    return {
        "ece": float(gap @ diagram.count / rows),
        "mce": float(gap.max()),
        "brier": float(rows_N3[:, 2].sum() / rows),
    }


def reliability_bins(
    probabilities_NC: ArrayLike, gold_N: ArrayLike, bins: int = 15
) -> ReliabilityBins:
    """Put rows into bins by confidence; arguments and errors as for `calibration_scores`.

    Deviates: torchmetrics gives rows whose confidence is exactly 1 a bin of their own.
    """
    return _bins(calibration_rows(probabilities_NC, gold_N), bins)


def _bins(rows_N3: Floats, bins: int) -> ReliabilityBins:
    """Count rows by confidence, and average confidence and accuracy in each bin."""
    edges = np.arange(bins + 1) / bins  # linspace's 0.6 of ten bins is 0.6000000000000001
    confidence_N, right_N, _ = rows_N3.T
    # Not floor(confidence * bins): 0.29 * 100 rounds to the wrong bin.
    bin_N = np.searchsorted(edges, confidence_N, side="right") - 1
    bin_N = np.clip(bin_N, 0, bins - 1)

    count = np.bincount(bin_N, minlength=bins)
    divisor = np.maximum(count, 1)
    confidence = np.bincount(bin_N, confidence_N, bins) / divisor
    accuracy = np.bincount(bin_N, right_N, bins) / divisor
    return ReliabilityBins(edges, count, confidence, accuracy)


def _check_distributions(probabilities_NC: Floats, gold_N: Ids, tolerance: float) -> None:
    """Check that rows are distributions over the classes, and gold labels class ids.

    Raises:
        DataError: with every row where this is not so.
    """
    require_rows("probabilities", probabilities_NC, gold_N)
    sum_N = probabilities_NC.sum(axis=1)
    least_N = probabilities_NC.min(axis=1, initial=0.0)
    # Written so that NaN is refused too.
    good_N = (least_N >= -TOLERANCE) & (np.abs(sum_N - 1) <= tolerance)
    good_N &= (gold_N >= 0) & (gold_N < probabilities_NC.shape[1])

    problems = []
    for row in np.flatnonzero(~good_N):
        what = f"{probabilities_NC[row]} for class {gold_N[row]}"
        fix = "expected numbers from 0 that add up to 1, one for each class"
        problems.append(Problem(f"row {row + 1}", what, fix))
    raise_all(problems)
