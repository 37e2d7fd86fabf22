"""One run from configuration to run folder: read it top to bottom."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytorch_lightning as pl
from pytorch_lightning.strategies import FSDPStrategy

from heron.audit.known import warnings
from heron.base import ranks
from heron.base.errors import ConfigError, DataError, HeronError
from heron.base.files import locked, write_json
from heron.base.libraries import quiet
from heron.base.notices import say
from heron.base.run_folder import RunFolder
from heron.base.signals import interruptible
from heron.base.tables import read_table, write_table
from heron.config.data import TRAIN, VALIDATION
from heron.config.schema import Config
from heron.data.datamodule import DataModule
from heron.data.other_sets import of_split
from heron.metrics.names import LOSS
from heron.models.encoder import Encoder
from heron.models.export import export
from heron.models.feature_cache import StoredEncoder
from heron.tasks.base import Predictions, TaskModule
from heron.tasks.summarization.bertscore import require_asked, sign_asked
from heron.training.baseline_job import train_baseline
from heron.training.build import build_encoder, build_module
from heron.training.checkpointing import load_weights, resume_from
from heron.training.claim import BusyError, check_sources, claim, source_hashes
from heron.training.curriculum import build_curriculum, first_run
from heron.training.describe import describe, describe_training
from heron.training.evaluation import predict_split
from heron.training.history import History
from heron.training.launch import count_ranks
from heron.training.provenance import peak_rss_mb, provenance
from heron.training.pruning import pruned
from heron.training.stages import run_stages
from heron.training.states import (
    Clock,
    beating,
    failure,
    heartbeat,
    is_settled,
    naming_memory,
    try_update,
)
from heron.training.trainer import build_trainer, prediction_trainer, wandb_run

Scores = dict[str, dict[str, float]]

# What the first of several processes tells the others to do.
_TRAIN, _DONE = "train", "done"


def run_job(
    config: Config, folder: RunFolder, overrides: Sequence[str] = (), wait: bool = False
) -> Scores:
    """Train, choose the best epoch, predict, score and export; or go on where that was cut.

    Args:
        config: the resolved configuration.
        folder: where everything goes; a finished run there is returned as it is.
        overrides: what the user typed, for `status.json`.
        wait: for another process that works on the run, instead of refusing.

    Returns:
        `{"<split>": {"<metric>": fraction}}`, as in `scores.json`; empty where the search that the
        run is a trial of has ended it early.

    Raises:
        ConfigError: the folder holds a run with another configuration, or the run needs more
            processes than there are.
        BusyError: another process is working on it.
    """
    if count_ranks(config) != ranks.ranks():
        raise ConfigError(
            f"trainer.devices={config.trainer.devices} needs {count_ranks(config)} processes, "
            f"this is one of {ranks.ranks()}: start the run by `heron train`"
        )
    if not ranks.is_first():
        return _follow(config, folder)
    try:
        with locked(folder.lock, wait=wait):
            is_new = folder.is_new()
            try:
                return _run_alone(config, folder, overrides)
            except HeronError:
                if is_new:
                    folder.discard()
                raise
    except BlockingIOError as error:
        raise BusyError(f"{folder.path}: another process is working on this run") from error


def read_scores(folder: RunFolder) -> Scores:
    """Read the scores of a finished run.

    Raises:
        ConfigError: they are missing or damaged.
    """
    scores = folder.read_scores()
    if not scores and not folder.scores.is_file():
        what = "is missing, yet the run is done; run.resume=false trains it again"
        raise ConfigError(f"{folder.scores} {what}")
    return scores


def _run_alone(config: Config, folder: RunFolder, overrides: Sequence[str]) -> Scores:
    quiet()
    claim(config, folder)
    sources = _sources(config, folder)
    status = folder.read_status()
    is_pruned = status.get("state") == "pruned" and is_settled(config, status)
    if sources is None or is_pruned:
        ranks.from_first(_DONE)
        return {} if is_pruned else read_scores(folder)
    require_asked(config.task.bertscore)
    clock = Clock(status.get("seconds", 0.0))
    folder.update_status(
        state="running",
        seed=config.seed,
        overrides=list(overrides),
        error=None,
        traceback=None,
        retry=None,
        heartbeat=heartbeat(),
        sources=sources,
        **provenance(),
        **{key: None for key in ("pruned", "pruned_by") if key in status},
    )
    ranks.from_first(_TRAIN)
    try:
        with (
            interruptible(),
            wandb_run(config, folder),
            beating(folder, clock),
            naming_memory(config),
        ):
            scores = _train_and_score(config, folder)
    except BaseException as error:
        try_update(folder, **failure(error, clock.seconds()))
        raise
    ended = {"state": "done"}
    if scores is None:
        ended = {"state": "pruned", "pruned_by": str(config.sweeper.study)}
    signatures = _signatures(config, folder, scores or {})
    folder.update_status(**ended, **signatures, seconds=clock.seconds(), peak_rss_mb=peak_rss_mb())
    return scores or {}


def _follow(config: Config, folder: RunFolder) -> Scores:
    """Do what the first of several processes does, without a lock and without writing."""
    quiet()
    if ranks.from_first(_TRAIN) == _DONE:
        return read_scores(folder) if folder.scores.is_file() else {}
    with interruptible(), naming_memory(config):
        return _train_and_score(config, folder) or {}


def _sources(config: Config, folder: RunFolder) -> dict[str, str] | None:
    """Hash what the run is made from; None if the run is done already."""
    done = folder.state() == "done"
    try:
        sources = source_hashes(config)
    except DataError:
        if done:  # the data may be gone by now; the scores are not
            return None
        raise
    if done or folder.last.is_file():
        check_sources(sources, folder)
    return None if done else sources


def _train_and_score(config: Config, folder: RunFolder) -> Scores | None:
    """Do the work; None where the run's search has ended the training early."""
    if config.stages:
        return run_stages(config, folder, run_job)
    if ranks.is_first():
        _warn(config, folder)
    if config.baseline.name != "none":
        return train_baseline(config, folder)
    typed = folder.read_status()["overrides"]
    first = first_run(config, partial(run_job, wait=True), typed)
    with ranks.first_alone():  # caches that it fills are there for the others
        pl.seed_everything(config.seed, workers=True, verbose=False)
        data = DataModule(config)
        if config.curriculum.name != "none":
            data.curriculum = build_curriculum(config, data, first)
        module = build_module(config, data)
    if ranks.is_first():
        described = describe(data.examples, data.dropped, data.features)
        folder.update_status(data={**described, **describe_training(data)})

    history = History(folder.metrics)
    trainer = build_trainer(config, folder, data, history)
    trainer.fit(
        module,
        datamodule=data,
        ckpt_path=ranks.from_first(resume_from(folder) if ranks.is_first() else None),
        weights_only=True,
    )
    if ended_early := pruned(trainer):
        if ranks.is_first():
            folder.update_status(pruned=ended_early)
        return None
    if isinstance(trainer.strategy, FSDPStrategy):  # what it leaves are parts of a model
        module = build_module(config, data)
        load_weights(module, folder.last)
        trainer = prediction_trainer(config, folder)
    if config.trainer.select == "best":
        load_weights(module, folder.best)

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
            losses = history.values(f"{VALIDATION}/{LOSS}")
            scores[VALIDATION][LOSS] = (
                losses[-1] if config.trainer.select == "last" else min(losses)
            )
        write_json(folder.scores, scores)
        if config.run.export:
            _export(config, folder, module, data)
    return ranks.from_first(scores)


def _signatures(config: Config, folder: RunFolder, scores: Scores) -> dict[str, Any]:
    """Name what decides each split's BERTScore: with idf, also that split's references."""
    if not config.task.bertscore.model:
        return {}
    found: dict[str, dict[str, str]] = {}
    for split in scores:
        if folder.predictions(split).is_file():
            golds = read_table(folder.predictions(split)).values("gold")
            known = [gold for gold in golds if gold is not None]
            if signature := sign_asked(config.task.bertscore, known):
                found[split] = {"bertscore": signature}
    return {"signatures": found}


def _score(
    config: Config, folder: RunFolder, data: DataModule, split: str, predictions: Predictions
) -> dict[str, float]:
    columns = predictions.columns(data.examples[split], config)
    write_table(folder.predictions(split), columns)
    scores = predictions.scores(of_split(config, split))
    scores["refused"] = len(data.features[split].refused)
    return scores


def _export(config: Config, folder: RunFolder, module: TaskModule, data: DataModule) -> None:
    encoder: Encoder | None = module.encoder
    if isinstance(encoder, StoredEncoder):
        known = config.encoder.name != "scratch" and len(data.tokenizer) == data.known_tokens
        # Otherwise some of its weights were drawn by the seed: nobody else has them.
        encoder = None if known else build_encoder(config, data.tokenizer)
    export(folder.model, encoder, module.head, data.tokenizer, config)


def _warn(config: Config, folder: RunFolder) -> None:
    """Print what is known to be wrong with the data, one line each."""
    for finding in warnings(config.data, folder.read_status()["sources"], Path(config.paths.cache)):
        say(f"{config.data.name}: {finding}")
