"""One run from configuration to run folder: read it top to bottom."""

from collections.abc import Sequence
from functools import partial
from importlib import metadata
from typing import Any

import pytorch_lightning as pl
from pytorch_lightning.strategies import FSDPStrategy

from heron.base import ranks
from heron.base.files import seal, write_json
from heron.base.libraries import own_threads, silence_libraries
from heron.base.run_folder import BASELINE, RunFolder, Scores
from heron.base.tables import write_table
from heron.base.terminal import say
from heron.config.compose import run_in_hydra
from heron.data.config import TRAIN, VALIDATION
from heron.data.datamodule import DataModule
from heron.data.readers import load_run_data, of_split
from heron.metrics.names import LOSS, further_scores
from heron.models.encoder import Encoder
from heron.models.precision import with_precision
from heron.tasks import BASELINES
from heron.tasks.base import Baseline, TaskModule
from heron.tasks.config import Config
from heron.tasks.predictions import Predictions
from heron.tasks.task import text_scores
from heron.training.checkpointing import History, ended_early, load_weights, read_checkpoint
from heron.training.describe import describe, describe_run, say_findings
from heron.training.exported import export
from heron.training.run import Run
from heron.training.targets import check_classes
from heron.training.trainer import (
    build_encoder,
    build_module,
    fit,
    predict_split,
    prediction_trainer,
)


def run_job(
    config: Config, folder: RunFolder, overrides: Sequence[str] = (), wait: bool = False
) -> Scores:
    """Train, choose the best epoch, predict, score and export; or resume a run that was cut.

    Args:
        config: the resolved configuration.
        folder: where everything goes; the scores of a finished run there are returned.
        overrides: what the user typed, for `status.json`.
        wait: whether to wait for another process that works on the run, or to raise `BusyError`.

    Returns:
        `{"<split>": {"<metric>": fraction}}`, as in `scores.json`; empty if a search has ended
        the run early.

    Raises:
        ConfigError: the folder holds a run with another configuration, or the run needs more
            processes than there are.
        BusyError: another process is working on it.
    """
    silence_libraries()
    run = Run(config, folder, overrides)
    with own_threads(config.trainer.threads), run.claimed(wait):
        if not run.begin():
            return run.read_scores()
        with run.running():
            texts = text_scores(config.task.name)
            if texts and ranks.is_first():  # such as BERTScore's encoder
                texts.require(config)
            check_classes(config)
            scores = _train_and_score(config, folder, overrides)
            if texts:
                texts.sign(config, folder, scores or {})
        run.end(scores)
    return scores or {}


def train(run: Run) -> Scores:
    """Run the job that a command asks for, as Hydra composed it; returns its scores."""
    task = partial(run_job, run.config, run.folder, run.overrides)
    scores: Scores = task() if run.whole is None else run_in_hydra(run.whole, task)
    return scores


def _train_and_score(config: Config, folder: RunFolder, overrides: Sequence[str]) -> Scores | None:
    """Do the work; None if a search has ended the training early."""
    if config.stages:
        from heron.training.stages import run_stages

        return run_stages(with_precision(config, folder), folder, run_job)
    say_findings(config, folder)
    if config.baseline.name != "none":
        return train_baseline(config, folder)
    first = None
    if config.curriculum.name != "none":
        from heron.training.curriculum import first_run

        first = first_run(config, partial(run_job, wait=True), overrides)
    config = with_precision(config, folder)
    with ranks.first_alone():  # the others then find the caches filled
        pl.seed_everything(config.seed, workers=True, verbose=False)
        data = DataModule(config)
        module = build_module(config, data, first)
    describe_run(data, folder)
    trainer = fit(config, folder, module, data)
    if ended_early(trainer) is not None:
        return None
    return leave_outcome(config, folder, trainer, module, data)


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
                refused = len(data.features[split].refused)
                scores[split] = score(config, folder, split, predictions, refused)
    if ranks.is_first():
        select = config.trainer.select
        if config.trainer.monitor == LOSS and VALIDATION in scores and losses and select != "mean":
            scores[VALIDATION][LOSS] = losses[-1] if select == "last" else min(losses)
        write_json(folder.scores, scores)
        if config.run.export:
            _export(config, folder, module, data)
    return ranks.from_first(scores)


def score(
    config: Config, folder: RunFolder, split: str, predictions: Predictions, refused: int = 0
) -> dict[str, float]:
    """Write the predictions for a split; returns their scores, and how many rows were refused."""
    columns = predictions.columns(config)
    write_table(folder.predictions(split), columns)
    scores = predictions.scores(of_split(config, split))
    scores |= further_scores(config.task.metrics, columns, config.task.name)
    return {**scores, "refused": refused}


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
    scores = {
        split: score(config, folder, split, baseline.predict(loaded.examples[split], config))
        for split in entry.splits(config, list(loaded.examples))
    }
    for name, columns in entry.tables(baseline).items():
        write_table(folder.path / name, columns)
    write_json(folder.scores, scores)
    if config.run.export:
        baseline.save(folder.model)
        write_json(folder.model / BASELINE, {"baseline": config.baseline.name})  # all is written
        seal(folder.model)
    versions = {name: metadata.version(name) for name in ("scikit-learn", "gensim")}
    folder.update_status(baseline={**baseline.notes, "versions": versions})
    return scores


def _export(config: Config, folder: RunFolder, module: TaskModule, data: DataModule) -> None:
    encoder: Encoder | None = module.encoder
    if data.vectors:  # there is no encoder in memory
        known = config.encoder.name != "scratch" and len(data.tokenizer) == data.known_tokens
        # Weights that the seed has drawn cannot be downloaded again: they are exported.
        encoder = None if known else build_encoder(config, data.tokenizer)
    export(folder.model, encoder, module.head, data.tokenizer, config)
