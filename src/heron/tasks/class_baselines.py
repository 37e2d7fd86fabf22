"""Baselines that give each row a class: fit, load, predict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from heron.config.registries import TASKS
from heron.config.schema import Config
from heron.data.examples import Example
from heron.models.baselines.shallow import fit_shallow, label_ids, load_shallow
from heron.models.baselines.zero_shot import load_zero_shot
from heron.tasks.labels import LabelPredictions

ZERO_SHOT = "zero_shot"


class Classifier(Protocol):
    """A system that gives every row a probability per class."""

    @property
    def notes(self) -> dict[str, Any]:
        """See `Baseline`."""

    def probabilities(self, examples: Sequence[Example]) -> np.ndarray:
        """Compute probabilities_RC, float32."""

    def save(self, folder: Path) -> None:
        """See `Baseline`."""


@dataclass(frozen=True, slots=True)
class ClassBaseline:
    """A fitted classifier, see `heron.tasks.base.Baseline`."""

    classifier: Classifier

    @property
    def notes(self) -> dict[str, Any]:
        """See `Baseline`."""
        return self.classifier.notes

    def predict(self, examples: Sequence[Example], config: Config) -> LabelPredictions:
        """See `Baseline`."""
        return LabelPredictions(
            guids=[example.guid for example in examples],
            probabilities_RC=self.classifier.probabilities(examples),
            gold_R=label_ids(examples, config.data.label_order),
            groups=[example.group or example.text for example in examples],
        )

    def save(self, folder: Path) -> None:
        """See `Baseline`."""
        self.classifier.save(folder)


def fit_class_baseline(config: Config, examples: Sequence[Example]) -> ClassBaseline:
    """Fit the baseline that the configuration names; `zero_shot` ignores the examples."""
    if config.baseline.name == ZERO_SHOT:
        return ClassBaseline(load_zero_shot(config))
    return ClassBaseline(fit_shallow(_with_input(config), examples))


def load_class_baseline(config: Config, folder: Path) -> ClassBaseline:
    """Load a fitted baseline.

    Raises:
        ConfigError: files that it refers to (word vectors, a model) are missing or have changed.
    """
    if config.baseline.name == ZERO_SHOT:
        return ClassBaseline(load_zero_shot(config))
    return ClassBaseline(load_shallow(_with_input(config), folder))


def _with_input(config: Config) -> Config:
    """Make a baseline of a task without a second text read the only text."""
    if "pair" in TASKS[config.task.name].forms:
        return config
    return replace(config, baseline=replace(config.baseline, input="premise"))
