"""Modules made of task modules: the mean of several, and one under several settings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytorch_lightning as pl
from torch import nn

from heron.data.collate import Batch
from heron.data.datamodule import DataModule
from heron.tasks.base import Output, Predictions


class Mean(pl.LightningModule):
    """Predicts with the mean of several modules' logits, read as the first one reads them.

    Args:
        modules: of runs that read texts alike.
    """

    def __init__(self, modules: Sequence[nn.Module]):
        super().__init__()
        self.members = nn.ModuleList(modules)

    @property
    def first(self) -> Any:
        """The module that reads the mean."""
        return self.members[0]

    def logits(self, batch: Batch) -> Any:
        """Average the members' logits."""
        return self.first.mean([module.logits(batch) for module in self.members])  # type: ignore[operator]

    def output(self, logits: Any, batch: Batch) -> Output:
        """See `TaskModule.output`."""
        output: Output = self.first.output(logits, batch)
        return output

    def predict_step(self, batch: Batch, batch_idx: int) -> Output:
        """Predict one batch."""
        return self.output(self.logits(batch), batch)

    def collect(self, outputs: Sequence[Any], data: DataModule, split: str) -> Predictions:
        """See `TaskModule.collect`."""
        collected: Predictions = self.first.collect(outputs, data, split)
        return collected


class WithEachSetting(pl.LightningModule):
    """Encodes a batch once for one module under several settings.

    Args:
        members: modules with the same weights, under settings that begin behind the logits.
    """

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
        members: list[Any] = list(self.members)
        return [
            member.collect([each[place] for each in outputs], data, split)
            for place, member in enumerate(members)
        ]
