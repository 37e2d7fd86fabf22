"""Tests of whether systems differ, each on a unit that is named: rows, or runs.

- `mcnemar`, `cochran_q`: rows, each right or wrong under every system (so accuracy, whatever score
  is compared elsewhere). They take rows to be independent: with many rows from one document their
  p-values are too small.
- `mann_whitney`: two independent samples; which ones, the caller has to say (`inputs`).
- `holm`: p-values of several comparisons, corrected.
- `heron.metrics.paired`: paired bootstrap and approximate randomisation of any score.

Legend: N rows, S systems.
Source: McNemar 1947; Cochran 1950; Mann and Whitney 1947; Holm 1979; statsmodels and scipy compute
them.
"""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from heron.base.errors import ConfigError, DataError, Problem, nearest
from heron.metrics import confusion
from heron.metrics.classification import headline
from heron.metrics.confusion import Counts, Fractions
from heron.metrics.paired_units import Score

# What one observation is, by the name of a sample.
INPUTS: Mapping[str, str] = {
    "per_seed_scores": "a run (one seed of a system)",
    "p_gold": "an example (its gold class's probability)",
}

_MOST_SPLITS = 10_000  # of all values into two samples, all of them looked at; seven runs each

Booleans = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class McNemar:
    """How two systems' errors differ, over paired rows.

    Args:
        statistic: chi-square, or the smaller count of `only_*` where p is exact.
        p: two-sided.
        only_first: rows that only the first system has right.
        only_second: rows that only the second has right.
        n: rows.
        method: `exact`, `chi2` or `chi2_corrected`.
    """

    statistic: float
    p: float
    only_first: int
    only_second: int
    n: int
    method: str


@dataclass(frozen=True, slots=True)
class CochranQ:
    """Whether any of several systems is right more often than another, over the same rows.

    Args:
        statistic: Q, chi-square with `degrees` degrees of freedom.
        p: two-sided.
        degrees: systems - 1.
        n: rows.
    """

    statistic: float
    p: float
    degrees: int
    n: int


@dataclass(frozen=True, slots=True)
class MannWhitney:
    """Whether values of one sample tend to be larger than those of another.

    Args:
        statistic: U of the first sample: how many pairs it wins, ties half.
        p: two-sided; exact for small samples, with ties or without.
        n_first: observations in the first sample.
        n_second: observations in the second.
        inputs: what was observed, a key of `INPUTS`.
        smallest_p: the least p that samples of this size can reach (three seeds each: .1).
    """

    statistic: float
    p: float
    n_first: int
    n_second: int
    inputs: str
    smallest_p: float


def mcnemar(
    first_N: npt.ArrayLike,
    second_N: npt.ArrayLike,
    *,
    exact: bool = True,
    correction: bool = True,
) -> McNemar:
    """Compare how often two systems are right where only one of them is.

    Args:
        first_N: True where the first system has the row right.
        second_N: the same of the second.
        exact: the binomial test; else chi-square with one degree of freedom.
        correction: Edwards' continuity correction of the chi-square.

    Returns:
        p is 1 where the systems are right on the same rows.

    Raises:
        DataError: unequal numbers of rows, or none.
    """
    from statsmodels.stats.contingency_tables import mcnemar as compute

    right_NS = _right([first_N, second_N])
    first, second = right_NS[:, 0], right_NS[:, 1]
    only_first, only_second = int((first & ~second).sum()), int((second & ~first).sum())
    method = "exact" if exact else "chi2_corrected" if correction else "chi2"
    if only_first == only_second:
        # Without a difference there is nothing to correct; without discordant rows, 0 / 0.
        statistic = float(only_first) if exact else 0.0
        return McNemar(statistic, 1.0, only_first, only_second, len(right_NS), method)
    table = [[int((first & second).sum()), only_first], [only_second, 0]]
    found = compute(table, exact=exact, correction=correction)
    p = _positive(found.pvalue)
    return McNemar(float(found.statistic), p, only_first, only_second, len(right_NS), method)


def cochran_q(right_NS: npt.ArrayLike) -> CochranQ:
    """Compare how often several systems are right; of two it is McNemar's uncorrected chi-square.

    Args:
        right_NS: True where a system has a row right.

    Returns:
        Q is 0 and p is 1 where all systems are right on the same rows.

    Raises:
        DataError: fewer than two systems, or no rows.
    """
    from statsmodels.stats.contingency_tables import cochrans_q as compute

    right = _right(list(np.asarray(right_NS).T))
    rows, systems = right.shape
    if (right == right[:, :1]).all():
        return CochranQ(0.0, 1.0, systems - 1, rows)
    found = compute(right.astype(np.int64))
    return CochranQ(float(found.statistic), _positive(found.pvalue), systems - 1, rows)


def mann_whitney(
    first: Sequence[float] | npt.NDArray, second: Sequence[float] | npt.NDArray, *, inputs: str
) -> MannWhitney:
    """Compare two independent samples by rank.

    Scores of runs are such samples: each seed is a run of its own. Values of the same examples
    under two systems are not, they are paired; use `heron.metrics.paired` for those.

    Args:
        first: one sample, at least one finite number.
        second: the other.
        inputs: what the numbers are, a key of `INPUTS`; papers that leave it out cannot be
            repeated.

    Raises:
        ConfigError: another `inputs`.
        DataError: an empty sample, or a value that is not a finite number.
    """
    from scipy.stats import mannwhitneyu

    if inputs not in INPUTS:
        raise ConfigError(f"unknown inputs={inputs}.{nearest(inputs, INPUTS)}")
    samples = [np.asarray(sample, dtype=np.float64) for sample in (first, second)]
    if not all(sample.size and np.isfinite(sample).all() for sample in samples):
        what = f"samples of {samples[0].size} and {samples[1].size} values"
        raise DataError(Problem(inputs, what, "finite numbers, at least one in each"))
    sizes = samples[0].size, samples[1].size
    splits = math.comb(sum(sizes), sizes[0])
    smallest = min(1.0, 2 / splits)
    found = mannwhitneyu(*samples, alternative="two-sided")
    # With ties scipy approximates however few values there are: two seeds beside two would give
    # p = .22, where the least possible is .33.
    p = _exact_p(*samples) if splits <= _MOST_SPLITS else found.pvalue
    return MannWhitney(float(found.statistic), _positive(p), *sizes, inputs, smallest)


def _exact_p(first: npt.NDArray, second: npt.NDArray) -> float:
    """Look at every way to split the values into two samples of these sizes, ties sharing ranks."""
    from scipy.stats import rankdata

    ranks = rankdata(np.concatenate([first, second]))
    chosen = itertools.combinations(range(len(ranks)), len(first))
    sums = ranks[np.array([*chosen])].sum(axis=1)
    observed = ranks[: len(first)].sum()
    return min(1.0, 2 * min((sums <= observed).mean(), (sums >= observed).mean()))


def holm(p_values: Sequence[float]) -> list[float]:
    """Correct the p-values of several comparisons for their number, in the order given.

    Rejecting where a corrected value is at most alpha keeps the chance of any false rejection at
    or below alpha, however the comparisons depend on each other.
    """
    if not p_values:
        return []
    from statsmodels.stats.multitest import multipletests

    return [float(p) for p in multipletests(list(p_values), method="holm")[1]]


def score_function(
    metric: str, classes: Sequence[str], *, task: str = "classification", relaxed: str = "recode"
) -> Score:
    """Find a score as a function of confusion matrices, `[..., C, C]` to `[...]`.

    Args:
        metric: `macro_f1`, `micro_f1` (equal to `accuracy`), `weighted_f1`, or another headline
            score of the task (`relaxed_macro_f1`).
        classes: class names, in the matrices' order.
        task: the name of a task with classes.
        relaxed: what `relaxed_*` stands for; see `heron.metrics.relation`.

    Raises:
        ConfigError: an unknown metric, task or mode.
    """
    plain: dict[str, Score] = {
        "accuracy": confusion.accuracy,
        "micro_f1": confusion.accuracy,
        "macro_f1": confusion.macro_f1,
        "weighted_f1": confusion.weighted_f1,
    }
    scores = headline(task, classes, relaxed)
    if metric in plain:
        return plain[metric]
    names = scores(np.zeros((len(classes), len(classes)), dtype=np.int64))
    if metric not in names:
        hint = nearest(metric, [*plain, *names], listed=True)
        raise ConfigError(f"metric={metric}: no such score.{hint}")

    def one(matrix: Counts) -> Fractions:
        return scores(matrix)[metric]

    return one


def _right(columns: Sequence[npt.ArrayLike]) -> Booleans:
    """Put the systems' answers side by side, `[N, S]`."""
    arrays = [np.asarray(column, dtype=bool) for column in columns]
    sizes = [len(array) for array in arrays]
    if len(arrays) < 2 or len(set(sizes)) > 1 or not sizes[0]:
        what = f"{len(arrays)} systems on {', '.join(map(str, sizes)) or 'no'} rows"
        raise DataError(Problem("scores", what, "at least two systems on the same rows"))
    return np.stack(arrays, axis=1)


def _positive(p: float) -> float:
    """Keep a p-value that is too small for a number above 0: no test is ever that sure."""
    return max(float(p), sys.float_info.min)
