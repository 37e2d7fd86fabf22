"""Two systems on the same rows: how far apart, and could it be chance?

Everything is computed on sums over rows (`heron.metrics.paired_units`). Rows with the same gold
label and the same predictions, or with the same values, are exchangeable, so drawing N rows with
replacement is one multinomial draw over these kinds, and swapping A and B in each of them is one
binomial draw per kind. Both have the distribution of the loop over rows, not its draws. With
several runs (seeds) of a system, a row is drawn, or swapped, with all its runs, because the runs'
errors on one row are no independent observations. The score is then the mean of the runs' scores.

Rows of one document share its text: where they are not independent, pass groups. Whole groups are
then drawn and swapped, as in `heron.metrics.intervals`.

What neither test sees is the spread between seeds: they ask whether these trained models differ on
other rows of this kind, not whether other seeds would. See `significance.mann_whitney` for that.

Legend: N rows, U kinds of units (alike rows, or groups), W single units, K and J runs, R draws; X
the axes of what is summed.
Source: Noreen 1989 and Yeh 2000 (approximate randomisation); Efron and Tibshirani 1993, chapters
13 and 15; Phipson and Smyth 2010 (p-values are never 0).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from heron.base.errors import ConfigError, DataError, Problem
from heron.metrics.confusion import Counts
from heron.metrics.paired_units import Floats, PairedUnits, Score

_NUMBERS_AT_ONCE = 4_000_000  # held in memory by one batch of draws; 8 bytes each
_TIE = 1e-12  # differences closer than this are the same one, rounded differently
_MOST_COPIES = 64  # of runs, when two systems have unequal numbers of them


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


def paired_bootstrap(
    units: PairedUnits,
    score: Score,
    *,
    draws: int = 10_000,
    seed: int = 0,
    level: float = 0.95,
) -> Bootstrap:
    """Draw the units with replacement; where does the difference of scores fall?

    Args:
        units: from `paired_counts` or `paired_values`.
        score: a function of what they sum, `[..., X]` to `[...]`.
        draws: how many times; the smallest possible p-value is 2 / (draws + 1).
        seed: the same seed gives the same draws, whatever the order of the rows.
        level: fraction of draws inside the interval.

    Returns:
        The interval holds 0 where p is above 1 - level, up to one draw.

    Raises:
        ConfigError: fewer than one draw.
        DataError: there are no rows.
    """
    _check(units, draws)
    random = np.random.default_rng(seed)
    wide = units.first_UKX[0].size + units.second_UJX[0].size
    batches = _batches(draws, max(int(units.count_U.sum()), wide))
    difference_R = np.empty(draws)
    for batch in batches:
        weight_RU = _weights(units.count_U, batch.stop - batch.start, random)
        first_RKX, second_RJX = (
            np.tensordot(weight_RU, unit, 1) for unit in (units.first_UKX, units.second_UJX)
        )
        difference_R[batch] = _mean(score, first_RKX) - _mean(score, second_RJX)
    low, high = np.quantile(difference_R, [(1 - level) / 2, (1 + level) / 2])
    beyond = min((difference_R <= _TIE).sum(), (difference_R >= -_TIE).sum())
    p = min(1.0, 2 * (int(beyond) + 1) / (draws + 1))
    return Bootstrap(units.difference(score), float(low), float(high), p, draws)


def _weights(count_U: Counts, draws: int, random: np.random.Generator) -> Floats:
    """Draw as many units as there are, with replacement; how often each kind came, `[R, U]`."""
    units, kinds = int(count_U.sum()), len(count_U)
    if kinds * 8 < units:
        return random.multinomial(units, count_U / units, size=draws).astype(np.float64)
    # The same distribution; with many kinds, drawing single units is cheaper than binomials.
    kind_W = np.repeat(np.arange(kinds), count_U)
    drawn_RW = kind_W[random.integers(units, size=(draws, units), dtype=np.int32)]
    drawn_RW += np.arange(draws)[:, None] * kinds
    found = np.bincount(drawn_RW.ravel(), minlength=draws * kinds)
    return found.reshape(draws, kinds).astype(np.float64)


def approximate_randomization(
    units: PairedUnits, score: Score, *, draws: int = 10_000, seed: int = 0
) -> Randomization:
    """Swap A's and B's predictions in a random half of the units; how often is it as far apart?

    Under the null hypothesis it does not matter which system made which prediction. Runs are
    swapped in the order given: the first of A with the first of B. Where the numbers of runs
    differ, runs are repeated until they do not (one run of a deterministic system stands beside
    each of the other's).

    Args:
        units: from `paired_counts` or `paired_values`.
        score: a function of what they sum, `[..., X]` to `[...]`.
        draws: how many swaps; all of them are counted instead, and p is exact, where there are
            no more than this.
        seed: the same seed gives the same swaps, whatever the order of the rows.

    Raises:
        ConfigError: fewer than one draw, or numbers of runs that fit too badly (13 and 12).
        DataError: there are no rows.
    """
    _check(units, draws)
    first_UKX, second_UKX = _same_runs(units.first_UKX, units.second_UJX)
    change_UKX = second_UKX - first_UKX
    # What is the same both ways stays the same when it is swapped.
    differs_U = change_UKX.any(axis=tuple(range(1, change_UKX.ndim)))
    change_UKX, count_U = change_UKX[differs_U], units.count_U[differs_U]
    first_KX = np.tensordot(units.count_U, first_UKX, 1)
    second_KX = np.tensordot(units.count_U, second_UKX, 1)
    differing = int(count_U.sum())
    exact = differing <= math.log2(draws)
    if exact:
        draws = 2**differing
        change_UKX = np.repeat(change_UKX, count_U, axis=0)
    random = np.random.default_rng(seed)
    observed = float(_mean(score, first_KX) - _mean(score, second_KX))
    as_far = 0
    for batch in _batches(draws, max(len(change_UKX), 2 * first_KX.size)):
        size = batch.stop - batch.start
        if exact:
            number_R1 = np.arange(batch.start, batch.stop)[:, None]
            swapped_RU = (number_R1 >> np.arange(differing)) & 1
        else:
            swapped_RU = random.binomial(count_U, 0.5, size=(size, len(count_U)))
        moved_RKX = np.tensordot(swapped_RU.astype(np.float64), change_UKX, 1)
        difference_R = _mean(score, first_KX + moved_RKX) - _mean(score, second_KX - moved_RKX)
        as_far += int((np.abs(difference_R) >= abs(observed) - _TIE).sum())
    p = as_far / draws if exact else (as_far + 1) / (draws + 1)
    return Randomization(observed, p, exact, draws)


def _same_runs(first_UKX: Floats, second_UJX: Floats) -> tuple[Floats, Floats]:
    """Repeat runs until both systems have equally many."""
    runs = math.lcm(first_UKX.shape[1], second_UJX.shape[1])
    if runs > max(_MOST_COPIES, first_UKX.shape[1], second_UJX.shape[1]):
        raise ConfigError(
            f"{first_UKX.shape[1]} runs beside {second_UJX.shape[1]} cannot be swapped: give "
            "both systems equally many, or a divisor of the other's"
        )
    first_UKX, second_UJX = (
        np.concatenate([runs_UX] * (runs // runs_UX.shape[1]), axis=1)
        for runs_UX in (first_UKX, second_UJX)
    )
    return first_UKX, second_UJX


def _mean(score: Score, sums: Floats) -> Floats:
    """Score each run's sums and take the mean over runs; `[..., K, X]` to `[...]`."""
    return np.asarray(score(sums)).mean(-1)


def _check(units: PairedUnits, draws: int) -> None:
    if draws < 1:
        raise ConfigError(f"draws={draws}: expected 1 or more")
    if not units.count_U.sum():
        raise DataError(Problem("scores", "there are no rows", "at least one is needed"))


def _batches(draws: int, numbers: int) -> Iterator[slice]:
    """Cut the draws into batches that fit in memory, `numbers` to a draw."""
    size = max(1, _NUMBERS_AT_ONCE // max(numbers, 1))
    for start in range(0, draws, size):
        yield slice(start, min(start + size, draws))
