"""Callbacks of a training: what is spent, progress, early stopping, means of weights.

Shape suffixes: B batches of an epoch, U units.
"""

import sys
import time
from typing import Any

import numpy as np
import pytorch_lightning as pl
import torch
from pytorch_lightning.callbacks import EarlyStopping, RichProgressBar
from torch import Tensor
from torchmetrics import MeanMetric

from heron.base.errors import ConfigError
from heron.base.files import write_json
from heron.base.run_folder import RunFolder
from heron.data.config import TRAIN
from heron.data.datamodule import DataModule
from heron.metrics.names import copied_names, is_minimised
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
        """Add the batches of the epoch's plan that were trained on."""
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
        self._loss = MeanMetric()

    def on_train_epoch_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Start the clock, and the mean."""
        self._started = time.monotonic()
        self._loss = MeanMetric()

    def on_train_batch_end(
        self, trainer: pl.Trainer, pl_module: Any, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        """Add the batch's loss."""
        loss = self._loss.to(pl_module.device)
        loss.update(outputs["output"].loss, outputs["output"].weight)

    def on_train_epoch_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Print epoch, losses (of training: the mean over all rows or tokens), score, seconds."""
        # Of a resumed epoch: since then.
        loss = self._loss.compute() if self._loss.update_called else None
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


class StopEarly(EarlyStopping):
    """Early stopping that begins to count when a curriculum has unlocked all that it will.

    A model that has seen easy examples only gets no better on all of them; that is no reason to
    never show it the others. `patience` is in validations, so in epochs unless there are others.

    Deviates: RoNLI's code, where every stage is a training with a patience of its own.
    """

    def __init__(self, monitor: str, patience: int, data: DataModule):
        mode = "min" if is_minimised(monitor) else "max"
        name = f"validation/{monitor}"
        super().__init__(name, 0.0, patience, mode=mode, check_on_train_epoch_end=False)
        self.data = data

    def on_validation_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Count the validation, unless stages are still to come."""
        curriculum = self.data.curriculum
        if curriculum is None or curriculum.has_unlocked_all(trainer.current_epoch):
            super().on_validation_end(trainer, pl_module)


class MeanOfEpochs(pl.Callback):
    """Adds up the trained weights after each of the last `epochs` epochs.

    Source: the averages of stochastic weight averaging (Izmailov et al., 2018), without its
    learning rate: the run's own schedule continues.
    """

    def __init__(self, epochs: int):
        self.epochs = epochs
        self.added = 0
        self.sums: dict[str, Tensor] = {}

    def on_train_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Forget the mean of a run that is trained on; refuse to mix both."""
        assert trainer.max_epochs is not None
        wanted = max(0, trainer.current_epoch - max(0, trainer.max_epochs - self.epochs))
        if not wanted:
            self.added, self.sums = 0, {}
        elif self.added != wanted:
            raise ConfigError(
                f"trainer.mean_of={self.epochs}: the mean of the run to train on has other epochs; "
                f"set trainer.mean_of to at most {trainer.max_epochs - trainer.current_epoch}"
            )

    def on_train_epoch_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Add the epoch's weights if it is one of the last."""
        assert trainer.max_epochs is not None
        if trainer.current_epoch < trainer.max_epochs - self.epochs:
            return
        for name, weights in pl_module.named_parameters():
            if weights.requires_grad:
                now = weights.detach()
                self.sums[name] = self.sums[name] + now if self.added else now.clone()
        self.added += 1

    def state_dict(self) -> dict[str, Any]:
        """Keep the sums in checkpoints: a resumed run ends with the same weights."""
        return {"added": self.added, "sums": self.sums}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Continue from a checkpoint."""
        self.added, self.sums = state_dict["added"], state_dict["sums"]

    def load_into(self, module: pl.LightningModule) -> None:
        """Replace a module's trained weights by the mean."""
        mean = {name: weights / self.added for name, weights in self.sums.items()}
        module.load_state_dict(mean, strict=False)
