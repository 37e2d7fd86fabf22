"""Sweeps under pressure, with real processes: nothing done is lost, the same command goes on."""

from __future__ import annotations

import os
import random
import resource
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import forkserver
from pathlib import Path

import pytest

from heron.sweeps.isolation import start_server
from small_sweeps import (
    jobs_of,
    kill_one,
    meanwhile,
    scores,
    states,
    statuses,
    sweep,
    wait_until,
    working,
)

pytestmark = pytest.mark.slow
JOBS = 6


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """The jobs in this process, one after the other."""
    folder = tmp_path_factory.mktemp("undisturbed")
    assert sweep(folder, "run.isolate=false", n=JOBS) == 0
    return folder


def expected(undisturbed: Path, folder: Path) -> dict[str, bytes]:
    """Read the undisturbed scores of the jobs in `folder`."""
    return {job.path.name: scores(undisturbed)[job.path.name] for job in jobs_of(folder)}


@contextmanager
def limited(kind: int, bytes_: int) -> Iterator[None]:
    """Limit what jobs may use: they inherit it from the server that they are forked from."""
    pid = wait_until(lambda: start_server() or forkserver._forkserver._forkserver_pid)
    before = resource.prlimit(pid, kind)
    resource.prlimit(pid, kind, (bytes_, before[1]))
    try:
        yield
    finally:
        resource.prlimit(pid, kind, before)


@pytest.mark.real  # takes too long for every change
def test_kills_at_random_change_nothing_once_the_command_has_completed_them(undisturbed, tmp_path):
    kills, over, generator = list[int](), threading.Event(), random.Random(0)

    def kill_at_random() -> None:
        while not over.wait(generator.uniform(0.05, 0.4)) and len(kills) < 5:
            for pid in working(tmp_path)[:1]:
                os.kill(pid, signal.SIGKILL)
                kills.append(pid)

    with meanwhile(kill_at_random):
        words = ("hydra.launcher.n_jobs=2", "trainer.checkpoint_steps=3")
        codes = [sweep(tmp_path, *words, n=JOBS)]
        while codes[-1] and len(codes) < 8:
            codes.append(
                sweep(tmp_path, "hydra.launcher.n_jobs=2", "trainer.checkpoint_steps=3", n=JOBS)
            )
        over.set()
    assert kills
    assert codes[-1] == 0
    assert list(scores(tmp_path).values()) == list(scores(undisturbed).values())


@pytest.mark.real  # takes too long for every change
def test_full_disk_while_a_checkpoint_is_written_fails_the_job_and_the_same_command_goes_on(
    undisturbed, tmp_path
):
    assert sweep(tmp_path, n=1) == 0  # its caches are written
    with limited(resource.RLIMIT_FSIZE, 60_000):
        assert sweep(tmp_path, n=2) == 2
    assert sorted(states(tmp_path)) == ["done", "failed"]
    (failed,) = [status for status in statuses(tmp_path) if status["state"] == "failed"]
    assert failed["retry"] is True
    assert sweep(tmp_path, n=2) == 0
    assert scores(tmp_path) == expected(undisturbed, tmp_path)


@pytest.mark.real
def test_job_out_of_address_space_fails_alone_and_the_same_command_goes_on(undisturbed, tmp_path):
    assert sweep(tmp_path, n=1) == 0
    pid = forkserver._forkserver._forkserver_pid
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[0])
    with limited(resource.RLIMIT_AS, pages * resource.getpagesize() + 4_000_000):
        assert sweep(tmp_path, n=2) == 2
    (failed,) = [status for status in statuses(tmp_path) if status["state"] == "failed"]
    assert failed["retry"] is True, failed["error"]
    assert sweep(tmp_path, n=2) == 0
    assert scores(tmp_path) == expected(undisturbed, tmp_path)


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param("cut short", marks=pytest.mark.real),
        pytest.param("empty", marks=pytest.mark.real),
        "one byte",
    ],
)
@pytest.mark.real  # takes seconds; another test of the file runs with every change
def test_corrupt_checkpoint_is_put_aside_and_the_job_starts_over(damage, undisturbed, tmp_path):
    with meanwhile(lambda: kill_after_a_checkpoint(tmp_path)):
        assert sweep(tmp_path, n=1) == 2
    (job,) = jobs_of(tmp_path)
    content = bytearray(job.last.read_bytes())
    middle = len(content) // 2
    content[middle] ^= 0xFF
    left = {"cut short": content[:middle], "empty": b"", "one byte": content}
    job.last.write_bytes(left[damage])
    assert sweep(tmp_path, n=1) == 0
    assert "starting over" in job.log.read_text("utf-8")
    assert "Traceback" not in job.log.read_text("utf-8")
    assert scores(tmp_path) == expected(undisturbed, tmp_path)


def kill_after_a_checkpoint(folder: Path) -> None:
    wait_until(lambda: [job for job in jobs_of(folder) if job.last.is_file()])
    kill_one(folder)
