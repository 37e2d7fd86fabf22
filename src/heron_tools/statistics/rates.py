"""Shares and means, with 95 % intervals for grouped rows.

Rows of one group (the hypotheses of one premise) are alike; intervals that take them to be
independent are too narrow.

Legend: N rows (or units), G groups.
"""

from collections.abc import Mapping, Sequence
from itertools import compress

import numpy as np
import numpy.typing as npt

from heron.base.cells import Interval
from heron.metrics.intervals import number_groups, score_intervals

RESAMPLES = 1000  # of means

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

    Args:
        hit_N: 1 or True for a hit, else 0; fractions count in part.
        group_N: the group of each row.

    Source: Wilson 1927; Rao and Scott 1992, section 2 (design effect of clustered counts).
    """
    hits_N = np.asarray(hit_N, dtype=np.float64)
    if len(hits_N) == 0:
        return None

    from statsmodels.stats.proportion import proportion_confint  # start-up time

    value = float(hits_N.mean())
    rows = len(hits_N) / _design_effect(hits_N - value, np.asarray(group_N), value)
    low, high = proportion_confint(value * rows, rows, method="wilson")
    # By rounding, a bound at 0 or 1 may miss the share itself.
    return Interval(value, min(float(low), value), max(float(high), value))


def _design_effect(residual_N: Floats, group_N: Ids, value: float) -> float:
    """Compare the variance of a share with that of independent rows; see `share`.

    Args:
        residual_N: hits minus the share.
        group_N: the group of each row.
        value: the share, a fraction.
    """
    _, inverse = np.unique(group_N, return_inverse=True)
    sums_G = np.bincount(inverse, residual_N)
    rows = len(residual_N)
    groups = len(sums_G)
    if rows == groups:
        return 1.0

    independent = value * (1 - value) * rows
    if independent <= 0 or groups == 1:
        # The correlation within groups is unknown: each group counts as one row.
        return rows / groups

    clustered = groups / (groups - 1) * float(sums_G @ sums_G)
    return max(1.0, clustered / independent)


def group_means(
    scores: Mapping[str, Floats], groups: Sequence[str], seed: int = 0
) -> dict[str, Interval | float | None]:
    """Compute means and their 95 % intervals, by bootstrap over whole groups.

    Args:
        scores: float `[N]`, by name; NaN values are left out.
        groups: N names.
        seed: the same seed gives the same intervals.

    Returns:
        Intervals by name. If all values are of one group, a score has its mean without an
        interval; without values, None.
    """
    means = dict.fromkeys(scores)
    if not len(groups):
        return means

    bounds = score_intervals(scores, groups, resamples=RESAMPLES, seed=seed)
    for name, values_N in scores.items():
        is_scored_N = ~np.isnan(values_N)
        if not is_scored_N.any():
            continue

        mean = float(values_N[is_scored_N].mean())
        means[name] = mean
        if len(set(compress(groups, is_scored_N))) > 1:
            low = min(bounds[f"{name}_low"], mean)
            high = max(bounds[f"{name}_high"], mean)
            means[name] = Interval(mean, low, high)

    return means


def group_mean(values_N: Floats, groups: Sequence[str], seed: int = 0) -> Interval | float | None:
    """Compute one score's mean and interval; see `group_means`."""
    return group_means({"": values_N}, groups, seed)[""]
