"""Shares, means and correlations, with 95 % intervals for rows that come in groups.

Rows of one group (the hypotheses of one premise) are alike; intervals that take them to be
independent are too narrow.

Legend: N rows (or units), G groups, R resamples.
"""

import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from heron.base.cells import Interval
from heron.metrics.intervals import number_groups, score_intervals

RESAMPLES = 1000  # of means
_RANK_RESAMPLES = 500
_Z = 1.959963984540054  # standard normal quantile of .975

Floats = npt.NDArray[np.float64]
Ids = npt.NDArray[np.int64]


def group_ids(groups: Sequence[str]) -> Ids:
    """Number groups by name; each row without one ("") is a group of its own."""
    names = [name or f"\0{row}" for row, name in enumerate(groups)]
    return number_groups(names)


def share(hit_N: npt.ArrayLike, group_N: npt.ArrayLike) -> Interval | None:
    """Compute the share of hits (fractions) with its Wilson interval; None without rows.

    Wilson's formula gets the effective number of rows: rows / design effect. The design effect is
    the ratio of the share's variance to its variance with independent rows (at least 1).

    Source: Wilson 1927; Rao and Scott 1992, section 2 (design effect of clustered counts).
    """
    hits, groups = np.asarray(hit_N, dtype=np.float64), np.asarray(group_N)
    if len(hits) == 0:
        return None
    value = float(hits.mean())
    rows = len(hits) / _design_effect(hits - value, groups, value)
    middle = value + _Z**2 / (2 * rows)
    half = _Z * math.sqrt(value * (1 - value) / rows + _Z**2 / (4 * rows**2))
    scale = 1 + _Z**2 / rows
    # Rounding can put a bound at 0 or 1 just past the share itself.
    low, high = (middle - half) / scale, (middle + half) / scale
    return Interval(value, max(0.0, min(low, value)), min(1.0, max(high, value)))


def _design_effect(residual_N: Floats, group_N: Ids, value: float) -> float:
    _, inverse = np.unique(group_N, return_inverse=True)
    sums_G = np.bincount(inverse, residual_N)
    rows, groups = len(residual_N), len(sums_G)
    independent = value * (1 - value) * rows
    if rows == groups:
        return 1.0
    if independent <= 0 or groups == 1:
        # The agreement within groups is unknown: count groups.
        return rows / groups
    clustered = groups / (groups - 1) * float(sums_G @ sums_G)
    return max(1.0, clustered / independent)


def group_means(
    scores: Mapping[str, Floats], groups: Sequence[str], seed: int = 0
) -> dict[str, Interval | float | None]:
    """Compute means and their 95 % bootstrap intervals, which draw whole groups.

    NaN does not count. A score has the mean alone where all values are of one group (N names);
    None without values.
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

    The interval resamples whole groups, which `group_N` numbers; ranks are those of all rows. One
    group gives the correlation alone, a constant None: there it is undefined.
    """
    from scipy.stats import rankdata  # start-up time

    given = [] if given_N is None else [given_N]
    ranks_KN = np.stack([rankdata(np.asarray(value)) for value in (x_N, y_N, *given)])
    value = _correlation(ranks_KN)
    if not math.isfinite(value):
        return None
    groups_N = np.asarray(group_N)
    if len(np.unique(groups_N)) == 1:
        return value
    draws = [_correlation(ranks_KN[:, rows]) for rows in _resamples(groups_N, seed)]
    finite = [draw for draw in draws if math.isfinite(draw)]
    if not finite:
        return value
    low, high = np.quantile(finite, [0.025, 0.975])
    return Interval(value, float(low), float(high))


def _correlation(ranks_KN: Floats) -> float:
    """Correlate the first two rows, given the third if there is one; NaN where undefined."""
    centred_KN = ranks_KN - ranks_KN.mean(axis=1, keepdims=True)
    products_KK = centred_KN @ centred_KN.T
    norms_K = np.sqrt(np.diag(products_KK))
    if (norms_K[:2] == 0).any():
        return math.nan
    if len(ranks_KN) == 2 or norms_K[2] == 0:
        return float(products_KK[0, 1] / (norms_K[0] * norms_K[1]))
    xy, xz, yz = (
        products_KK[i, j] / (norms_K[i] * norms_K[j]) for i, j in ((0, 1), (0, 2), (1, 2))
    )
    rest = (1 - xz**2) * (1 - yz**2)
    # Where x or y has the ranks of the given one, nothing is left to correlate.
    return float((xy - xz * yz) / math.sqrt(rest)) if rest > 1e-12 else math.nan


def _resamples(group_N: Ids, seed: int) -> Iterator[Ids]:
    """Draw as many groups as there are, with replacement; gives the rows of each draw."""
    random = np.random.default_rng(seed)
    order_N = np.argsort(group_N, kind="stable")
    _, starts_G, counts_G = np.unique(group_N[order_N], return_index=True, return_counts=True)
    for _ in range(_RANK_RESAMPLES):
        chosen = random.integers(len(starts_G), size=len(starts_G))
        lengths = counts_G[chosen]
        offsets = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        yield order_N[np.repeat(starts_G[chosen], lengths) + offsets]
