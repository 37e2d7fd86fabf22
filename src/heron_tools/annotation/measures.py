"""Krippendorff's alpha: agreement of several raters beyond chance.

Legend: R raters, U rated units, G groups of units, F features of a value, K sums.

Source: Krippendorff 2011, "Computing Krippendorff's Alpha-Reliability"; HeSum, section 4.1
(interval alpha of seven raters).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from heron.base.errors import ConfigError, DataError, Problem, nearest
from heron.metrics.intervals import number_groups, percentile_intervals, resample_groups

LEVELS = ("interval", "nominal")
_NOTHING = 1e-9  # of n squared: less expected disagreement than this is rounding

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Alpha:
    """Agreement of several raters.

    Args:
        value: 1 where all agree, 0 at chance, below 0 under chance; None where it is undefined: no
            unit has two values, or all values are equal.
        low, high: the 95 % interval, or None.
        units: number of units with at least two values; the others do not count.
        values: number of values of these units.
    """

    value: float | None
    low: float | None
    high: float | None
    units: int
    values: int


def krippendorff_alpha(
    values_RU: npt.ArrayLike,
    level: str = "interval",
    groups: Sequence[str] | None = None,
    *,
    resamples: int = 1000,
    seed: int = 0,
) -> Alpha:
    """Compute alpha, and its interval by resampling whole groups.

    Args:
        values_RU: numbers; NaN where a rater has not rated a unit.
        level: `interval` counts a disagreement by its squared difference, `nominal` counts all
            disagreements alike.
        groups: U names: units of one group (summaries of one article) are drawn together. With
            None or a single group there is no interval.
        resamples: number of draws; with 0 there is no interval.
        seed: the same seed gives the same interval.

    Raises:
        ConfigError: another level.
        DataError: values are not [raters, units], or not one group for each unit.
    """
    if level not in LEVELS:
        raise ConfigError(f"level={level}: no such level.{nearest(level, LEVELS)}")
    values = np.asarray(values_RU, dtype=np.float64)
    if values.ndim != 2 or (groups is not None and len(groups) != values.shape[1]):
        what = f"values {list(values.shape)}, {len(groups or ())} groups"
        raise DataError(Problem("agreement", what, "[raters, units], one group for each unit"))
    sums_UK = _unit_sums(values, level)
    counted_U = sums_UK[:, 0] > 0
    total_K = sums_UK.sum(axis=0)
    value = float(_alpha(total_K))
    low = high = None
    if groups is not None and resamples and math.isfinite(value):
        group_U = number_groups(np.asarray(groups, dtype=object)[counted_U].tolist())
        if (count := int(group_U.max(initial=0)) + 1) > 1:
            sums_GK = np.zeros((count, sums_UK.shape[1]))
            np.add.at(sums_GK, group_U, sums_UK[counted_U])
            low, high = _interval(sums_GK, resamples, seed)
    found = value if math.isfinite(value) else None
    return Alpha(found, low, high, int(counted_U.sum()), int(total_K[0]))


def _unit_sums(values_RU: Floats, level: str) -> Floats:
    """Compute each unit's additive part of alpha; zeros where a unit has no pair.

    The squared differences of all ordered pairs of m vectors add up to 2 m Q - 2 |S|^2, where S is
    their sum and Q the sum of their squared lengths. Nominal categories are one-hot vectors.

    Returns:
        `[U, 3 + F]`: m, Q, disagreement (pairs' sum / (m - 1)), S.
    """
    given_RU = ~np.isnan(values_RU)
    m_U = given_RU.sum(axis=0)
    given_RU = given_RU & (m_U > 1)
    m_U = np.where(m_U > 1, m_U, 0)
    some = values_RU[given_RU]
    if level == "nominal":
        categories = np.unique(some)
        features_FRU = (values_RU == categories[:, None, None]).astype(np.float64)
    else:
        # Within -1/2 and 1/2: sums of squares of large numbers would lose digits.
        low, high = (some.min(), some.max()) if some.size else (0.0, 1.0)
        features_FRU = ((values_RU - (low + high) / 2) / ((high - low) or 1.0))[None]
    features_FRU = np.where(given_RU, features_FRU, 0.0)
    sum_FU = features_FRU.sum(axis=1)
    squares_U = (features_FRU**2).sum(axis=(0, 1))
    pairs_U = 2 * m_U * squares_U - 2 * (sum_FU**2).sum(axis=0)
    disagreement_U = np.maximum(pairs_U, 0.0) / np.maximum(m_U - 1, 1)
    return np.column_stack([m_U, squares_U, disagreement_U, sum_FU.T])


def _alpha(sums_K: Floats) -> Floats:
    """Compute alpha from sums over units, `[..., K]` to `[...]`; NaN where it is undefined."""
    n, squares, observed = sums_K[..., 0], sums_K[..., 1], sums_K[..., 2]
    expected = 2 * n * squares - 2 * (sums_K[..., 3:] ** 2).sum(axis=-1)
    defined = expected > _NOTHING * np.maximum(n, 1) ** 2
    return np.where(defined, 1 - (n - 1) * observed / np.where(defined, expected, 1.0), np.nan)


def _interval(sums_GK: Floats, resamples: int, seed: int) -> tuple[float | None, float | None]:
    draws_R = _alpha(resample_groups(sums_GK, resamples, seed))
    # Alpha is undefined for a draw of equal values only.
    draws_R = draws_R[np.isfinite(draws_R)]
    if not draws_R.size:
        return None, None
    bounds = percentile_intervals({"alpha": draws_R})
    return bounds["alpha_low"], bounds["alpha_high"]
