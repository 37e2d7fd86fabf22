"""Predictions over a whole split, and what a run leaves: predictions, scores and the model."""

from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Any

import pytorch_lightning as pl
from pytorch_lightning.strategies import FSDPStrategy

from heron.base import ranks
from heron.base.files import seal, write_json
from heron.base.run_folder import BASELINE, RunFolder, Scores
from heron.base.tables import write_table
from heron.base.terminal import say
from heron.data.config import TRAIN, VALIDATION
from heron.data.datamodule import DataModule
from heron.data.readers import load_run_data, of_split
from heron.metrics.names import LOSS, further_scores
from heron.models.encoder import Encoder
from heron.tasks import BASELINES
from heron.tasks.base import Baseline, TaskModule
from heron.tasks.config import Config
from heron.tasks.predictions import Predictions
from heron.training.checkpointing import History, load_weights, read_checkpoint
from heron.training.describe import describe
from heron.training.exported import export
from heron.training.trainer import build_encoder, build_module, prediction_trainer

_PACKAGES = ("scikit-learn", "gensim")  # of baselines


def _choose_weights(
    config: Config, folder: RunFolder, trainer: pl.Trainer, module: TaskModule, data: DataModule
) -> tuple[pl.Trainer, TaskModule]:
    """Load the weights that `trainer.select` names; returns what to predict with."""
    callbacks: list[Any] = trainer.callbacks
    is_chosen = any(getattr(each, "best_model_path", "") for each in callbacks)
    if isinstance(trainer.strategy, FSDPStrategy):  # each process has a part of the model
        module = build_module(config, data)
        load_weights(module, read_checkpoint(folder.last))
        limits = {name: each for name, each in vars(trainer).items() if name.startswith("limit_")}
        trainer = prediction_trainer(config, folder.path)
        vars(trainer).update(limits)
    if config.trainer.select == "best" and not is_chosen:
        if not trainer.fast_dev_run:
            say("no validation has chosen an epoch: the weights after the last one count")
    elif config.trainer.select == "best":
        load_weights(module, read_checkpoint(folder.best))
    elif config.trainer.select == "mean":
        next(each for each in callbacks if hasattr(each, "load_into")).load_into(module)
    return trainer, module


def leave_outcome(
    config: Config, folder: RunFolder, trainer: pl.Trainer, module: TaskModule, data: DataModule
) -> Scores:
    """Predict and score every split but train, and export the model; returns `scores.json`."""
    histories = (each for each in trainer.loggers if isinstance(each, History))
    losses = [loss for each in histories for loss in each.values(f"{VALIDATION}/{LOSS}")]
    trainer, module = _choose_weights(config, folder, trainer, module, data)
    scores: Scores = {}
    of_all = trainer.limit_predict_batches
    for split in data.features:
        limit = trainer.limit_val_batches if split == VALIDATION else trainer.limit_test_batches
        trainer.limit_predict_batches = of_all if str(limit) == "1.0" else limit  # 1 is one batch
        if split != TRAIN and limit:
            predictions = predict_split(trainer, module, data, split, folder.generated)
            if split == VALIDATION:
                predictions = module.tune(predictions)
            if ranks.is_first():
                scores[split] = score(config, folder, split, predictions)
                scores[split]["refused"] = len(data.features[split].refused)
    if ranks.is_first():
        select = config.trainer.select
        if config.trainer.monitor == LOSS and VALIDATION in scores and losses and select != "mean":
            scores[VALIDATION][LOSS] = losses[-1] if select == "last" else min(losses)
        write_json(folder.scores, scores)
        if config.run.export:
            _export(config, folder, module, data)
    return ranks.from_first(scores)


def score(
    config: Config,
    folder: RunFolder,
    split: str,
    predictions: Predictions,
) -> dict[str, float]:
    """Write the predictions for a split; returns their scores."""
    columns = predictions.columns(config)
    write_table(folder.predictions(split), columns)
    scores = predictions.scores(of_split(config, split))
    return scores | further_scores(config.task.metrics, columns, config.task.name)


def train_baseline(config: Config, folder: RunFolder) -> Scores:
    """Fit on train, predict and score the other splits, keep the model; returns `scores.json`.

    Settings such as `baseline.C` are tuned by a sweep, on validation. A run that was cut starts
    over; word vectors and features, which take time, are in the cache.
    """
    loaded = load_run_data(config)
    folder.update_status(data=describe(loaded.examples, loaded.dropped))
    entry = BASELINES[config.baseline.name]
    baseline: Baseline = entry.fit(config, loaded.examples.get(TRAIN, []))
    for warning in baseline.notes.get("warnings", ()):
        say(warning)
    scores = {}
    for split in entry.splits(config, list(loaded.examples)):
        rows = loaded.examples[split]
        scores[split] = score(config, folder, split, baseline.predict(rows, config))
        scores[split]["refused"] = 0
    for name, columns in entry.tables(baseline).items():
        write_table(folder.path / name, columns)
    write_json(folder.scores, scores)
    if config.run.export:
        baseline.save(folder.model)
        write_json(folder.model / BASELINE, {"baseline": config.baseline.name})  # all is written
        seal(folder.model)
    versions = {package: metadata.version(package) for package in _PACKAGES}
    folder.update_status(baseline={**baseline.notes, "versions": versions})
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
    everywhere = [each for part in ranks.gather(list(outputs or [])) for each in part]
    if str(trainer.limit_predict_batches) != "1.0":
        rows = {row for output in everywhere for row in output.rows_R.tolist()}
        guids = {data.features[split].guids[row] for row in rows}
        data.examples[split] = [each for each in data.examples[split] if each.guid in guids]
    predictions = module.collect(everywhere, data, split)
    if kept is not None and cleanups is not None:
        cleanups.append(kept.remove)
    elif kept is not None and ranks.is_first():
        kept.remove()
    return predictions
