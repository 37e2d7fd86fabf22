"""Predicted classes of a whole split: scored and laid out.

Shape suffixes: R rows, C classes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from heron.data.examples import Example
from heron.data.features import UNLABELLED
from heron.data.markers import event_markers, mark
from heron.metrics.calibration import calibration_scores
from heron.metrics.classification import bootstrap_intervals, score_task
from heron.tasks.base import group_column
from heron.tasks.config import Config
from heron.tasks.task import ClassScores, task_of


@dataclass(frozen=True, slots=True)
class LabelPredictions:
    """See `heron.tasks.base.Predictions`."""

    guids: list[str]  # one per row
    probabilities_RC: np.ndarray  # float32
    gold_R: np.ndarray  # class ids, or `UNLABELLED`
    groups: list[str]  # the document of each row, or its text
    decoded_R: np.ndarray | None = None  # class ids that were chosen together

    @property
    def predicted_R(self) -> np.ndarray:
        """The class of each row: the most probable one, unless they were chosen together."""
        return self.probabilities_RC.argmax(axis=1) if self.decoded_R is None else self.decoded_R

    def scores(self, config: Config) -> dict[str, float]:
        """See `Predictions`."""
        rows = np.flatnonzero(self.gold_R != UNLABELLED)
        if not len(rows):
            return {}  # nothing to score is no score of 0
        names = np.asarray(config.data.label_order, dtype=object)
        gold, predicted = names[self.gold_R[rows]], names[self.predicted_R[rows]]
        scores = score_names(gold, predicted, [self.groups[row] for row in rows], config)
        return scores | calibration_scores(self.probabilities_RC[rows], self.gold_R[rows])

    def columns(self, examples: Sequence[Example], config: Config) -> dict[str, Any]:
        """See `Predictions`."""
        labels, by_guid = config.data.label_order, {example.guid: example for example in examples}
        predicted = [by_guid[guid] for guid in self.guids]
        gold = [None if g == UNLABELLED else labels[g] for g in self.gold_R]
        columns = {
            "guid": self.guids,
            "gold": gold,
            "prediction": [labels[p] for p in self.predicted_R],
            **self._probabilities(labels),
            "text": [shown_text(example, config) for example in predicted],
        }
        if any(example.text_pair is not None for example in predicted):
            columns["text_pair"] = [example.text_pair for example in predicted]
        return columns | group_column(predicted)

    def answers(self, config: Config) -> dict[str, list[Any]]:
        """See `Predictions`: guid, label, probabilities."""
        labels = config.data.label_order
        return {
            "guid": self.guids,
            "label": [labels[p] for p in self.predicted_R],
            **self._probabilities(labels),
        }

    def lines(self, config: Config) -> list[str]:
        """Format the first row's label, then the probability of every class."""
        labels = config.data.label_order
        shares = zip(labels, self.probabilities_RC[0], strict=True)
        return [
            labels[int(self.predicted_R[0])],
            *(f"  {label:<24} {probability:.4f}" for label, probability in shares),
        ]

    def _probabilities(self, labels: Sequence[str]) -> dict[str, list[float]]:
        columns_CR = self.probabilities_RC.T.tolist()
        return {f"p/{label}": column for label, column in zip(labels, columns_CR, strict=True)}


def score_names(
    gold: Sequence[str], predicted: Sequence[str], groups: Sequence[str], config: Config
) -> dict[str, float]:
    """Score named classes, with intervals where `task.bootstrap` asks for them."""
    task, labels = config.task, config.data.label_order
    scores = score_task(task.name, gold, predicted, labels, relaxed=task.relaxed)
    if task.bootstrap and len(gold):
        scores |= bootstrap_intervals(
            task.name,
            gold,
            predicted,
            labels,
            relaxed=task.relaxed,
            groups=groups if task.resample == "group" else None,
            resamples=task.bootstrap,
        )
    return scores


def decode(
    examples: Sequence[Example], probabilities_RC: np.ndarray, config: Config
) -> np.ndarray | None:
    """Choose the classes of all rows together if `task.decoding` says so."""
    scores = task_of(config).scores()
    if config.task.decoding is None or not isinstance(scores, ClassScores) or not scores.decode:
        return None
    decoded_R: np.ndarray = scores.decode(examples, probabilities_RC, config.data.label_order)
    return decoded_R


def shown_text(example: Example, config: Config) -> str:
    """Show an example's text with its events marked."""
    if not example.spans:
        return example.text
    return mark(example.text, example.spans, event_markers(config.data)).text
