"""Callbacks of every training (what is spent, progress), and what a run brings by `_target_`.

Shape suffixes: B batches of an epoch, U units.
"""

import sys
import time
from typing import Any

import numpy as np
import pytorch_lightning as pl
import torch
from pytorch_lightning.callbacks import RichProgressBar
from torch import Tensor

from heron.base import ranks
from heron.base.files import write_json
from heron.base.run_folder import RunFolder
from heron.data.config import TRAIN
from heron.data.datamodule import DataModule
from heron.metrics.names import copied_names
from heron.training.status import BEAT, try_update

COUNTS = ("steps", "batches", "samples", "tokens", "padded")


class Ledger(pl.Callback):
    """Counts optimizer steps, batches, samples, tokens and different examples of every stage.

    Samples are rows, oversampled ones as often as they were seen; tokens are those of their
    sequences without padding, `padded` with it; `unique` counts different rows. A run without
    curriculum has one stage. `ledger.json` is up to date at the end of every epoch.
    """

    def __init__(self, folder: RunFolder, data: DataModule):
        self.folder, self.data = folder, data
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
        """Add what of the epoch's plan has been followed."""
        done = trainer.fit_loop.epoch_loop.batch_progress.current.ready
        plan = self.data.plan(trainer.current_epoch)[:done]
        curriculum = self.data.curriculum
        stages_B = np.zeros(len(plan), dtype=np.int64)
        if curriculum:
            stages_B = curriculum.stages_of(trainer.current_epoch)[:done]
        begins_step_B = np.arange(len(plan)) % trainer.accumulate_grad_batches == 0
        rows_U, tokens_U = self.data.unit_sizes(TRAIN)
        longest_U, sizes_U = self.data.units[TRAIN].longest_U, self.data.units[TRAIN].sizes_U
        for stage, begins_step, units in zip(stages_B, begins_step_B, plan, strict=True):
            padded = int(longest_U[units].max()) * int(sizes_U[units].sum())
            spent = (begins_step, 1, rows_U[units].sum(), tokens_U[units].sum(), padded)
            self.counts[stage] += torch.as_tensor([int(count) for count in spent])
            self.seen[stage, torch.from_numpy(units)] = True
        # Before the epoch's checkpoint: a run killed after the last one trains no further.
        if trainer.is_global_zero:
            self._write()

    def _write(self) -> None:
        rows_U = torch.from_numpy(self.data.unit_sizes(TRAIN)[0])
        stages = [
            {
                "stage": name,
                **dict(zip(COUNTS, counts.tolist(), strict=True)),
                "unique": int(rows_U[seen].sum()),
            }
            for name, counts, seen in zip(self.names, self.counts, self.seen, strict=True)
        ]
        total: dict[str, int] = dict(zip(COUNTS, self.counts.sum(dim=0).tolist(), strict=True))
        total["unique"] = int(rows_U[self.seen.any(dim=0)].sum())
        planned = sum(self.data.steps_per_epoch())
        value = {"planned_steps": planned, "total": total, "stages": stages}
        write_json(self.folder.ledger, value)


_LINE = 30.0  # seconds between lines within an epoch


def progress_bar(wanted: bool | None) -> list[pl.Callback]:
    """Make Lightning's progress bar; None shows it when standard output is a terminal."""
    shown = sys.stdout.isatty() if wanted is None else wanted
    return [RichProgressBar()] if shown else []


class EpochLines(pl.Callback):
    """Prints one line when an epoch and its validation are done.

    It shows `monitor` on validation; of summaries, what copying reaches in it as well.
    """

    def __init__(self, monitor: str):
        self.shown = [f"validation/{name}" for name in (monitor, *copied_names(monitor))]
        self._started = time.monotonic()
        self._losses: list[Tensor] = []  # of each batch: its loss times its weight, its weight

    def state_dict(self) -> dict[str, Any]:
        """Keep the losses of the epoch so far: a resumed run's line means them all."""
        return {"weighted": [pair.tolist() for pair in self._losses]}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on within the epoch."""
        self._losses = [torch.tensor(loss) for loss in state_dict.get("weighted", [])]

    def on_train_epoch_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Start the clock."""
        self._started = time.monotonic()

    def on_train_batch_end(
        self, trainer: pl.Trainer, pl_module: Any, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        """Keep the loss, where it is: moving it would wait for the device."""
        output = outputs["output"]
        self._losses.append(torch.stack([output.loss * output.weight, output.weight]))

    def on_train_epoch_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Print epoch, losses (of training: the mean over all rows or tokens), score, seconds."""
        losses, self._losses, loss = self._losses, [], None
        if losses:  # of this process, which has its share of each batch
            stored = [each.to(losses[-1].device) for each in losses]  # a resumed epoch's: CPU
            total, weight = ranks.sum_over_ranks(torch.stack(stored).sum(dim=0))
            loss = total / weight
        if not trainer.is_global_zero:
            return
        shown = {
            "train loss": loss,
            "validation loss": trainer.callback_metrics.get("validation/loss"),
            **{name.replace("/", " "): trainer.callback_metrics.get(name) for name in self.shown},
        }
        values = [
            f"{name} {float(value):.3f}" for name, value in shown.items() if value is not None
        ]
        seconds = time.monotonic() - self._started
        epoch = f"epoch {trainer.current_epoch + 1}/{trainer.max_epochs}"
        print("  ".join([epoch, *values, f"{seconds:.0f} s"]), flush=True)


class StepCount(pl.Callback):
    """Says within an epoch how far a run is: in `status.json`, and on a line where there is no bar.

    `steps` in the status is `{done, of}`, optimizer steps.
    """

    def __init__(self, folder: RunFolder):
        self.folder = folder
        self._written = self._said = time.monotonic()

    def on_train_batch_end(
        self, trainer: pl.Trainer, pl_module: Any, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        """Write every few seconds, and print twice a minute."""
        now = time.monotonic()
        if not trainer.is_global_zero or now - self._written < BEAT:
            return
        self._written, done, of = now, trainer.global_step, pl_module.total_steps()
        try_update(self.folder, steps={"done": done, "of": of})
        if trainer.progress_bar_callback is None and now - self._said >= _LINE:
            self._said = now
            epoch = f"epoch {trainer.current_epoch + 1}/{trainer.max_epochs}"
            print(f"{epoch}  step {done}/{of}", flush=True)
