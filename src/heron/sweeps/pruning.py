"""Pruning: after each epoch, the search decides whether a training goes on."""

from pathlib import Path
from typing import Any

import pytorch_lightning as pl
from pytorch_lightning.callbacks import Checkpoint

from heron.data.datamodule import DataModule
from heron.sweeps.study import is_over, open_study, trial_of
from heron.tasks.config import Config


class Pruning(Checkpoint):
    """Reports `trainer.monitor` on validation to the trial; stops when the pruner says so.

    It comes after `LastCheckpoint` (Lightning calls checkpoint callbacks last, in order), so the
    checkpoint does not say that training is over, and a pruned run can be trained on. No training
    is ended while its curriculum, if any, holds examples back.
    """

    def __init__(self, config: Config, sweep: Path, data: DataModule):
        self.config, self.sweep, self.data = config, sweep, data
        self.monitor = f"validation/{config.trainer.monitor}"
        self.pruned: dict[str, Any] | None = None
        self._trial: Any = None
        self._study: Any = None

    def on_train_epoch_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Report the epoch; stop the training if the pruner says so and it is not over anyway."""
        score, epochs = trainer.callback_metrics.get(self.monitor), trainer.current_epoch + 1
        if score is None:
            return
        stop = trainer.is_global_zero and self._is_to_stop(
            epochs, float(score), trainer.max_epochs or 1
        )
        stop = trainer.strategy.broadcast(stop)
        if not stop or trainer.should_stop or epochs >= (trainer.max_epochs or 0):
            return
        curriculum = self.data.curriculum
        if curriculum is None or curriculum.has_unlocked_all(trainer.current_epoch):
            self.pruned = {"epochs": epochs, "score": float(score)}
            trainer.should_stop = True

    def _is_to_stop(self, epochs: int, score: float, most: int) -> bool:
        settings = self.config.sweeper
        if self._trial is None:
            assert settings.study is not None
            assert settings.trial is not None
            monitor = self.config.trainer.monitor
            self._study = open_study(self.sweep, settings.study, settings, most, monitor)
            self._trial = trial_of(self._study, settings.trial)
        if is_over(self._study, self._trial.number):
            return False  # a failure that is tried again: Optuna takes no reports for it
        self._trial.report(score, epochs)
        return bool(self._trial.should_prune())
