"""Shares, means and correlations, with 95 % intervals for grouped rows.

Rows of one group (the hypotheses of one premise) are alike; intervals that take them to be
independent are too narrow.

Legend: N rows (or units), G groups, R resamples, K columns, X any axes.
"""

import math
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from heron.base.cells import Interval
from heron.metrics.intervals import number_groups, resample_groups, score_intervals

RESAMPLES = 1000  # of means
_RANK_RESAMPLES = 500

Floats = npt.NDArray[np.float64]
Ids = npt.NDArray[np.int64]


def group_ids(groups: Sequence[str]) -> Ids:
    """Number groups by name; each row without one ("") is a group of its own."""
    names = [name or f"\0{row}" for row, name in enumerate(groups)]
    return number_groups(names)


def share(hit_N: npt.ArrayLike, group_N: npt.ArrayLike) -> Interval | None:
    """Compute the share of hits (fractions) with its Wilson interval; None without rows.

    Wilson's formula uses the effective number of rows: rows / design effect. The design effect is
    the share's variance divided by its variance if rows were independent (at least 1).

    Source: Wilson 1927; Rao and Scott 1992, section 2 (design effect of clustered counts).
    """
    hits, groups = np.asarray(hit_N, dtype=np.float64), np.asarray(group_N)
    if len(hits) == 0:
        return None
    from statsmodels.stats.proportion import proportion_confint  # start-up time

    value = float(hits.mean())
    rows = len(hits) / _design_effect(hits - value, groups, value)
    low, high = proportion_confint(value * rows, rows, method="wilson")
    # By rounding, a bound at 0 or 1 may miss the share itself.
    return Interval(value, min(float(low), value), max(float(high), value))


def _design_effect(residual_N: Floats, group_N: Ids, value: float) -> float:
    _, inverse = np.unique(group_N, return_inverse=True)
    sums_G = np.bincount(inverse, residual_N)
    rows, groups = len(residual_N), len(sums_G)
    independent = value * (1 - value) * rows
    if rows == groups:
        return 1.0
    if independent <= 0 or groups == 1:
        # The correlation within groups is unknown: each group counts as one row.
        return rows / groups
    clustered = groups / (groups - 1) * float(sums_G @ sums_G)
    return max(1.0, clustered / independent)


def group_means(
    scores: Mapping[str, Floats], groups: Sequence[str], seed: int = 0
) -> dict[str, Interval | float | None]:
    """Compute means and their 95 % intervals, by bootstrap over whole groups (N names).

    NaN values are left out. If all values are of one group, a score has its mean without an
    interval; without values, None.
    """
    bounds = score_intervals(scores, groups, resamples=RESAMPLES, seed=seed) if len(groups) else {}
    found: dict[str, Interval | float | None] = {}
    for name, values_N in scores.items():
        counted_N = ~np.isnan(values_N)
        mean = float(values_N[counted_N].mean()) if counted_N.any() else None
        found[name] = mean
        drawn = {group for group, counts in zip(groups, counted_N, strict=True) if counts}
        if mean is not None and len(drawn) > 1:
            low, high = bounds[f"{name}_low"], bounds[f"{name}_high"]
            found[name] = Interval(mean, min(low, mean), max(high, mean))
    return found


def group_mean(values_N: Floats, groups: Sequence[str], seed: int = 0) -> Interval | float | None:
    """Compute one score's mean and interval; see `group_means`."""
    return group_means({"": values_N}, groups, seed)[""]


def rank_correlation(
    x_N: npt.ArrayLike,
    y_N: npt.ArrayLike,
    group_N: npt.ArrayLike,
    given_N: npt.ArrayLike | None = None,
    seed: int = 0,
) -> Interval | float | None:
    """Compute Spearman's correlation of x and y; with `given_N`, the partial one.

    The interval resamples whole groups, which `group_N` numbers; ranks are those of all rows. A
    single group gives no interval; a constant column gives None, as it has no correlation.
    """
    from scipy.stats import rankdata  # start-up time

    columns = [x_N, y_N, *([] if given_N is None else [given_N])]
    ranks_NK = np.stack([rankdata(np.asarray(each)) for each in columns], axis=1)
    ranks_NK = np.column_stack([np.ones(len(ranks_NK)), ranks_NK - ranks_NK.mean(axis=0)])
    groups, of_N = np.unique(np.asarray(group_N), return_inverse=True)
    sums_GKK = np.zeros((len(groups), *ranks_NK.shape[1:] * 2))
    np.add.at(sums_GKK, of_N, ranks_NK[:, :, None] * ranks_NK[:, None])
    value = float(_correlation(sums_GKK.sum(axis=0)))
    if not math.isfinite(value):
        return None
    drawn_R = _correlation(resample_groups(sums_GKK, _RANK_RESAMPLES, seed))
    finite_R = drawn_R[np.isfinite(drawn_R)]
    if len(groups) == 1 or not len(finite_R):
        return value
    low, high = np.quantile(finite_R, [0.025, 0.975])
    return Interval(value, float(low), float(high))


def _correlation(sums_XKK: Floats) -> Floats:
    """Correlate two columns, controlled for a third if given, `[X]`; NaN where undefined.

    `sums_XKK` are sums of products of the columns 1, x, y and, if given, the third.
    """
    means_XK = sums_XKK[..., 0, 1:] / sums_XKK[..., 0, :1]
    rows_X11 = sums_XKK[..., :1, :1]
    covered = sums_XKK[..., 1:, 1:] - rows_X11 * means_XK[..., None] * means_XK[..., None, :]
    spread_XK = np.sqrt(np.diagonal(covered, axis1=-2, axis2=-1))
    with np.errstate(divide="ignore", invalid="ignore"):
        found = covered / (spread_XK[..., None] * spread_XK[..., None, :])
        if found.shape[-1] == 2:
            return np.asarray(found[..., 0, 1])
        xy, xz, yz = found[..., 0, 1], found[..., 0, 2], found[..., 1, 2]
        rest = (1 - xz**2) * (1 - yz**2)
        given = (xy - xz * yz) / np.sqrt(rest)
    # If x or y has the ranks of the third, the partial correlation is undefined.
    given = np.where(rest > 1e-12, given, np.nan)
    return np.where(spread_XK[..., 2] > 0, given, xy)
