"""Paired bootstrap and randomisation: the distribution of loops over rows, and honest p-values."""

import itertools
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import f1_score

from heron.metrics.classification import accuracy, macro_f1
from heron.metrics.paired import approximate_randomization, paired_bootstrap, paired_counts
from tiers import quick


def system(gold_N, right, seed):
    """Predict `right` of the rows right, the others at random."""
    random = np.random.default_rng(seed)
    return np.where(
        random.random(len(gold_N)) < right, gold_N, random.integers(3, size=len(gold_N))
    )


def rows(n, first=0.7, second=0.6, seed=0, runs=1):
    """Make gold labels, and `runs` of two systems."""
    gold_N = np.random.default_rng(seed).choice(3, n, p=[0.6, 0.3, 0.1])
    return (
        gold_N,
        np.stack([system(gold_N, first, 10 * seed + 1 + 2 * k) for k in range(runs)]),
        np.stack([system(gold_N, second, 10 * seed + 2 + 2 * k) for k in range(runs)]),
    )


def matrices(gold_N, predicted_KN):
    return np.stack(
        [
            np.bincount(gold_N * 3 + p, minlength=9).reshape(3, 3)
            for p in np.atleast_2d(predicted_KN)
        ]
    )


def gap(gold_N, first_KN, second_JN, score=macro_f1):
    """Compute the difference of mean scores, row by row."""
    means = [score(matrices(gold_N, runs)).mean() for runs in (first_KN, second_JN)]
    return means[0] - means[1]


def test_the_difference_is_that_of_sklearns_scores():
    gold_N, first, second = rows(200)
    expected = f1_score(gold_N, first[0], average="macro") - f1_score(
        gold_N, second[0], average="macro"
    )
    assert paired_counts(gold_N, first, second, 3).difference(macro_f1) == pytest.approx(expected)


@pytest.mark.parametrize(("n", "runs"), quick([(150, 3), (150, 1), (600, 1)]))
def test_the_bootstrap_has_the_distribution_of_resampling_rows(n, runs):
    gold_N, first, second = rows(n, runs=runs)
    random = np.random.default_rng(1)
    draws = (random.integers(n, size=n) for _ in range(4000))
    naive = np.array([gap(gold_N[d], first[:, d], second[:, d]) for d in draws])
    counts = paired_counts(gold_N, first, second, 3)
    for level in (0.5, 0.9, 0.95):
        found = paired_bootstrap(counts, macro_f1, draws=8000, level=level)
        expected = np.quantile(naive, [(1 - level) / 2, (1 + level) / 2])
        np.testing.assert_allclose([found.low, found.high], expected, atol=0.2 * naive.std())


def test_groups_of_one_row_have_the_distribution_of_rows():
    gold_N, first, second = rows(300)
    alone = paired_counts(gold_N, first, second, 3, group_N=[f"d{i}" for i in range(300)])
    found = paired_bootstrap(alone, macro_f1)
    expected = paired_bootstrap(paired_counts(gold_N, first, second, 3), macro_f1)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=0.006)


def test_rows_that_repeat_each_other_do_not_count_twice_when_groups_are_drawn():
    gold_N, first, second = rows(200)
    repeated = [np.tile(each, 5) for each in (gold_N, first, second)]
    honest = paired_counts(*repeated, 3, group_N=np.tile(np.arange(200), 5))
    expected = paired_bootstrap(paired_counts(gold_N, first, second, 3), accuracy)
    naive = paired_bootstrap(paired_counts(*repeated, 3), accuracy)
    found = paired_bootstrap(honest, accuracy)
    width = expected.high - expected.low
    assert found.high - found.low == pytest.approx(width, rel=0.1)
    assert naive.high - naive.low == pytest.approx(width / 5**0.5, rel=0.1)
    swapped = approximate_randomization(honest, accuracy)
    by_rows = approximate_randomization(paired_counts(gold_N, first, second, 3), accuracy)
    assert swapped.p == pytest.approx(by_rows.p, abs=0.01)


def test_the_same_predictions_from_more_seeds_are_no_more_evidence():
    gold_N, first, second = rows(150)
    once = paired_counts(gold_N, first, second, 3)
    five = paired_counts(gold_N, np.repeat(first, 5, 0), np.repeat(second, 5, 0), 3)
    for test in (paired_bootstrap, approximate_randomization):
        assert test(five, macro_f1).p == test(once, macro_f1).p


LABELS = st.integers(0, 2)


@st.composite
def small_samples(draw):
    """Up to eight rows in up to eight groups, one or two runs of two systems."""
    n, runs = draw(st.integers(1, 8)), draw(st.integers(1, 2))
    column = st.lists(LABELS, min_size=n, max_size=n).map(np.array)
    gold_N = draw(column)
    first, second = (np.stack([draw(column) for _ in range(runs)]) for _ in range(2))
    groups = draw(st.none() | st.lists(st.integers(0, 7), min_size=n, max_size=n).map(np.array))
    return gold_N, first, second, groups


@given(small_samples())
def test_with_few_rows_the_randomisation_counts_every_way_to_swap(sample):
    gold_N, first, second, group_N = sample
    units = (
        np.arange(len(gold_N)) if group_N is None else np.unique(group_N, return_inverse=True)[1]
    )
    observed, as_far, total = gap(gold_N, first, second), 0, 0
    for swaps in itertools.product([False, True], repeat=units.max() + 1):
        swap_N = np.array(swaps)[units]
        there = gap(gold_N, np.where(swap_N, second, first), np.where(swap_N, first, second))
        as_far += abs(there) >= abs(observed) - 1e-12
        total += 1
    found = approximate_randomization(paired_counts(gold_N, first, second, 3, group_N), macro_f1)
    assert found.exact
    assert found.difference == pytest.approx(observed)
    assert found.p == pytest.approx(as_far / total)


def test_drawn_swaps_come_close_to_all_swaps():
    gold_N, first, second = rows(30, first=0.9, second=0.5)
    counts = paired_counts(gold_N, first, second, 3)
    everything = approximate_randomization(counts, macro_f1, draws=2**16)
    drawn = approximate_randomization(counts, macro_f1, draws=4000)
    assert everything.exact
    assert not drawn.exact
    assert drawn.p == pytest.approx(everything.p, abs=0.02)


@pytest.mark.parametrize("test", [paired_bootstrap, approximate_randomization])
@pytest.mark.parametrize("runs", quick([2, 1]))
def test_p_is_uniform_where_the_systems_are_equally_good(test, runs):
    # Of macro F1: equal differences, which make every test cautious, are rare.
    found = [
        test(paired_counts(*rows(120, 0.6, 0.6, seed, runs), 3), macro_f1, draws=199).p
        for seed in range(300)
    ]
    assert np.mean(found) == pytest.approx(0.5, abs=0.08)
    for alpha in (0.05, 0.2):
        assert np.mean(np.array(found) <= alpha) == pytest.approx(alpha, abs=0.05)


@pytest.mark.parametrize("test", [paired_bootstrap, approximate_randomization])
def test_p_is_never_zero_and_one_without_a_difference(test):
    gold_N, first, second = rows(400, first=1.0, second=0.0)
    far = test(paired_counts(gold_N, first, second, 3), macro_f1, draws=500)
    same = test(paired_counts(gold_N, first, first, 3), macro_f1, draws=500)
    assert 0 < far.p <= 2 / 501
    assert (same.p, same.difference) == (1, 0)


def test_the_interval_holds_zero_where_p_is_above_its_level():
    for seed in range(20):
        counts = paired_counts(*rows(80, 0.68, 0.6, seed), 3)
        found = paired_bootstrap(counts, macro_f1, draws=999)
        if abs(found.p - 0.05) > 0.01:
            assert (found.low <= 0 <= found.high) == (found.p > 0.05)


def test_the_order_of_rows_and_of_systems_changes_nothing():
    gold_N, first, second = rows(90, runs=2)
    order = np.random.default_rng(5).permutation(90)
    group_N = np.arange(90) // 4
    for groups in (None, group_N):
        shuffled = None if groups is None else groups[order]
        counts = paired_counts(gold_N, first, second, 3, groups)
        moved = paired_counts(gold_N[order], first[:, order], second[:, order], 3, shuffled)
        for test in (paired_bootstrap, approximate_randomization):
            assert test(moved, macro_f1, draws=300) == test(counts, macro_f1, draws=300)
    turned = paired_counts(gold_N, second, first, 3)
    back = approximate_randomization(turned, macro_f1, draws=3000)
    there = approximate_randomization(paired_counts(gold_N, first, second, 3), macro_f1, draws=3000)
    assert back.difference == pytest.approx(-there.difference)
    assert back.p == pytest.approx(there.p, abs=0.03)


def test_one_run_stands_beside_each_run_of_the_other_system():
    gold_N, first, second = rows(10)
    alone = approximate_randomization(paired_counts(gold_N, first, second, 3), macro_f1)
    copies = paired_counts(gold_N, first, np.repeat(second, 3, 0), 3)
    assert approximate_randomization(copies, macro_f1).p == alone.p


def test_one_document_says_nothing_of_others():
    gold_N, first, _ = rows(20)
    whole = paired_counts(gold_N, first, 1 - first.clip(0, 1), 3, ["d"] * 20)
    assert paired_bootstrap(whole, macro_f1).p == approximate_randomization(whole, macro_f1).p == 1


def test_a_thousand_classes_take_bounded_memory():
    gold_N, other_N = np.random.default_rng(0).integers(1200, size=(2, 1000))
    first, second = (np.where(np.arange(1000) % n, gold_N, other_N) for n in (3, 2))
    tracemalloc.start()
    units = paired_counts(gold_N, first, second, 1200)
    found = paired_bootstrap(units, accuracy, draws=100).difference
    swapped = approximate_randomization(units, accuracy, draws=100).difference
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    expected = (first == gold_N).mean() - (second == gold_N).mean()
    assert found == pytest.approx(expected) == swapped
    assert peak < 100e6, "matrices of all rows would take 23 GB"
