"""Trainings that last as long on a fast machine as on a slow one."""

import time

import pytorch_lightning as pl


class Pace(pl.Callback):
    """Waits after each epoch."""

    def __init__(self, seconds: float):
        self.seconds = seconds

    def on_train_epoch_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Wait."""
        time.sleep(self.seconds)
