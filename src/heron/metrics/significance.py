"""Tests of whether systems differ.

`mcnemar` and `cochran_q` compare rows, each right or wrong under every system (so accuracy). They
take rows to be independent: with many rows from one document their p-values are too small.
`mann_whitney` compares the scores of two systems' runs (seeds). Tests of any score are in
`heron.metrics.paired`.

Legend: N rows, S systems.
Source: McNemar 1947; Cochran 1950; Mann and Whitney 1947; Holm 1979; statsmodels and scipy compute
them.
"""

import itertools
import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from heron.metrics import require_rows

_MOST_SPLITS = 10_000  # ways to split values into two samples for an exact p; seven runs each

Booleans = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class McNemar:
    """McNemar's exact two-sided test of two systems over N paired rows.

    `only_*` count the rows that only one system has right; `statistic` is the smaller count.
    """

    statistic: float
    p: float
    only_first: int
    only_second: int
    n: int
    method: str = "exact"


@dataclass(frozen=True, slots=True)
class CochranQ:
    """Cochran's test of S systems over N paired rows: Q is chi-square with S - 1 `degrees`."""

    statistic: float
    p: float
    degrees: int
    n: int


@dataclass(frozen=True, slots=True)
class MannWhitney:
    """Whether values of one sample tend to be larger than those of another."""

    statistic: float  # U of the first sample: the number of pairs it wins, ties counted half
    p: float  # two-sided; exact for small samples, with ties or without
    n_first: int  # sample size
    n_second: int  # sample size
    inputs: str  # what was observed, `per_seed_scores`
    smallest_p: float  # the least p that samples of this size can reach (three seeds each: .1)


def mcnemar(first_N: ArrayLike, second_N: ArrayLike) -> McNemar:
    """Compare how often each of two systems alone is right (True), by the exact binomial test.

    Raises:
        DataError: unequal numbers of rows.
    """
    from statsmodels.stats.contingency_tables import mcnemar as compute  # start-up time

    first, second = _stack_systems([first_N, second_N]).T
    only_first = int((first & ~second).sum())
    only_second = int((second & ~first).sum())
    statistic = float(only_first)
    p = 1.0
    if only_first != only_second:  # without discordant rows, 0 / 0
        test = compute([[0, only_first], [only_second, 0]], exact=True)
        statistic = float(test.statistic)
        p = _positive(test.pvalue)
    return McNemar(statistic, p, only_first, only_second, len(first))


def cochran_q(right_NS: ArrayLike) -> CochranQ:
    """Compare how often several systems are right; of two it is McNemar's uncorrected chi-square.

    Q is 0 and p is 1 where all systems are right (True) on the same rows.
    """
    from statsmodels.stats.contingency_tables import cochrans_q as compute  # start-up time

    right = _stack_systems(list(np.asarray(right_NS).T))
    rows, systems = right.shape
    if (right == right[:, :1]).all():
        return CochranQ(0.0, 1.0, systems - 1, rows)
    test = compute(right.astype(np.int64))
    return CochranQ(float(test.statistic), _positive(test.pvalue), systems - 1, rows)


def mann_whitney(
    first: Sequence[float] | NDArray, second: Sequence[float] | NDArray
) -> MannWhitney:
    """Compare two independent samples, such as the scores of runs (seeds), by rank.

    Values of the same examples under two systems are paired: use `heron.metrics.paired` for those.
    """
    from scipy.stats import mannwhitneyu  # start-up time

    first = np.asarray(first, dtype=np.float64)
    second = np.asarray(second, dtype=np.float64)
    assert len(first)
    assert len(second)
    assert np.isfinite([*first, *second]).all()

    test = mannwhitneyu(first, second, alternative="two-sided")
    p = test.pvalue
    splits = math.comb(len(first) + len(second), len(first))
    if splits <= _MOST_SPLITS:
        # With ties scipy approximates however few values there are: two seeds beside two would give
        # p = .22, where the least possible is .33.
        p = _exact_p(first, second)
    return MannWhitney(
        statistic=float(test.statistic),
        p=_positive(p),
        n_first=len(first),
        n_second=len(second),
        inputs="per_seed_scores",
        smallest_p=min(1.0, 2 / splits),
    )


def _exact_p(first: NDArray, second: NDArray) -> float:
    """Compute p over all ways to split the values into two samples; ties share ranks."""
    from scipy.stats import rankdata  # start-up time

    ranks = rankdata(np.concatenate([first, second]))
    samples = list(itertools.combinations(range(len(ranks)), len(first)))
    sums = ranks[np.array(samples)].sum(axis=1)
    observed = ranks[: len(first)].sum()
    below = (sums <= observed).mean()
    above = (sums >= observed).mean()
    return min(1.0, 2 * min(below, above))


def holm(p_values: Sequence[float]) -> list[float]:
    """Correct the p-values of several comparisons for their number, in the order given.

    Rejecting corrected values of at most alpha keeps the chance of any false rejection at or below
    alpha, however the comparisons depend on each other.
    """
    # Not statsmodels' multipletests: each of its calls runs the garbage collector.
    order = np.argsort(p_values)
    raised = np.take(p_values, order) * np.arange(len(order), 0, -1)
    corrected = np.empty(len(order))
    corrected[order] = np.minimum(np.maximum.accumulate(raised), 1.0)
    return corrected.tolist()


def _stack_systems(columns: Sequence[ArrayLike]) -> Booleans:
    """Stack the systems' columns, `[N, S]`."""
    require_rows("scores", *map(np.atleast_1d, columns))
    return np.stack([np.asarray(column, dtype=bool) for column in columns], axis=1)


def _positive(p: float) -> float:
    """Keep a p-value that underflows above 0."""
    return max(float(p), sys.float_info.min)
