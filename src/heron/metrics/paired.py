"""Two systems on the same rows: how far apart are they, and could it be chance?

A score is a function of sums over rows: of confusion matrices (macro F1), or of values and their
number (token F1 of answers, ROUGE). Rows that add the same under both systems are only counted:
drawing N rows with replacement is then one multinomial draw over these kinds, and swapping A and B
one binomial draw per kind. With several runs (seeds) of a system, a row is drawn, or swapped, with
all its runs, whose errors on it are not independent; the score is the mean of the runs' scores.
Where rows are not independent (those of one document), whole groups are drawn and swapped.

Neither test sees the spread between seeds: they ask whether these trained models differ on other
rows of this kind, not whether other seeds would. See `significance.mann_whitney` for that.

Legend: N rows, U kinds of units (equal rows, or groups), W single units, K and J runs, M runs of
both, R draws, C classes; X the axes of what is summed: [C, C] for a confusion matrix, or [C, C + 1]
with missing predictions, [2] for values and their number; Q the sums of all runs.
Source: Noreen 1989 and Yeh 2000 (approximate randomisation); Efron and Tibshirani 1993, chapters
13 and 15; Phipson and Smyth 2010 (p-values are never 0).
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from heron.base.errors import ConfigError, DataError
from heron.metrics import require_rows
from heron.metrics.arrays import Counts, Floats
from heron.metrics.classification import Score
from heron.metrics.intervals import batches, number_groups

_TIE = 1e-12  # closer differences are equal but for rounding
_MOST_RUNS = 64  # of each system, after runs are repeated to make the numbers equal


@dataclass(frozen=True, slots=True)
class PairedUnits:
    """Two systems on the same rows, as units that are drawn or swapped whole.

    The kinds of units are rows of equal content, or the groups.
    """

    count_U: Counts  # int64, number of units of each kind
    # What one unit adds to the sums of each of A's runs, float64: an array or SciPy's `csr_array`.
    first_UQ: Any
    second_UQ: Any  # the same of B's runs
    shape_X: tuple[int, ...]  # of one run's sums

    def each(self, score: Score, sums: Floats) -> Floats:
        """Score each run's sums; `[..., Q]` to `[..., K]`."""
        return np.asarray(score(sums.reshape(*sums.shape[:-1], -1, *self.shape_X)))

    def scores(self, score: Score) -> tuple[Floats, Floats]:
        """Compute the score of each of A's runs, `[K]`, and of B's, `[J]`."""
        first_Q = self.count_U @ self.first_UQ
        second_Q = self.count_U @ self.second_UQ
        return self.each(score, first_Q), self.each(score, second_Q)

    def gap(self, score: Score, first: Floats, second: Floats) -> Floats:
        """Compute A's mean score over its runs minus B's from their sums `[..., Q]`."""
        return self.each(score, first).mean(-1) - self.each(score, second).mean(-1)

    def difference(self, score: Score) -> float:
        """Compute A's mean score over its runs minus B's."""
        first_K, second_J = self.scores(score)
        return float(first_K.mean() - second_J.mean())


def paired_counts(
    gold_N: Counts,
    first_KN: Counts,
    second_JN: Counts,
    classes: int,
    group_N: ArrayLike | None = None,
) -> PairedUnits:
    """Count what each unit adds to the confusion matrices of both systems.

    Args:
        gold_N: class ids from 0 to C - 1.
        first_KN, second_JN: class ids predicted by each run of A and B, C for no prediction; `[N]`
            is one run.
        group_N: group labels; None makes each row a unit.

    Raises:
        DataError: unequal numbers of rows.
    """
    from scipy.sparse import csr_array  # start-up time

    first_KN = np.atleast_2d(first_KN)
    second_JN = np.atleast_2d(second_JN)
    require_rows("scores", gold_N, first_KN.T, second_JN.T)
    columns = np.vstack([gold_N[None], first_KN, second_JN])
    columns, unit_N, count_U = _units(columns, group_N)
    gold_N = columns[0]
    prediction_MN = columns[1:]

    # A column for each run and cell of its matrix, a row for each kind of units.
    width = max(classes, int(prediction_MN.max(initial=0)) + 1)
    cells = classes * width
    run_M1 = np.arange(len(prediction_MN))[:, None]
    column_MN = run_M1 * cells + gold_N * width + prediction_MN
    row_MN = np.broadcast_to(unit_N, column_MN.shape)
    sums_UQ = csr_array(
        (np.ones(column_MN.size), (row_MN.ravel(), column_MN.ravel())),
        (len(count_U), len(prediction_MN) * cells),
    )
    first_columns = len(first_KN) * cells
    return PairedUnits(
        count_U, sums_UQ[:, :first_columns], sums_UQ[:, first_columns:], (classes, width)
    )


def paired_values(
    first_KN: ArrayLike, second_JN: ArrayLike, group_N: ArrayLike | None = None
) -> PairedUnits:
    """Sum each unit's values under both systems; the score is then `mean_value`.

    Large groups weigh more, as they do in the mean over rows.

    Args:
        first_KN, second_JN: values of rows, such as an answer's F1, under each run of A and B;
            `[N]` is one run.
        group_N: group labels; None makes each row a unit.

    Raises:
        DataError: unequal numbers of rows, or a value that is not finite.
    """
    first_KN = np.atleast_2d(np.asarray(first_KN, np.float64))
    second_JN = np.atleast_2d(np.asarray(second_JN, np.float64))
    require_rows("scores", first_KN.T, second_JN.T)
    columns = np.vstack([first_KN, second_JN])
    infinite = int((~np.isfinite(columns)).sum())
    if infinite:
        what = f"{infinite} values are not finite"
        raise DataError("scores", what, "leave out rows that have no value")

    columns, unit_N, count_U = _units(columns, group_N)
    kinds = len(count_U)
    rows_U = np.bincount(unit_N, minlength=kinds)
    sums_UM2 = np.empty((kinds, len(columns), 2))
    for run, value_N in enumerate(columns):
        sums_UM2[:, run, 0] = np.bincount(unit_N, value_N, kinds)
        sums_UM2[:, run, 1] = rows_U

    sums_UQ = sums_UM2.reshape(kinds, 2 * len(columns))
    first_columns = 2 * len(first_KN)
    return PairedUnits(count_U, sums_UQ[:, :first_columns], sums_UQ[:, first_columns:], (2,))


def mean_value(sums: NDArray) -> Floats:
    """Divide sums of values by their number, `[..., 2]` to `[...]`: the score of a mean."""
    return np.divide(sums[..., 0], sums[..., 1])


def _units(columns: NDArray, group_N: ArrayLike | None) -> tuple[NDArray, Counts, Counts]:
    """Merge equal rows into kinds of units, or make each group a kind of its own.

    Args:
        columns: what is known of each row, `[..., N]`.
        group_N: group labels, or None.

    Returns:
        The columns of the rows (without groups, of one row of each kind), the kind of each, and
        the number of units of each kind.
    """
    if group_N is None:
        columns, count_U = np.unique(columns, axis=1, return_counts=True)
        return columns, np.arange(len(count_U)), count_U
    unit_N = number_groups(np.asarray(group_N, dtype=object).tolist())
    require_rows("scores", unit_N, columns.T)
    # Sums are rounded, so the order of rows would show in the last digit.
    order = np.lexsort([*columns, unit_N])
    count_U = np.ones(unit_N.max(initial=-1) + 1, dtype=np.int64)
    return columns[:, order], unit_N[order], count_U


@dataclass(frozen=True, slots=True)
class Bootstrap:
    """A's score minus B's and its interval, fractions; `p` is two-sided.

    `p` is twice the share of draws on the other side of 0.
    """

    difference: float
    low: float
    high: float
    p: float
    draws: int


@dataclass(frozen=True, slots=True)
class Randomization:
    """A's score minus B's, a fraction, and the share `p` of swaps that make it at least as large.

    `p` is two-sided; `exact` says that all swaps were counted, not drawn.
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
    """Draw the units with replacement and compute the difference of scores each time.

    The interval holds 0 where p is above 1 - level, unless one draw more or less would decide; with
    a single unit p is 1, whatever the interval.

    Args:
        score: a function of sums, `[..., X]` to `[...]`.
        draws: the smallest possible p-value is 2 / (draws + 1).
        seed: the same seed gives the same draws, whatever the order of the rows.
        level: fraction of draws inside the interval.

    Raises:
        DataError: there are no rows.
    """
    _require_units(units)
    random = np.random.default_rng(seed)
    columns = units.first_UQ.shape[1] + units.second_UQ.shape[1]
    difference_R = np.empty(draws)
    for batch in batches(draws, max(int(units.count_U.sum()), columns)):
        weight_RU = _weights(units.count_U, len(batch), random)
        first_RQ = weight_RU @ units.first_UQ
        second_RQ = weight_RU @ units.second_UQ
        difference_R[batch] = units.gap(score, first_RQ, second_RQ)

    # As in `percentile_intervals`: a draw without a row that counts has no score (NaN).
    difference_R = difference_R[~np.isnan(difference_R)]
    low, high = np.quantile(difference_R, [(1 - level) / 2, (1 + level) / 2])
    below = (difference_R <= _TIE).sum()
    above = (difference_R >= -_TIE).sum()
    beyond = int(min(below, above))
    p = min(1.0, 2 * (beyond + 1) / (len(difference_R) + 1))
    if units.count_U.sum() == 1:
        p = 1.0  # one unit shows no variation
    return Bootstrap(units.difference(score), float(low), float(high), p, draws)


def _weights(count_U: Counts, draws: int, random: np.random.Generator) -> Floats:
    """Draw as many units as there are, with replacement.

    Args:
        count_U: units of each kind.
        draws: number of draws, R.
        random: generator of the draws.

    Returns:
        How many units of each kind were drawn, float64 `[R, U]`.
    """
    units = int(count_U.sum())
    kinds = len(count_U)
    if kinds * 8 < units:
        return random.multinomial(units, count_U / units, size=draws).astype(np.float64)
    # The same distribution; with many kinds, drawing single units is cheaper than binomials.
    kind_W = np.repeat(np.arange(kinds), count_U)
    drawn_RW = kind_W[random.integers(units, size=(draws, units), dtype=np.int32)]
    drawn_RW += np.arange(draws)[:, None] * kinds  # numbers of its own for each draw
    counts = np.bincount(drawn_RW.ravel(), minlength=draws * kinds)
    return counts.reshape(draws, kinds).astype(np.float64)


def approximate_randomization(
    units: PairedUnits, score: Score, *, draws: int = 10_000, seed: int = 0
) -> Randomization:
    """Swap A's and B's predictions in random units and count differences at least as large.

    Under the null hypothesis it does not matter which system made which prediction. The first run
    of A is swapped with the first of B, and so on. Where the numbers of runs differ, runs are
    repeated (one run of a deterministic system is paired with each run of the other). Where no more
    than `draws` swaps are possible, all are counted and p is exact.

    Args:
        units: both systems' rows.
        score: a function of sums, `[..., X]` to `[...]`.
        draws: random swaps; the smallest possible p-value is 1 / (draws + 1).
        seed: the same seed gives the same draws, whatever the order of the rows.

    Raises:
        ConfigError: numbers of runs that need too many repeats, such as 13 and 12.
        DataError: there are no rows.
    """
    _require_units(units)
    # Repeat runs until both systems have equally many.
    numbers = math.prod(units.shape_X)
    first_runs = units.first_UQ.shape[1] // numbers
    second_runs = units.second_UQ.shape[1] // numbers
    runs = math.lcm(first_runs, second_runs)
    if runs > max(_MOST_RUNS, first_runs, second_runs):
        raise ConfigError(
            f"{first_runs} runs beside {second_runs} cannot be swapped: the test needs equally "
            "many of both systems, or numbers of which one divides the other, such as 3 and 1"
        )
    first_UQ = _repeated(units.first_UQ, runs // first_runs)
    second_UQ = _repeated(units.second_UQ, runs // second_runs)
    first_Q = units.count_U @ first_UQ
    second_Q = units.count_U @ second_UQ
    observed = float(units.gap(score, first_Q, second_Q))

    change_UQ = second_UQ - first_UQ
    differs_U = abs(change_UQ).sum(1) > 0  # swapping equal units changes nothing
    change_UQ = change_UQ[differs_U]
    count_U = units.count_U[differs_U]
    differing = int(count_U.sum())
    exact = differing <= math.log2(draws)
    if exact:
        draws = 2**differing
        change_UQ = change_UQ[np.repeat(np.arange(len(count_U)), count_U)]

    random = np.random.default_rng(seed)
    as_far = 0
    for batch in batches(draws, max(change_UQ.shape[0], 2 * first_Q.size)):
        if exact:  # the digits of a draw's number say which units are swapped
            number_R1 = np.array(batch)[:, None]
            swapped_RU = (number_R1 >> np.arange(differing)) & 1
        else:
            swapped_RU = random.binomial(count_U, 0.5, size=(len(batch), len(count_U)))
        moved_RQ = swapped_RU.astype(np.float64) @ change_UQ
        difference_R = units.gap(score, first_Q + moved_RQ, second_Q - moved_RQ)
        as_far += int((np.abs(difference_R) >= abs(observed) - _TIE).sum())

    p = as_far / draws if exact else (as_far + 1) / (draws + 1)
    return Randomization(observed, p, exact, draws)


def _repeated(sums_UQ: Any, times: int) -> Any:
    """Repeat the columns of all runs."""
    return sums_UQ[:, np.tile(np.arange(sums_UQ.shape[1]), times)]


def _require_units(units: PairedUnits) -> None:
    if not units.count_U.sum():
        raise DataError("scores", "there are no rows", "at least one is needed")
