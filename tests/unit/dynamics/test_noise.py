"""What finds wrong labels is graded against what is known, and against the class alone."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from heron.base.errors import ConfigError
from heron.data.examples import Example
from heron_tools.noise.noise import class_rates, grade, within_classes, wrong_labels

ROWS = st.lists(st.tuples(st.integers(0, 2), st.booleans(), st.integers(0, 5)), min_size=1)


def example(guid, label, truth=None):
    return Example(guid, "t", label=label, side={} if truth is None else {"truth": truth})


def test_a_label_is_wrong_where_it_is_not_the_right_one_and_that_is_known():
    rows = {e.guid: e for e in (example("a", "x", "x"), example("b", "x", "y"), example("c", "x"))}
    assert wrong_labels(rows, ["b", "c", "a"]).tolist() == [True, False, False]
    with pytest.raises(ConfigError, match=r"data\.columns\.truth"):
        wrong_labels({"c": rows["c"]}, ["c"])


@given(ROWS)
def test_within_classes_is_the_auroc_over_pairs_of_one_class(rows):
    gold, wrong, score = (np.asarray(column) for column in zip(*rows, strict=True))
    pairs = [
        0.5 if score[i] == score[j] else float(score[i] > score[j])
        for i in np.flatnonzero(wrong)
        for j in np.flatnonzero(~wrong)
        if gold[i] == gold[j]
    ]
    found = within_classes(score.astype(float), wrong, gold)
    assert found == pytest.approx(np.mean(pairs)) if pairs else np.isnan(found)


def test_what_the_class_alone_says_ranks_well_overall_and_not_within_classes():
    random = np.random.default_rng(0)
    gold = random.integers(0, 2, 400)
    wrong = random.random(400) < np.where(gold == 0, 0.05, 0.4)
    graded = grade({"noise": random.random(400)}, wrong, gold)
    overall, within = graded["class"]
    assert overall.auroc == pytest.approx(roc_auc_score(wrong, class_rates(wrong, gold)))
    assert overall.auroc > 0.7
    assert within == 0.5
    assert graded["noise"][1] == pytest.approx(0.5, abs=0.1)
