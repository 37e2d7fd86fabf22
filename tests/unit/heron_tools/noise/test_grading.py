"""What finds wrong labels is graded against what is known, and against the class alone."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from sklearn.metrics import roc_auc_score

from heron.data.examples import Example
from heron_tools.noise.grading import auroc_within_classes, detection, grade, wrong_labels

ROWS = st.lists(st.tuples(st.integers(0, 2), st.booleans(), st.integers(0, 5)), min_size=1)


def example(guid, label, truth=None):
    return Example(guid, "t", label=label, side={} if truth is None else {"truth": truth})


def test_a_label_is_wrong_where_it_is_not_the_right_one_and_that_is_known():
    rows = {e.guid: e for e in (example("a", "x", "x"), example("b", "x", "y"), example("c", "x"))}
    assert wrong_labels(rows, ["b", "c", "a"]).tolist() == [True, False, False]


@given(ROWS)
def test_within_classes_is_the_auroc_over_pairs_of_one_class(rows):
    gold, wrong, score = (np.asarray(column) for column in zip(*rows, strict=True))
    pairs = [
        0.5 if score[i] == score[j] else float(score[i] > score[j])
        for i in np.flatnonzero(wrong)
        for j in np.flatnonzero(~wrong)
        if gold[i] == gold[j]
    ]
    found = auroc_within_classes(score.astype(float), wrong, gold)
    assert found == pytest.approx(np.mean(pairs)) if pairs else np.isnan(found)


def test_what_the_class_alone_says_ranks_well_overall_and_not_within_classes():
    random = np.random.default_rng(0)
    gold = random.integers(0, 2, 400)
    wrong = random.random(400) < np.where(gold == 0, 0.05, 0.4)
    graded = grade({"noise": random.random(400)}, wrong, gold)
    overall, within = graded["class"]
    rates = np.array([wrong[gold == each].mean() for each in (0, 1)])
    assert overall.auroc == pytest.approx(roc_auc_score(wrong, rates[gold]))
    assert overall.auroc > 0.7
    assert within == 0.5
    assert graded["noise"][1] == pytest.approx(0.5, abs=0.1)


@st.composite
def scored_labels(draw):
    n = draw(st.integers(2, 30))
    values = st.sampled_from([0.0, 0.25, 1.0, 3.0])
    score_N = draw(arrays.arrays(np.float64, n, elements=values))
    return score_N, draw(arrays.arrays(bool, n))


@given(scored_labels())
def test_detection_has_sklearns_area_and_the_expectation_over_ties(scored):
    score_N, wrong_N = scored
    n, found = len(score_N), detection(score_N, wrong_N, ks=range(1, 31))
    if 0 < wrong_N.sum() < n:
        assert found.auroc == pytest.approx(roc_auc_score(wrong_N, score_N))
    else:
        assert np.isnan(found.auroc)
    assert found.base_rate == wrong_N.mean()
    # Every example's chance to be among the k hardest when ties are broken at random.
    for k, precision in found.precision.items():
        above_N = (score_N[None, :] > score_N[:, None]).sum(axis=1)
        tied_N = (score_N[None, :] == score_N[:, None]).sum(axis=1)
        chance_N = np.clip((k - above_N) / tied_N, 0, 1)
        assert precision == pytest.approx((chance_N * wrong_N).sum() / k)
    assert list(found.precision) == list(range(1, n + 1))
    decile = -(-n // 10)
    assert found.decile_rate == found.precision[decile]
    if wrong_N.any():
        assert found.decile_recall == pytest.approx(found.decile_rate * decile / wrong_N.sum())


def test_detection_asks_for_as_many_as_are_wrong_and_leaves_ungraded_ones_out():
    score_N = np.array([0.9, 0.8, 0.7, 0.1, np.nan])
    found = detection(score_N, np.array([1, 0, 1, 0, 1], bool))
    assert found.examples == 4
    assert found.base_rate == 0.5
    assert found.precision == {2: 0.5}
    assert found.auroc == 0.75
