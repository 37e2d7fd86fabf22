"""Recorder: what the model thought of every training example in every epoch.

Shape suffixes: R rows, C classes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytorch_lightning as pl
import torch

from heron.data.features import Features
from heron.data.tables import write_table
from heron.runtime.run_folder import RunFolder


class Recorder(pl.Callback):
    """Writes `dynamics/epoch=<n>.parquet` from the logits of the training forward passes.

    The logits are those before the update, with dropout on, as published for dataset cartography.
    Arrays are allocated once; an epoch costs one indexed copy per batch.

    Args:
        folder: the run folder.
        features: the train split.
        classes: C.
    """

    def __init__(self, folder: RunFolder, features: Features, classes: int):
        self.folder = folder
        self.features = features
        self.logits_RC = torch.full((len(features), classes), torch.nan)

    def state_dict(self) -> dict[str, Any]:
        """Keep the part of the epoch that is done, for an exact resume."""
        return {"logits_RC": self.logits_RC}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on within the epoch."""
        self.logits_RC = state_dict["logits_RC"]

    def on_train_batch_end(
        self, trainer: pl.Trainer, pl_module: Any, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        """Copy the batch's logits to their rows."""
        output = pl_module.latest
        self.logits_RC.index_copy_(0, output.rows_R.cpu(), output.logits_RC.cpu())

    def on_train_epoch_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Write the epoch and start the next one empty."""
        columns = dynamics_columns(self.features, self.logits_RC.numpy())
        write_table(self.folder.dynamics(trainer.current_epoch), columns)
        self.logits_RC.fill_(torch.nan)


def dynamics_columns(features: Features, logits_RC: np.ndarray) -> dict[str, Any]:
    """Turn one epoch's logits into the columns of a dynamics file.

    Returns:
        guid, gold (class id), p_gold (probability of the gold class), correct, logits; rows that
        the epoch did not visit are left out.
    """
    seen_R = ~np.isnan(logits_RC[:, 0])
    logits, gold = logits_RC[seen_R], np.asarray(features.labels_R)[seen_R]
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    probabilities = powers / powers.sum(axis=1, keepdims=True)
    return {
        "guid": [guid for guid, seen in zip(features.guids, seen_R, strict=True) if seen],
        "gold": gold.tolist(),
        "p_gold": probabilities[np.arange(len(gold)), gold].tolist(),
        "correct": (logits.argmax(axis=1) == gold).tolist(),
        "logits": logits.tolist(),
    }
