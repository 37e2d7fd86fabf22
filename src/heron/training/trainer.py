"""Lightning's Trainer as heron uses it: precision, callbacks, loggers, and its manners."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

import pytorch_lightning as pl
import torch
from pytorch_lightning.callbacks import EarlyStopping
from pytorch_lightning.strategies import FSDPStrategy

from heron.base import ranks
from heron.base.libraries import precision
from heron.base.run_folder import RunFolder
from heron.base.signals import leave_signals_alone
from heron.config import registries
from heron.config.data import VALIDATION
from heron.config.schema import Config
from heron.data.datamodule import DataModule
from heron.metrics.names import LOSS, is_minimised
from heron.tasks.base import TaskModule
from heron.training.budget_ledger import Ledger, Restart
from heron.training.checkpointing import (
    LOG_EVERY,
    LastCheckpoint,
    OwnNumbers,
    WholeFiles,
    best_checkpoint,
    resume_from,
)
from heron.training.history import History
from heron.training.hooks import CALLBACKS, ended_early
from heron.training.progress import EpochLines, StepCount, progress_bar
from heron.training.recorder import Recorder
from heron.training.strategy import ShardedPrecision, build_strategy


@dataclass(frozen=True, slots=True)
class Fitted:
    """A training that is over.

    Args:
        trainer: Lightning's.
        losses: on validation, of every epoch.
        ended_early: whether the run's search has ended it.
    """

    trainer: pl.Trainer
    losses: list[float]
    ended_early: bool


def fit(config: Config, folder: RunFolder, module: TaskModule, data: DataModule) -> Fitted:
    """Train a module, or go on where that was cut."""
    history = History(folder.metrics)
    trainer = build_trainer(config, folder, data, history)
    checkpoint = ranks.from_first(resume_from(folder) if ranks.is_first() else None)
    trainer.fit(module, datamodule=data, ckpt_path=checkpoint, weights_only=True)
    ended = ended_early(trainer)
    if ended is not None and ranks.is_first():
        folder.update_status(pruned=ended)
    return Fitted(trainer, history.values(f"{VALIDATION}/{LOSS}"), ended is not None)


def build_trainer(
    config: Config, folder: RunFolder, data: DataModule, history: History
) -> pl.Trainer:
    """Assemble Lightning's Trainer: precision, callbacks, loggers."""
    settings = config.trainer
    if settings.threads:
        torch.set_num_threads(settings.threads)
    callbacks: list[pl.Callback] = [
        OwnNumbers(config.seed),
        LastCheckpoint(folder, settings, history),
    ]
    if settings.select == "best":
        callbacks.append(best_checkpoint(folder, settings))
    if settings.patience is not None:
        callbacks.append(StopEarly(settings.monitor, settings.patience, data))
    callbacks.append(Ledger(folder, data, config.optim.accumulate))
    if config.dynamics.enabled:
        callbacks.append(Recorder(folder, data, config))
    if config.curriculum.restart:
        callbacks.append(Restart(data))
    callbacks += [StepCount(folder), EpochLines(settings.monitor), *progress_bar(settings.progress)]
    if config.sweeper.trial is not None:
        callbacks += CALLBACKS["pruning"](config, folder, data)
    callbacks += [
        registries.CALLBACKS[name](**(options or {}))
        for name, options in settings.callbacks.items()
    ]
    trainer = pl.Trainer(
        max_epochs=len(data.batches_per_epoch()),
        accelerator=settings.accelerator,
        **_devices(config),
        accumulate_grad_batches=config.optim.accumulate,
        gradient_clip_val=config.optim.clip or None,
        deterministic=settings.deterministic,
        logger=[history, *_wandb(config, folder), *_others(config, folder)],
        callbacks=callbacks,
        default_root_dir=folder.path,
        enable_model_summary=False,
        enable_progress_bar=any(isinstance(c, pl.callbacks.ProgressBar) for c in callbacks),
        num_sanity_val_steps=0,
        log_every_n_steps=LOG_EVERY,
        # Each epoch has its own plan; the sampler is heron's own and must not be wrapped.
        reload_dataloaders_every_n_epochs=1,
        use_distributed_sampler=False,
    )
    return leave_signals_alone(trainer)


def prediction_trainer(config: Config, folder: RunFolder) -> pl.Trainer:
    """Assemble a Trainer that only predicts; every device has the whole model."""
    bars = progress_bar(config.trainer.progress)
    trainer = pl.Trainer(
        accelerator=config.trainer.accelerator,
        **_devices(config, sharded=False),
        deterministic=config.trainer.deterministic,
        logger=False,
        callbacks=bars,
        enable_progress_bar=bool(bars),
        enable_model_summary=False,
        enable_checkpointing=False,
        use_distributed_sampler=False,
        default_root_dir=folder.path,
    )
    return leave_signals_alone(trainer)


def _devices(config: Config, sharded: bool = True) -> dict[str, Any]:
    """Say where to run, and in which precision; a process without others runs on one device."""
    alone, name = ranks.ranks() == 1, precision(config.trainer.precision)
    strategy = build_strategy(config, sharded)
    is_sharded = isinstance(strategy, FSDPStrategy)
    return {
        "devices": 1 if alone else config.trainer.devices,
        "num_nodes": 1 if alone else config.trainer.num_nodes,
        "strategy": strategy,
        "precision": None if is_sharded else name,
        "plugins": [WholeFiles(), *([ShardedPrecision(name)] if is_sharded else [])],  # type: ignore[arg-type]
    }


class StopEarly(EarlyStopping):
    """Early stopping that begins to count when a curriculum has unlocked all that it will.

    A model that has seen easy examples only gets no better on all of them; that is no reason to
    never show it the others.

    Args:
        monitor: the score on validation, or `loss`.
        patience: epochs without a better one.
        data: perhaps with a curriculum.

    Deviates: RoNLI's code, where every stage is a training with a patience of its own.
    """

    def __init__(self, monitor: str, patience: int, data: DataModule):
        mode = "min" if is_minimised(monitor) else "max"
        super().__init__(f"validation/{monitor}", mode=mode, patience=patience)
        self.data = data

    def on_train_epoch_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Count the epoch, unless stages are still to come."""
        curriculum = self.data.curriculum
        if curriculum is None or curriculum.has_unlocked_all(trainer.current_epoch):
            super().on_train_epoch_end(trainer, pl_module)


def wandb_run(config: Config, folder: RunFolder) -> AbstractContextManager[None]:
    """Complete and close the job's W&B run at its end, marked as failed where it failed."""
    if not config.logger.wandb:
        return nullcontext()
    from heron.training import wandb_logger

    return wandb_logger.wandb_run(config, folder)


def _wandb(config: Config, folder: RunFolder) -> list[Any]:
    if not config.logger.wandb:
        return []
    from heron.training.wandb_logger import wandb_logger

    logger = wandb_logger(config, folder)
    return [logger] if logger else []


def _others(config: Config, folder: RunFolder) -> list[Any]:
    others = config.logger.others if ranks.is_first() else {}
    return [registries.LOGGERS[name](folder, **(options or {})) for name, options in others.items()]
