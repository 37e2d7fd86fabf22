"""Baselines that give each row a class: the majority class, and what forks' classifiers share."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import softmax

from heron.base.files import write_file
from heron.data.batching import copies
from heron.data.config import TRAIN
from heron.data.examples import Example
from heron.data.readers import no_rows
from heron.tasks import Baseline
from heron.tasks.config import Config
from heron.tasks.predictions import ClassPredictions

WEIGHTS = "classifier.safetensors"


class ClassBaseline(ABC):
    """A system that gives every row a probability per class; see `heron.tasks.base.Baseline`."""

    notes: dict[str, Any]

    @abstractmethod
    def probabilities(self, examples: Sequence[Example]) -> np.ndarray:
        """Compute probabilities_RC, float32."""

    @abstractmethod
    def save(self, folder: Path) -> None:
        """See `Baseline`."""

    def predict(self, examples: Sequence[Example], config: Config) -> ClassPredictions:
        """See `Baseline`."""
        return ClassPredictions.most_probable(examples, self.probabilities(examples), config)


@dataclass(frozen=True)
class Majority(ClassBaseline):
    """Gives every row the class shares of train (their logs: bias_C, float64)."""

    bias_C: np.ndarray
    notes: dict[str, Any] = field(default_factory=dict)

    def probabilities(self, examples: Sequence[Example]) -> np.ndarray:
        """See `ClassBaseline`."""
        scores_RC = np.tile(self.bias_C, (len(examples), 1))
        return np.asarray(softmax(scores_RC, axis=1), dtype=np.float32)

    def save(self, folder: Path) -> None:
        """See `Baseline`; the arrays are those of a linear classifier without features."""
        from safetensors.numpy import save  # start-up time

        empty_F = np.zeros(0)
        arrays = {
            "weights_CF": np.zeros((len(self.bias_C), 0)),
            "bias_C": self.bias_C,
            "scaling.shift_F": empty_F,
            "scaling.factor_F": empty_F,
        }
        write_file(folder / WEIGHTS, save(arrays, metadata={"kind": "linear"}))


def fit_majority(config: Config, examples: Sequence[Example]) -> Majority:
    """Count the classes of the training rows, `batching.oversample`'s copies included."""
    labels_R, _ = training_rows(config, examples)
    counts_C = np.bincount(labels_R, minlength=len(config.data.label_order))
    with np.errstate(divide="ignore"):
        bias_C = np.log(counts_C / len(labels_R))
    return Majority(bias_C)


def load_majority(config: Config, folder: Path) -> Majority:
    """Open what `Majority.save` wrote."""
    from safetensors.numpy import load_file  # start-up time

    return Majority(load_file(folder / WEIGHTS)["bias_C"])


MAJORITY = Baseline(fit_majority, load_majority)


def training_rows(config: Config, examples: Sequence[Example]) -> tuple[np.ndarray, np.ndarray]:
    """List class id and example of each training row, int64; `batching.oversample` repeats rows.

    Raises:
        ConfigError: there is no such row.
    """
    if not examples:
        raise no_rows(config.data.name, TRAIN)
    labels = config.data.label_order
    ids = [labels.index(str(example.label)) for example in examples]
    labels_R = np.asarray(ids, dtype=np.int64)
    copies_R = copies(labels_R, labels, config.batching)
    order_R = np.repeat(np.arange(len(labels_R)), copies_R)
    return labels_R[order_R], order_R
