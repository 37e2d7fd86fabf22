"""Modules made of several task modules: their mean, and one module under several settings."""

from collections.abc import Sequence
from typing import Any

import pytorch_lightning as pl
from torch import nn

from heron.data.collate import Batch
from heron.data.datamodule import DataModule
from heron.tasks.base import Output, Predictions


class Mean(pl.LightningModule):
    """Predicts with the mean of several modules' logits; the first computes outputs from it."""

    def __init__(self, modules: Sequence[nn.Module]):
        super().__init__()
        self.members = nn.ModuleList(modules)

    def logits(self, batch: Batch) -> Any:
        """Average the members' logits."""
        members: list[Any] = list(self.members)
        return members[0].mean([member.logits(batch) for member in members])

    def output(self, logits: Any, batch: Batch) -> Output:
        """See `TaskModule.output`."""
        first: Any = self.members[0]
        return first.output(logits, batch)

    def predict_step(self, batch: Batch, batch_idx: int) -> Output:
        """Predict one batch."""
        return self.output(self.logits(batch), batch)

    def collect(self, outputs: Sequence[Any], data: DataModule, split: str) -> Predictions:
        """See `TaskModule.collect`."""
        first: Any = self.members[0]
        return first.collect(outputs, data, split)


class WithEachSetting(pl.LightningModule):
    """Computes logits once for several settings of one module, its `members`."""

    def __init__(self, members: Sequence[nn.Module]):
        super().__init__()
        self.members = nn.ModuleList(members)

    def predict_step(self, batch: Batch, batch_idx: int) -> list[Output]:
        """Predict one batch as every member."""
        members: list[Any] = list(self.members)
        logits = members[0].logits(batch)
        return [member.output(logits, batch) for member in members]

    def collect(self, outputs: Sequence[Any], data: DataModule, split: str) -> list[Predictions]:
        """Collect each member's own outputs; see `TaskModule.collect`."""
        predictions = []
        for number, member in enumerate(self.members):
            own = [of_members[number] for of_members in outputs]
            collect: Any = member.collect
            predictions.append(collect(own, data, split))
        return predictions
