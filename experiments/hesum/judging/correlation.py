"""Pearson's and Kendall's correlation of human and automatic scores.

Legend: N units, G groups of units, K sums, R resamples.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from heron.base.errors import DataError
from heron.metrics.intervals import percentile_intervals, resample_groups

FEWEST = 3  # minimum number of units: any two lie on a line
_SPREAD = 1e-12  # times the largest value: a smaller spread is rounding error

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Correlation:
    """Pearson's r and Kendall's tau-b of two scores; None where undefined.

    Args:
        n: units that have both scores.
        pearson: r, from -1 to 1.
        pearson_p: two-sided, of the hypothesis r = 0 for n independent units.
        low, high: r's 95 % interval, by bootstrap over whole groups; None without groups.
        kendall: tau-b, from -1 to 1, corrected for ties.
        kendall_p: two-sided.
    """

    n: int
    pearson: float | None = None
    pearson_p: float | None = None
    low: float | None = None
    high: float | None = None
    kendall: float | None = None
    kendall_p: float | None = None


def correlate(
    x_N: npt.ArrayLike,
    y_N: npt.ArrayLike,
    groups: Sequence[str] | None = None,
    *,
    resamples: int = 1000,
    seed: int = 0,
) -> Correlation:
    """Correlate two scores; undefined for fewer than three units or a constant score.

    Args:
        x_N, y_N: numbers; units with NaN in either are left out.
        groups: N names, for the interval of r. P-values assume independent units, which units of
            one group are not.
        resamples: number of draws.
        seed: the same seed gives the same interval.

    Raises:
        DataError: not as many values of one as of the other.
    """
    from scipy.stats import kendalltau, pearsonr  # start-up time

    x = np.asarray(x_N, dtype=np.float64)
    y = np.asarray(y_N, dtype=np.float64)
    if x.shape != y.shape or x.ndim != 1 or (groups is not None and len(groups) != len(x)):
        sizes = f"{x.shape} and {y.shape} values, {len(groups or ())} groups"
        raise DataError("correlation", sizes, "one of each for every unit")

    both = np.isfinite(x) & np.isfinite(y)
    x = x[both]
    y = y[both]
    if len(x) < FEWEST or _is_constant(x) or _is_constant(y):
        return Correlation(len(x))

    low = high = None
    if groups is not None:
        names = np.asarray(groups, dtype=str)[both]
        low, high = _pearson_interval(x, y, names, resamples, seed)
    pearson = pearsonr(x, y)
    kendall = kendalltau(x, y, variant="b")
    return Correlation(
        n=len(x),
        pearson=float(pearson.statistic),
        pearson_p=float(pearson.pvalue),
        low=low,
        high=high,
        kendall=float(kendall.statistic),
        kendall_p=float(kendall.pvalue),
    )


def _is_constant(values_N: Floats) -> bool:
    largest = float(np.abs(values_N).max())
    return float(np.ptp(values_N)) <= _SPREAD * max(largest, 1e-300)


def _pearson_interval(
    x_N: Floats, y_N: Floats, names: npt.NDArray, resamples: int, seed: int
) -> tuple[float | None, float | None]:
    """Compute the 95 % interval of r.

    Whole groups are resampled: r is a function of sums over units, so that only the sums of groups
    are needed.

    Args:
        x_N, y_N: finite numbers, neither of them constant.
        names: N names of groups.
        resamples: number of draws.
        seed: the same seed gives the same interval.

    Returns:
        Its bounds; None for a single group.
    """
    group_names, group_N = np.unique(names, return_inverse=True)
    if len(group_names) < 2:
        return None, None

    # Standardized, lest the differences of large sums lose digits.
    x = (x_N - x_N.mean()) / x_N.std()
    y = (y_N - y_N.mean()) / y_N.std()
    summands_NK = np.column_stack([np.ones_like(x), x, y, x * x, y * y, x * y])
    sums_GK = np.zeros((len(group_names), 6))
    np.add.at(sums_GK, group_N, summands_NK)

    r_R = _pearson_of_sums(resample_groups(sums_GK, resamples, seed))
    r_R = np.clip(r_R[np.isfinite(r_R)], -1.0, 1.0)
    if not r_R.size:
        return None, None
    bounds = percentile_intervals({"r": r_R})
    return bounds["r_low"], bounds["r_high"]


def _pearson_of_sums(sums_RK: Floats) -> Floats:
    """Compute Pearson's r from sums of 1, x, y, x², y² and xy; NaN if x or y is constant."""
    n, x, y, xx, yy, xy = sums_RK.T
    with np.errstate(divide="ignore", invalid="ignore"):
        spread_x = xx - x**2 / n
        spread_y = yy - y**2 / n
        spread_R = spread_x * spread_y
        covariance_R = xy - x * y / n
        return covariance_R / np.sqrt(np.where(spread_R > _SPREAD, spread_R, math.nan))
