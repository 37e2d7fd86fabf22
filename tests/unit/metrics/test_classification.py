"""Scores equal scikit-learn's, and the numbers the papers printed."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics as sklearn

from heron.metrics.classification import (
    bootstrap_intervals,
    confusion_matrix,
    score_matrix,
    score_task,
)

LABELS = ["BEFORE", "AFTER", "EQUAL", "VAGUE"]


@st.composite
def labelled_rows(draw):
    """Gold labels, predictions and classes; often with classes that nobody used."""
    labels = LABELS[: draw(st.integers(1, 4))]
    label = st.sampled_from(draw(st.lists(st.sampled_from(labels), min_size=1, max_size=4)))
    rows = draw(st.lists(st.tuples(label, st.sampled_from(labels)), max_size=30))
    return [gold for gold, _ in rows], [prediction for _, prediction in rows], labels


@given(labelled_rows())
def test_the_matrix_has_gold_rows_and_predicted_columns_like_sklearn(rows):
    gold, prediction, labels = rows
    matrix = confusion_matrix(gold, prediction, labels)
    assert matrix.dtype == np.int64
    if gold:
        expected = sklearn.confusion_matrix(gold, prediction, labels=labels)
        np.testing.assert_array_equal(matrix, expected)
    else:
        assert not matrix.any()


@given(labelled_rows())
def test_scores_equal_sklearn_and_averages_run_over_the_classes_that_occur(rows):
    gold, prediction, labels = rows
    scores = score_task("classification", gold, prediction, labels)
    if not gold:
        assert set(scores.values()) == {0}
        return
    options = {"labels": labels, "zero_division": 0}
    expected = {
        "accuracy": sklearn.accuracy_score(gold, prediction),
        "macro_f1": sklearn.f1_score(gold, prediction, average="macro", zero_division=0),
        "weighted_f1": sklearn.f1_score(gold, prediction, average="weighted", zero_division=0),
    }
    names = ("precision", "recall", "f1", "support")
    values = sklearn.precision_recall_fscore_support(gold, prediction, **options)
    for name, per_class in zip(names, values, strict=True):
        expected |= {f"{name}/{label}": per_class[i] for i, label in enumerate(labels)}
    expected |= {f"predicted/{label}": prediction.count(label) / len(gold) for label in labels}
    assert scores == pytest.approx(expected)
    assert list(scores) == list(expected)


def test_nli_has_the_scores_of_a_classification_and_micro_f1_that_equals_accuracy():
    gold, prediction = ["c", "e", "n", "n"], ["c", "c", "n", "e"]
    scores = score_task("nli", gold, prediction, ["c", "e", "n"])
    micro = sklearn.f1_score(gold, prediction, average="micro")
    assert scores.pop("micro_f1") == scores["accuracy"] == pytest.approx(micro)
    assert scores == score_task("classification", gold, prediction, ["c", "e", "n"])


# Precision and recall (percent) of entailment, contradiction and neutral, and the printed F1.
# Source: LCHAIM, Table 2; the test set has 327, 242 and 236 rows of them.
LCHAIM_SUPPORT = (327, 242, 236)
LCHAIM = {
    "AlephBERT": ([42.47, 31.38, 39.13], [68.19, 24.38, 15.25], 35.94),
    "AlephBERT-HebNLI": ([42.43, 28.92, 33.06], [56.57, 14.46, 34.74], 35.42),
    "AlephBERT-ALL": ([46.26, 36.45, 45.21], [56.88, 43.38, 22.03], 41.32),
    "LongHero": ([39.42, 28.70, 32.85], [46.17, 33.47, 19.49], 33.74),
    "LongHero-HebNLI": ([50.77, 34.48, 29.25], [10.09, 12.40, 80.93], 24.92),
    "LongHero-LCHAIM": ([41.94, 44.12, 36.73], [81.96, 12.40, 15.25], 34.68),
    "LongHero-ALL": ([59.74, 47.56, 47.19], [57.19, 44.22, 53.39], 52.20),
}


def matrix_of(precision, recall, support):
    """Rebuild a 3 x 3 confusion matrix from percentages; off the diagonal one of many."""
    hits = np.rint(np.array(recall) / 100 * support).astype(int)
    predicted = np.rint(hits / (np.array(precision) / 100)).astype(int)
    predicted[np.argmax(predicted)] += sum(support) - predicted.sum()  # what rounding lost
    rows, columns = support - hits, predicted - hits
    for spare in range(sum(support)):
        rest = rows[2] - (columns[1] - spare)
        matrix = np.array(
            [
                [hits[0], spare, rows[0] - spare],
                [columns[0] - rest, hits[1], rows[1] - columns[0] + rest],
                [rest, columns[1] - spare, hits[2]],
            ]
        )
        if (matrix >= 0).all():
            return matrix
    raise AssertionError("no confusion matrix has these margins")


@pytest.mark.parametrize("system", LCHAIM)
def test_weighted_f1_is_what_lchaim_prints_as_f1(system):
    precision, recall, printed = LCHAIM[system]
    matrix = matrix_of(precision, recall, np.array(LCHAIM_SUPPORT))
    scores = score_matrix("classification", matrix, ["entailment", "contradiction", "neutral"])
    assert [scores[f"support/{name}"] for name in ("entailment", "contradiction")] == [327, 242]
    assert 100 * scores["weighted_f1"] == pytest.approx(printed, abs=0.1)


# Recalls of contrastive, entailment, reasoning and neutral, and the printed micro F1.
# Source: RoNLI, Tables 4 and 5; the test set has 74, 96, 952 and 1,878 rows of them.
RONLI_SUPPORT = np.array([74, 96, 952, 1878])
RONLI = {
    "CBOW + SVM": ([0.32, 0.51, 0.67, 0.63], 0.63),
    "CBOW + softmax": ([0.01, 0.04, 0.81, 0.65], 0.66),
    "RoGPT2": ([0, 0, 0.83, 0.69], 0.70),
    "ChatGPT 3.5": ([0.20, 0.55, 0.72, 0.51], 0.57),
    "Ro-BERT": ([0.01, 0, 0.86, 0.72], 0.72),
    "Ro-BERT, oversampled": ([0.80, 0.54, 0.72, 0.73], 0.73),
    "Length-CL": ([0.72, 0.43, 0.71, 0.75], 0.73),
    "STS-CL": ([0.86, 0.40, 0.76, 0.74], 0.74),
    "Cart-Stra-CL++": ([0.77, 0.44, 0.79, 0.74], 0.75),
}


@pytest.mark.parametrize("system", RONLI)
def test_accuracy_is_what_ronli_prints_as_micro_f1(system):
    recalls, printed = RONLI[system]
    hits = np.rint(np.array(recalls) * RONLI_SUPPORT).astype(int)
    matrix = np.diag(hits)
    matrix[[0, 1, 2, 3], [1, 2, 3, 0]] = RONLI_SUPPORT - hits
    scores = score_matrix("classification", matrix, ["C", "E", "R", "N"])
    assert scores["accuracy"] == pytest.approx(printed, abs=0.01)


def test_a_row_without_a_prediction_is_wrong_and_no_class():
    gold = ["a", "a", "b", "b", "c", "c"]
    given = ["a", "", "b", "a", "", ""]
    found = score_task("classification", gold, given, ["a", "b", "c"])
    expected = sklearn.f1_score(gold, given, labels=["a", "b", "c"], average=None, zero_division=0)
    assert [found[f"f1/{name}"] for name in "abc"] == pytest.approx(expected)
    assert found["macro_f1"] == pytest.approx(expected.mean())
    assert found["weighted_f1"] == pytest.approx(expected.mean())
    assert found["accuracy"] == pytest.approx(2 / 6)
    assert [found[f"predicted/{name}"] for name in "abc"] == pytest.approx([2 / 6, 1 / 6, 0])
    intervals = bootstrap_intervals("classification", gold, given, ["a", "b", "c"], resamples=50)
    assert 0 <= intervals["accuracy_low"] <= 2 / 6 <= intervals["accuracy_high"]
