"""Two systems on the same rows: how far apart, and could it be chance?

Everything is computed on counts. Rows with the same gold label and the same predictions are
exchangeable, so drawing N rows with replacement is one multinomial draw over the cells (gold, A,
B), and swapping A and B in each of them is one binomial draw per cell. Both have the distribution
of the loop over rows, not its draws. With several runs (seeds) of a system, a cell holds all their
predictions: a row is drawn, or swapped, with all its runs, because the runs' errors on one row are
no independent observations. The score is then the mean of the runs' scores.

Rows of one document share its text: where they are not independent, pass groups. Whole groups are
then drawn and swapped, as in `heron.metrics.intervals`.

What neither test sees is the spread between seeds: they ask whether these trained models differ on
other rows of this kind, not whether other seeds would. See `significance.mann_whitney` for that.

Legend: N rows, U kinds of units (cells or groups), K and J runs, C classes, R draws.
Source: Noreen 1989 and Yeh 2000 (approximate randomisation); Efron and Tibshirani 1993, chapters
13 and 15; Phipson and Smyth 2010 (p-values are never 0).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from heron.errors import ConfigError, DataError, Problem
from heron.metrics.confusion import Counts, Fractions

Score = Callable[[Counts], Fractions]
Floats = npt.NDArray[np.float64]

_NUMBERS_AT_ONCE = 4_000_000  # held in memory by one batch of draws; 8 bytes each
_TIE = 1e-12  # differences closer than this are the same one, rounded differently
_MOST_COPIES = 64  # of runs, when two systems have unequal numbers of them


@dataclass(frozen=True, slots=True)
class PairedCounts:
    """Two systems on the same rows, as the units that are drawn or swapped whole.

    Args:
        count_U: int64, how many units of each kind there are.
        first_UKCC: float64, what one unit adds to the confusion matrix of each of A's runs.
        second_UJCC: float64, the same of B's runs.
    """

    count_U: Counts
    first_UKCC: Floats
    second_UJCC: Floats

    def difference(self, score: Score) -> float:
        """Compute A's mean score over its runs minus B's."""
        first_KCC = np.tensordot(self.count_U, self.first_UKCC, 1)
        second_JCC = np.tensordot(self.count_U, self.second_UJCC, 1)
        return float(_mean(score, first_KCC) - _mean(score, second_JCC))


@dataclass(frozen=True, slots=True)
class Bootstrap:
    """A difference, its percentile interval, and its two-sided p-value.

    Args:
        difference: A's score minus B's, a fraction.
        low: lower bound of the interval.
        high: upper bound.
        p: twice the share of draws on the other side of 0.
        draws: how many there were.
    """

    difference: float
    low: float
    high: float
    p: float
    draws: int


@dataclass(frozen=True, slots=True)
class Randomization:
    """A difference and the share of swaps that make it at least as large.

    Args:
        difference: A's score minus B's, a fraction.
        p: two-sided.
        exact: all swaps were counted, none drawn.
        draws: how many swaps were looked at.
    """

    difference: float
    p: float
    exact: bool
    draws: int


def paired_counts(
    gold_N: Counts,
    first_KN: Counts,
    second_JN: Counts,
    classes: int,
    group_N: npt.ArrayLike | None = None,
) -> PairedCounts:
    """Count what each unit adds to the confusion matrices of both systems.

    Args:
        gold_N: class ids from 0 to C - 1.
        first_KN: class ids that each run of A predicted; `[N]` is one run.
        second_JN: the same of B, for the same rows in the same order.
        classes: C.
        group_N: None makes each row a unit; else any labels of the groups that stay whole.

    Raises:
        DataError: unequal numbers of rows.
    """
    first_KN, second_JN = np.atleast_2d(first_KN), np.atleast_2d(second_JN)
    sizes = {len(gold_N), first_KN.shape[1], second_JN.shape[1]}
    if len(sizes) > 1:
        what = (
            f"{len(gold_N)} gold labels, {first_KN.shape[1]} and {second_JN.shape[1]} predictions"
        )
        raise DataError(Problem("scores", what, "both systems on the same rows"))
    if group_N is None:
        columns = np.vstack([gold_N[None], first_KN, second_JN])
        cells, count_U = np.unique(columns, axis=1, return_counts=True)
        gold_N, first_KN, second_JN = np.split(cells, [1, 1 + len(first_KN)])
        gold_N, unit_N = gold_N[0], np.arange(cells.shape[1])
    else:
        _, unit_N = np.unique(np.asarray(group_N), return_inverse=True)
        count_U = np.ones(unit_N.max(initial=-1) + 1, dtype=np.int64)
    return PairedCounts(
        count_U,
        _matrices(unit_N, gold_N, first_KN, classes, len(count_U)),
        _matrices(unit_N, gold_N, second_JN, classes, len(count_U)),
    )


def _matrices(
    unit_N: Counts, gold_N: Counts, prediction_KN: Counts, classes: int, units: int
) -> Floats:
    """Build the confusion matrix of every unit and run, `[U, K, C, C]`."""
    runs = len(prediction_KN)
    run_K1 = np.arange(runs)[:, None]
    cells = ((unit_N * runs + run_K1) * classes + gold_N) * classes + prediction_KN
    counts = np.bincount(cells.ravel(), minlength=units * runs * classes**2)
    return counts.reshape(units, runs, classes, classes).astype(np.float64)


def paired_bootstrap(
    counts: PairedCounts,
    score: Score,
    *,
    draws: int = 10_000,
    seed: int = 0,
    level: float = 0.95,
) -> Bootstrap:
    """Draw the units with replacement; where does the difference of scores fall?

    Args:
        counts: from `paired_counts`.
        score: a function of confusion matrices, `[..., C, C]` to `[...]`.
        draws: how many times; the smallest possible p-value is 2 / (draws + 1).
        seed: the same seed gives the same draws, whatever the order of the rows.
        level: fraction of draws inside the interval.

    Returns:
        The interval holds 0 where p is above 1 - level, up to one draw.

    Raises:
        ConfigError: fewer than one draw.
        DataError: there are no rows.
    """
    _check(counts, draws)
    random = np.random.default_rng(seed)
    wide = counts.first_UKCC[0].size + counts.second_UJCC[0].size
    batches = _batches(draws, max(int(counts.count_U.sum()), wide))
    difference_R = np.empty(draws)
    for batch in batches:
        weight_RU = _weights(counts.count_U, batch.stop - batch.start, random)
        first_RKCC, second_RJCC = (
            np.tensordot(weight_RU, unit, 1) for unit in (counts.first_UKCC, counts.second_UJCC)
        )
        difference_R[batch] = _mean(score, first_RKCC) - _mean(score, second_RJCC)
    low, high = np.quantile(difference_R, [(1 - level) / 2, (1 + level) / 2])
    beyond = min((difference_R <= _TIE).sum(), (difference_R >= -_TIE).sum())
    p = min(1.0, 2 * (int(beyond) + 1) / (draws + 1))
    return Bootstrap(counts.difference(score), float(low), float(high), p, draws)


def _weights(count_U: Counts, draws: int, random: np.random.Generator) -> Floats:
    """Draw as many units as there are, with replacement; how often each kind came, `[R, U]`."""
    units, kinds = int(count_U.sum()), len(count_U)
    if kinds * 8 < units:
        return random.multinomial(units, count_U / units, size=draws).astype(np.float64)
    # The same distribution; with many kinds, drawing single units is cheaper than binomials.
    kind_X = np.repeat(np.arange(kinds), count_U)
    drawn_RX = kind_X[random.integers(units, size=(draws, units), dtype=np.int32)]
    drawn_RX += np.arange(draws)[:, None] * kinds
    found = np.bincount(drawn_RX.ravel(), minlength=draws * kinds)
    return found.reshape(draws, kinds).astype(np.float64)


def approximate_randomization(
    counts: PairedCounts, score: Score, *, draws: int = 10_000, seed: int = 0
) -> Randomization:
    """Swap A's and B's predictions in a random half of the units; how often is it as far apart?

    Under the null hypothesis it does not matter which system made which prediction. Runs are
    swapped in the order given: the first of A with the first of B. Where the numbers of runs
    differ, runs are repeated until they do not (one run of a deterministic system stands beside
    each of the other's).

    Args:
        counts: from `paired_counts`.
        score: a function of confusion matrices, `[..., C, C]` to `[...]`.
        draws: how many swaps; all of them are counted instead, and p is exact, where there are
            no more than this.
        seed: the same seed gives the same swaps, whatever the order of the rows.

    Raises:
        ConfigError: fewer than one draw, or numbers of runs that fit too badly (13 and 12).
        DataError: there are no rows.
    """
    _check(counts, draws)
    first_UKCC, second_UKCC = _same_runs(counts.first_UKCC, counts.second_UJCC)
    change_UKCC = second_UKCC - first_UKCC
    # What is the same both ways stays the same when it is swapped.
    differs_U = change_UKCC.any(axis=(1, 2, 3))
    change_UKCC, count_U = change_UKCC[differs_U], counts.count_U[differs_U]
    first_KCC = np.tensordot(counts.count_U, first_UKCC, 1)
    second_KCC = np.tensordot(counts.count_U, second_UKCC, 1)
    units = int(count_U.sum())
    exact = units <= math.log2(draws)
    if exact:
        draws = 2**units
        change_UKCC = np.repeat(change_UKCC, count_U, axis=0)
    random = np.random.default_rng(seed)
    observed = float(_mean(score, first_KCC) - _mean(score, second_KCC))
    as_far = 0
    for batch in _batches(draws, max(len(change_UKCC), 2 * first_KCC.size)):
        size = batch.stop - batch.start
        if exact:
            number_R1 = np.arange(batch.start, batch.stop)[:, None]
            swapped_RU = (number_R1 >> np.arange(units)) & 1
        else:
            swapped_RU = random.binomial(count_U, 0.5, size=(size, len(count_U)))
        moved_RKCC = np.tensordot(swapped_RU.astype(np.float64), change_UKCC, 1)
        difference_R = _mean(score, first_KCC + moved_RKCC) - _mean(score, second_KCC - moved_RKCC)
        as_far += int((np.abs(difference_R) >= abs(observed) - _TIE).sum())
    p = as_far / draws if exact else (as_far + 1) / (draws + 1)
    return Randomization(observed, p, exact, draws)


def _same_runs(first_UKCC: Floats, second_UJCC: Floats) -> tuple[Floats, Floats]:
    """Repeat runs until both systems have equally many."""
    runs = math.lcm(first_UKCC.shape[1], second_UJCC.shape[1])
    if runs > max(_MOST_COPIES, first_UKCC.shape[1], second_UJCC.shape[1]):
        raise ConfigError(
            f"{first_UKCC.shape[1]} runs beside {second_UJCC.shape[1]} cannot be swapped: give "
            "both systems equally many, or a divisor of the other's"
        )
    first_UKCC, second_UJCC = (
        np.tile(unit, (1, runs // unit.shape[1], 1, 1)) for unit in (first_UKCC, second_UJCC)
    )
    return first_UKCC, second_UJCC


def _mean(score: Score, matrix: Floats) -> Floats:
    """Score each run's matrix and take the mean over runs; `[..., K, C, C]` to `[...]`."""
    return np.asarray(score(matrix)).mean(-1)  # type: ignore[arg-type]  # whole numbers


def _check(counts: PairedCounts, draws: int) -> None:
    if draws < 1:
        raise ConfigError(f"draws={draws}: expected 1 or more")
    if not counts.count_U.sum():
        raise DataError(Problem("scores", "there are no rows", "at least one is needed"))


def _batches(draws: int, numbers: int) -> Iterator[slice]:
    """Cut the draws into batches that fit in memory, `numbers` to a draw."""
    size = max(1, _NUMBERS_AT_ONCE // max(numbers, 1))
    for start in range(0, draws, size):
        yield slice(start, min(start + size, draws))
