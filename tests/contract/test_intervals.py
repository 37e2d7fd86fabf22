"""Every score with an interval, of every task: a system without an error has [1, 1]."""

import numpy as np
import pytest

from heron.languages import get_language
from heron.metrics.classification import bootstrap_intervals, macro_f1, score_task
from heron.metrics.intervals import score_intervals
from heron.metrics.paired import paired_bootstrap, paired_counts
from heron.results.outcomes import score_function
from heron.tasks.relation import RELATIONS
from heron.tasks.scoring import TextScores
from heron.tasks.task import TASKS, scores_of

GOLD = ["BEFORE"] * 3 + ["VAGUE"] * 2 + ["AFTER"]  # no row of EQUAL
WINDOWS = ["a", "a", "a", "b", "b", "c"]
CLASS_TASKS = [task for task in TASKS if not isinstance(scores_of(task), TextScores)]
TEXT_TASKS = [task for task in TASKS if isinstance(scores_of(task), TextScores)]


@pytest.mark.parametrize("groups", [None, WINDOWS], ids=["rows", "groups"])
@pytest.mark.parametrize("task", CLASS_TASKS)
@pytest.mark.parametrize("relaxed", ["recode", "drop", "matres_micro"])
def test_classes_that_are_all_right_have_1_in_every_resample(task, relaxed, groups):
    words = {"labels": RELATIONS, "relaxed": relaxed}
    scores = score_task(task, GOLD, GOLD, **words)
    bounds = bootstrap_intervals(task, GOLD, GOLD, **words, groups=groups, resamples=500)
    headlines = {name: value for name, value in scores.items() if "/" not in name}
    assert set(headlines.values()) == set(bounds.values()) == {1.0}
    assert len(bounds) == 2 * len(headlines)


@pytest.mark.parametrize("groups", [None, WINDOWS], ids=["rows", "groups"])
@pytest.mark.parametrize("task", TEXT_TASKS)
def test_texts_that_are_all_right_have_1_in_every_resample(task, groups):
    texts = [f"un text {number} הכנסת" for number in range(5)] + [""]
    no_answer = task == "qa"
    golds = [[text] for text in texts[:5]] + [[] if no_answer else [texts[0]]]
    texts = texts if no_answer else [*texts[:5], texts[0]]
    values = scores_of(task).items(texts, golds, get_language("he"), no_answer)
    bounds = score_intervals(values, groups, resamples=500)
    assert set(bounds.values()) == {1.0}


@pytest.mark.parametrize("groups", [None, WINDOWS], ids=["rows", "groups"])
@pytest.mark.parametrize("metric", ["macro_f1", "relaxed_drop_macro_f1", "relaxed_matres_micro_f1"])
def test_all_right_beside_all_wrong_differ_by_1_in_every_resample(metric, groups):
    gold = np.array([RELATIONS.index(label) for label in GOLD])
    nothing = np.full_like(gold, len(RELATIONS))
    units = paired_counts(gold, gold, nothing, len(RELATIONS), groups)
    score = score_function(metric, RELATIONS, task="relation")
    found = paired_bootstrap(units, score, draws=500)
    assert (found.difference, found.low, found.high) == (1, 1, 1)


def test_a_class_that_a_resample_lacks_is_left_out_of_its_mean_and_not_counted_as_wrong():
    assert macro_f1(np.diag([4, 2, 0])) == 1
    wrongly_named = np.array([[4, 0, 1], [0, 2, 0], [0, 0, 0]])
    assert macro_f1(wrongly_named) == pytest.approx((8 / 9 + 1 + 0) / 3)
