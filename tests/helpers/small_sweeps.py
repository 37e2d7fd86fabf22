"""Sweeps of tiny jobs in processes of their own, and ways to disturb them."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from heron.base.files import read_json
from heron.base.run_folder import RunFolder
from small_runs import TINY, heron, in_folder


def words_of(folder: Path, *overrides: str, n: int = 2) -> list[str]:
    """Spell out a sweep over `n` seeds, isolated; `overrides` may say otherwise."""
    seeds = "seed=" + ",".join(map(str, range(n)))
    return [
        "train", *TINY, *in_folder(folder), "run.sweep=sweep", "run.export=false",
        "dynamics.enabled=false", "run.isolate=true", "-m", seeds, *overrides,
    ]  # fmt: skip


def sweep(folder: Path, *overrides: str, n: int = 2) -> int:
    """Run a sweep from this process, without its report; returns the exit code."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("heron.commands.train.report", lambda folder: None)
        return heron(*words_of(folder, *overrides, n=n))


def jobs_of(folder: Path) -> list[RunFolder]:
    """List the run folders of the sweep, in the order of their names."""
    return [RunFolder(path.parent) for path in sorted(folder.glob("runs/sweep/*/config.yaml"))]


def statuses(folder: Path) -> list[dict[str, Any]]:
    """Read every job's `status.json`."""
    return [read_json(job.status) for job in jobs_of(folder) if job.status.is_file()]


def states(folder: Path) -> list[str]:
    """Read every job's state."""
    return [status["state"] for status in statuses(folder)]


def scores(folder: Path) -> dict[str, bytes]:
    """Read every job's `scores.json`, by job."""
    return {job.path.name: job.scores.read_bytes() for job in jobs_of(folder)}


def trainings(job: RunFolder) -> int:
    """Count how often a job has trained its first epoch."""
    return job.log.read_text("utf-8").count("epoch 1/")


def wait_until(condition: Callable[[], Any], seconds: float = 300.0) -> Any:
    """Wait for something to become true; returns it."""
    until = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < until, "it did not happen"
        time.sleep(0.005)
    return found


def working(folder: Path) -> list[int]:
    """List the process ids of jobs that have begun to train."""
    return [
        read_json(job.status)["heartbeat"]["pid"]
        for job in jobs_of(folder)
        if job.state() == "running" and alive(read_json(job.status)["heartbeat"]["pid"])
    ]


def alive(pid: int) -> bool:
    """Tell whether a process is there and is more than the entry of a dead one."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


@contextmanager
def meanwhile(act: Callable[[], Any]) -> Iterator[None]:
    """Do something while the block runs; what fails there fails here."""
    errors: list[BaseException] = []

    def run() -> None:
        try:
            act()
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    yield
    thread.join(300)
    if errors:
        raise errors[0]


def kill_one(folder: Path) -> int:
    """Kill a job as soon as one trains; returns its process id."""
    pid = int(wait_until(lambda: working(folder))[0])
    os.kill(pid, signal.SIGKILL)
    return pid
