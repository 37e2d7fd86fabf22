"""Predictions over a whole split, and what a run leaves: predictions, scores and the model."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytorch_lightning as pl
from pytorch_lightning.strategies import FSDPStrategy

from heron.base import ranks
from heron.base.files import write_json
from heron.base.registry import on_demand
from heron.base.run_folder import RunFolder, Scores
from heron.base.tables import write_table
from heron.data.config import TRAIN, VALIDATION
from heron.data.datamodule import DataModule
from heron.data.readers import of_split
from heron.metrics.names import LOSS, further_scores
from heron.models.encoder import Encoder
from heron.tasks.base import Predictions, TaskModule
from heron.tasks.config import Config
from heron.tasks.task import task_of
from heron.training.build import build_encoder, build_module
from heron.training.checkpointing import load_weights
from heron.training.export import export
from heron.training.trainer import devices

# `heron.training.inference` builds on this module.
load_mean = on_demand("heron.training.optional_callbacks:load_mean")
prediction_trainer = on_demand("heron.training.inference:prediction_trainer")


def check_metrics(config: Config) -> None:
    """Make sure that what the run's metrics need is there, such as BERTScore's encoder."""
    if ranks.is_first():
        task_of(config).require_metrics(config)


def choose_weights(
    config: Config, folder: RunFolder, trainer: pl.Trainer, module: TaskModule, data: DataModule
) -> tuple[pl.Trainer, TaskModule]:
    """Load the weights that `trainer.select` names; returns what to predict with."""
    if isinstance(trainer.strategy, FSDPStrategy):  # each process has a part of the model
        module = build_module(config, data)
        load_weights(module, folder.last)
        trainer = prediction_trainer(config, folder.path, **devices(config, sharded=False))
    if config.trainer.select == "best":
        load_weights(module, folder.best)
    elif config.trainer.select == "mean":
        load_mean(trainer, module)
    return trainer, module


def leave_outcome(
    config: Config,
    folder: RunFolder,
    trainer: pl.Trainer,
    module: TaskModule,
    data: DataModule,
    losses: list[float],
) -> Scores:
    """Predict and score every split but train, and export the model; returns `scores.json`.

    The module has the weights that were chosen; `losses` are those on validation, of every epoch.
    """
    scores: Scores = {}
    for split in data.features:
        if split != TRAIN:
            predictions = predict_split(trainer, module, data, split, folder.generated)
            if split == VALIDATION:
                predictions = module.tune(predictions)
            if ranks.is_first():
                scores[split] = _score(config, folder, data, split, predictions)
    if ranks.is_first():
        select = config.trainer.select
        if config.trainer.monitor == LOSS and VALIDATION in scores and select != "mean":
            scores[VALIDATION][LOSS] = losses[-1] if select == "last" else min(losses)
        write_json(folder.scores, scores)
        if config.run.export:
            _export(config, folder, module, data)
    return ranks.from_first(scores)


def _score(
    config: Config, folder: RunFolder, data: DataModule, split: str, predictions: Predictions
) -> dict[str, float]:
    columns = predictions.columns(data.examples[split], config)
    write_table(folder.predictions(split), columns)
    scores = predictions.scores(of_split(config, split))
    scores |= further_scores(config.task.metrics, columns, config.task.name)
    scores["refused"] = len(data.features[split].refused)
    return scores


def _export(config: Config, folder: RunFolder, module: TaskModule, data: DataModule) -> None:
    encoder: Encoder | None = module.encoder
    if data.vectors:  # there is no encoder in memory
        known = config.encoder.name != "scratch" and len(data.tokenizer) == data.known_tokens
        # Weights that the seed has drawn cannot be downloaded again: they are exported.
        encoder = None if known else build_encoder(config, data.tokenizer)
    export(folder.model, encoder, module.head, data.tokenizer, config)


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
    kept = None if keep is None else module.kept_parts(keep, data, split)
    outputs: Any
    if kept is not None:
        outputs = kept.predict(trainer, module, data, split)
    else:
        loader = data.evaluation_loader(split)
        outputs = trainer.predict(module, loader) if len(data.features[split]) else []
    everywhere = ranks.gather(list(outputs or []))
    predictions = module.collect([each for part in everywhere for each in part], data, split)
    if kept is not None and cleanups is not None:
        cleanups.append(kept.remove)
    elif kept is not None and ranks.is_first():
        kept.remove()
    return predictions
