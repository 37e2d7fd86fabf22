"""Predictions over a whole split, whatever the task."""

from __future__ import annotations

from typing import Any

import pytorch_lightning as pl

from heron import ranks
from heron.data.datamodule import DataModule
from heron.tasks.base import Predictions, TaskModule


def predict_split(
    trainer: pl.Trainer, module: TaskModule, data: DataModule, split: str
) -> Predictions:
    """Run a split through the model, in order of length, and put the rows back in order.

    Of several processes each predicts its share of every batch; all get the whole.
    """
    loader = data.evaluation_loader(split)
    outputs: Any = trainer.predict(module, loader) if len(data.features[split]) else []
    everywhere = ranks.gather(list(outputs or []))
    return module.collect([each for part in everywhere for each in part], data, split)
