"""Progress: a bar on terminals, one line per epoch in files."""

from __future__ import annotations

import sys
import time
from typing import Any

import pytorch_lightning as pl
import torch
from pytorch_lightning.callbacks import RichProgressBar
from torch import Tensor

from heron.base import ranks
from heron.base.run_folder import RunFolder
from heron.metrics.names import copied_names
from heron.training.status import BEAT, try_update

_LINE = 30.0  # seconds between lines within an epoch


def progress_bar(wanted: bool | None) -> list[pl.Callback]:
    """Make the progress bar.

    Args:
        wanted: show it or not; None shows it when standard output is a terminal.
    """
    shown = sys.stdout.isatty() if wanted is None else wanted
    return [_Bar()] if shown else []


class _Bar(RichProgressBar):
    """Lightning's bar; epochs are counted from 1, as in the lines and in `heron sweep`."""

    def _get_train_description(self, current_epoch: int) -> str:
        of = self.trainer.max_epochs
        text = f"epoch {current_epoch + 1}" + (f"/{of}" if of is not None else "")
        return text.ljust(len(self.validation_description))


class EpochLines(pl.Callback):
    """Prints one line when an epoch and its validation are done.

    Args:
        monitor: the validation score to show; of summaries, what copying reaches in it as well.
    """

    def __init__(self, monitor: str):
        self.shown = [f"validation/{name}" for name in (monitor, *copied_names(monitor))]
        self._started = time.monotonic()
        self._losses: list[Tensor] = []

    def state_dict(self) -> dict[str, Any]:
        """Keep the losses of the epoch so far: a resumed run's line means them all."""
        return {"losses": [float(loss) for loss in self._losses]}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on within the epoch."""
        self._losses = [torch.tensor(loss) for loss in state_dict["losses"]]

    def on_train_epoch_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Start the clock."""
        self._started = time.monotonic()

    def on_train_batch_end(
        self, trainer: pl.Trainer, pl_module: Any, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        """Keep the loss, where it is: moving it would wait for the device."""
        self._losses.append(outputs["output"].loss)

    def on_train_epoch_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Print epoch, losses (of training: the mean over the batches), score and seconds."""
        loss = self._mean_loss()
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

    def _mean_loss(self) -> Tensor | None:
        """Average over the batches, and over the processes that have divided them."""
        losses, self._losses = self._losses, []
        if not losses:
            return None
        return ranks.sum_over_ranks(torch.stack(losses).mean()) / ranks.ranks()


class StepCount(pl.Callback):
    """Says within an epoch how far a run is: in `status.json`, and on a line where there is no bar.

    Args:
        folder: the run's; `steps` in its status is `{done, of}`, optimizer steps.
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
        self._written, done, of = now, trainer.global_step, pl_module.total_steps
        try_update(self.folder, steps={"done": done, "of": of})
        if trainer.progress_bar_callback is None and now - self._said >= _LINE:
            self._said = now
            epoch = f"epoch {trainer.current_epoch + 1}/{trainer.max_epochs}"
            print(f"{epoch}  step {done}/{of}", flush=True)
