"""The Optuna study that a run is a trial of: a journal in the sweep's folder, and pruning.

`study.journal` holds one JSON object a line, no pickle; `optuna-dashboard` reads it, too. A search
with another space or other settings is another study in the same file.
"""

import os
import warnings
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import optuna
import pytorch_lightning as pl
from optuna.pruners import BasePruner, HyperbandPruner, MedianPruner, NopPruner
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend, JournalFileOpenLock
from optuna.trial import Trial
from pytorch_lightning.callbacks import Checkpoint

from heron.base.files import locked
from heron.base.run_folder import JOURNAL
from heron.data.datamodule import DataModule
from heron.metrics.names import is_minimised
from heron.tasks.config import Config, SweeperConfig


def open_study(
    folder: Path, name: str, settings: SweeperConfig, epochs: int, monitor: str
) -> optuna.Study:
    """Open a study, or create it; `epochs` is the length of a training without pruning."""
    return optuna.create_study(
        storage=open_storage(folder),
        study_name=name,
        pruner=_pruner(settings, epochs),
        direction="minimize" if is_minimised(monitor) else "maximize",
        load_if_exists=True,
    )


def trial_of(study: optuna.Study, number: int) -> Trial:
    """Open a trial that another process has asked for."""
    return Trial(study, study.get_trials(deepcopy=False)[number]._trial_id)


def _pruner(settings: SweeperConfig, epochs: int) -> BasePruner:
    startup = settings.startup_epochs
    if settings.pruner == "median":
        return MedianPruner(n_startup_trials=settings.startup_trials, n_warmup_steps=startup)
    if settings.pruner == "hyperband":
        return HyperbandPruner(min_resource=startup, max_resource=epochs)
    return NopPruner()


def open_storage(folder: Path) -> JournalStorage:
    """Open the journal of a sweep's folder; its warnings are switched off."""
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    warnings.filterwarnings("ignore", category=optuna.exceptions.ExperimentalWarning)
    path = folder / JOURNAL
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600))
    return JournalStorage(JournalFileBackend(str(path), _Lock(path)))


class _Lock(JournalFileOpenLock):
    """A lock of the operating system for writing the journal, which ends with its process.

    An incomplete last line, which a kill or a full disk leaves, is removed: Optuna would append to
    it, and the journal could no longer be read.
    """

    def __init__(self, path: Path):
        self.path = path
        self._held = ExitStack()

    def acquire(self) -> bool:
        """Wait for the lock."""
        self._held.enter_context(locked(self.path.with_name(f".{JOURNAL}.lock")))
        with open(self.path, "r+b") as file:
            text = file.read()
            if not text.endswith(b"\n"):
                file.truncate(text.rfind(b"\n") + 1)
        return True

    def release(self) -> None:
        """Release the lock."""
        self._held.close()


class Pruning(Checkpoint):
    """Reports `trainer.monitor` on validation to the trial; stops when the pruner says so.

    It comes after `LastCheckpoint` (Lightning calls checkpoint callbacks last, in order), so the
    checkpoint does not say that training is over, and a pruned run can be continued. No training
    is ended while its curriculum, if any, holds examples back.
    """

    def __init__(self, config: Config, sweep: Path, data: DataModule):
        self.config = config
        self.sweep = sweep
        self.data = data
        self.monitor = f"validation/{config.trainer.monitor}"
        self.pruned: dict[str, Any] | None = None
        self._trial: Any = None
        self._study: Any = None

    def on_train_epoch_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Report the epoch's score; stop the training if the pruner says so and epochs are left."""
        score = trainer.callback_metrics.get(self.monitor)
        if score is None:
            return

        epochs = trainer.current_epoch + 1
        last = trainer.max_epochs or 1
        prunes = trainer.is_global_zero and self._report(epochs, float(score), last)
        prunes = trainer.strategy.broadcast(prunes)
        if not prunes or trainer.should_stop or epochs >= last:
            return

        curriculum = self.data.curriculum
        if curriculum is None or curriculum.has_unlocked_all(trainer.current_epoch):
            self.pruned = {"epochs": epochs, "score": float(score)}
            trainer.should_stop = True

    def _report(self, epochs: int, score: float, last: int) -> bool:
        """Report a score to the trial; returns whether the pruner stops it."""
        settings = self.config.sweeper
        if self._trial is None:
            assert settings.study is not None
            assert settings.trial is not None
            monitor = self.config.trainer.monitor
            self._study = open_study(self.sweep, settings.study, settings, last, monitor)
            self._trial = trial_of(self._study, settings.trial)

        stored = self._study.get_trials(deepcopy=False)[self._trial.number]
        if stored.state.is_finished():
            return False  # a failed job that runs again: Optuna takes no reports of it

        self._trial.report(score, epochs)
        return bool(self._trial.should_prune())
