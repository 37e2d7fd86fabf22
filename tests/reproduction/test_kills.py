"""Commands that are killed at random end, given again, as those that nobody disturbed.

Every command runs in a process of its own, from its first word to its exit code, and is really
killed: by SIGKILL or SIGTERM, at a random moment or at a random write, itself or one of its jobs.
Then the same command is given until it is done, and every file is compared. `HERON_KILLS` says how
many runs of each kind are disturbed (default 4), `HERON_KILLS_SEED` which moments are drawn.
"""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import os
import random
import signal
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import torch

from heron.base.files import read_json, write_json
from heron.base.run_folder import RunFolder
from heron.data.markers import event_markers, mark
from heron.data.readers import load
from heron.dynamics.files import read_dynamics
from heron.sweeps.isolation import _without_main, print_to
from heron.training.stored import read_own
from small_runs import TINY, in_folder
from small_sweeps import alive

pytestmark = [pytest.mark.real, pytest.mark.slow]

KILLS = int(os.environ.get("HERON_KILLS", "4"))
SEED = os.environ.get("HERON_KILLS_SEED", "0")
MOST = 40  # commands until one is done
PRINTED = "printed.txt"
# Files that name folders, times and process ids.
OWN = (
    *("config.yaml", "status.json", "log.txt", "report.", "study.journal", ".lock", ".search.lock"),
    *("multirun.yaml", "hydra.yaml", "overrides.yaml"),  # of Hydra
)

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
    "trainer.accumulate_grad_batches=2",
    "batching.oversample=balanced",
    "trainer.checkpoint_steps=1",
    "trainer.enable_progress_bar=false",
    "run.sweep=sweep",
)
# Disturbed runs of a task take turns; all have dynamics and an export.
SETTINGS = {
    # Learns from the dynamics of a run without curriculum, which is killed as well.
    "learnt": ("curriculum=cart_stra_clpp",),
    # Learns from its own losses; keeps the last epoch; records twice an epoch.
    "self-paced": ("curriculum=self_paced", "trainer.select=last", "dynamics.every=0.5"),
    "lengths": ("curriculum=length_cl", "trainer.checkpoint_steps=2"),
    "stored vectors": ("encoder.freeze=all", "trainer.max_epochs=6", "trainer.patience=1"),
}
# The jobs of a sweep are killed with their command or alone.
SWEEPS = {
    "sweep": ("-m", "seed=0,1,2", "hydra.launcher.n_jobs=2", "run.isolate=true"),
    "search": (
        *("-m", "hydra/sweeper=optuna", "hydra.sweeper.n_trials=5"),
        "hydra.sweeper.startup_trials=2",
        *("optim.lr=tag(log,interval(1e-4,1e-2))", "run.isolate=true"),
    ),
}


@dataclass(frozen=True)
class Kill:
    """When a command is killed, and how.

    Args:
        sent: the signal.
        write: before (even) or after (odd) that write of the command's, counted in halves.
        seconds: after so many of them, instead.
        job: a job of the command's, where one trains.
    """

    sent: signal.Signals
    write: int | None = None
    seconds: float = 0.0
    job: bool = False


class Ended(NamedTuple):
    """How a command has ended: exit code, seconds, and how many files it has put in place."""

    code: int
    seconds: float
    writes: int


_context = multiprocessing.get_context("forkserver")


def run(words: tuple[str, ...], folder: Path, kill: Kill | None = None) -> Ended:
    """Run one command as a user does, and perhaps kill it."""
    folder.mkdir(parents=True, exist_ok=True)
    _context.set_forkserver_preload(["heron.sweeps.preload", "optuna", __name__])
    process = _context.Process(target=_be_the_command, args=(words, folder, kill))
    with _without_main():
        process.start()
    started = time.monotonic()
    if kill is not None and kill.write is None:
        process.join(kill.seconds)
        while kill.job and process.exitcode is None and not working(folder):
            process.join(0.02)
        victims = working(folder) if kill.job else []
        if process.exitcode is None:
            os.kill(random.choice(victims or [process.pid]), kill.sent)
    process.join(300)
    assert process.exitcode is not None, f"{words} hangs"
    count = folder / "writes.json"
    writes = read_json(count) if count.is_file() else 0
    count.unlink(missing_ok=True)
    return Ended(process.exitcode, time.monotonic() - started, writes)


def _be_the_command(words: tuple[str, ...], folder: Path, kill: Kill | None) -> None:
    print_to(folder / PRINTED)
    os.environ.update(HF_HUB_OFFLINE="1", WANDB_MODE="offline")
    move, writes = os.replace, [0]

    def die(now: int) -> None:
        if kill is not None and kill.write == now:
            os.kill(os.getpid(), kill.sent)

    def replace(source: Any, target: Any) -> None:
        counts = threading.current_thread() is threading.main_thread()  # a heartbeat's do not
        die(2 * writes[0] if counts else -1)
        move(source, target)
        die(2 * writes[0] + 1 if counts else -1)
        writes[0] += counts

    os.replace = replace  # type: ignore[assignment]
    from heron.cli import main

    code = main(words)
    os.replace = move
    write_json(folder / "writes.json", writes[0])
    sys.exit(code)


def working(folder: Path) -> list[int]:
    """List the processes of jobs that train."""
    jobs = [RunFolder(path.parent) for path in folder.glob("runs/sweep/*/status.json")]
    found = [job.read_status() for job in jobs if job.state() == "running"]
    pids = [status["heartbeat"]["pid"] for status in found if status.get("heartbeat")]
    return [pid for pid in pids if alive(pid)]


def draw(whole: Ended, number: int, generator: random.Random, jobs: bool) -> Kill:
    """Draw a moment of a command: writes and seconds, SIGKILL and SIGTERM take turns."""
    sent = (signal.SIGKILL, signal.SIGTERM)[number % 2]
    if jobs or number // 2 % 2:
        return Kill(sent, None, generator.uniform(0, whole.seconds), jobs and number // 2 % 2 == 0)
    return Kill(sent, generator.randrange(2 * max(1, whole.writes)))


def disturb(
    words: Callable[[Path], tuple[str, ...]], folder: Path, whole: Ended, number: int, jobs: bool
) -> list[Kill]:
    """Kill a command twice, then give it until it is done; returns the kills."""
    generator = random.Random(f"{SEED} {folder.name} {number}")
    kills = [draw(whole, number + turn, generator, jobs) for turn in range(2)]
    for kill in kills:
        ended = run(words(folder), folder, kill)
        if not kill.job:  # one that was done before, or has not begun to listen
            allowed = {0, -kill.sent} | ({143} if kill.sent == signal.SIGTERM else set())
            assert ended.code in allowed, (kill, ended, (folder / PRINTED).read_text())
        if ended.code == 143:
            assert "interrupted" in (folder / PRINTED).read_text("utf-8")
    for _ in range(MOST):
        if run(words(folder), folder).code == 0:
            return kills
    raise AssertionError((folder / PRINTED).read_text("utf-8"))


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return tmp_path_factory.mktemp("kills")


def train_words(task: str, *more: str) -> Callable[[Path], tuple[str, ...]]:
    """Spell out a training in a folder, with a cache of its own: kills come while it fills."""

    def words(folder: Path) -> tuple[str, ...]:
        tiny = [word for word in TINY if not word.startswith("run.isolate")]
        return ("train", *tiny, *TASKS[task], *EVERYWHERE, *in_folder(folder), *more)

    return words


@cache
def unbroken(home: Path, name: str, task: str, *more: str) -> tuple[Path, Ended]:
    """Run a training that nobody disturbs."""
    folder = home / f"{name} {task}"
    ended = run(train_words(task, *more)(folder), folder)
    assert ended.code == 0, (folder / PRINTED).read_text("utf-8")
    return folder, ended


@pytest.mark.parametrize("number", range(KILLS))
@pytest.mark.parametrize("task", TASKS)
def test_a_killed_training_ends_as_one_that_nobody_disturbed(task, number, home):
    setting = list(SETTINGS)[number % len(SETTINGS)]
    more = ("run.job=job", *SETTINGS[setting])
    expected, whole = unbroken(home, setting, task, *more)
    folder = home / f"{setting} {task} {number}"
    kills = disturb(train_words(task, *more), folder, whole, number, jobs=False)
    assert differences(folder / "runs", expected / "runs") == [], kills


@pytest.mark.parametrize("number", range(KILLS))
@pytest.mark.parametrize("kind", SWEEPS)
def test_a_killed_sweep_or_search_ends_as_one_that_nobody_disturbed(kind, number, home):
    task = list(TASKS)[number % len(TASKS)]
    expected, whole = unbroken(home, kind, task, *SWEEPS[kind])
    folder = home / f"{kind} {task} {number}"
    kills = disturb(train_words(task, *SWEEPS[kind]), folder, whole, number, jobs=True)
    assert differences(folder / "runs", expected / "runs") == [], kills


@pytest.mark.parametrize("command", ["predict", "evaluate"])
@pytest.mark.parametrize("task", TASKS)
def test_a_killed_command_that_reads_a_run_leaves_it_as_it_was_and_ends_the_same(
    task, command, home
):
    trained, _ = unbroken(home, "learnt", task, "run.job=job", *SETTINGS["learnt"])
    run_folder = trained / "runs" / "sweep" / "job"
    before = hashes(run_folder)

    def words(folder: Path) -> tuple[str, ...]:
        if command == "predict":
            rows = f"input={rows_for(run_folder, home / f'{task}.jsonl')}"
            return (
                command,
                f"run={run_folder}",
                rows,
                f"out={folder / 'out.csv'}",
                *cached(folder),
            )
        return (command, f"run={run_folder}", "split=validation", f"out={folder / 'out.json'}")

    def cached(folder: Path) -> tuple[str, ...]:
        return (f"cache={folder / 'cache'}",)

    undisturbed = home / f"{command} {task}"
    whole = run(words(undisturbed), undisturbed)
    assert whole.code == 0, (undisturbed / PRINTED).read_text("utf-8")
    for number in range(KILLS):
        folder = home / f"{command} {task} {number}"
        kills = disturb(words, folder, whole, number, jobs=False)
        outs = [
            {p.name: p.read_bytes() for p in each.glob("*out.*")} for each in (folder, undisturbed)
        ]
        assert outs[0] == outs[1], kills
        assert hashes(run_folder) == before, kills


def rows_for(run_folder: Path, path: Path) -> Path:
    """Write the texts of a run's test split as a file to predict."""
    config = read_own(run_folder / "config.yaml")
    columns, markers = config.data.columns, event_markers(config.data)
    if not path.is_file():
        lines = []
        splits = load(config.data, Path(config.paths.data), Path(config.paths.cache))
        for example in splits["test"]:
            marked = config.task.name == "relation"
            text = mark(example.text, example.spans, markers).text if marked else example.text
            row = {"guid": example.guid, columns.text: text}
            row |= {columns.text_pair: example.text_pair} if columns.text_pair else {}
            lines.append(json.dumps(row, ensure_ascii=False))
        path.write_text("\n".join(lines), "utf-8")
    return path


@pytest.mark.parametrize("task", TASKS)
def test_the_runs_that_are_killed_have_all_that_can_go_wrong(task, home):
    expected, whole = unbroken(home, "learnt", task, "run.job=job", *SETTINGS["learnt"])
    folder = RunFolder(expected / "runs" / "sweep" / "job")
    ledger = read_json(folder.ledger)
    assert len(ledger["stages"]) == 5
    assert ledger["total"]["batches"] > ledger["total"]["steps"] >= 8
    assert read_dynamics(folder.path).count_EN.max() > 1
    assert (folder.model / "config.json").is_file()
    assert whole.writes > 30


def hashes(folder: Path) -> dict[str, str]:
    """Hash every file of a folder."""
    files = {str(p.relative_to(folder)): p for p in folder.rglob("*") if p.is_file()}
    return {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in files.items()}


def differences(here: Path, there: Path) -> list[str]:
    """Name the files that differ in two folders, half-written ones included."""
    found = []
    for name in sorted(hashes(here).keys() ^ hashes(there).keys()):
        found.append(f"{name}: only in one of them")
    for name in sorted(hashes(here).keys() & hashes(there).keys()):
        if not Path(name).name.startswith(OWN):
            found += _compare(here / name, there / name)
    return found


def _compare(path: Path, other: Path) -> list[str]:
    if path.suffix == ".ckpt":
        mine, its = (_flat(torch.load(each, weights_only=True)) for each in (path, other))
        keys = sorted(mine.keys() | its.keys())
        return [f"{path}: {key}" for key in keys if not _equal(mine.get(key), its.get(key))]
    return [] if path.read_bytes() == other.read_bytes() else [str(path)]


def _flat(value: Any, name: str = "") -> dict[str, Any]:
    """Name every value of a checkpoint, without those that name folders or count trials.

    A trial that a killed process had only asked for keeps its number, and no job.
    """
    if isinstance(value, dict):
        items = [(str(key), each) for key, each in value.items()]
    elif isinstance(value, list | tuple):
        items = [(str(key), each) for key, each in enumerate(value)]
    else:
        return {name: value}
    own = ("ModelCheckpoint", "paths", "trial")
    items = [(key, each) for key, each in items if not key.startswith(own)]
    return {k: v for key, each in items for k, v in _flat(each, f"{name}/{key}").items()}


def _equal(value: Any, other: Any) -> bool:
    """Compare bit for bit: a loss that is not known is NaN in both."""
    if isinstance(value, torch.Tensor) and isinstance(other, torch.Tensor):
        same_kind = value.dtype == other.dtype and value.shape == other.shape
        return same_kind and value.numpy().tobytes() == other.numpy().tobytes()
    return repr(value) == repr(other)
