"""Percentile bootstrap intervals, computed on sums instead of on rows.

Rows that are not independent, such as the event pairs of one window, need the cluster bootstrap,
which draws whole groups (windows, documents); its intervals are usually wider.

Legend: N rows, R resamples (D of them), G groups, S scores, X the axes of what is summed.
Source: Efron and Tibshirani 1993, chapter 13 (percentile); Davison and Hinkley 1997, section 3.8
(resampling whole groups).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from heron.metrics import require_rows
from heron.metrics.arrays import Floats, Ids

_NUMBERS_AT_ONCE = 4_000_000  # held in memory by one batch of draws; 8 bytes each
_TAIL = (1 - 0.95) / 2  # of the resamples, below and above an interval
Number = TypeVar("Number", np.int64, np.float64)


def number_groups(groups: Sequence[Any]) -> Ids:
    """Number groups in the order of their names, int64 `[N]`; a name may be a whole text."""
    # An array of strings would hold the longest name N times.
    numbers = {name: number for number, name in enumerate(sorted(set(groups)))}
    return np.array([numbers[name] for name in groups], dtype=np.int64)


def batches(draws: int, numbers: int) -> Iterator[range]:
    """Cut the draws into batches that fit in memory.

    Args:
        draws: how many draws there are.
        numbers: how many numbers each draw needs.
    """
    size = max(1, _NUMBERS_AT_ONCE // max(numbers, 1))
    for start in range(0, draws, size):
        yield range(start, min(start + size, draws))


def draw_groups(groups: int, resamples: int, random: np.random.Generator) -> Ids:
    """Draw as many groups as there are, with replacement.

    Args:
        groups: number of groups, G.
        resamples: number of draws, R.
        random: generator of the draws.

    Returns:
        How often each group was drawn, int64 `[R, G]`.
    """
    counts_RG = np.empty((resamples, groups), np.int64)
    for batch in batches(resamples, 100 * groups):  # what the processor's cache holds
        drawn_DG = random.integers(groups, size=(len(batch), groups))
        drawn_DG += np.arange(len(batch))[:, None] * groups  # numbers of its own for each draw
        counts = np.bincount(drawn_DG.ravel(), minlength=drawn_DG.size)
        counts_RG[batch] = counts.reshape(drawn_DG.shape)
    return counts_RG


def resample_groups(sums_GX: NDArray[Number], resamples: int, seed: int) -> NDArray[Number]:
    """Draw as many groups as there are, with replacement.

    Draws differ in their number of rows.

    Args:
        sums_GX: sums over the rows of each group, `[G, ...]`.
        resamples: number of draws, R.
        seed: of the draws.

    Returns:
        Sums over the rows of each draw, `[R, ...]`.
    """
    random = np.random.default_rng(seed)
    groups = len(sums_GX)
    sums_GK = sums_GX.reshape(groups, -1)
    sums_RK = []
    for batch in batches(resamples, groups):
        for weight_G in draw_groups(groups, len(batch), random):
            sums_RK.append(weight_G @ sums_GK)
    return np.stack(sums_RK).reshape(resamples, *sums_GX.shape[1:])


def percentile_intervals(scores_R: Mapping[str, Floats]) -> dict[str, float]:
    """Take the middle 95 % of each score's R resamples, as `<name>_low` and `<name>_high`.

    A resample that holds no row that counts has no value of a score, NaN, and is left out.
    """
    bounds: dict[str, float] = {}
    for name, values in scores_R.items():
        defined = values[~np.isnan(values)]
        low = high = 0.0
        if len(defined):
            low, high = np.quantile(defined, [_TAIL, 1 - _TAIL])
        bounds[f"{name}_low"] = float(low)
        bounds[f"{name}_high"] = float(high)
    return bounds


def score_intervals(
    items: Mapping[str, Floats],
    groups: Sequence[str] | None = None,
    *,
    resamples: int = 1000,
    seed: int = 0,
) -> dict[str, float]:
    """Compute 95 % bootstrap intervals of means, as `percentile_intervals`.

    Args:
        items: values of rows by score, float64 `[N]` each; NaN does not count.
        groups: None draws rows; N group names (articles) draw whole groups. One group alone
            gives no intervals.
        seed: the same seed gives the same intervals, whatever the order of the rows.

    Raises:
        DataError: not as many groups as rows.
    """
    if not items:
        return {}
    score_NS = np.column_stack(list(items.values()))
    if groups is None:
        score_NS = score_NS[np.lexsort(score_NS.T)]
        group_N = np.arange(len(score_NS))
    else:
        require_rows("score intervals", groups, score_NS)
        group_N = number_groups(groups)
        if len(group_N) and not group_N.any():
            return {}

    # Of each group the sums of its values, and how many values count.
    group_count = int(group_N.max(initial=0)) + 1
    counted_NS = ~np.isnan(score_NS)
    sums_G2S = np.zeros((group_count, 2, len(items)))
    np.add.at(sums_G2S[:, 0], group_N, np.where(counted_NS, score_NS, 0.0))
    np.add.at(sums_G2S[:, 1], group_N, counted_NS)

    drawn_R2S = resample_groups(sums_G2S, resamples, seed)
    total_RS = drawn_R2S[:, 0]
    count_RS = drawn_R2S[:, 1]
    undefined_RS = np.full_like(total_RS, np.nan)
    mean_RS = np.divide(total_RS, count_RS, out=undefined_RS, where=count_RS > 0)
    return percentile_intervals(dict(zip(items, mean_RS.T, strict=True)))
