"""McNemar, Cochran, Mann-Whitney and Holm equal their definitions, and never claim p = 0."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, chi2
from statsmodels.stats.multitest import multipletests

from heron.metrics.classification import confusion_matrix, score_task
from heron.metrics.significance import cochran_q, holm, mann_whitney, mcnemar
from heron.results.outcomes import score_function

PAIRS = st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=60)


@given(PAIRS)
def test_cochrans_q_of_two_systems_is_mcnemars_chi_square(pairs):
    b, c = pairs.count((True, False)), pairs.count((False, True))
    q = cochran_q(np.array(pairs))
    statistic = (b - c) ** 2 / (b + c) if b + c else 0.0
    assert (q.statistic, q.p) == pytest.approx((statistic, chi2.sf(statistic, 1)))
    assert (q.degrees, q.n) == (1, len(pairs))


@given(PAIRS)
def test_exact_mcnemar_is_the_binomial_test_of_the_rows_that_one_system_has_right(pairs):
    first, second = zip(*pairs, strict=True)
    only_first, only_second = pairs.count((True, False)), pairs.count((False, True))
    found = mcnemar(first, second)
    assert (found.only_first, found.only_second) == (only_first, only_second)
    discordant = only_first + only_second
    expected = binomtest(only_first, discordant).pvalue if discordant else 1.0
    assert found.p == pytest.approx(expected)


def test_cochrans_q_equals_its_formula_for_four_systems():
    right = np.random.default_rng(0).random((80, 4)) < [0.5, 0.55, 0.6, 0.75]
    columns, rows = right.sum(0), right.sum(1)
    spread = ((columns - columns.mean()) ** 2).sum()
    expected = 4 * 3 * spread / (rows * (4 - rows)).sum()
    found = cochran_q(right)
    assert found.statistic == pytest.approx(expected)
    assert found.p == pytest.approx(chi2.sf(expected, 3))


@pytest.mark.parametrize("number", [1, 3, 20])
def test_holm_equals_statsmodels(number):
    p_values = np.random.default_rng(number).random(number).round(2).tolist()
    assert holm(p_values) == multipletests(p_values, method="holm")[1].tolist()


SCORES = st.integers(0, 6).map(lambda tenths: tenths / 10)  # few values: ties


@given(st.lists(SCORES, min_size=1, max_size=4), st.lists(SCORES, min_size=1, max_size=4))
def test_mann_whitney_counts_pairs_and_all_ways_to_split_the_values(first, second):
    values = first + second

    def wins(chosen):
        others = [v for i, v in enumerate(values) if i not in chosen]
        return sum((values[i] > v) + 0.5 * (values[i] == v) for i in chosen for v in others)

    observed = wins(range(len(first)))
    splits = np.array([*map(wins, itertools.combinations(range(len(values)), len(first)))])
    tails = (splits <= observed).mean(), (splits >= observed).mean()
    found = mann_whitney(first, second)
    assert found.statistic == observed
    assert found.p == pytest.approx(min(1, 2 * min(tails)))
    assert found.p >= found.smallest_p - 1e-12
    assert (found.n_first, found.n_second) == (len(first), len(second))


@pytest.mark.parametrize("sizes", [(2, 3), (3, 3), (5, 5)])
def test_samples_that_do_not_overlap_reach_the_smallest_p(sizes):
    low, high = np.arange(sizes[0]), 10.0 + np.arange(sizes[1])
    found = mann_whitney(low, high)
    assert found.p == pytest.approx(found.smallest_p)


def test_no_p_value_is_zero_however_far_apart_the_systems_are():
    right, wrong = np.ones(5000, bool), np.zeros(5000, bool)
    samples = np.linspace(0, 0.4, 4000), np.linspace(0.6, 1, 4000)
    assert mcnemar(right, wrong).p > 0
    assert cochran_q(np.stack([right, wrong, wrong], axis=1)).p > 0
    assert mann_whitney(*samples).p > 0


def test_systems_with_the_same_errors_do_not_differ():
    right = np.array([True, False, True, True])
    assert mcnemar(right, right).p == 1
    assert cochran_q(np.stack([right] * 3, axis=1)).p == 1


@pytest.mark.parametrize(
    ("task", "metric"),
    [
        ("classification", "macro_f1"),
        ("classification", "weighted_f1"),
        ("nli", "micro_f1"),
        ("nli", "accuracy"),
        ("relation", "relaxed_macro_f1"),
        ("relation", "relaxed_matres_micro_f1"),
    ],
)
def test_a_score_function_computes_what_the_scores_say(task, metric):
    labels = ["BEFORE", "AFTER", "EQUAL", "VAGUE"]
    gold, predicted = np.random.default_rng(0).choice(labels, size=(2, 60))
    score = score_function(metric, labels, task=task)
    matrix = confusion_matrix(gold, predicted, labels)
    assert float(score(matrix)) == pytest.approx(score_task(task, gold, predicted, labels)[metric])
