"""Calibration scores equal torchmetrics' and scikit-learn's, and their definitions."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import brier_score_loss
from torchmetrics.functional.classification import multiclass_calibration_error

from heron.base.errors import DataError
from heron.metrics.calibration import calibration_scores, reliability_bins


@st.composite
def predicted_rows(draw):
    """Probabilities of 2 to 4 classes, float32 as a model gives them, and gold class numbers."""
    classes, rows = draw(st.integers(2, 4)), draw(st.integers(1, 60))
    random = np.random.default_rng(draw(st.integers(0, 10**6)))
    scale = draw(st.sampled_from([0.1, 1.0, 4.0]))
    logits = torch.tensor(random.normal(scale=scale, size=(rows, classes)), dtype=torch.float32)
    return logits.softmax(dim=1).numpy(), random.integers(classes, size=rows)


@given(predicted_rows(), st.integers(1, 20))
def test_ece_and_mce_equal_torchmetrics(rows, bins):
    probabilities, gold = rows
    scores = calibration_scores(probabilities, gold, bins)
    if (probabilities.max(axis=1) == 1).any():
        return  # torchmetrics gives confidence 1 a bin of its own
    for name, norm in (("ece", "l1"), ("mce", "max")):
        expected = multiclass_calibration_error(
            torch.tensor(probabilities),
            torch.tensor(gold),
            num_classes=probabilities.shape[1],
            n_bins=bins,
            norm=norm,
        )
        assert scores[name] == pytest.approx(expected.item(), abs=2e-5)


@given(predicted_rows())
def test_brier_equals_sklearn_unscaled(rows):
    probabilities, gold = rows
    probabilities = probabilities.astype(np.float64)
    probabilities /= probabilities.sum(axis=1, keepdims=True)
    labels = list(range(probabilities.shape[1]))
    expected = brier_score_loss(gold, probabilities, labels=labels, scale_by_half=False)
    assert calibration_scores(probabilities, gold)["brier"] == pytest.approx(expected)


@given(predicted_rows(), st.integers(1, 20))
def test_the_bins_hold_every_row_once_and_average_to_accuracy_and_confidence(rows, bins):
    probabilities, gold = rows
    found = reliability_bins(probabilities, gold, bins)
    assert found.count.sum() == len(gold)
    right = (probabilities.argmax(axis=1) == gold).mean()
    assert found.accuracy @ found.count / len(gold) == pytest.approx(right)
    confidence = probabilities.max(axis=1).mean(dtype=np.float64)
    assert found.confidence @ found.count / len(gold) == pytest.approx(confidence)
    inside = found.count > 0
    assert (found.confidence[inside] >= found.edges[:-1][inside] - 1e-12).all()
    assert (found.confidence[inside] <= found.edges[1:][inside] + 1e-12).all()


def test_a_sure_answer_is_in_the_last_bin_and_an_edge_in_the_bin_above():
    sure = reliability_bins([[1.0, 0.0], [0.5, 0.5], [0.4, 0.6]], [0, 0, 1], bins=10)
    assert sure.count.tolist() == [0, 0, 0, 0, 0, 1, 1, 0, 0, 1]


def test_perfect_and_surely_wrong_answers_are_the_ends_of_every_score():
    assert set(calibration_scores([[1, 0], [0, 1]], [0, 1]).values()) == {0}
    wrong = calibration_scores([[1, 0], [0, 1]], [1, 0])
    assert wrong == {"ece": 1, "mce": 1, "brier": 2}


def test_an_empty_split_has_scores_of_zero():
    assert set(calibration_scores(np.zeros((0, 3)), []).values()) == {0}


def test_rows_that_are_no_distribution_and_unknown_classes_are_all_named():
    with pytest.raises(DataError) as error:
        calibration_scores([[0.5, 0.5], [0.9, 0.9], [np.nan, 1]], [2, 0, 1])
    assert [problem.where for problem in error.value.problems] == ["row 1", "row 2", "row 3"]
