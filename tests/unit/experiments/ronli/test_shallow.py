"""Classifiers kept as arrays decide as scikit-learn's own do."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import softmax
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC, LinearSVC

from heron_forks.ronli.rules import CbowConfig
from heron_forks.ronli.shallow import (
    Scaling,
    fit_softmax,
    fit_svm,
    load_classifier,
    save_classifier,
)

SETTINGS = CbowConfig(name="cbow_svm", C=0.7, max_iter=100_000, tol=1e-6)


def blobs(classes: int, seed: int = 0, rows: int = 90) -> tuple[np.ndarray, np.ndarray]:
    """Draw overlapping clouds of different sizes, one per class."""
    draw = np.random.default_rng(seed)
    labels_R = np.sort(draw.integers(0, classes, rows) * draw.integers(0, 2, rows))
    labels_R[:classes] = range(classes)
    centres_CF = draw.normal(size=(classes, 4))
    return centres_CF[labels_R] + draw.normal(size=(rows, 4)), labels_R


@pytest.mark.parametrize("weight", ["none", "balanced"])
@pytest.mark.parametrize("classes", [2, 3, 4])
def test_linear_support_vectors_equal_scikit_learns(classes, weight):
    features_RF, labels_R = blobs(classes)
    settings = replace(SETTINGS, class_weight=weight)
    classifier, said = fit_svm(features_RF, labels_R, classes, settings, seed=3)
    machine = LinearSVC(
        C=0.7,
        max_iter=100_000,
        tol=1e-6,
        class_weight=None if weight == "none" else weight,
        random_state=3,
    ).fit(features_RF, labels_R)
    expected = machine.decision_function(features_RF)
    if classes == 2:
        expected = np.stack([-expected, expected], axis=1)
    np.testing.assert_allclose(classifier.scores(features_RF), expected, atol=1e-9)
    assert said == []


@pytest.mark.parametrize("classes", [2, 3, 4, 5])
def test_radial_support_vectors_equal_scikit_learns(classes):
    features_RF, labels_R = blobs(classes)
    others_RF, _ = blobs(classes, seed=1)
    settings = replace(SETTINGS, kernel="rbf", class_weight="balanced")
    classifier, _ = fit_svm(features_RF, labels_R, classes, settings, seed=0)
    machine = SVC(C=0.7, tol=1e-6, class_weight="balanced", break_ties=classes > 2)
    machine.fit(features_RF, labels_R)
    scores_RC = classifier.scores(others_RF)
    np.testing.assert_array_equal(scores_RC.argmax(axis=1), machine.predict(others_RF))
    if classes > 2:
        np.testing.assert_allclose(scores_RC, machine.decision_function(others_RF), atol=1e-9)


def test_radial_scores_do_not_depend_on_how_many_rows_come_at_once(monkeypatch):
    features_RF, labels_R = blobs(3)
    classifier, _ = fit_svm(features_RF, labels_R, 3, replace(SETTINGS, kernel="rbf"), seed=0)
    whole = classifier.scores(features_RF)
    monkeypatch.setattr("heron_forks.ronli.shallow._CHUNK", 7)
    np.testing.assert_allclose(classifier.scores(features_RF), whole, atol=1e-12)


@pytest.mark.parametrize("classes", [2, 3, 4])
def test_softmax_probabilities_equal_scikit_learns(classes):
    features_RF, labels_R = blobs(classes)
    classifier, _ = fit_softmax(features_RF, labels_R, classes, SETTINGS, seed=0)
    machine = LogisticRegression(C=0.7, tol=1e-6, max_iter=1000).fit(features_RF, labels_R)
    found_RC = softmax(classifier.scores(features_RF), axis=1)
    np.testing.assert_allclose(found_RC, machine.predict_proba(features_RF), atol=1e-9)


@pytest.mark.parametrize("kernel", ["linear", "rbf", "softmax"])
def test_class_that_training_never_shows_is_never_predicted(kernel):
    features_RF, labels_R = blobs(3)
    labels_R = np.asarray([0, 2, 3])[labels_R]
    if kernel == "softmax":
        classifier, _ = fit_softmax(features_RF, labels_R, 5, SETTINGS, seed=0)
    else:
        classifier, _ = fit_svm(features_RF, labels_R, 5, replace(SETTINGS, kernel=kernel), seed=0)
    probabilities_RC = softmax(classifier.scores(features_RF), axis=1)
    assert probabilities_RC.shape == (90, 5)
    np.testing.assert_array_equal(probabilities_RC[:, [1, 4]], 0)
    np.testing.assert_allclose(probabilities_RC.sum(axis=1), 1)


@pytest.mark.parametrize(
    ("how", "reference"), [("standard", StandardScaler()), ("minmax", MinMaxScaler())]
)
def test_scaling_equals_scikit_learns_even_for_a_constant_feature(how, reference):
    features_RF, _ = blobs(3)
    features_RF[:, 1] = 5
    expected = reference.fit(features_RF[:50]).transform(features_RF)
    np.testing.assert_allclose(Scaling.fit(features_RF[:50], how)(features_RF), expected)
    np.testing.assert_array_equal(Scaling.fit(features_RF, "none")(features_RF), features_RF)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_arrays_come_back_from_the_file_as_they_went(kernel, tmp_path):
    features_RF, labels_R = blobs(3)
    scaling = Scaling.fit(features_RF, "standard")
    settings = replace(SETTINGS, kernel=kernel)
    classifier, _ = fit_svm(scaling(features_RF), labels_R, 4, settings, seed=0)
    save_classifier(tmp_path / "weights", classifier, scaling)
    loaded, scaling_again = load_classifier(tmp_path / "weights")
    np.testing.assert_array_equal(
        loaded.scores(scaling_again(features_RF)), classifier.scores(scaling(features_RF))
    )
