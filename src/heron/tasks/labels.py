"""Class labels of a whole split: put in order, scored and laid out.

Shape suffixes: R rows, C classes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from heron.config.schema import Config
from heron.data.datamodule import DataModule
from heron.data.examples import Example
from heron.data.features import UNLABELLED
from heron.data.markers import event_markers, mark
from heron.metrics.calibration import calibration_scores
from heron.metrics.classification import bootstrap_intervals, score_task


@dataclass(frozen=True, slots=True)
class LabelPredictions:
    """A split's predictions, in the order of its file; refused rows are absent.

    Args:
        guids: one per row.
        probabilities_RC: float32.
        gold_R: class ids, or `UNLABELLED`.
        groups: the document of each row; its text where it has none.
    """

    guids: list[str]
    probabilities_RC: np.ndarray
    gold_R: np.ndarray
    groups: list[str]

    @property
    def predicted_R(self) -> np.ndarray:
        """The most probable class of each row."""
        return self.probabilities_RC.argmax(axis=1)

    def scores(self, config: Config) -> dict[str, float]:
        """Score the labelled rows, with the bootstrap intervals that `task.bootstrap` asks for."""
        labelled_R = self.gold_R != UNLABELLED
        labels = config.data.label_order
        names = np.asarray(labels, dtype=object)
        gold = names[self.gold_R[labelled_R]]
        predicted = names[self.predicted_R[labelled_R]]
        scores = score_task(config.task.name, gold, predicted, labels, relaxed=config.task.relaxed)
        if len(gold):
            probabilities_RC = self.probabilities_RC[labelled_R]
            scores |= calibration_scores(probabilities_RC, self.gold_R[labelled_R])
        if config.task.bootstrap:
            groups = list(np.asarray(self.groups, dtype=object)[labelled_R])
            scores |= bootstrap_intervals(
                config.task.name,
                gold,
                predicted,
                labels,
                relaxed=config.task.relaxed,
                groups=groups if config.task.resample == "group" else None,
                resamples=config.task.bootstrap,
            )
        return scores

    def columns(self, examples: Sequence[Example], config: Config) -> dict[str, Any]:
        """Lay predictions out as the columns of `predictions/<split>.parquet`.

        Args:
            examples: the split, or more; their texts are written beside the predictions.
            config: names the classes and the markers.

        Returns:
            Where examples have groups (documents), a column of them: tests over systems draw whole
            ones. A row that stands alone has none, nor has one whose group is its own text.
        """
        labels, by_guid = config.data.label_order, {example.guid: example for example in examples}
        predicted = [by_guid[guid] for guid in self.guids]
        gold = [None if g == UNLABELLED else labels[g] for g in self.gold_R]
        columns = {
            "guid": self.guids,
            "gold": gold,
            "prediction": [labels[p] for p in self.predicted_R],
            **self._probabilities(labels),
            "text": [_shown(example, config) for example in predicted],
        }
        if any(example.text_pair is not None for example in predicted):
            columns["text_pair"] = [example.text_pair for example in predicted]
        groups = [e.group if e.group and e.group != e.text else None for e in predicted]
        if any(groups):
            columns["group"] = groups
        return columns

    def answers(self, config: Config) -> dict[str, list[Any]]:
        """Lay predictions out as `heron predict` writes them: guid, label, probabilities."""
        labels = config.data.label_order
        return {
            "guid": self.guids,
            "label": [labels[p] for p in self.predicted_R],
            **self._probabilities(labels),
        }

    def lines(self, config: Config) -> list[str]:
        """Show the first row's label, then the probability of every class."""
        labels = config.data.label_order
        shares = zip(labels, self.probabilities_RC[0], strict=True)
        return [
            labels[int(self.predicted_R[0])],
            *(f"  {label:<24} {probability:.4f}" for label, probability in shares),
        ]

    def _probabilities(self, labels: Sequence[str]) -> dict[str, list[float]]:
        columns_CR = self.probabilities_RC.T.tolist()
        return {f"p/{label}": column for label, column in zip(labels, columns_CR, strict=True)}


def collect_labels(outputs: Sequence[Any], data: DataModule, split: str) -> LabelPredictions:
    """Join the outputs of all batches of a split, and put the rows back in order."""
    features = data.features[split]
    logits_RC = torch.zeros(len(features), len(data.config.data.label_order))
    for output in outputs:
        logits_RC[output.rows_R] = output.logits_RC.cpu()
    # Features are sorted by sequence; people join files by position as well as by guid.
    rows = {guid: row for row, guid in enumerate(features.guids)}
    examples = [example for example in data.examples[split] if example.guid in rows]
    order_R = np.asarray([rows[example.guid] for example in examples], dtype=np.int64)
    return LabelPredictions(
        guids=[example.guid for example in examples],
        probabilities_RC=logits_RC.softmax(dim=1).numpy()[order_R],
        gold_R=np.asarray(features.labels_R)[order_R],
        groups=[example.group or example.text for example in examples],
    )


def _shown(example: Example, config: Config) -> str:
    """Show an example's text as people wrote it, its events marked."""
    if not example.spans:
        return example.text
    return mark(example.text, example.spans, event_markers(config.data)).text
