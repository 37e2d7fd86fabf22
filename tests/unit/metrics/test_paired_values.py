"""Paired tests of means: those of loops over rows, of scipy, and of the class path for 0 and 1."""

import numpy as np
import pytest
from scipy import stats

from heron.metrics.classification import accuracy
from heron.metrics.paired import (
    approximate_randomization,
    mean_value,
    paired_bootstrap,
    paired_counts,
    paired_values,
)

F1 = [0.0, 0.4, 0.5, 2 / 3, 0.8, 1.0]  # what token F1 of short answers looks like
TESTS = [paired_bootstrap, approximate_randomization]


def values(n, seed=0, runs=1, better=0.1):
    """Make the values of two systems, alike but for a shift of some rows of the first."""
    random = np.random.default_rng(seed)
    ease_N = random.random(n)
    first, second = (
        np.array(F1)[(np.clip(ease_N + random.normal(shift, 0.3, (runs, n)), 0, 1) * 5).astype(int)]
        for shift in (better, 0)
    )
    return first, second


def gap(first_KN, second_JN):
    """Compute the difference of mean scores."""
    return first_KN.mean(-1).mean() - second_JN.mean(-1).mean()


@pytest.mark.parametrize("runs", [1, 3])
@pytest.mark.parametrize("grouped", [False, True])
def test_the_bootstrap_has_the_distribution_of_resampling_rows_or_groups(runs, grouped):
    first, second = values(160, runs=runs)
    random = np.random.default_rng(1)
    # Groups of unequal size: a draw of them has more rows or fewer.
    group_N = np.sort(random.integers(40, size=160)) if grouped else np.arange(160)
    members = [np.flatnonzero(group_N == group) for group in np.unique(group_N)]
    naive = []
    for _ in range(4000):
        drawn = [members[number] for number in random.integers(len(members), size=len(members))]
        rows = np.concatenate(drawn)
        naive.append(gap(first[:, rows], second[:, rows]))
    units = paired_values(first, second, group_N if grouped else None)
    for level in (0.5, 0.9, 0.95):
        found = paired_bootstrap(units, mean_value, draws=8000, level=level)
        expected = np.quantile(naive, [(1 - level) / 2, (1 + level) / 2])
        np.testing.assert_allclose([found.low, found.high], expected, atol=0.15 * np.std(naive))
    assert found.difference == pytest.approx(gap(first, second))


def test_the_interval_is_scipys():
    first, second = values(120)
    expected = stats.bootstrap(
        (first[0], second[0]),
        lambda a, b, axis: a.mean(axis) - b.mean(axis),
        paired=True,
        vectorized=True,
        method="percentile",
        n_resamples=8000,
        rng=0,
    )
    found = paired_bootstrap(paired_values(first, second), mean_value, draws=8000)
    low, high = expected.confidence_interval
    width = 0.1 * (high - low)
    assert (found.low, found.high) == pytest.approx((low, high), abs=width)


@pytest.mark.parametrize("seed", range(5))
def test_with_few_rows_p_is_that_of_scipys_permutation_test(seed):
    first, second = values(11, seed)
    expected = stats.permutation_test(
        (first[0], second[0]),
        lambda a, b, axis: a.mean(axis) - b.mean(axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=np.inf,
    )
    found = approximate_randomization(paired_values(first, second), mean_value)
    assert found.exact
    # Scipy doubles the smaller tail; swaps come in pairs, so both tails are alike.
    assert found.p == pytest.approx(expected.pvalue)


@pytest.mark.parametrize("grouped", [False, True])
def test_right_or_wrong_gives_what_accuracy_gives_on_classes(grouped):
    random = np.random.default_rng(3)
    gold_N = np.zeros(90, np.int64)
    first, second = (random.random((2, 90)) < right for right in (0.6, 0.5))
    group_N = np.arange(90) // 9 if grouped else None
    of_classes = paired_counts(gold_N, 1 - first, 1 - second, 2, group_N)
    of_values = paired_values(first, second, group_N)
    expected = approximate_randomization(of_classes, accuracy)
    found = approximate_randomization(of_values, mean_value)
    assert found.difference == pytest.approx(expected.difference)
    assert found.p == pytest.approx(expected.p, abs=0.02)
    interval, same = (
        paired_bootstrap(units, score)
        for units, score in ((of_values, mean_value), (of_classes, accuracy))
    )
    assert (interval.low, interval.high) == pytest.approx((same.low, same.high), abs=0.015)


@pytest.mark.parametrize("grouped", [False, True])
def test_the_order_of_rows_changes_no_digit(grouped):
    first, second = values(90, runs=2)
    first += np.random.default_rng(2).random(first.shape) / 3  # sums that have to be rounded
    order = np.random.default_rng(5).permutation(90)
    group_N = np.arange(90) // 4
    there = paired_values(first, second, group_N if grouped else None)
    back = paired_values(first[:, order], second[:, order], group_N[order] if grouped else None)
    np.testing.assert_array_equal(back.first_UQ, there.first_UQ)
    for test in TESTS:
        assert test(back, mean_value, draws=300) == test(there, mean_value, draws=300)
