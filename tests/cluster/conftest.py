"""A SLURM for all tests here, and trainings that nobody disturbs, to compare with."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from cluster.slurm import INSTALL, MODULES, Slurm, missing_programs, wait_for
from heron.base.run_folder import RunFolder
from small_runs import TINY

HERON = str(Path(sys.executable).parent / "heron")
# Long enough to be preempted in its middle, random enough that a step too many is seen.
WORDS = (
    *(word for word in TINY if not word.startswith("run.isolate")),
    "encoder.dropout=0.1",
    "head.dropout=0.1",
    "batching.tokens=300",
    "trainer.max_epochs=40",
    "run.sweep=sweep",
    "+callbacks.pace._target_=cluster.pace.Pace",
    "+callbacks.pace.seconds=0.5",
)


@pytest.fixture(scope="session")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Slurm]:
    """A cluster of one node, with the partitions `low` (can be preempted) and `high`."""
    yield from running_cluster(tmp_path_factory, nodes=1)


def running_cluster(factory: pytest.TempPathFactory, nodes: int) -> Iterator[Slurm]:
    """Start a cluster for the tests that follow, and stop it."""
    missing = missing_programs()
    if missing:
        pytest.skip(f"no {', '.join(missing)}: {INSTALL}")
    if importlib.util.find_spec("submitit") is None:
        pytest.skip("no submitit: pip install -e .[launchers]")

    cluster = Slurm(factory.mktemp("slurm") / "cluster", nodes)
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.stop()


@pytest.fixture
def command(tmp_path: Path) -> Callable[..., list[str]]:
    """Spell out `heron train` with runs and cache in the test's folder."""

    def words(*more: str) -> list[str]:
        folders = (f"paths.runs={tmp_path / 'runs'}", f"paths.cache={tmp_path / 'cache'}")
        return [HERON, "train", *WORDS, *folders, *more]

    return words


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., RunFolder]:
    """Train a job that nobody disturbs, once for all tests."""
    folder = tmp_path_factory.mktemp("undisturbed")
    trained: dict[tuple[str, ...], RunFolder] = {}

    def train(*more: str) -> RunFolder:
        if more not in trained:
            job = f"job{len(trained)}"
            folders = (f"paths.runs={folder}", f"paths.cache={folder / 'cache'}")
            words = [HERON, "train", *WORDS, *folders, f"run.job={job}", *more]
            variables = {**os.environ, "PYTHONPATH": MODULES}
            subprocess.run(words, env=variables, check=True, capture_output=True, timeout=300)
            trained[more] = RunFolder(folder / "sweep" / job)
        return trained[more]

    return train


@pytest.fixture
def in_background() -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Start a command that is ended with the test."""
    processes = []

    def start(words: Sequence[str], output: Path, **options: object) -> subprocess.Popen[str]:
        with open(output, "w", encoding="utf-8") as file:
            process = subprocess.Popen(
                words,
                stdout=file,
                stderr=subprocess.STDOUT,
                text=True,
                **options,  # type: ignore[call-overload]
            )
        processes.append(process)
        return process

    yield start
    for process in processes:
        if process.poll() is None:
            process.kill()
        process.wait()


def wait_until_it_trains(folder: RunFolder, epochs: int = 2) -> None:
    """Wait until a run has saved some epochs."""
    wait_for(lambda: len(folder.read_metrics()) >= epochs, f"{epochs} epochs in {folder.path}", 180)
