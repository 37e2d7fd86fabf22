"""A feature extractor, a scaling and a classifier: `majority`, `cbow_svm`, `cbow_softmax`.

Shape suffixes: R rows, F features, C classes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import softmax

from heron.base.errors import DataError, Problem
from heron.base.files import read_json, write_json
from heron.config.baseline import other_vectors
from heron.config.schema import Config
from heron.data.batching import copies
from heron.data.examples import Example
from heron.data.features import UNLABELLED
from heron.models.baselines.cbow import CbowFeatures
from heron.models.baselines.classifiers import (
    Classifier,
    Scaling,
    fit_majority,
    fit_softmax,
    fit_svm,
    load_classifier,
    save_classifier,
)
from heron.models.baselines.vector_sources import VectorSource, kept_vectors, vector_source

WEIGHTS = "classifier.safetensors"
VECTORS = "vectors.json"


@dataclass(frozen=True, slots=True)
class ShallowBaseline:
    """A fitted shallow system.

    Args:
        features: examples to features_RF.
        scaling: of the features, as the train split showed them.
        classifier: features to scores.
        source: the word vectors behind the features, or None.
        notes: what is to be known about the fit, JSON, for `status.json`.
    """

    features: Callable[[Sequence[Example]], np.ndarray]
    scaling: Scaling
    classifier: Classifier
    source: VectorSource | None
    notes: dict[str, Any]

    def probabilities(self, examples: Sequence[Example]) -> np.ndarray:
        """Return probabilities_RC, float32: the softmax of the classifier's scores.

        Logistic regression means them so, and for `majority` they are the classes' shares. The
        scores of support vectors are distances and votes: their softmax keeps the order, but is
        no calibrated probability.
        """
        scores_RC = self.classifier.scores(self.scaling(self.features(examples)))
        probabilities_RC: np.ndarray = softmax(scores_RC, axis=1).astype(np.float32)
        return probabilities_RC

    def save(self, folder: Path) -> None:
        """Write classifier, scaling, and what is needed to find the word vectors again."""
        save_classifier(folder / WEIGHTS, self.classifier, self.scaling)
        if self.source is not None:
            write_json(folder / VECTORS, self.source.keep(folder))


def fit_shallow(config: Config, examples: Sequence[Example]) -> ShallowBaseline:
    """Fit the shallow baseline that the configuration names.

    Args:
        config: the run's; `batching.oversample` counts rows of rare classes more than once.
        examples: the train split, labelled; nothing else is ever looked at.

    Raises:
        DataError: fewer than two classes to tell apart.
    """
    labels = config.data.label_order
    labels_R = label_ids(examples, labels)
    copies_R = copies(labels_R, labels, config.batching)
    order_R = np.repeat(np.arange(len(labels_R)), 1 if copies_R is None else copies_R)
    if config.baseline.name == "majority":
        majority = fit_majority(labels_R[order_R], len(labels))
        scaling = Scaling.fit(no_features(examples), "none")
        return ShallowBaseline(no_features, scaling, majority, None, {})
    if len(set(labels_R.tolist())) < 2:
        what = f"all {len(labels_R)} rows are of one class: nothing to tell apart"
        raise DataError(Problem("train", what, "baseline=majority can do with one"))
    return _fit_cbow(config, examples, labels_R, order_R)


def _fit_cbow(
    config: Config, examples: Sequence[Example], labels_R: np.ndarray, order_R: np.ndarray
) -> ShallowBaseline:
    settings, cache = config.baseline, Path(config.paths.cache)
    source = vector_source(settings, train_texts(examples), config.seed, cache)
    features = CbowFeatures(settings, source, cache)
    features_RF = features(examples)
    scaling = Scaling.fit(features_RF, settings.scale)
    fit = fit_svm if settings.name == "cbow_svm" else fit_softmax
    classifier, said = fit(
        scaling(features_RF)[order_R],
        labels_R[order_R],
        len(config.data.label_order),
        settings,
        config.seed,
    )
    others = other_vectors(settings.name, settings.vectors, config.data.language)
    notes = {"train_words": features.counts, "warnings": [*said, others] if others else said}
    return ShallowBaseline(features, scaling, classifier, source, notes)


def load_shallow(config: Config, folder: Path) -> ShallowBaseline:
    """Open what `ShallowBaseline.save` has left in a run's `model/`."""
    classifier, scaling = load_classifier(folder / WEIGHTS)
    if config.baseline.name == "majority":
        return ShallowBaseline(no_features, scaling, classifier, None, {})
    source = kept_vectors(folder, read_json(folder / VECTORS))
    features = CbowFeatures(config.baseline, source, Path(config.paths.cache))
    return ShallowBaseline(features, scaling, classifier, source, {})


def label_ids(examples: Sequence[Example], labels: Sequence[str]) -> np.ndarray:
    """Number the labels of some examples, int64; `UNLABELLED` where there is none."""
    ids = {label: index for index, label in enumerate(labels)}
    found = [UNLABELLED if e.label is None else ids[e.label] for e in examples]
    return np.asarray(found, dtype=np.int64)


def no_features(examples: Sequence[Example]) -> np.ndarray:
    """Return features_RF without any columns."""
    return np.zeros((len(examples), 0))


def train_texts(examples: Sequence[Example]) -> list[str]:
    """Collect the first texts, then the second ones, to train word vectors on."""
    pairs = [example.text_pair for example in examples if example.text_pair is not None]
    return [*(example.text for example in examples), *pairs]
