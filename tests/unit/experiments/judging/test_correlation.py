"""Correlations of scores: the two papers' coefficients, their p, and what is undefined."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heron_forks.hesum.judging.correlation import Correlation, correlate


def with_correlation(r, n):
    """Two columns of n numbers whose Pearson correlation is r."""
    random = np.random.default_rng(0)
    x, z = random.normal(size=(2, n))
    x = (x - x.mean()) / np.linalg.norm(x - x.mean())
    z = z - z.mean() - (z @ x) * x
    return x, r * x + math.sqrt(1 - r**2) * z / np.linalg.norm(z)


@pytest.mark.parametrize(("n", "low", "high"), [(186, 0.028, 0.030), (680, 2e-5, 4e-5)])
def test_hesum_s_correlation_of_minus_16_has_the_p_that_its_n_gives(n, low, high):
    found = correlate(*with_correlation(-0.16, n))
    assert found.pearson == pytest.approx(-0.16)
    assert low < found.pearson_p < high


@given(st.lists(st.tuples(st.integers(1, 5), st.integers(0, 100)), min_size=3, max_size=12))
def test_pearson_is_numpy_s_and_tau_is_a_count_of_pairs(rows):
    x, y = np.array(rows, dtype=float).T
    found = correlate(x, y)
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        assert found == Correlation(len(x))
        return
    assert found.pearson == pytest.approx(np.corrcoef(x, y)[0, 1], abs=1e-6)
    signs = [np.sign(np.subtract.outer(v, v)) for v in (x, y)]
    both, first, second = ((a * b).sum() for a, b in (signs, signs[:1] * 2, signs[1:] * 2))
    assert found.kendall == pytest.approx(both / math.sqrt(first * second), abs=1e-9)


def test_units_without_both_scores_do_not_count():
    found = correlate([1, 2, 3, math.nan, 5], [2, 4, 6, 8, math.nan])
    assert (found.n, found.pearson) == (3, pytest.approx(1.0))


@pytest.mark.parametrize(
    ("x", "y"), [([], []), ([1, 2], [1, 2]), ([3, 3, 3], [1, 2, 3]), ([1, 2, 3], [0.1, 0.1, 0.1])]
)
def test_two_units_or_a_constant_have_no_correlation(x, y):
    assert correlate(x, y, ["a"] * len(x)) == Correlation(len(x))


def test_the_interval_draws_groups_and_holds_the_value():
    random = np.random.default_rng(1)
    article = np.repeat(random.normal(size=40), 5)
    x, y = article + random.normal(0, 0.3, (2, 200))
    groups = [str(n // 5) for n in range(200)]
    together, apart = correlate(x, y, groups), correlate(x, y, [str(n) for n in range(200)])
    assert together.low < together.pearson < together.high
    assert together.high - together.low > 1.2 * (apart.high - apart.low)
    assert correlate(x, y, ["one"] * 200).low is None
    assert correlate(x, y, groups) == together
