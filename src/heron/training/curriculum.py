"""Training under a curriculum: the earlier run that it needs, its ranking, optimizer restarts."""

import dataclasses
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytorch_lightning as pl

from heron.base.run_folder import RunFolder, open_run
from heron.config.constraints import is_under, key_of
from heron.data.config import TRAIN
from heron.data.datamodule import DataModule
from heron.dynamics.cartography import read_statistics, statistics
from heron.dynamics.config import compares_trained, needs_dynamics
from heron.dynamics.curriculum import Curriculum, Pool
from heron.dynamics.difficulty import cosine, rank_units
from heron.dynamics.files import read_dynamics
from heron.models.feature_cache import APART, pool_texts
from heron.tasks.config import Config
from heron.training.exported import trained_encoder
from heron.training.run_names import run_path
from heron.training.stored import derive

RunJob = Callable[[Config, RunFolder, list[str]], Any]


def first_run(config: Config, run_job: RunJob, overrides: Sequence[str] = ()) -> RunFolder | None:
    """Find the run whose dynamics a curriculum learns from, training it where it is not done.

    Args:
        config: of the run with the curriculum.
        run_job: trains a run.
        overrides: what the user typed for this run; those that also hold for the first run are in
            its name.

    Returns:
        Its folder, or what `curriculum.dynamics` names, which may be a table of statistics; None
        for a curriculum that needs neither.

    Raises:
        ConfigError: `curriculum.embeddings=trained` with a folder of dynamics that is no run.
    """
    settings = config.curriculum
    if settings.name == "none" or not (needs_dynamics(settings) or compares_trained(settings)):
        return None

    if settings.dynamics is not None:
        path = Path(settings.dynamics)
        return open_run(path) if compares_trained(settings) else RunFolder(path)

    first = without_curriculum(config)
    changed = {"curriculum": "none", **settings.changes}
    words = [f"{key}={value}" for key, value in changed.items()]
    for word in overrides:
        # The experiment is left out, too: curricula of other experiments use the same run.
        if not any(is_under(key_of(word), key) for key in (*changed, "experiment")):
            words.append(word)

    folder = RunFolder(run_path(first, words))
    folder.path.mkdir(parents=True, exist_ok=True)
    state = "done before" if folder.state() == "done" else "trained first, without curriculum"
    print(f"heron train: {settings.name} learns from {folder.path} ({state})", flush=True)
    run_job(first, folder, words)

    return folder


def without_curriculum(config: Config) -> Config:
    """Derive the configuration of the run that a curriculum learns from."""
    changes: dict[str, Any] = {
        "curriculum": {},
        "experiment": None,
        "ckpt_path": None,
        "trainer.flags": {},  # a flag such as `limit_train_batches` would hide rows
        "dynamics.enabled": True,
        "sweeper": {},  # no trial of a search, so that no pruner ends it
        "run.job": None,
        "run.sweep": str(run_path(config, ()).parent.relative_to(config.paths.runs)),
        "run.resume": True,  # even under run.resume=false: other curricula use the run
        "run.export": config.run.export or compares_trained(config.curriculum),
    }

    return derive(config, changes | config.curriculum.changes)


def build_curriculum(config: Config, data: DataModule, first: RunFolder | None) -> Curriculum:
    """Rank the train split by difficulty, and plan the run.

    Args:
        config: of the run.
        data: without a curriculum yet.
        first: what `first_run` returns.
    """
    settings = config.curriculum
    units = data.units[TRAIN]
    of_examples = None
    if first is not None and needs_dynamics(settings):
        if first.path.is_file():  # a table of statistics
            of_examples = read_statistics(first.path)
        else:
            of_examples = statistics(read_dynamics(first.path))

    similarity_R = None
    if settings.difficulty == "sts":
        similarity_R = similarities(config, data, first)

    features = data.features[TRAIN]
    ranking = rank_units(settings, features, units, config.seed, of_examples, similarity_R)

    stratified = settings.sampling == "stratified"
    pool = Pool(units, data.unit_labels(TRAIN), config.data.label_order, data.batching, stratified)
    accumulate = config.trainer.accumulate_grad_batches
    batches = data.batches_per_epoch()

    return Curriculum(settings, pool, ranking, batches, accumulate, config.seed)


def similarities(config: Config, data: DataModule, first: RunFolder | None) -> np.ndarray:
    """Compute the cosine of premise and hypothesis of every train row; float64 [R].

    Both are encoded separately; a text's vector is the mean of its states. Under
    `curriculum.embeddings=trained` the encoder is that of `first_run`.
    """
    if first is not None and compares_trained(config.curriculum):
        first.require_model()
        encoder = trained_encoder(config.encoder, first.model)
        config = dataclasses.replace(config, encoder=encoder)

    row_of = {guid: row for row, guid in enumerate(data.features[TRAIN].guids)}
    examples = []
    for example in data.examples[TRAIN]:
        if example.guid in row_of:
            examples.append(example)

    guids, vectors_RP = pool_texts(config, APART, {TRAIN: examples}, data.tokenizer)
    rows = [row_of[guid] for guid in guids[TRAIN]]
    similarity_R = np.empty(len(row_of))
    similarity_R[rows] = cosine(vectors_RP[TRAIN])

    return similarity_R


class Restart(pl.Callback):
    """Clears the optimizer's moments where a stage begins; the learning-rate schedule continues.

    Source: the RoNLI repository, where every stage is a Trainer of its own.
    """

    def __init__(self, data: DataModule):
        self.data = data

    def on_train_batch_start(
        self, trainer: pl.Trainer, pl_module: pl.LightningModule, batch: Any, batch_idx: int
    ) -> None:
        """Clear the state at the first batch of every stage but the first."""
        curriculum = self.data.curriculum
        epoch = trainer.current_epoch
        assert curriculum is not None
        stage = curriculum.stages_of(epoch)[batch_idx]

        if batch_idx:
            before = curriculum.stages_of(epoch)[batch_idx - 1]
        elif epoch:
            before = curriculum.stages_of(epoch - 1)[-1]
        else:
            return

        if stage != before:
            for optimizer in trainer.optimizers:
                optimizer.state.clear()
