"""`ledger.json`: what a run has spent, stage by stage, so that two runs can be compared fairly.

Shape suffixes: B batches of an epoch, U units.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytorch_lightning as pl
import torch

from heron.base.files import write_json
from heron.base.run_folder import RunFolder
from heron.config.data import TRAIN
from heron.data.datamodule import DataModule

COUNTS = ("steps", "batches", "samples", "tokens", "padded")


class Ledger(pl.Callback):
    """Counts optimizer steps, batches, samples, tokens and different examples of every stage.

    Samples are rows, oversampled ones as often as they were seen; tokens are those of their
    sequences without padding, `padded` with it; `unique` counts different rows. A run without
    curriculum has one stage.

    Args:
        folder: gets `ledger.json`, up to date at the end of every epoch.
        data: the plan that was followed.
        accumulate: batches per optimizer step.
    """

    def __init__(self, folder: RunFolder, data: DataModule, accumulate: int):
        self.folder, self.data, self.accumulate = folder, data, accumulate
        curriculum = data.curriculum
        self.names = [s.name for s in curriculum.stages] if curriculum else ["everything"]
        self.counts = torch.zeros(len(self.names), len(COUNTS), dtype=torch.int64)
        self.seen = torch.zeros(len(self.names), len(data.units[TRAIN]), dtype=torch.bool)

    def state_dict(self) -> dict[str, Any]:
        """Keep the finished epochs."""
        return {"counts": self.counts, "seen": self.seen}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on after the finished epochs."""
        self.counts, self.seen = state_dict["counts"], state_dict["seen"]

    def on_train_epoch_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Add the epoch, whose plan has been followed to its end."""
        plan = self.data.plan(trainer.current_epoch)
        curriculum = self.data.curriculum
        stages_B = (
            curriculum.stages_of(trainer.current_epoch)
            if curriculum
            else np.zeros(len(plan), dtype=np.int64)
        )
        begins_step_B = np.arange(len(plan)) % self.accumulate == 0
        rows_V, tokens_U = self.data.unit_sizes(TRAIN)
        longest_U, sizes_U = self.data.units[TRAIN].longest_U, self.data.units[TRAIN].sizes_U
        for stage, begins_step, units in zip(stages_B, begins_step_B, plan, strict=True):
            padded = int(longest_U[units].max()) * int(sizes_U[units].sum())
            spent = (begins_step, 1, rows_V[units].sum(), tokens_U[units].sum(), padded)
            self.counts[stage] += torch.as_tensor([int(count) for count in spent])
            self.seen[stage, torch.from_numpy(units)] = True
        # Before the epoch's checkpoint: a run killed after the last one trains no further.
        if trainer.is_global_zero:
            self._write()

    def _write(self) -> None:
        rows_V = torch.from_numpy(self.data.unit_sizes(TRAIN)[0])
        stages = [
            {
                "stage": name,
                **dict(zip(COUNTS, counts.tolist(), strict=True)),
                "unique": int(rows_V[seen].sum()),
            }
            for name, counts, seen in zip(self.names, self.counts, self.seen, strict=True)
        ]
        total: dict[str, int] = dict(zip(COUNTS, self.counts.sum(dim=0).tolist(), strict=True))
        total["unique"] = int(rows_V[self.seen.any(dim=0)].sum())
        planned = sum(self.data.steps_per_epoch())
        value = {"planned_steps": planned, "total": total, "stages": stages}
        write_json(self.folder.ledger, value)


class Restart(pl.Callback):
    """Forgets the optimizer's moments where a stage begins; the learning rate goes on.

    Args:
        data: has a curriculum.

    Source: the RoNLI repository, where every stage is a Trainer of its own.
    """

    def __init__(self, data: DataModule):
        self.data = data

    def on_train_batch_start(
        self, trainer: pl.Trainer, pl_module: pl.LightningModule, batch: Any, batch_idx: int
    ) -> None:
        """Clear the state at the first batch of every stage but the first."""
        assert self.data.curriculum is not None
        epoch = trainer.current_epoch
        stage = self.data.curriculum.stages_of(epoch)[batch_idx]
        if batch_idx:
            before = self.data.curriculum.stages_of(epoch)[batch_idx - 1]
        else:
            before = self.data.curriculum.stages_of(epoch - 1)[-1] if epoch else stage
        if stage != before:
            for optimizer in trainer.optimizers:
                optimizer.state.clear()
