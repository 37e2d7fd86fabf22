"""One run from configuration to run folder: read it top to bottom."""

from __future__ import annotations

import time
import traceback
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pytorch_lightning as pl

from heron.audit.known import warnings
from heron.config import as_dict, decisive, from_yaml, resolve_stages
from heron.data.config import TRAIN
from heron.data.datamodule import DataModule
from heron.data.other_sets import data_set
from heron.data.sources import locate
from heron.data.tables import write_table
from heron.errors import ConfigError, DataError, nearest
from heron.files import atomic_open, fingerprint, locked, read_json, sha256_file, write_json
from heron.metrics import score_task
from heron.models.encoder import Encoder
from heron.models.export import export
from heron.models.feature_cache import StoredEncoder
from heron.models.hub import identity
from heron.runtime.baseline_job import baseline_sources, train_baseline
from heron.runtime.build import build_encoder, build_module
from heron.runtime.checkpointing import load_weights
from heron.runtime.curriculum import build_curriculum, dynamics_sources, first_run
from heron.runtime.describe import describe
from heron.runtime.evaluation import predict_split, prediction_columns, score_predictions
from heron.runtime.history import History
from heron.runtime.notices import say
from heron.runtime.provenance import peak_rss_mb, provenance
from heron.runtime.run_folder import HEAD, RunFolder
from heron.runtime.stages import run_stages
from heron.runtime.trainer import build_trainer, interruptible, quiet, wandb_run
from heron.schema import Config
from heron.secrets import redacted
from heron.tasks.base import TaskModule
from heron.yaml_files import dump_yaml

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
        `{"<split>": {"<metric>": fraction}}`, as in `scores.json`.

    Raises:
        ConfigError: the folder holds a run with another configuration, or another process is
            working on it.
    """
    try:
        with locked(folder.lock, wait=wait):
            return _run_alone(config, folder, overrides)
    except BlockingIOError as error:
        raise ConfigError(f"{folder.path}: another process is working on this run") from error


def read_scores(folder: RunFolder) -> Scores:
    """Read the scores of a finished run."""
    scores: Scores = read_json(folder.scores)
    return scores


def _run_alone(config: Config, folder: RunFolder, overrides: Sequence[str]) -> Scores:
    claim(config, folder)
    done = folder.state() == "done"
    try:
        sources = source_hashes(config)
    except DataError:
        if done:  # the data may be gone by now; the scores are not
            return read_scores(folder)
        raise
    if done or folder.last.is_file():
        _check_sources(sources, folder)
    if done:
        return read_scores(folder)
    started = time.time()
    spent = read_json(folder.status).get("seconds", 0.0) if folder.status.is_file() else 0.0
    folder.update_status(
        state="running",
        seed=config.seed,
        overrides=list(overrides),
        error=None,
        traceback=None,
        sources=sources,
        **provenance(),
    )
    try:
        with interruptible(), wandb_run(config, folder):
            scores = _train_and_score(config, folder)
    except BaseException as error:
        folder.update_status(
            state="failed" if isinstance(error, Exception) else "interrupted",
            seconds=round(spent + time.time() - started, 1),
            error=f"{type(error).__name__}: {error}",
            traceback=traceback.format_exc().splitlines()[-20:],
        )
        raise
    seconds = round(spent + time.time() - started, 1)
    folder.update_status(state="done", seconds=seconds, peak_rss_mb=peak_rss_mb())
    return scores


def _train_and_score(config: Config, folder: RunFolder) -> Scores:
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
        ckpt_path=folder.last if folder.last.is_file() else None,
        weights_only=True,
    )
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


def claim(config: Config, folder: RunFolder) -> None:
    """Create the run folder, or make sure that the one there belongs to this configuration.

    Raises:
        ConfigError: `trainer.monitor` is no score, or the folder holds a run with another
            configuration; the message lists the differing keys.
    """
    quiet()
    _check_monitor(config)
    if not config.run.resume:
        folder.clear()
    if folder.config.is_file():
        before = from_yaml(folder.config.read_text(encoding="utf-8"))
        # The run that a curriculum learns from has no experiment's name of its own.
        config.experiment = config.experiment or before.experiment
        # What is on disk has no secrets; two that differ in nothing else are the same run.
        found, wanted = redacted(decisive(before)), redacted(decisive(config))
        changed = [key for key in wanted if found.get(key) != wanted[key]]
        if changed:
            raise ConfigError(
                f"{folder.path} holds a run with another configuration: "
                + "; ".join(f"{key} was {found.get(key)}, now {wanted[key]}" for key in changed)
                + ". Name another run.job, or set run.resume=false to start it over"
            )
    with atomic_open(folder.config) as file:
        file.write(dump_yaml(redacted(as_dict(config))))


def source_hashes(config: Config) -> dict[str, str]:
    """Hash what a run is made from: all data files, and the files of a local encoder or head.

    Returns:
        Hexadecimal SHA-256 by name, for `status.json`: `<split>` of the run's own data set,
        `<data set>.<split>` of its stages' and of those it is only tested on, `encoder`, `head`,
        `curriculum.dynamics`, `curriculum.scores`.
    """
    data_dir, cache_dir = Path(config.paths.data), Path(config.paths.cache)
    paths = locate(config.data, data_dir, cache_dir)
    others = {*(stage.data for stage in resolve_stages(config)), *config.also_test}
    for name in sorted(others - {config.data.name}):
        found = locate(data_set(config, name), data_dir, cache_dir)
        paths |= {f"{name}.{split}": path for split, path in found.items()}
    hashes = {}
    if config.baseline.name != "none":
        paths |= baseline_sources(config)
    elif Path(config.encoder.name).is_dir():
        hashes["encoder"] = fingerprint(identity(config.encoder))
    if config.head.start:
        paths["head"] = Path(config.head.start) / HEAD
    hashes |= dynamics_sources(config)
    return {name: sha256_file(path) for name, path in paths.items() if path.is_file()} | hashes


def _check_sources(sources: dict[str, str], folder: RunFolder) -> None:
    """Refuse to return or go on with a run whose files have changed since it began.

    Raises:
        ConfigError: names the files.
    """
    found = read_json(folder.status).get("sources", sources)
    changed = [name for name in sources if found.get(name, sources[name]) != sources[name]]
    if changed:
        raise ConfigError(
            f"{folder.path}: changed since this run began: {', '.join(changed)}. "
            "Name another run.job, or set run.resume=false to start it over"
        )


def _check_monitor(config: Config) -> None:
    """Refuse an unknown score now; Lightning would after the first epoch."""
    labels, monitor = config.data.label_order, config.trainer.monitor
    scores = score_task(config.task.name, labels, labels, labels, relaxed=config.task.relaxed)
    if monitor not in scores:
        raise ConfigError(f"trainer.monitor={monitor}: no such score.{nearest(monitor, scores)}")


def _warn(config: Config, folder: RunFolder) -> None:
    """Print what is known to be wrong with the data, one line each."""
    for finding in warnings(
        config.data, read_json(folder.status)["sources"], Path(config.paths.cache)
    ):
        say(f"{config.data.name}: {finding}")
