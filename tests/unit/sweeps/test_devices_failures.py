"""Processes of one job under pressure: none is left, the error is the right one, all goes on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import nullcontext
from pathlib import Path

import pytest

from heron.base.errors import ConfigError
from heron.base.files import read_json
from heron.base.run_folder import RunFolder
from heron.sweeps.devices import check_devices, is_lost_connection
from heron.sweeps.sweep import Sweep
from heron.training.run import Run
from small_runs import TINY, compose, in_folder
from small_sweeps import alive, wait_until
from stopping import assert_same_run
from two_processes import files, furthest, weights

# Eight epochs: not over before a signal comes.
WORDS = (
    "trainer.max_epochs=8",
    "trainer.enable_progress_bar=false",
    "trainer.checkpoint_steps=3",
    "run.isolate=null",
)
TWO = ("trainer.devices=2", *WORDS)


def train_in_two(folder: Path, *words: str) -> subprocess.Popen[str]:
    """Start `heron train` on two devices, as a user would."""
    command = [sys.executable, "-m", "heron", "train", *TINY, *in_folder(folder), "run.job=run"]
    return subprocess.Popen(
        [*command, *TWO, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def run_of(folder: Path) -> RunFolder:
    return RunFolder(folder / "runs" / "chronicle-relation" / "run")


def family(folder: Path) -> dict[str, int]:
    """Name the ids of the two processes of a run that trains."""
    run = run_of(folder)
    first = int(
        wait_until(lambda: run.last.is_file() and read_json(run.status))["heartbeat"]["pid"]
    )
    parent = int(Path(f"/proc/{first}/stat").read_text().rpartition(")")[2].split()[1])
    children = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
    (second,) = {int(pid) for pid in children} - {first}
    return {"first": first, "second": second}


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory):
    """A run in two processes, with dropout, that was never stopped."""
    folder = tmp_path_factory.mktemp("unbroken")
    process = train_in_two(folder)
    _, errors = process.communicate(timeout=170)
    assert process.returncode == 0, errors
    return run_of(folder)


def assert_goes_on(folder: Path, unbroken: RunFolder) -> None:
    """Give the same command again; its run equals the unbroken one, byte by byte."""
    process = train_in_two(folder)
    _, errors = process.communicate(timeout=170)
    assert process.returncode == 0, errors
    assert_same_run(run_of(folder), unbroken)


@pytest.mark.real
@pytest.mark.parametrize("victim", ["first", "second"])
def test_a_killed_process_ends_the_others_and_the_same_command_goes_on(victim, unbroken, tmp_path):
    process = train_in_two(tmp_path)
    processes = family(tmp_path)
    os.kill(processes[victim], signal.SIGKILL)
    process.communicate(timeout=60)
    assert process.returncode == 2
    wait_until(lambda: not any(map(alive, processes.values())), 10)
    status = read_json(run_of(tmp_path).status)
    assert (status["state"], status["retry"]) == ("failed", True)
    assert status["error"].startswith("Killed: by SIGKILL")
    assert_goes_on(tmp_path, unbroken)


@pytest.mark.real
def test_a_killed_command_leaves_no_process_and_goes_on(unbroken, tmp_path):
    process = train_in_two(tmp_path)
    processes = family(tmp_path)
    process.kill()
    wait_until(lambda: not any(map(alive, processes.values())), 10)
    process.communicate()
    assert_goes_on(tmp_path, unbroken)


@pytest.mark.real
@pytest.mark.parametrize("victim", ["first", "second", "command", "ctrl+c"])
def test_a_signal_to_any_process_interrupts_all_and_the_same_command_goes_on(
    victim, unbroken, tmp_path
):
    process = train_in_two(tmp_path)
    processes = family(tmp_path)
    sent = signal.SIGINT if victim == "ctrl+c" else signal.SIGTERM
    os.kill(processes.get(victim, process.pid), sent)
    process.communicate(timeout=60)
    assert process.returncode == 128 + sent
    wait_until(lambda: not any(map(alive, processes.values())), 10)
    status = read_json(run_of(tmp_path).status)
    assert (status["state"], status["retry"]) == ("interrupted", True)
    assert_goes_on(tmp_path, unbroken)


@pytest.mark.real
def test_a_run_begun_on_two_devices_goes_on_with_one(tmp_path):
    words = ("encoder.dropout=0", "head.dropout=0")
    runs = [run_of(tmp_path / name) for name in ("two", "one")]
    process = train_in_two(tmp_path / "two", *words)
    processes = family(tmp_path / "two")
    os.kill(processes["first"], signal.SIGTERM)
    process.communicate(timeout=60)
    assert process.returncode == 143
    for name in ("two", "one"):
        process = train_in_two(tmp_path / name, *words, "trainer.devices=1")
        _, errors = process.communicate(timeout=170)
        assert process.returncode == 0, errors
    status = read_json(runs[0].status)
    assert status["state"] == "done"
    assert furthest(weights(runs[0]), weights(runs[1])) < 1e-5
    assert set(files(runs[0])) - {"log.txt"} == set(files(runs[1]))


@pytest.mark.real
def test_an_error_in_any_process_is_the_jobs_error(tmp_path, monkeypatch):
    (tmp_path / "sitecustomize.py").write_text(
        "import os\n"
        "from heron.tasks.base import TaskModule\n"
        "usual = TaskModule.on_train_start\n"
        "def fail(module):\n"
        "    if os.environ.get('RANK') == '1':\n"
        "        raise ZeroDivisionError('only in the second process')\n"
        "    usual(module)\n"
        "TaskModule.on_train_start = fail\n"
    )
    paths = [str(tmp_path), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(paths))
    started = time.monotonic()
    process = train_in_two(tmp_path)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 2
    status = read_json(run_of(tmp_path).status)
    assert status["state"] == "failed"
    assert status["error"] == "ZeroDivisionError: only in the second process"
    assert "only in the second process" in errors
    assert time.monotonic() - started < 100


@pytest.mark.real
def test_jobs_of_a_sweep_have_their_devices_side_by_side(unbroken, tmp_path):
    jobs = []
    for seed in (0, 1):
        config = compose(tmp_path, *TWO, f"seed={seed}")
        folder = RunFolder(tmp_path / f"seed={seed}")
        folder.path.mkdir()
        jobs.append(Run(config, folder, []))
    outcomes = Sweep(n_jobs=2).run(jobs)
    assert [each.state for each in outcomes] == ["done", "done"]
    scores = [job.folder.scores.read_bytes() for job in jobs]
    assert scores[0] == unbroken.scores.read_bytes()
    assert scores[0] != scores[1]


@pytest.mark.parametrize(
    ("words", "gpus", "said"),
    [
        ("trainer.devices=2", 0, ""),
        ("trainer.devices=99", 0, "devices=99: this machine has 2 cores"),
        ("trainer.devices=99 baseline=majority", 0, ""),  # trains in one process
        ("trainer.devices=2", 1, "devices=2: this machine has 1 GPU"),
    ],
)
def test_more_devices_than_the_machine_has_are_refused(
    words, gpus, said, chronicle_config, monkeypatch
):
    monkeypatch.setattr("heron.sweeps.devices.count_cores", lambda: 2)
    monkeypatch.setattr("torch.cuda.is_available", lambda: bool(gpus))
    monkeypatch.setattr("torch.cuda.device_count", lambda: gpus)
    config = chronicle_config(*words.split(), "trainer.accelerator=auto")
    with pytest.raises(ConfigError, match=said) if said else nullcontext():
        check_devices(config)


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        ("RuntimeError: [third_party/gloo/gloo/transport/tcp/pair.cc:537] Read error", True),
        ("DistBackendError: NCCL communicator was aborted on rank 1", True),
        ("ConnectionError: connection refused by huggingface.co", False),
        ("HeronError: the loss is nan at step 3", False),
    ],
)
def test_what_a_lost_neighbour_causes_is_told_from_errors(error, expected):
    assert is_lost_connection(error) == expected
