"""Shares and means, with 95 % intervals for grouped rows.

Rows of one group (the hypotheses of one premise) are alike; intervals that take them to be
independent are too narrow.

Legend: N rows (or units), G groups.
"""

from collections.abc import Mapping, Sequence

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
