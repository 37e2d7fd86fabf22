"""Intervals equal the reference where rows are independent, and cover where they are not."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from heron_tools.statistics.rates import group_ids, share


@given(st.lists(st.booleans(), min_size=1, max_size=80))
def test_with_groups_of_one_row_the_interval_is_wilsons(hits):
    found = share(hits, np.arange(len(hits)))
    expected = binomtest(sum(hits), len(hits)).proportion_ci(method="wilson")
    assert found.value == pytest.approx(np.mean(hits))
    assert found[1:] == pytest.approx((expected.low, expected.high), abs=1e-12)


@given(st.lists(st.booleans(), min_size=1, max_size=40), st.integers(1, 6))
def test_copies_of_a_row_in_its_group_never_narrow_the_interval(hits, copies):
    alone = share(hits, np.arange(len(hits)))
    groups = np.repeat(np.arange(len(hits)), copies)
    copied = share(np.repeat(hits, copies), groups)
    assert copied.value == pytest.approx(alone.value)
    assert copied.high - copied.low >= (alone.high - alone.low) * (1 - 1e-9)
    assert 0 <= copied.low <= copied.value + 1e-12
    assert copied.value - 1e-12 <= copied.high <= 1


def test_the_interval_covers_the_true_share_of_rows_in_groups():
    random, covered, naive = np.random.default_rng(0), 0, 0
    groups = np.repeat(np.arange(50), 4)
    for _ in range(400):
        # Rows of a group agree: each group has a rate of its own, .7 on average.
        hits = random.random(200) < np.repeat(random.beta(1.4, 0.6, 50), 4)
        found, plain = share(hits, groups), share(hits, np.arange(200))
        covered += found.low <= 0.7 <= found.high
        naive += plain.low <= 0.7 <= plain.high
    assert 0.92 <= covered / 400 <= 0.98
    assert naive / 400 < 0.9


def test_no_rows_have_no_share():
    assert share([], []) is None


def test_rows_without_a_group_are_groups_of_their_own():
    assert group_ids(["a", "", "a", ""]).tolist() == [2, 0, 2, 1]
