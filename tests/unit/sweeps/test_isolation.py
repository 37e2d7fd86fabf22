"""Jobs in processes of their own: what they compute, print, and leave behind when killed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from heron.base import files, terminal
from heron.base.files import read_json
from heron.base.run_folder import RunFolder
from heron.sweeps import isolation
from heron.sweeps.isolation import start_server
from heron.training.compose import compose
from small_sweeps import (
    jobs_of,
    kill_one,
    meanwhile,
    scores,
    states,
    statuses,
    sweep,
    trainings,
    words_of,
)

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """Two jobs in this process, one after the other."""
    folder = tmp_path_factory.mktemp("undisturbed")
    assert sweep(folder, "run.isolate=false") == 0
    return folder


@pytest.mark.real  # seconds; the next tests have jobs of their own, too
def test_jobs_have_processes_of_their_own_and_the_same_scores(undisturbed, tmp_path, capsys):
    assert sweep(tmp_path) == 0
    assert scores(tmp_path) == scores(undisturbed)
    pids = {status["heartbeat"]["pid"] for status in statuses(tmp_path)}
    assert len(pids) == 2
    assert os.getpid() not in pids
    printed = capsys.readouterr().out
    for job in jobs_of(tmp_path):
        written = job.log.read_text("utf-8").splitlines()
        assert any(line.startswith("epoch 2/2") for line in written)
        assert all(line in printed for line in written)
    assert "2 done, 0 failed, 0 left" in printed


@pytest.mark.real  # seconds, with the sweep that it is compared with
def test_jobs_side_by_side_name_their_lines_and_score_the_same(undisturbed, tmp_path, capsys):
    assert sweep(tmp_path, "hydra.launcher.n_jobs=2") == 0
    assert scores(tmp_path) == scores(undisturbed)
    printed = capsys.readouterr().out.splitlines()
    for job in jobs_of(tmp_path):
        epochs = [line for line in printed if line.startswith(f"[{job.path.name}] epoch")]
        assert [line.split()[2] for line in epochs] == ["1/2", "2/2"]


@pytest.mark.real
def test_killed_job_is_marked_the_others_go_on_and_the_same_command_completes_it(
    undisturbed, tmp_path, capsys
):
    seen: list[list[str]] = []
    with meanwhile(lambda: (kill_one(tmp_path), seen.append(states(tmp_path)))):
        assert sweep(tmp_path) == 2
    assert sorted(seen[0]) == ["pending", "running"]  # every job, before the second trains
    (killed_job,) = [job for job in jobs_of(tmp_path) if job.state() == "failed"]
    assert read_json(killed_job.status)["error"].startswith("Killed: by SIGKILL")
    assert sorted(states(tmp_path)) == ["done", "failed"]
    assert "1 of 2 jobs failed" in capsys.readouterr().err
    assert sweep(tmp_path) == 0
    assert scores(tmp_path) == scores(undisturbed)
    (other,) = [job for job in jobs_of(tmp_path) if job.path.name != killed_job.path.name]
    assert trainings(other) == 1


def test_server_touches_no_device_and_has_no_thread_that_a_fork_would_lose():
    from multiprocessing import forkserver

    start_server()
    pid = forkserver._forkserver._forkserver_pid
    names = [
        Path(f"/proc/{pid}/task/{n}/comm").read_text() for n in os.listdir(f"/proc/{pid}/task")
    ]
    # Arrow's allocator starts its own thread again in a forked process.
    assert len([name for name in names if not name.startswith("jemalloc")]) == 1
    opened = [os.path.realpath(f"/proc/{pid}/fd/{n}") for n in os.listdir(f"/proc/{pid}/fd")]
    assert not [path for path in opened if path.startswith(("/dev/nvidia", "/dev/dri"))]


def test_the_server_s_start_is_no_job_s_time(tmp_path, monkeypatch, capsys):
    """Time left is told by what the jobs took: seconds too many once are minutes in a grid."""
    process, waited = type(isolation._context.Process()), 2.0
    start = process.start

    def start_late(self: Any) -> None:
        time.sleep(waited)
        start(self)

    monkeypatch.setattr(process, "start", start_late)
    began = time.monotonic()
    assert sweep(tmp_path, "baseline=majority", n=1) == 0
    took = time.monotonic() - began
    (told,) = re.findall(r"done in ([\d.]+) s", capsys.readouterr().out)
    assert float(told) <= took - waited + 0.1


def test_a_job_may_learn_more_than_a_pipe_holds(tmp_path, monkeypatch):
    many = {f"{number} {'warning ' * 20}" for number in range(2000)}
    monkeypatch.setattr(terminal, "said", lambda elsewhere=(): many)
    assert sweep(tmp_path, n=1) == 0


def test_a_job_learns_what_the_jobs_before_it_have_hashed(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "_hashes", {})
    assert sweep(tmp_path, n=1) == 0
    assert any(version[0].endswith("train.jsonl") for version in files.known_hashes())


def test_no_secret_reaches_the_ledger_the_log_or_the_terminal(tmp_path, capfd):
    token = "hf_" + "a1B2" * 8
    # A file of vectors that is not there is named by the job's own message.
    words = ("baseline=cbow_softmax", f"baseline.vectors={tmp_path}/{token}.vec")
    assert sweep(tmp_path, "data=chronicle_nli", "task=nli", *words, n=1) == 2
    (job,) = jobs_of(tmp_path)
    assert "***.vec" in job.log.read_text("utf-8")
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert not [path for path in written if token.encode() in path.read_bytes()]
    assert token not in "".join(capfd.readouterr())


def test_planning_a_sweep_needs_no_torch():
    code = (
        "import sys, heron.commands.train, heron.commands.sweep\n"
        "assert not {'torch', 'sklearn'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.real
def test_the_server_reads_the_data_that_heads_on_stored_vectors_share(tmp_path, monkeypatch):
    code = (
        "import heron.sweeps.preload; from heron.data import datamodule\n"
        "print(*(split for each in datamodule._last.values() for split in each.examples))"
    )
    config = compose(words_of(tmp_path, "encoder.freeze=all")[1:-3])
    (folder := RunFolder(tmp_path / "job")).write_config(config)
    monkeypatch.setenv(isolation.READ, str(folder.config))
    said = subprocess.run([sys.executable, "-c", code], check=True, text=True, capture_output=True)
    assert said.stdout.split() == ["train", "validation", "test"]
    assert not said.stderr
