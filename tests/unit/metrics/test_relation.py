"""The three relaxed scores equal literal restatements of their definitions on rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import f1_score

from heron.metrics.classification import headline, score_task

LABELS = ["BEFORE", "AFTER", "EQUAL", "VAGUE"]
ORDERED = LABELS[:3]
ROWS = st.lists(
    st.tuples(st.sampled_from(LABELS), st.sampled_from(LABELS)), min_size=1, max_size=40
)


def sklearn_f1(gold, prediction, labels, average):
    """Compute F1 over those of the labels that occur."""
    labels = [label for label in labels if label in {*gold, *prediction}]
    return f1_score(gold, prediction, labels=labels or None, average=average, zero_division=0)


@given(ROWS)
def test_recode_equals_replacing_gold_vague_by_the_prediction(rows):
    prediction = [predicted for _, predicted in rows]
    recoded = [predicted if gold == "VAGUE" else gold for gold, predicted in rows]
    scores = score_task("relation", [gold for gold, _ in rows], prediction, LABELS)
    for average in ("macro", "weighted"):
        expected = sklearn_f1(recoded, prediction, LABELS, average)
        assert scores[f"relaxed_recode_{average}_f1"] == pytest.approx(expected)
        assert scores[f"relaxed_{average}_f1"] == scores[f"relaxed_recode_{average}_f1"]


@given(ROWS)
def test_drop_equals_leaving_out_rows_whose_gold_is_vague(rows):
    kept = [row for row in rows if row[0] != "VAGUE"]
    scores = score_task("relation", *zip(*rows, strict=True), LABELS)
    for average in ("macro", "weighted"):
        expected = sklearn_f1(*zip(*kept, strict=True), ORDERED, average) if kept else 0
        assert scores[f"relaxed_drop_{average}_f1"] == pytest.approx(expected)


@given(ROWS)
def test_matres_micro_equals_f1_of_pooled_decisions_other_than_vague(rows):
    right = sum(gold == predicted != "VAGUE" for gold, predicted in rows)
    predictions = sum(predicted != "VAGUE" for _, predicted in rows)
    golds = sum(gold != "VAGUE" for gold, _ in rows)
    precision = right / predictions if predictions else 0
    recall = right / golds if golds else 0
    expected = 2 * precision * recall / (precision + recall) if right else 0
    gold, prediction = zip(*rows, strict=True)
    scores = score_task("relation", gold, prediction, LABELS)
    assert scores["relaxed_matres_micro_f1"] == pytest.approx(expected)
    assert sklearn_f1(gold, prediction, ORDERED, "micro") == pytest.approx(expected)


def test_recoding_forgives_any_answer_to_vague_and_dropping_ignores_it():
    scores = score_task("relation", ["VAGUE"] * 2, ["BEFORE", "VAGUE"], LABELS)
    assert scores["accuracy"] == 0.5
    assert scores["relaxed_recode_weighted_f1"] == 1
    assert scores["relaxed_drop_weighted_f1"] == 0


def test_dropping_counts_a_vague_prediction_as_a_miss():
    scores = score_task("relation", ["BEFORE"] * 2, ["BEFORE", "VAGUE"], LABELS)
    assert scores["relaxed_drop_weighted_f1"] == pytest.approx(2 / 3)


def test_the_order_of_the_labels_changes_no_score():
    gold, prediction = ["AFTER", "VAGUE", "BEFORE"], ["AFTER", "BEFORE", "VAGUE"]
    one = score_task("relation", gold, prediction, LABELS)
    assert score_task("relation", gold, prediction, LABELS[::-1]) == pytest.approx(one)


@pytest.mark.parametrize(
    ("relaxed", "averages"),
    [("recode", ["macro", "weighted"]), ("drop", ["macro", "weighted"]), ("matres_micro", [])],
)
def test_the_unqualified_relaxed_names_follow_the_chosen_mode(relaxed, averages):
    gold, prediction = LABELS, ["BEFORE", "BEFORE", "VAGUE", "AFTER"]
    scores = score_task("relation", gold, prediction, LABELS, relaxed=relaxed)
    for average in averages:
        assert scores[f"relaxed_{average}_f1"] == scores[f"relaxed_{relaxed}_{average}_f1"]
    assert ("relaxed_macro_f1" in scores) == ("macro" in averages)
    if relaxed == "matres_micro":
        assert scores["relaxed_micro_f1"] == scores["relaxed_matres_micro_f1"]


def test_without_vague_a_relation_has_the_strict_scores_alone():
    rows = (["BEFORE", "AFTER"], ["BEFORE", "BEFORE"], ["BEFORE", "AFTER"])
    assert score_task("relation", *rows) == score_task("classification", *rows)


def test_a_stack_of_matrices_is_scored_like_each_by_itself():
    matrix_RCC = np.random.default_rng(0).integers(0, 9, size=(5, 4, 4))
    scores = headline("relation", LABELS)
    together = scores(matrix_RCC)
    for number, matrix in enumerate(matrix_RCC):
        alone = scores(matrix)
        assert {name: value[number] for name, value in together.items()} == pytest.approx(alone)


@pytest.mark.parametrize("mode", ["recode", "drop", "matres_micro"])
def test_a_row_without_a_prediction_is_never_forgiven(mode):
    classes = ["BEFORE", "AFTER", "EQUAL", "VAGUE"]
    gold = ["BEFORE", "AFTER", "EQUAL", "VAGUE", "VAGUE", "BEFORE"]
    whole = score_task("relation", gold, gold, classes, relaxed=mode)
    given = [*gold[:3], "", "BEFORE", ""]
    found = score_task("relation", gold, given, classes, relaxed=mode)
    assert found["accuracy"] == pytest.approx(3 / 6)
    for name in ("relaxed_recode_macro_f1", "relaxed_drop_macro_f1", "relaxed_matres_micro_f1"):
        assert found[name] < whole[name]
    # recode: VAGUE has two rows, one recoded to BEFORE and right, one without an answer.
    assert found["relaxed_recode_macro_f1"] == pytest.approx((2 * 2 / (3 + 2) + 1 + 1 + 0) / 4)
