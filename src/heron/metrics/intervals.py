"""Percentile bootstrap intervals, computed on sums instead of on rows.

Rows that are not independent, such as the event pairs of one window, need
the cluster bootstrap, which draws whole groups (windows, documents); its intervals are usually
wider.

Legend: N rows, R resamples (D of them), G groups, S scores, X the axes of what is summed.
Source: Efron and Tibshirani 1993, chapter 13 (percentile); Davison and Hinkley 1997, section 3.8
(resampling whole groups).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from heron.metrics import require_rows

Floats = npt.NDArray[np.float64]
Ids = npt.NDArray[np.int64]
_NUMBERS_AT_ONCE = 4_000_000  # held in memory by one batch of draws; 8 bytes each
_TAIL = (1 - 0.95) / 2  # of the resamples, below and above an interval
Number = TypeVar("Number", np.int64, np.float64)


def number_groups(groups: Sequence[Any]) -> Ids:
    """Number groups in the order of their names, int64 `[N]`; a name may be a whole text."""
    # An array of strings would hold the longest name N times.
    numbers = {name: number for number, name in enumerate(sorted(set(groups)))}
    return np.fromiter(map(numbers.__getitem__, groups), np.int64, len(groups))


def batches(draws: int, numbers: int) -> Iterator[slice]:
    """Cut the draws into batches that fit in memory, `numbers` per draw."""
    size = max(1, _NUMBERS_AT_ONCE // max(numbers, 1))
    for start in range(0, draws, size):
        yield slice(start, min(start + size, draws))


def draw_groups(groups: int, resamples: int, random: np.random.Generator) -> Ids:
    """Draw as many groups as there are, with replacement; how often each was drawn, `[R, G]`."""
    counts_RG = np.empty((resamples, groups), np.int64)
    for block in batches(resamples, 100 * groups):  # what the processor's cache holds
        draws_DG = random.integers(groups, size=counts_RG[block].shape)
        draws_DG += np.arange(len(draws_DG))[:, None] * groups
        counts = np.bincount(draws_DG.ravel(), minlength=draws_DG.size)
        counts_RG[block] = counts.reshape(draws_DG.shape)
    return counts_RG


def resample_groups(sums_GX: npt.NDArray[Number], resamples: int, seed: int) -> npt.NDArray[Number]:
    """Draw as many groups as there are, with replacement.

    Turns the sums of each group, `[G, ...]`, into the sums of each draw, `[R, ...]`; draws differ
    in their number of rows.
    """
    random, groups = np.random.default_rng(seed), len(sums_GX)
    sums_GK = sums_GX.reshape(groups, -1)
    blocks = (b.stop - b.start for b in batches(resamples, groups))
    sums_RK = [w @ sums_GK for size in blocks for w in draw_groups(groups, size, random)]
    return np.stack(sums_RK).reshape(resamples, *sums_GX.shape[1:])


def percentile_intervals(scores_R: Mapping[str, Floats]) -> dict[str, float]:
    """Take the middle 95 % of each score's R resamples, as `<name>_low` and `<name>_high`.

    A resample that holds no row that counts has no value of a score, NaN, and is left out.
    """
    bounds: dict[str, float] = {}
    for name, values in scores_R.items():
        defined = values[~np.isnan(values)]
        low, high = np.quantile(defined, [_TAIL, 1 - _TAIL]) if len(defined) else (0.0, 0.0)
        bounds |= {f"{name}_low": float(low), f"{name}_high": float(high)}
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
    counted_NS = ~np.isnan(score_NS)
    sums_G2S = np.zeros((int(group_N.max(initial=0)) + 1, 2, score_NS.shape[1]))
    np.add.at(sums_G2S[:, 0], group_N, np.where(counted_NS, score_NS, 0.0))
    np.add.at(sums_G2S[:, 1], group_N, counted_NS)
    drawn_R2S = resample_groups(sums_G2S, resamples, seed)
    total_RS, count_RS = drawn_R2S[:, 0], drawn_R2S[:, 1]
    undefined_RS = np.full_like(total_RS, np.nan)
    mean_RS = np.divide(total_RS, count_RS, out=undefined_RS, where=count_RS > 0)
    return percentile_intervals(dict(zip(items, mean_RS.T, strict=True)))
