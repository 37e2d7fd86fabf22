"""Calibration: does a system that is 80 % sure get 80 % of its answers right?

A row's confidence is the probability of its predicted class. Rows are put into bins of equal width
by confidence, and each bin's mean confidence is set beside the share of right answers in it.

Legend: N rows, C classes, M bins.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from heron.base.errors import ConfigError, DataError, Problem

TOLERANCE = 0.01  # how far from 1 a row's probabilities may add up
_ROUNDED = 0.005  # largest rounding error of two decimals


@dataclass(frozen=True, slots=True)
class ReliabilityBins:
    """What a reliability diagram shows; an empty bin has count 0 and both means 0.

    Args:
        edges: float64 `[M + 1]`, from 0 to 1. A bin holds its lower edge and not its upper one;
            the last holds both.
        count: int64 `[M]`, rows in each bin.
        confidence: float64 `[M]`, their mean confidence.
        accuracy: float64 `[M]`, the share of them that is right.
    """

    edges: npt.NDArray[np.float64]
    count: npt.NDArray[np.int64]
    confidence: npt.NDArray[np.float64]
    accuracy: npt.NDArray[np.float64]

    @property
    def gap(self) -> npt.NDArray[np.float64]:
        """Accuracy minus confidence of each bin, `[M]`; negative where the system is too sure."""
        return self.accuracy - self.confidence


def rounding_tolerance(classes: int) -> float:
    """Compute how far from 1 a row may add up whose probabilities have two decimals."""
    return max(TOLERANCE, _ROUNDED * classes) + 1e-9  # sums of floats miss the border itself


def calibration_scores(
    probabilities_NC: npt.ArrayLike,
    gold_N: npt.ArrayLike,
    bins: int = 15,
    tolerance: float = TOLERANCE,
) -> dict[str, float]:
    """Compute how far probabilities are from what happens.

    Args:
        probabilities_NC: probabilities of all classes, each row adding up to 1.
        gold_N: class numbers, from 0 to C - 1.
        bins: bins of equal width between 0 and 1.
        tolerance: how far from 1 a row may add up.

    Returns:
        `ece`, the mean gap between confidence and accuracy over rows, and `mce`, the largest gap of
        a bin, both from 0 to 1; `brier`, the mean over rows of the squared differences from the
        gold distribution, summed over classes: from 0 to 2. All 0 for an empty split.

    Raises:
        ConfigError: fewer than one bin.
        DataError: unequal lengths, class numbers out of range, or rows that are no distributions.

    Source: Guo et al. 2017, section 2 (ECE, MCE); Brier 1950 (the multi-class form).
    """
    probabilities_NC, gold_N = _checked(probabilities_NC, gold_N, tolerance)
    found = reliability_bins(probabilities_NC, gold_N, bins, tolerance)
    used = found.count > 0
    truth_NC = np.eye(probabilities_NC.shape[1])[gold_N]
    squares_N = ((probabilities_NC - truth_NC) ** 2).sum(axis=1)
    rows = max(len(gold_N), 1)
    return {
        "ece": float(np.abs(found.gap) @ found.count / rows),
        "mce": float(np.abs(found.gap[used]).max(initial=0)),
        "brier": float(squares_N.sum() / rows),
    }


def reliability_bins(
    probabilities_NC: npt.ArrayLike,
    gold_N: npt.ArrayLike,
    bins: int = 15,
    tolerance: float = TOLERANCE,
) -> ReliabilityBins:
    """Put rows into bins by the probability of their predicted class.

    Args:
        probabilities_NC: as in `calibration_scores`, like `gold_N` and `bins`.
        gold_N: class numbers.
        bins: bins of equal width between 0 and 1.
        tolerance: as in `calibration_scores`.

    Raises:
        ConfigError: fewer than one bin.
        DataError: as `calibration_scores`.

    Deviates: torchmetrics gives rows whose confidence is exactly 1 a bin of their own; here they
    belong to the last one.
    """
    if bins < 1:
        raise ConfigError(f"bins={bins}: expected 1 or more")
    probabilities_NC, gold_N = _checked(probabilities_NC, gold_N, tolerance)
    edges = np.arange(bins + 1) / bins  # linspace's 0.6 of ten bins is 0.6000000000000001
    confidence_N = probabilities_NC.max(axis=1)
    right_N = (probabilities_NC.argmax(axis=1) == gold_N).astype(np.float64)
    # Bins of equal width would allow a division, which rounds 0.29 * 100 to the wrong one.
    bin_N = np.clip(np.searchsorted(edges, confidence_N, side="right") - 1, 0, bins - 1)
    count = np.bincount(bin_N, minlength=bins)
    divisor = np.maximum(count, 1)
    confidence = np.bincount(bin_N, confidence_N, bins) / divisor
    accuracy = np.bincount(bin_N, right_N, bins) / divisor
    return ReliabilityBins(edges, count, confidence, accuracy)


def _checked(
    probabilities: npt.ArrayLike, gold: npt.ArrayLike, tolerance: float
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
    """Take both as arrays; all that is wrong with them is reported at once."""
    probabilities_NC = np.asarray(probabilities, dtype=np.float64)
    gold_N = np.asarray(gold, dtype=np.int64)
    if probabilities_NC.ndim != 2 or len(probabilities_NC) != len(gold_N):
        what = f"probabilities of shape {probabilities_NC.shape} for {len(gold_N)} gold labels"
        raise DataError(Problem("probabilities", what, "one row for each label: [rows, classes]"))
    classes = probabilities_NC.shape[1]
    off_N = (gold_N < 0) | (gold_N >= classes)
    # Written so that NaN is refused too.
    sum_N = probabilities_NC.sum(axis=1)
    whole_N = (probabilities_NC >= -TOLERANCE).all(axis=1) & (np.abs(sum_N - 1) <= tolerance)
    problems = [
        Problem(f"row {row + 1}", f"gold class {gold_N[row]}", f"allowed: 0 to {classes - 1}")
        for row in np.flatnonzero(off_N)
    ] + [
        Problem(f"row {row + 1}", f"probabilities that add up to {sum_N[row]:.3f}", "expected 1")
        for row in np.flatnonzero(~whole_N)
    ]
    if problems:
        raise DataError(problems)
    return probabilities_NC, gold_N
