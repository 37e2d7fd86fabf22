"""The LightningModule and the Trainer of a run, built from its configuration."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytorch_lightning as pl
import torch
from pytorch_lightning.callbacks import ProgressBar
from pytorch_lightning.plugins.environments import LightningEnvironment
from pytorch_lightning.plugins.precision.fsdp import FSDPPrecision
from pytorch_lightning.strategies import DDPStrategy, FSDPStrategy, Strategy
from pytorch_lightning.utilities.exceptions import MisconfigurationException
from torch import nn

from heron.base import ranks
from heron.base.errors import ConfigError
from heron.base.libraries import has_accelerator
from heron.base.run_folder import RunFolder
from heron.base.signals import leave_signals_alone
from heron.data.datamodule import DataModule
from heron.dynamics.recorder import Recorder
from heron.models.encoder import Encoder
from heron.models.optim import class_weights
from heron.models.precision import precision
from heron.tasks.base import TaskModule, require_finite
from heron.tasks.config import Config
from heron.tasks.predictions import Predictions
from heron.tasks.task import new_head, task_of
from heron.training.callbacks import Ledger, MeanOfEpochs, Progress, StopEarly
from heron.training.checkpointing import (
    LOG_EVERY,
    History,
    LastCheckpoint,
    WholeFiles,
    best_checkpoint,
    ended_early,
    resume_from,
)
from heron.training.components import chosen, make, wandb_options

# Smaller models are trained by one thread: a second one saves no time, and costs some on a busy
# machine (measured, see tests/benchmarks/README.md).
SECOND_THREAD = 1_000_000  # weights


def fit(config: Config, folder: RunFolder, module: TaskModule, data: DataModule) -> pl.Trainer:
    """Train a module, or resume its training."""
    if config.trainer.threads is None and count_weights(module) < SECOND_THREAD:
        torch.set_num_threads(1)  # until the job ends

    checkpoint = None
    if ranks.is_first():
        # The number of threads changes the order of additions.
        folder.update_status(threads=torch.get_num_threads())
        checkpoint = resume_from(folder, config)

    checkpoint = ranks.from_first(checkpoint)

    history = History(folder.metrics)
    try:
        trainer = build_trainer(config, folder, data, history)
        trainer.fit(module, datamodule=data, ckpt_path=checkpoint, weights_only=True)
    except MisconfigurationException as error:
        raise ConfigError(f"pl.Trainer: {str(error).strip()}") from error
    except ValueError as error:
        text = str(error).strip()
        is_of_user = "val_check_interval" in text or "requires a GPU" in text
        if type(error) is ValueError and not is_of_user:
            raise
        raise ConfigError(f"pl.Trainer: {text}") from error

    pruned = ended_early(trainer)
    if pruned is not None and ranks.is_first():
        folder.update_status(pruned=pruned)

    return trainer


def count_weights(module: TaskModule) -> int:
    """Count the weights that every token is multiplied with."""
    layers = [layer for layer in module.modules() if not isinstance(layer, nn.Embedding)]
    count = 0
    for layer in layers:
        for weights in layer.parameters(recurse=False):
            if weights.ndim > 1:
                count += weights.numel()
    return count


def build_trainer(
    config: Config, folder: RunFolder, data: DataModule, history: History
) -> pl.Trainer:
    """Assemble the Trainer of a run: precision, callbacks, loggers."""
    settings = config.trainer
    # FSDP's predictions are made from the last checkpoint.
    every_epoch = config.run.keep_checkpoints or settings.strategy == "fsdp"
    every_epoch |= settings.checkpoint_steps is not None
    callbacks: list[pl.Callback] = [LastCheckpoint(folder, settings, history, every_epoch)]
    if settings.select == "best":
        callbacks.append(best_checkpoint(folder, settings))
    if settings.patience is not None:
        callbacks.append(StopEarly(settings.monitor, settings.patience, data))
    if settings.select == "mean":
        callbacks.append(MeanOfEpochs(settings.mean_of))

    callbacks.append(Ledger(folder, data))
    if config.dynamics.enabled:
        callbacks.append(Recorder(folder))

    if config.curriculum.restart:
        from heron.training.curriculum import Restart

        callbacks.append(Restart(data))

    callbacks.append(Progress(folder, settings.monitor))
    if config.sweeper.trial is not None and config.sweeper.pruner != "none":
        from heron.training.study import Pruning

        callbacks.append(Pruning(config, folder.path.parent, data))

    for key, options in chosen(config, "callbacks").items():
        callbacks.append(make(key, options, folder))

    arguments = {
        "max_epochs": len(data.batches_per_epoch()),
        **devices(config),
        "accumulate_grad_batches": settings.accumulate_grad_batches,
        "gradient_clip_val": settings.gradient_clip_val or None,
        "logger": [history, *_loggers(config, folder)],
        "num_sanity_val_steps": 0,
        "log_every_n_steps": LOG_EVERY,
        **settings.flags,
    }

    return _trainer(config, folder.path, callbacks, **arguments)


def prediction_trainer(config: Config, folder: Path) -> pl.Trainer:
    """Assemble a Trainer that only predicts; every device has the whole model."""
    machine = devices(config, sharded=False)
    if not has_accelerator(machine["accelerator"]):  # the run was trained on another machine
        machine["accelerator"] = "auto"
    nothing = {"logger": False, "enable_checkpointing": False, "use_distributed_sampler": False}
    return _trainer(config, folder, [], **machine, **nothing)


def predict_split(
    trainer: pl.Trainer,
    module: TaskModule,
    data: DataModule,
    split: str,
    keep: Path | None = None,
    cleanups: list[Callable[[], None]] | None = None,
) -> Predictions:
    """Run a split through the model, in order of length, and put the rows back in order.

    Of several processes each predicts its share of every batch; all get the whole. A module that
    generates text stores its outputs in the folder `keep`, so that a cut run need not generate them
    again. They are deleted at the end, or by a function that is added to `cleanups`.
    """
    features = data.features[split]
    outputs: Any = []
    kept = None if keep is None else module.kept_parts(keep, data, split)
    if kept is not None:
        outputs = kept.predict(trainer, module, data, split)
    elif len(features):
        outputs = trainer.predict(module, data.evaluation_loader(split))

    batches = [batch for part in ranks.gather(list(outputs or [])) for batch in part]

    if str(trainer.limit_predict_batches) != "1.0":
        predicted = set()
        for batch in batches:
            predicted |= {features.guids[row] for row in batch.rows_R.tolist()}
        examples = data.examples[split]
        data.examples[split] = [example for example in examples if example.guid in predicted]

    # Members that share their logits give a list of outputs for each batch.
    first = [batch[0] if isinstance(batch, list) else batch for batch in batches]
    require_finite(module, first, data, split)
    predictions = module.collect(batches, data, split)
    if kept is not None and cleanups is not None:
        cleanups.append(kept.remove)
    elif kept is not None and ranks.is_first():
        kept.remove()

    return predictions


def _trainer(
    config: Config, folder: Path, callbacks: list[pl.Callback], **arguments: Any
) -> pl.Trainer:
    """Make a Trainer, with a progress bar if asked for, or by default on a terminal."""
    has_bar = config.trainer.enable_progress_bar
    if has_bar is None:
        has_bar = sys.stdout.isatty()
    if any(isinstance(callback, ProgressBar) for callback in callbacks):
        has_bar = True

    # Under `deterministic`, torch would fill all new memory, which nothing here reads.
    torch.utils.deterministic.fill_uninitialized_memory = False
    arguments = {"enable_model_summary": False, "default_root_dir": folder, **arguments}
    trainer = pl.Trainer(callbacks=callbacks, enable_progress_bar=has_bar, **arguments)
    return leave_signals_alone(trainer)


def devices(config: Config, sharded: bool = True) -> dict[str, Any]:
    """Choose devices, strategy and precision; a process without others runs on one device."""
    name = precision(config)
    strategy = build_strategy(config, sharded)
    # heron starts its own processes: Lightning must not take those of a scheduler for them.
    plugins: list[Any] = [WholeFiles(), LightningEnvironment()]
    is_sharded = isinstance(strategy, FSDPStrategy)
    if is_sharded:
        plugins.append(ShardedPrecision(name))

    return {
        "accelerator": config.trainer.accelerator,
        "deterministic": True,  # bit-identical repeats on one machine
        "devices": 1 if ranks.ranks() == 1 else config.trainer.devices,
        "strategy": strategy,
        "precision": None if is_sharded else name,
        "plugins": plugins,
    }


def _loggers(config: Config, folder: RunFolder) -> list[Any]:
    """Make the loggers beside `metrics.csv`, in the first process."""
    if not ranks.is_first():
        return []

    wandb = wandb_options(config)
    loggers = []
    for key, options in chosen(config, "logger").items():
        if options != wandb:
            loggers.append(make(key, options, folder))

    if wandb:
        from heron.training.wandb_logger import wandb_logger

        loggers += wandb_logger(config, folder)

    return loggers


def build_strategy(config: Config, sharded: bool = True) -> Strategy | str:
    """Choose Lightning's strategy for this process; one process needs none.

    Unless `sharded`, every device has the whole model, whatever the configuration says.
    """
    if ranks.ranks() == 1:
        return "auto"
    if sharded and config.trainer.strategy == "fsdp":
        return FSDPStrategy(**sharding())

    # No model changes its buffers, so they need not be sent before every forward pass.
    unused = config.trainer.strategy == "ddp_find_unused_parameters_true"
    return DDPStrategy(forward_sync_buffers=False, find_unused_parameters=unused)


def sharding() -> dict[str, Any]:
    """Choose what FSDP shards: each layer (of a class that all of transformers have), and the rest.

    Checkpoints are whole.
    """
    from torch.distributed.fsdp.wrap import ModuleWrapPolicy  # start-up time
    from transformers.modeling_layers import GradientCheckpointingLayer

    layers = ModuleWrapPolicy({GradientCheckpointingLayer})
    return {"auto_wrap_policy": layers, "state_dict_type": "full"}


class ShardedPrecision(FSDPPrecision):
    """Precision of a sharded model; a `Batch` has integers and is frozen, so nothing is cast."""

    def convert_input(self, data: Any) -> Any:
        """Leave a batch as it is."""
        return data


def build_module(config: Config, data: DataModule, first: RunFolder | None = None) -> TaskModule:
    """Build encoder, head and task module for a DataModule, and give it what the training needs.

    Its batches get the vectors of a frozen encoder, computed here unless they are stored, and a
    curriculum plans them. `first` is what `heron.training.curriculum.first_run` returns.
    """
    if config.curriculum.name != "none" and data.curriculum is None:
        from heron.training.curriculum import build_curriculum  # start-up time

        data.curriculum = build_curriculum(config, data, first)

    encoder: Encoder
    pools_once = not config.head.both_ways and config.head.pooling != "tokens"
    if config.encoder.freeze == "all" and config.encoder.cache and pools_once:
        # Start-up time: frozen encoders only.
        from heron.models.feature_cache import StoredEncoder, load_vectors

        data.vectors = load_vectors(config, data, lambda: _build_models(config, data))
        encoder = StoredEncoder.of(config.head, data.vectors)
        head = build_head(config, encoder)
    else:
        encoder, head = _build_models(config, data)

    counts_C = torch.as_tensor(data.label_counts_C)
    weights_C = class_weights(config.optim.class_weights, counts_C)
    module = task_of(config).model().module(config, encoder, head, weights_C).train()
    module.prepare_targets(data)

    return module


def _build_models(config: Config, data: DataModule) -> tuple[Encoder, nn.Module]:
    """Build the encoder, and the head on it."""
    encoder = build_encoder(config, data.tokenizer)
    return encoder, build_head(config, encoder)


def build_encoder(config: Config, tokenizer: Any) -> Encoder:
    """Load the encoder for a tokenizer.

    Raises:
        ConfigError: the head reads a first token that this encoder does not have.
    """
    if config.head.pooling == "cls" and tokenizer.cls_token is None:
        raise ConfigError(
            f"head.pooling=cls: {config.encoder.name} has no classification token, and a decoder's "
            "first token has read nothing; set head.pooling=last_token or mean"
        )

    return task_of(config).model().encoder(config, tokenizer)


def build_head(config: Config, encoder: Encoder) -> nn.Module:
    """Build the head; `head.start` names an exported one to begin with."""
    if config.encoder.freeze == "all":
        torch.manual_seed(config.seed)  # the same head with and without stored vectors

    head = new_head(config, encoder)
    if config.head.start:
        from heron.training.exported import load_head

        load_head(head, Path(config.head.start))

    return head
