"""A run that is stopped at random moments, twice, ends as one that never was, for every task.

Moments are counted over everything a run does: the training that its curriculum learns from, its
own, validations, predictions, and each file that is put in place. A new task is one more line in
`TASKS`.
"""

from __future__ import annotations

import os
import random
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import pytorch_lightning as pl
import torch

from heron.data import datamodule
from heron.dynamics.files import read_dynamics
from heron.files import read_json
from heron.runtime.job import run_job
from heron.runtime.run_folder import RunFolder
from heron.schema import Config
from small_runs import compose

pytestmark = [pytest.mark.real, pytest.mark.slow]

TASKS = {
    "relation": ("task=relation", "data=chronicle", "head=ess", "batching.tokens=600"),
    "nli": ("task=nli", "data=chronicle_nli", "head=cross", "batching.tokens=500"),
    "qa": (
        *("task=qa", "data=chronicle_qa", "head=span", "batching.tokens=700"),
        *("data.generator.unanswerable=0.4", "data.label_order=[answer,no_answer]"),
        *("encoder.max_length=96", "encoder.stride=24", "task.max_answer_tokens=12"),
    ),
    "summarization": (
        *("task=summarization", "data=chronicle_summaries", "head=warm_start"),
        *("data.generator.premise_sentences=[8,9]", "batching.tokens=1500"),
        *("task.generation.max_new_tokens=8", "task.generation.num_beams=2"),
        "task.validation_samples=5",
    ),
}
EVERYWHERE = (
    "data.generator.size=120",
    "encoder.dropout=0.1",
    "head.dropout=0.1",
    "optim.accumulate=2",
    "batching.oversample=balanced",
    "trainer.checkpoint_steps=1",
    "trainer.progress=false",
)
# Settings, and how many runs are stopped under each.
SETTINGS = {
    # Learns from the dynamics of a run without curriculum, which is stopped as well.
    "learnt curriculum": (8, ("curriculum=cart_stra_clpp",)),
    # Learns from its own losses; keeps the last epoch; records twice an epoch.
    "self-paced": (6, ("curriculum=self_paced", "trainer.select=last", "dynamics.every=0.5")),
    "two workers": (
        4,
        ("curriculum=length_cl", "batching.workers=2", "trainer.checkpoint_steps=2"),
    ),
    "stored vectors": (
        4,
        ("encoder.freeze=all", "trainer.max_epochs=6", "trainer.patience=1"),
    ),
}
CASES = [
    pytest.param(task, setting, number, id=f"{task}-{setting.replace(' ', '-')}-{number}")
    for task in TASKS
    for setting, (runs, _) in SETTINGS.items()
    for number in range(runs)
]
HOOKS = {
    "on_train_epoch_start": "epoch",
    "on_train_batch_start": "batch",
    "on_before_optimizer_step": "batch",
    "on_train_batch_end": "batch",
    "on_validation_start": "validation",
    "on_validation_batch_start": "validation",
    "on_validation_end": "validation",
    "on_train_epoch_end": "epoch",
    "on_train_end": "epoch",
    "on_predict_batch_start": "prediction",
    "on_predict_end": "prediction",
}


class Stopped(BaseException):
    """Stands for a kill: no `except Exception` on the way may hold it."""


class Moments(pl.Callback):
    """Notes the moments of a run, and stops it at one of them.

    Args:
        stop: the number of the moment, from 0; None lets the run end.
    """

    def __init__(self, stop: int | None = None):
        self.stop = stop
        self.passed: list[str] = []
        for hook, kind in HOOKS.items():
            setattr(self, hook, lambda *_, kind=kind: self.note(kind))

    def note(self, kind: str) -> None:
        """Count a moment; the heartbeat's files are none, they come by the clock."""
        if threading.current_thread() is not threading.main_thread():
            return
        self.passed.append(kind)
        if len(self.passed) - 1 == self.stop:
            raise Stopped


@contextmanager
def watched(moments: Moments) -> Iterator[None]:
    """Let `moments` see the trainings of the block, and every file before and after its move."""
    move = os.replace

    def replace(source: Any, target: Any) -> None:
        moments.note(f"file {Path(target).suffix}")
        move(source, target)
        moments.note(f"file {Path(target).suffix}")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("heron.runtime.trainer.progress_bar", lambda wanted: [moments])
        patch.setattr(os, "replace", replace)
        yield


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("resume")


@cache
def configured(home: Path, task: str, setting: str, runs: str) -> Config:
    """Compose a case's configuration; all runs share what is computed from data, and no folder."""
    words = (*TASKS[task], *EVERYWHERE, *SETTINGS[setting][1])
    return compose(home, *words, f"paths.runs={home / runs}")


@cache
def unbroken(home: Path, task: str, setting: str) -> tuple[RunFolder, list[str]]:
    """Train without a stop; returns the run and its moments."""
    runs = f"{task} {setting}"
    # The first run of all makes the corpus and the tokenizer, whose files are moments too.
    datamodule.prepare(configured(home, task, setting, runs))
    folder, moments = RunFolder(home / runs / "sweep" / "job"), Moments()
    config = configured(home, task, setting, runs)
    with watched(moments):
        run_job(config, folder)
    return folder, moments.passed


def forget() -> None:
    """Leave of this process what a new one would have: no data, other random numbers."""
    datamodule._last.clear()
    for sow in (random.seed, np.random.seed, torch.manual_seed):
        sow(314)


@pytest.mark.parametrize(("task", "setting", "number"), CASES)
def test_run_stopped_twice_ends_as_one_that_never_was(
    task: str, setting: str, number: int, home: Path
) -> None:
    expected, moments = unbroken(home, task, setting)
    draw = random.Random(f"{task} {setting} {number}")
    # Batches are most moments: the kinds take turns.
    kinds = sorted(set(moments))
    kind = draw.sample(kinds, len(kinds))[number % len(kinds)]
    first = draw.choice([at for at, each in enumerate(moments) if each == kind])
    config = configured(home, task, setting, f"{task} {setting} {number}")
    folder = RunFolder(Path(config.paths.runs) / "sweep" / "job")
    for stop in (first, draw.randrange(len(moments))):
        forget()
        with watched(Moments(stop)):
            try:
                run_job(config, folder)
            except Stopped:
                assert folder.state() != "failed"
    forget()
    run_job(config, folder)
    assert differences(folder, expected) == []
    learns = setting == "learnt curriculum"
    assert len(list(Path(config.paths.runs).rglob("scores.json"))) == 1 + learns


def differences(folder: RunFolder, expected: RunFolder) -> list[str]:
    """Name what differs, in the run and in the one that it learns from."""
    here, there = folder.path.parents[1], expected.path.parents[1]
    names = sorted(set(_files(here)) | set(_files(there)))
    return [found for name in names for found in _compare(here / name, there / name)]


def _files(folder: Path) -> list[str]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return [str(path.relative_to(folder)) for path in files]


def _compare(path: Path, other: Path) -> list[str]:
    if not (path.is_file() and other.is_file()):
        return [f"{path}: only in one of them"]
    if path.name in ("config.yaml", "status.json", ".lock"):  # folders, times, process ids
        return []
    if path.suffix == ".ckpt":
        mine, its = (_flat(torch.load(each, weights_only=True)) for each in (path, other))
        keys = sorted(mine.keys() | its.keys())
        return [f"{path}: {key}" for key in keys if not _equal(mine.get(key), its.get(key))]
    return [] if path.read_bytes() == other.read_bytes() else [str(path)]


def _flat(value: Any, name: str = "") -> dict[str, Any]:
    """Name every value of a checkpoint, without those that name folders."""
    if isinstance(value, dict):
        items = [(str(key), each) for key, each in value.items()]
    elif isinstance(value, list | tuple):
        items = [(str(key), each) for key, each in enumerate(value)]
    else:
        return {name: value}
    items = [(key, each) for key, each in items if not key.startswith("ModelCheckpoint")]
    return {k: v for key, each in items for k, v in _flat(each, f"{name}/{key}").items()}


def _equal(value: Any, other: Any) -> bool:
    """Compare bit for bit: a loss that is not known is NaN in both."""
    if isinstance(value, torch.Tensor) and isinstance(other, torch.Tensor):
        same_kind = value.dtype == other.dtype and value.shape == other.shape
        return same_kind and value.numpy().tobytes() == other.numpy().tobytes()
    return repr(value) == repr(other)


@pytest.mark.parametrize("task", TASKS)
def test_the_runs_that_are_stopped_have_all_that_can_go_wrong(task: str, home: Path) -> None:
    expected, moments = unbroken(home, task, "learnt curriculum")
    kinds = Counter(moments)
    assert min(kinds[kind] for kind in ("epoch", "batch", "validation", "prediction")) >= 4
    assert {"file .json", "file .parquet", "file .csv", "file .ckpt"} <= set(kinds)
    ledger = read_json(expected.ledger)
    assert len(ledger["stages"]) == 5
    assert ledger["total"]["batches"] > ledger["total"]["steps"] >= 8
    assert read_dynamics(expected.path).count_EN.max() > 1
