"""Callbacks of a training: ledger, progress, early stopping, mean of weights.

Shape suffixes: B batches of an epoch, U units.
"""

import time
from typing import Any

import numpy as np
import pytorch_lightning as pl
import torch
from pytorch_lightning.callbacks import EarlyStopping
from torch import Tensor

from heron.base.files import write_json
from heron.base.run_folder import RunFolder
from heron.base.terminal import duration, say
from heron.data.config import TRAIN
from heron.data.datamodule import DataModule
from heron.metrics.names import copied_names, is_minimised
from heron.training.run import BEAT

COUNTS = ("steps", "batches", "samples", "tokens", "padded")
_LINE = 30.0  # seconds between lines within an epoch


class Kept(pl.Callback):
    """A callback that stores the attributes named by `kept` in checkpoints and restores them."""

    kept: tuple[str, ...]

    def state_dict(self) -> dict[str, Any]:
        """Collect these attributes."""
        return {name: getattr(self, name) for name in self.kept}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore these attributes."""
        self.__dict__.update(state_dict)


class Ledger(Kept):
    """Counts optimizer steps, batches, samples, tokens and different examples of every stage.

    Samples are rows, oversampled ones as often as they were seen; tokens are those of their
    sequences without padding, `padded` with it; `unique` counts different rows. A run without
    curriculum has one stage. `ledger.json` is written with each checkpoint and at the end.
    """

    kept = ("counts", "seen")

    def __init__(self, folder: RunFolder, data: DataModule):
        self.folder = folder
        self.data = data
        self.names = ["everything"]
        if data.curriculum:
            self.names = [stage.name for stage in data.curriculum.stages]
        count = len(self.names)
        self.rows_U, self.tokens_U = data.unit_sizes(TRAIN)
        self.counts = torch.zeros(count, len(COUNTS), dtype=torch.int64)
        self.seen = torch.zeros(count, len(data.units[TRAIN]), dtype=torch.bool)

    def on_train_epoch_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Add the batches of the epoch's plan that were trained on."""
        epoch = trainer.current_epoch
        epoch_loop = trainer.fit_loop.epoch_loop
        done = epoch_loop.batch_progress.current.ready

        data = self.data
        plan = data.plan(epoch)[:done]
        stages_B = np.zeros(done, np.int64)
        if data.curriculum:
            stages_B = data.curriculum.stages_of(epoch)[:done]

        for batch, drawn in enumerate(plan):
            begins_step = batch % trainer.accumulate_grad_batches == 0
            self._add(stages_B[batch], drawn, int(begins_step))

    def _add(self, stage: int, drawn: np.ndarray, steps: int) -> None:
        """Count a batch: the steps that it begins, samples, tokens, and tokens with padding."""
        units = self.data.units[TRAIN]
        rows = self.rows_U[drawn].sum()
        tokens = self.tokens_U[drawn].sum()
        padded = units.longest_U[drawn].max() * units.sizes_U[drawn].sum()
        self.counts[stage] += torch.tensor([steps, 1, rows, tokens, padded])  # as in COUNTS
        self.seen[stage, torch.from_numpy(drawn)] = True

    def on_save_checkpoint(
        self, trainer: pl.Trainer, pl_module: pl.LightningModule, checkpoint: dict[str, Any]
    ) -> None:
        """Write the file: a run that is killed after its last checkpoint does not train again."""
        self._write(trainer)

    def on_train_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Write the file."""
        self._write(trainer)

    def _write(self, trainer: pl.Trainer) -> None:
        if not trainer.is_global_zero:
            return

        def budget(counts: Tensor, seen_U: Tensor) -> dict[str, int]:
            spent = dict(zip(COUNTS, counts.tolist(), strict=True))
            spent["unique"] = int(self.rows_U[seen_U.numpy()].sum())
            return spent

        stages = []
        for name, counts, seen_U in zip(self.names, self.counts, self.seen, strict=True):
            spent = budget(counts, seen_U)
            stages.append({"stage": name, **spent})

        counts = self.counts.sum(dim=0)
        seen_U = self.seen.any(dim=0)
        ledger = {
            "planned_steps": sum(self.data.steps_per_epoch()),
            "total": budget(counts, seen_U),
            "stages": stages,
        }
        write_json(self.folder.ledger, ledger)


class Progress(pl.Callback):
    """Prints a line after each epoch and its validation, and progress within an epoch.

    The line shows `monitor` on validation; for summaries, also of extractive baselines. Within an
    epoch, `steps` in `status.json` is `{done, of}`, optimizer steps; without a progress bar, they
    are printed twice a minute, with the time left if the training keeps its pace.
    """

    def __init__(self, folder: RunFolder, monitor: str):
        self.folder = folder
        self.shown = [f"validation/{name}" for name in (monitor, *copied_names(monitor))]
        self._epoch_began = self._written = self._printed = time.monotonic()
        self._first: tuple[int, float] | None = None  # step and time when this process began

    def on_train_batch_end(
        self, trainer: pl.Trainer, pl_module: Any, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        """Write every few seconds, and print twice a minute."""
        now = time.monotonic()
        step = trainer.global_step
        if self._first is None:
            self._first = step, now

        if not trainer.is_global_zero or now - self._written < BEAT:
            return

        self._written = now
        total = pl_module.total_steps()
        self.folder.try_update(steps={"done": step, "of": total})
        is_due = now - self._printed >= _LINE and step < total

        if is_due and trainer.progress_bar_callback is None:
            self._printed = now
            first_step, began = self._first
            seconds_per_step = (now - began) / max(1, step - first_step)
            seconds_left = (total - step) * seconds_per_step
            left = duration(seconds_left)
            print(f"{_epoch(trainer)}  step {step}/{total}, about {left} left", flush=True)

    def on_train_epoch_end(self, trainer: pl.Trainer, pl_module: Any) -> None:
        """Print epoch, losses, score, seconds."""
        loss = pl_module.epoch_loss()  # all processes have to call it
        now = time.monotonic()
        seconds = now - self._epoch_began
        self._epoch_began = now
        if not trainer.is_global_zero:
            return

        logged = trainer.callback_metrics
        values = {"train loss": loss, "validation loss": logged.get("validation/loss")}
        for name in self.shown:
            values[name.replace("/", " ")] = logged.get(name)

        parts = [_epoch(trainer)]
        for name, value in values.items():
            if value is not None:
                parts.append(f"{name} {float(value):.3f}")

        print("  ".join([*parts, f"{seconds:.0f} s"]), flush=True)

    def on_train_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Set the planned steps in `status.json` to those taken, fewer after early stopping."""
        done = trainer.global_step
        if trainer.is_global_zero and "steps" in self.folder.read_status():
            self.folder.try_update(steps={"done": done, "of": done})


def _epoch(trainer: pl.Trainer) -> str:
    return f"epoch {trainer.current_epoch + 1}/{trainer.max_epochs}"


class StopEarly(EarlyStopping):
    """Early stopping that counts validations only once a curriculum has unlocked its last examples.

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
        """Count the validation, unless the curriculum still holds examples back."""
        curriculum = self.data.curriculum
        if curriculum is None or curriculum.has_unlocked_all(trainer.current_epoch):
            super().on_validation_end(trainer, pl_module)


class MeanOfEpochs(Kept):
    """Adds up the trained weights after each of the last `epochs` epochs.

    Source: the averages of stochastic weight averaging (Izmailov et al., 2018), without its
    learning rate: the run's own schedule continues.
    """

    kept = ("added", "sums")

    def __init__(self, epochs: int):
        self.epochs = epochs
        self.added = 0
        self.sums: dict[str, Tensor] = {}

    def on_train_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Start a new mean where the stored one is of other epochs: in a run with `ckpt_path`."""
        assert trainer.max_epochs is not None
        first = max(0, trainer.max_epochs - self.epochs)
        expected = max(0, trainer.current_epoch - first)
        if self.added != expected:
            self.added = 0
            self.sums = {}
            if expected:
                say(f"trainer.mean_of={self.epochs}: the mean is of the epochs from here on")

    def on_train_epoch_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Add the epoch's weights if it is one of the last."""
        assert trainer.max_epochs is not None
        if trainer.current_epoch < trainer.max_epochs - self.epochs:
            return

        for name, parameter in pl_module.named_parameters():
            if parameter.requires_grad:
                weights = parameter.detach()
                self.sums[name] = self.sums[name] + weights if self.added else weights.clone()

        self.added += 1

    def load_into(self, module: pl.LightningModule) -> None:
        """Replace a module's trained weights by the mean."""
        mean = {name: weights / self.added for name, weights in self.sums.items()}
        module.load_state_dict(mean, strict=False)
