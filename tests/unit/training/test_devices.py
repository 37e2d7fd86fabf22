"""Two processes train what one would have trained, and leave what one would have left.

One launch of two real CPU processes trains several small runs; each is compared with the same run
in one process. Dropout is off, precision is full: what is left is the order of additions.
"""

from __future__ import annotations

import copy
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from heron.base.run_folder import RunFolder
from heron.tasks.base import TaskModule
from heron.tasks.config import Config
from heron.training.job import run_job
from small_runs import compose
from two_processes import files, furthest, run_in_two, table, weights

pytestmark = pytest.mark.slow

NEAR = 2e-6
PLAIN = (
    "encoder.dropout=0", "head.dropout=0", "trainer.enable_progress_bar=false",
    "data.generator.size=120",
)  # fmt: skip
QUICK = {
    "every weight on classes": (
        "batching.oversample=balanced",
        "optim.class_weights=balanced",
        "optim.label_smoothing=0.1",
        "trainer.accumulate_grad_batches=2",
    ),
    "fewer units than processes": ("head=window", "batching.tokens=60", "dynamics.every=0.5"),
}
OTHERS = {
    "stored vectors, self-paced": (
        *("data=chronicle_nli", "task=nli", "head=siamese_cls", "encoder.freeze=all"),
        *("curriculum=self_paced", "trainer.max_epochs=3"),
    ),
    "shuffled, accumulated": (
        "batching.plan=shuffle",
        "batching.size=7",
        "trainer.accumulate_grad_batches=3",
    ),
    "one unit a batch": ("batching.plan=shuffle", "batching.size=1", "trainer.max_epochs=1"),
    "both ways": ("head=window", "head.both_ways=true", "batching.tokens=200"),
    "long premises": (
        *("data=chronicle_nli", "task=nli", "head=cross", "data.on_cut=drop"),
        *("encoder.overflow=windows", "encoder.max_length=40", "encoder.stride=4"),
    ),
    "records apart": ("dynamics.mode=evaluation", "encoder.gradient_checkpointing=true"),
    "a growing curriculum": ("curriculum=competence", "trainer.patience=1"),
    "a curriculum that learns from a run": ("curriculum=cart_clpp",),
    "stages": (
        *("data=chronicle_nli", "task=nli", "head=siamese_cls"),
        "stages=[chronicle_nli,{data: chronicle_nli, lr: 1.0e-4}]",
    ),
    "frozen, but encoded": (
        *("encoder.freeze=all", "encoder.cache=false"),
        "trainer.strategy=ddp_find_unused_parameters_true",
    ),
}


def pair(home: Path, name: str) -> tuple[RunFolder, RunFolder]:
    """Name a setting's folders: in one process, in two."""
    return RunFolder(home / "one" / name), RunFolder(home / "two" / name)


def train_both(home: Path, settings: dict[str, tuple[str, ...]], sharded: bool = False) -> None:
    """Train each setting in one process, and all of them in two."""
    runs = dict[Path, Config]()
    for name, words in settings.items():
        one, two = pair(home, name)
        config = compose(home, *PLAIN, *words)
        for folder in (one, two):
            folder.path.mkdir(parents=True)
        runs[two.path] = copy.deepcopy(config)
        config.run.sweep = "firsts"  # a curriculum's first run is one process's, too
        run_job(config, one)
    run_in_two(runs, sharded)


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    folder = tmp_path_factory.mktemp("devices")
    train_both(folder, QUICK)
    return folder


@pytest.fixture(scope="module")
def other_home(tmp_path_factory):
    folder = tmp_path_factory.mktemp("devices")
    train_both(folder, OTHERS)
    return folder


def assert_same_training(one: RunFolder, two: RunFolder) -> None:
    """Compare all that two runs have left."""
    assert two.state() == "done"
    assert files(two) == files(one), "the other process has written, too"
    assert furthest(weights(one), weights(two)) < NEAR
    for path in one.path.rglob("ledger.json"):
        assert (two.path / path.relative_to(one.path)).read_bytes() == path.read_bytes()
    before, after = (json.loads(run.scores.read_text()) for run in (one, two))
    assert before.keys() == after.keys()
    for split in before:
        assert after[split] == pytest.approx(before[split], abs=NEAR)
    rows = [np.genfromtxt(run.metrics, delimiter=",", skip_header=1) for run in (one, two)]
    np.testing.assert_allclose(rows[1], rows[0], atol=NEAR)
    for path in one.path.rglob("*.parquet"):
        assert_same_table(path, two.path / path.relative_to(one.path))


def assert_same_table(one: Path, two: Path) -> None:
    """Compare two tables: numbers nearly, everything else, row order included, exactly."""
    before, after = table(one), table(two)
    assert before.keys() == after.keys()
    for name, values in before.items():
        if values.dtype == object:
            assert list(after[name]) == list(values)
        else:
            np.testing.assert_allclose(after[name], values, atol=5 * NEAR, err_msg=name)


@pytest.mark.real  # two processes take half a minute
@pytest.mark.parametrize("name", QUICK)
def test_two_processes_leave_what_one_would_have_left(name, home):
    assert_same_training(*pair(home, name))


@pytest.mark.real
@pytest.mark.parametrize("name", OTHERS)
def test_two_processes_leave_what_one_would_have_left_under(name, other_home):
    assert_same_training(*pair(other_home, name))


@pytest.mark.real
def test_a_sharded_model_is_trained_as_a_whole_one_and_saved_whole(tmp_path):
    words = ("optim.weight_decay=0.5", "dynamics.mode=evaluation", "trainer.select=last")
    weighted = ("trainer.accumulate_grad_batches=3", "optim.class_weights=balanced")
    train_both(tmp_path, {"sharded": words, "with best": weighted}, sharded=True)
    for name in ("sharded", "with best"):
        assert_same_training(*pair(tmp_path, name))


@pytest.mark.real
@pytest.mark.parametrize("sharded", [False, True])
def test_a_stopped_run_ends_as_one_that_never_was(sharded, tmp_path):
    config = compose(tmp_path, "trainer.enable_progress_bar=false", "trainer.checkpoint_steps=3")
    whole, stopped = RunFolder(tmp_path / "whole"), RunFolder(tmp_path / "stopped")
    for folder, stop in ((whole, 0), (stopped, 12)):
        folder.path.mkdir()
        run_in_two({folder.path: config}, sharded, stop)
    assert furthest(weights(whole), weights(stopped)) == 0
    assert stopped.scores.read_bytes() == whole.scores.read_bytes()
    assert stopped.metrics.read_bytes() == whole.metrics.read_bytes()


def test_processes_draw_numbers_of_their_own():
    drawn = []
    for rank, seed in ((0, 0), (1, 0), (2, 0), (1, 1), (1, 0)):
        torch.manual_seed(seed)
        module: Any = SimpleNamespace(
            trainer=SimpleNamespace(global_rank=rank), config=SimpleNamespace(seed=seed)
        )
        module.train, module.encoder = lambda: None, SimpleNamespace(assert_mode=lambda **_: None)
        TaskModule.on_train_start(module)
        drawn.append(tuple(torch.rand(4).tolist()))
    torch.manual_seed(0)
    assert drawn[0] == tuple(torch.rand(4).tolist()), "the first keeps its numbers"
    assert len(set(drawn)) == 4
    assert drawn[1] == drawn[4]


@pytest.mark.real  # two processes, as above
def test_checkpoint_has_the_random_numbers_of_every_process(home):
    _, two = pair(home, "every weight on classes")
    states = torch.load(two.last, weights_only=True)["random"]
    assert len(states) == 2
    assert not torch.equal(states[0]["torch"], states[1]["torch"])
