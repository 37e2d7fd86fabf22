"""Rank correlations, controlled for length, beside references."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import spearmanr

from heron_forks.lchaim.diversity import rank_correlation


@settings(max_examples=12)
@given(st.integers(0, 1000), st.integers(5, 60))
def test_the_correlation_is_spearmans(seed, rows):
    random = np.random.default_rng(seed)
    x, y = random.integers(6, size=rows), random.random(rows) < 0.5
    found = rank_correlation(x, y, np.arange(rows))
    if len(set(x)) < 2 or len(set(y)) < 2:
        assert found is None
        return
    assert found.value == pytest.approx(spearmanr(x, y).statistic)


def residual_correlation(x, y, z):
    """Correlate what linear regression on the ranks of z leaves of those of x and y."""
    ranks = [np.argsort(np.argsort(v)).astype(float) for v in (x, y, z)]
    design = np.column_stack([np.ones(len(x)), ranks[2]])
    rest = [r - design @ np.linalg.lstsq(design, r, rcond=None)[0] for r in ranks[:2]]
    return np.corrcoef(*rest)[0, 1]


def test_the_partial_correlation_is_that_of_what_the_control_leaves():
    x, y, z = np.random.default_rng(0).random((3, 50))
    found = rank_correlation(x, y + z, np.arange(50), control_N=z)
    assert found.value == pytest.approx(residual_correlation(x, y + z, z))
    assert found.low < found.value < found.high


def test_a_correlation_that_length_alone_makes_is_gone_once_length_is_given():
    random = np.random.default_rng(0)
    length = random.integers(10, 500, 1000)
    ratio = 1 / np.log(length) + random.normal(0, 0.002, 1000)
    right = random.random(1000) < 0.9 - 0.0012 * length
    plain = rank_correlation(ratio, right, np.arange(1000))
    given = rank_correlation(ratio, right, np.arange(1000), control_N=length)
    assert plain.low > 0.2
    assert given.low < 0 < given.high


def test_any_monotone_form_of_the_control_gives_the_same():
    x, y, z = np.random.default_rng(1).random((3, 40))
    groups = np.arange(40)
    plain = rank_correlation(x, y, groups, control_N=z)
    assert rank_correlation(x, y, groups, control_N=np.log(z)) == plain


def test_nothing_is_left_of_a_measure_given_itself():
    x, y = np.random.default_rng(2).random((2, 40))
    assert rank_correlation(x, y, np.arange(40), control_N=x) is None


def test_groups_widen_the_interval_of_a_correlation():
    x, y = np.random.default_rng(3).normal(size=(2, 60))
    copies = [np.repeat(v, 5) for v in (x, x + y)]
    alone = rank_correlation(*copies, np.arange(300))
    whole = rank_correlation(*copies, np.repeat(np.arange(60), 5))
    assert whole.high - whole.low > 1.6 * (alone.high - alone.low)


def test_one_group_has_a_correlation_without_an_interval():
    x, y = np.random.default_rng(4).normal(size=(2, 30))
    found = rank_correlation(x, y, np.zeros(30))
    assert found == pytest.approx(spearmanr(x, y).statistic)
