"""Progress: a bar on terminals, one line per epoch in files."""

from __future__ import annotations

import sys
import time

import pytorch_lightning as pl
from pytorch_lightning.callbacks import RichProgressBar


def progress_bar(wanted: bool | None) -> list[pl.Callback]:
    """Make the progress bar.

    Args:
        wanted: show it or not; None shows it when standard output is a terminal.
    """
    shown = sys.stdout.isatty() if wanted is None else wanted
    return [RichProgressBar()] if shown else []


class EpochLines(pl.Callback):
    """Prints one line when an epoch and its validation are done.

    Args:
        monitor: the validation score to show.
    """

    def __init__(self, monitor: str):
        self.monitor = f"validation/{monitor}"
        self._started = time.monotonic()

    def on_train_epoch_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Start the clock."""
        self._started = time.monotonic()

    def on_train_epoch_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Print epoch, losses, score and seconds."""
        if not trainer.is_global_zero:
            return
        shown = {
            "train loss": trainer.callback_metrics.get("train/loss"),
            "validation loss": trainer.callback_metrics.get("validation/loss"),
            self.monitor.replace("/", " "): trainer.callback_metrics.get(self.monitor),
        }
        values = [
            f"{name} {float(value):.3f}" for name, value in shown.items() if value is not None
        ]
        seconds = time.monotonic() - self._started
        epoch = f"epoch {trainer.current_epoch + 1}/{trainer.max_epochs}"
        print("  ".join([epoch, *values, f"{seconds:.0f} s"]), flush=True)
