"""The sweep folder as ledger: what the same command does with every state that it finds."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from heron.base.errors import is_machine_error
from heron.base.files import locked
from heron.base.run_folder import RunFolder
from heron.sweeps.launch import run_planned
from heron.training import run as run_
from heron.training.run import (
    FAILED,
    Clock,
    Run,
    failure,
    keep_heartbeat,
)
from heron.training.stored import read_stored
from small_sweeps import (
    alive,
    jobs_of,
    meanwhile,
    scores,
    states,
    statuses,
    sweep,
    trainings,
    wait_until,
    words_of,
    working,
)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """Three jobs in this process, one after the other."""
    folder = tmp_path_factory.mktemp("undisturbed")
    assert sweep(folder, "run.isolate=false", n=3) == 0
    return folder


def command(folder: Path, *overrides: str) -> subprocess.Popen[str]:
    """Start a sweep of three jobs as a user does."""
    words = [sys.executable, "-m", "heron", *words_of(folder, *overrides, n=3)]
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


@pytest.mark.slow
@pytest.mark.real  # a minute of whole commands: `make test-real` has the time
class TestRealProcesses:
    def test_jobs_end_with_a_killed_parent_and_the_next_command_goes_on(
        self, undisturbed, tmp_path
    ):
        with command(tmp_path, "hydra.launcher.n_jobs=2") as parent:
            pids = wait_until(lambda: working(tmp_path))
            parent.send_signal(signal.SIGKILL)
        wait_until(lambda: not any(map(alive, pids)), seconds=10)
        assert "running" in states(tmp_path)
        assert sweep(tmp_path, n=3) == 0
        assert scores(tmp_path) == scores(undisturbed)

    def test_two_commands_share_the_jobs_and_both_see_all_done(self, undisturbed, tmp_path):
        with command(tmp_path) as other:
            wait_until(lambda: working(tmp_path))
            assert sweep(tmp_path, n=3) == 0
            printed = other.communicate(timeout=60)[0]
        assert other.returncode == 0, printed
        assert "[3/3]" in printed
        assert scores(tmp_path) == scores(undisturbed)
        assert [trainings(job) for job in jobs_of(tmp_path)] == [1, 1, 1]

    def test_ctrl_c_interrupts_the_job_and_the_same_command_goes_on(
        self, undisturbed, tmp_path, capsys
    ):
        before = signal.signal(signal.SIGINT, signal.default_int_handler)

        def press() -> None:
            wait_until(lambda: working(tmp_path))
            os.kill(os.getpid(), signal.SIGINT)

        try:
            with meanwhile(press):
                assert sweep(tmp_path, n=3) == 130
        finally:
            signal.signal(signal.SIGINT, before)
        assert "the same command resumes" in capsys.readouterr().err
        assert sorted(states(tmp_path)) == ["interrupted", "pending", "pending"]
        assert not working(tmp_path)
        assert sweep(tmp_path, n=3) == 0
        assert scores(tmp_path) == scores(undisturbed)


class TestSameCommandAgain:
    """In one process, with a training that does as it is told."""

    @pytest.fixture
    def ran(self, monkeypatch):
        """Collect the seeds that are trained; `self.fail` holds what they raise."""
        seeds: list[int] = []
        self.fail: dict[int, BaseException] = {}

        def train(config: Any, folder: RunFolder, overrides: Any) -> dict[str, dict[str, float]]:
            seeds.append(config.seed)
            if config.seed in self.fail:
                raise self.fail[config.seed]
            folder.scores.write_text("{}")
            return {}

        monkeypatch.setattr("heron.training.job._train_and_score", train)
        return seeds

    def again(self, folder: Path, ran: list[int], *overrides: str) -> tuple[int, list[int]]:
        ran.clear()
        return sweep(folder, "run.isolate=false", *overrides, n=3), sorted(ran)

    def test_own_failures_wait_for_retry_and_the_machine_s_do_not(self, tmp_path, ran, capsys):
        self.fail = {0: ValueError("a bug"), 1: OSError(28, "No space left on device")}
        assert self.again(tmp_path, ran) == (2, [0, 1, 2])
        self.fail = {}
        assert self.again(tmp_path, ran) == (2, [1]), "a bug is not tried again unasked"
        errors = capsys.readouterr().err
        assert "ValueError: a bug" in errors
        assert "run.retry=failed" in errors
        assert self.again(tmp_path, ran, "run.retry=failed") == (0, [0])
        assert states(tmp_path) == ["done"] * 3

    def test_a_single_job_that_failed_is_tried_again_unasked(self, tmp_path, ran):
        self.fail = {0: ValueError("a bug")}
        assert sweep(tmp_path, "run.isolate=false", n=1) == 2
        (folder,) = jobs_of(tmp_path)
        self.fail = {}
        job = Run(read_stored(folder.config), folder, [])
        assert run_planned([job], [], lambda path: None) == 0
        assert ran == [0, 0]

    def test_changed_configuration_is_refused_with_the_difference(self, tmp_path, ran, capsys):
        assert self.again(tmp_path, ran, "run.job=a${seed}") == (0, [0, 1, 2])
        code, trained = self.again(tmp_path, ran, "run.job=a${seed}", "optim.lr=0.5")
        assert (code, trained) == (2, [])
        assert "optim.lr was 0.001, now 0.5" in capsys.readouterr().err
        assert states(tmp_path) == ["done"] * 3

    def test_start_over_trains_everything_again(self, tmp_path, ran):
        self.again(tmp_path, ran)
        assert self.again(tmp_path, ran, "run.resume=false") == (0, [0, 1, 2])

    @pytest.mark.parametrize(("place", "ends"), [(0, True), (1, False)])
    def test_job_of_another_process_is_waited_for_and_run_here_if_given_up(
        self, tmp_path, ran, monkeypatch, place, ends
    ):
        monkeypatch.setattr("heron.sweeps.sweep._LOOK", 0.01)
        self.again(tmp_path, ran)
        held = jobs_of(tmp_path)[place]
        held.update_status(state="running")

        def work() -> None:
            with locked(held.lock):
                time.sleep(0.3)
                if ends:
                    held.update_status(state="done")

        with meanwhile(work):
            time.sleep(0.05)
            assert self.again(tmp_path, ran) == (0, [] if ends else [1])


class TestHeartbeat:
    def test_is_written_from_a_thread_with_process_machine_and_seconds(self, tmp_path, monkeypatch):
        monkeypatch.setattr(run_, "BEAT", 0.01)
        folder = RunFolder(tmp_path)
        with keep_heartbeat(folder, Clock(spent=7.0)):
            wait_until(lambda: folder.status.is_file())
        folder.update_status(state="done")
        status = folder.read_status()
        assert status["heartbeat"]["pid"] == os.getpid()
        assert status["seconds"] >= 7.0
        time.sleep(0.05)
        assert folder.read_status() == status, "nothing beats after the end"

    def test_a_clock_that_is_set_back_makes_no_negative_seconds(self, tmp_path, monkeypatch):
        times = iter(range(10**9, 0, -(10**6)))
        monkeypatch.setattr("time.time", lambda: float(next(times)))
        assert sweep(tmp_path, "run.isolate=false", n=1) == 0
        (status,) = statuses(tmp_path)
        assert status["seconds"] >= 0

    def test_another_machine_is_believed_for_a_minute_whatever_its_clock(
        self, tmp_path, monkeypatch
    ):
        monkeypatch.setattr("time.time", lambda: 1000.0)
        folder = RunFolder(tmp_path)

        def seen(time: float, host: str = "elsewhere", state: str = "running") -> bool:
            folder.update_status(state=state, heartbeat={"time": time, "host": host})
            return folder.is_busy()

        assert seen(1000.0 - 59)
        assert seen(1000.0 + 59)
        assert not seen(1000.0 - 61)
        assert not seen(1000.0 + 61)
        assert not seen(1000.0, state="done")
        folder.update_status(state="running", heartbeat=None)
        assert not folder.is_busy()
        monkeypatch.setattr("socket.gethostname", lambda: "here")
        assert not seen(1000.0, host="here")

    def test_a_library_that_ends_the_process_leaves_a_failed_job(self, tmp_path, monkeypatch):
        def die(job: Run, *_: Any) -> int:  # as libgomp does, by exit(1)
            job.folder.update_status(state="running")
            return FAILED

        monkeypatch.setattr(Run, "attempt", die)
        assert sweep(tmp_path, "run.isolate=false", n=2) == 2
        ends = [(status["state"], status["retry"]) for status in statuses(tmp_path)]
        assert ends == [("failed", True)] * 2

    def test_full_disk_does_not_hide_what_went_wrong(self, tmp_path, capsys, monkeypatch):
        def full(*_: object, **__: object) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(RunFolder, "update_status", full)
        RunFolder(tmp_path).try_update(state="failed")
        assert "No space left" in capsys.readouterr().err


class TestFailure:
    @pytest.mark.parametrize(
        ("error", "machine"),
        [
            (OSError(27, "File too large"), True),
            (MemoryError(), True),
            (RuntimeError("DefaultCPUAllocator: can't allocate memory"), True),
            (RuntimeError("[enforce fail] PytorchStreamWriter failed writing file"), True),
            (RuntimeError("shapes do not match"), False),
            (ValueError("nan"), False),
        ],
    )
    def test_tells_the_machine_s_from_the_job_s(self, error, machine):
        assert is_machine_error(error) is machine
        assert failure(error, 0.0)["retry"] is machine

    def test_sees_through_an_error_that_hides_another(self):
        hidden = RuntimeError("could not save")
        hidden.__cause__ = OSError(28, "No space left on device")
        assert is_machine_error(hidden)

    def test_interruption_is_no_failure(self):
        assert failure(KeyboardInterrupt(), 0.0)["state"] == "interrupted"
