"""What a trained run leaves: predictions and scores of every split but train, and the model."""

from __future__ import annotations

from typing import Any

import pytorch_lightning as pl
from pytorch_lightning.strategies import FSDPStrategy

from heron.base import ranks
from heron.base.files import write_json
from heron.base.run_folder import RunFolder
from heron.base.tables import read_table, write_table
from heron.config.data import TRAIN, VALIDATION
from heron.config.schema import Config
from heron.data.datamodule import DataModule
from heron.data.readers import of_split
from heron.metrics.names import LOSS, further_scores
from heron.models.encoder import Encoder
from heron.models.feature_cache import StoredEncoder
from heron.tasks.base import Predictions, TaskModule
from heron.tasks.task import task_of
from heron.training.build import build_encoder, build_module
from heron.training.checkpointing import load_weights
from heron.training.evaluation import predict_split
from heron.training.export import export
from heron.training.trainer import prediction_trainer

Scores = dict[str, dict[str, float]]


def check_metrics(config: Config) -> None:
    """Make sure that what the run's metrics need is there, before any training.

    Raises:
        ConfigError: BERTScore's encoder or layer is missing.
    """
    if ranks.is_first():
        task_of(config).require_metrics(config)


def choose_weights(
    config: Config, folder: RunFolder, trainer: pl.Trainer, module: TaskModule, data: DataModule
) -> tuple[pl.Trainer, TaskModule]:
    """Give the trainer and the module to predict with: of the best epoch, or of the last one."""
    if isinstance(trainer.strategy, FSDPStrategy):  # what it leaves are parts of a model
        module = build_module(config, data)
        load_weights(module, folder.last)
        trainer = prediction_trainer(config, folder)
    if config.trainer.select == "best":
        load_weights(module, folder.best)
    return trainer, module


def leave_outcome(
    config: Config,
    folder: RunFolder,
    trainer: pl.Trainer,
    module: TaskModule,
    data: DataModule,
    losses: list[float],
) -> Scores:
    """Predict and score every split but train, and export the model.

    Args:
        config, folder: the run's.
        trainer, module: with the weights that were chosen.
        data: the run's.
        losses: on validation, of every epoch.

    Returns:
        `{"<split>": {"<metric>": fraction}}`, in all processes.
    """
    scores: Scores = {}
    for split in data.features:
        if split != TRAIN:
            predictions = predict_split(trainer, module, data, split, folder.generated)
            if split == VALIDATION:
                predictions = module.settle(predictions)
            if ranks.is_first():
                scores[split] = _score(config, folder, data, split, predictions)
    if ranks.is_first():
        if config.trainer.monitor == LOSS and VALIDATION in scores:
            is_last = config.trainer.select == "last"
            scores[VALIDATION][LOSS] = losses[-1] if is_last else min(losses)
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
    if isinstance(encoder, StoredEncoder):
        known = config.encoder.name != "scratch" and len(data.tokenizer) == data.known_tokens
        # Otherwise some of its weights were drawn by the seed: nobody else has them.
        encoder = None if known else build_encoder(config, data.tokenizer)
    export(folder.model, encoder, module.head, data.tokenizer, config)


def sign_metrics(config: Config, folder: RunFolder, scores: Scores) -> None:
    """Note what decides scores that a model computes: with idf, also the split's references."""
    sign = task_of(config).sign_metrics
    if sign is None or not config.task.bertscore.model or not ranks.is_first():
        return
    found: dict[str, Any] = {}
    for split in (each for each in scores if folder.predictions(each).is_file()):
        golds = read_table(folder.predictions(split)).values("gold")
        if signatures := sign(config, [gold for gold in golds if gold is not None]):
            found[split] = signatures
    folder.update_status(signatures=found)
