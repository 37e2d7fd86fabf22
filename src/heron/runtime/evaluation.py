"""Predictions over a whole split, and their scores.

Shape suffixes: R rows, C classes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytorch_lightning as pl
import torch

from heron import ranks
from heron.data.datamodule import DataModule
from heron.data.examples import Example
from heron.data.features import UNLABELLED
from heron.data.markers import mark
from heron.metrics import bootstrap_intervals, score_task
from heron.metrics.calibration import calibration_scores
from heron.schema import Config


@dataclass(frozen=True, slots=True)
class Predictions:
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


def predict_split(
    trainer: pl.Trainer, module: pl.LightningModule, data: DataModule, split: str
) -> Predictions:
    """Run a split through the model, in order of length, and put the rows back in order.

    Of several processes each predicts its share of every batch; all get the whole.
    """
    features = data.features[split]
    outputs: Any = trainer.predict(module, data.evaluation_loader(split)) if len(features) else []
    logits_RC = torch.zeros(len(features), len(data.config.data.label_order))
    for output in outputs or []:
        logits_RC[output.rows_R] = output.logits_RC.cpu()
    logits_RC = ranks.sum_over_ranks(logits_RC)  # zero where another process has predicted
    # Features are sorted by sequence; people join files by position as well as by guid.
    rows = {guid: row for row, guid in enumerate(features.guids)}
    examples = [example for example in data.examples[split] if example.guid in rows]
    order_R = np.asarray([rows[example.guid] for example in examples], dtype=np.int64)
    return Predictions(
        guids=[example.guid for example in examples],
        probabilities_RC=logits_RC.softmax(dim=1).numpy()[order_R],
        gold_R=np.asarray(features.labels_R)[order_R],
        groups=[example.group or example.text for example in examples],
    )


def score_predictions(predictions: Predictions, config: Config) -> dict[str, float]:
    """Score the labelled rows, with bootstrap intervals where the configuration asks for them."""
    labelled_R = predictions.gold_R != UNLABELLED
    labels = config.data.label_order
    names = np.asarray(labels, dtype=object)
    gold = names[predictions.gold_R[labelled_R]]
    predicted = names[predictions.predicted_R[labelled_R]]
    scores = score_task(config.task.name, gold, predicted, labels, relaxed=config.task.relaxed)
    if len(gold):
        probabilities_RC = predictions.probabilities_RC[labelled_R]
        scores |= calibration_scores(probabilities_RC, predictions.gold_R[labelled_R])
    if config.task.bootstrap:
        groups = list(np.asarray(predictions.groups, dtype=object)[labelled_R])
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


def prediction_columns(
    predictions: Predictions, examples: Sequence[Example], config: Config
) -> dict[str, Any]:
    """Lay predictions out as the columns of `predictions/<split>.parquet`.

    Args:
        predictions: of some or all of `examples`.
        examples: the split; their texts are written beside the predictions.
        config: names the classes and the markers.

    Returns:
        Where examples have groups (documents), a column of them: tests over systems draw whole
        ones. A row that stands alone has none, nor has one whose group is its own text.
    """
    labels, by_guid = config.data.label_order, {example.guid: example for example in examples}
    predicted = [by_guid[guid] for guid in predictions.guids]
    gold = [None if g == UNLABELLED else labels[g] for g in predictions.gold_R]
    columns = {
        "guid": predictions.guids,
        "gold": gold,
        "prediction": [labels[p] for p in predictions.predicted_R],
        **{
            f"p/{label}": predictions.probabilities_RC[:, index].tolist()
            for index, label in enumerate(labels)
        },
        "text": [_shown(example, config) for example in predicted],
    }
    if any(example.text_pair is not None for example in predicted):
        columns["text_pair"] = [example.text_pair for example in predicted]
    groups = [e.group if e.group and e.group != e.text else None for e in predicted]
    if any(groups):
        columns["group"] = groups
    return columns


def _shown(example: Example, config: Config) -> str:
    """Show an example's text as people wrote it, its events marked."""
    if not example.spans:
        return example.text
    return mark(example.text, example.spans, config.data.event_markers()).text
