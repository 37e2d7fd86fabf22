"""One run from configuration to run folder: read it top to bottom."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pytorch_lightning as pl

from heron.audit.known import warnings
from heron.data.config import TRAIN
from heron.data.datamodule import DataModule
from heron.data.tables import write_table
from heron.errors import DataError
from heron.files import locked, read_json, write_json
from heron.models.encoder import Encoder
from heron.models.export import export
from heron.models.feature_cache import StoredEncoder
from heron.runtime.baseline_job import train_baseline
from heron.runtime.build import build_encoder, build_module
from heron.runtime.checkpointing import load_weights, resume_from
from heron.runtime.claim import BusyError, check_sources, claim, source_hashes
from heron.runtime.curriculum import build_curriculum, first_run
from heron.runtime.describe import describe
from heron.runtime.evaluation import predict_split, prediction_columns, score_predictions
from heron.runtime.history import History
from heron.runtime.notices import say
from heron.runtime.provenance import peak_rss_mb, provenance
from heron.runtime.pruning import pruned
from heron.runtime.run_folder import RunFolder
from heron.runtime.stages import run_stages
from heron.runtime.states import Clock, beating, failure, heartbeat, try_update
from heron.runtime.trainer import build_trainer, interruptible, quiet, wandb_run
from heron.schema import Config
from heron.tasks.base import TaskModule

Scores = dict[str, dict[str, float]]


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
        ConfigError: the folder holds a run with another configuration.
        BusyError: another process is working on it.
    """
    try:
        with locked(folder.lock, wait=wait):
            return _run_alone(config, folder, overrides)
    except BlockingIOError as error:
        raise BusyError(f"{folder.path}: another process is working on this run") from error


def read_scores(folder: RunFolder) -> Scores:
    """Read the scores of a finished run."""
    scores: Scores = read_json(folder.scores)
    return scores


def _run_alone(config: Config, folder: RunFolder, overrides: Sequence[str]) -> Scores:
    quiet()
    claim(config, folder)
    done = folder.state() == "done"
    try:
        sources = source_hashes(config)
    except DataError:
        if done:  # the data may be gone by now; the scores are not
            return read_scores(folder)
        raise
    if done or folder.last.is_file():
        check_sources(sources, folder)
    if done:
        return read_scores(folder)
    if folder.state() == "pruned" and config.sweeper.trial is not None:
        return {}
    status = read_json(folder.status) if folder.status.is_file() else {}
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
        **({"pruned": None} if "pruned" in status else {}),
    )
    try:
        with interruptible(), wandb_run(config, folder), beating(folder, clock):
            scores = _train_and_score(config, folder)
    except BaseException as error:
        try_update(folder, **failure(error, clock.seconds()))
        raise
    state = "pruned" if scores is None else "done"
    folder.update_status(state=state, seconds=clock.seconds(), peak_rss_mb=peak_rss_mb())
    return scores or {}


def _train_and_score(config: Config, folder: RunFolder) -> Scores | None:
    """Do the work; None where the run's search has ended the training early."""
    if config.stages:
        return run_stages(config, folder, run_job)
    _warn(config, folder)
    if config.baseline.name != "none":
        return train_baseline(config, folder)
    typed = read_json(folder.status)["overrides"]
    first = first_run(config, partial(run_job, wait=True), typed)
    pl.seed_everything(config.seed, workers=True, verbose=False)
    data = DataModule(config)
    if config.curriculum.name != "none":
        data.curriculum = build_curriculum(config, data, first)
    folder.update_status(data=describe(data.examples, data.dropped, data.features))

    module = build_module(config, data)
    history = History(folder.metrics)
    trainer = build_trainer(config, folder, data, history)
    trainer.fit(
        module,
        datamodule=data,
        ckpt_path=resume_from(folder),
        weights_only=True,
    )
    if ended_early := pruned(trainer):
        folder.update_status(pruned=ended_early)
        return None
    if config.trainer.select == "best":
        load_weights(module, folder.best)

    scores: Scores = {}
    for split, features in data.features.items():
        if split != TRAIN:
            predictions = predict_split(trainer, module, data, split)
            columns = prediction_columns(predictions, data.examples[split], config)
            write_table(folder.predictions(split), columns)
            scores[split] = score_predictions(predictions, config)
            scores[split]["refused"] = len(features.refused)
    write_json(folder.scores, scores)
    if config.run.export:
        _export(config, folder, module, data)
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
    for finding in warnings(
        config.data, read_json(folder.status)["sources"], Path(config.paths.cache)
    ):
        say(f"{config.data.name}: {finding}")
