"""What becomes of a training when a real SLURM preempts, ends, loses or cancels its job."""

from __future__ import annotations

import shlex
import signal
import subprocess
from pathlib import Path

import pytest

from cluster.conftest import HERON, wait_until_it_trains
from cluster.slurm import wait_for
from heron.base.run_folder import RunFolder
from stopping import assert_same_run

pytestmark = [pytest.mark.real, pytest.mark.slow]

SUBMITIT = (
    "-m",
    "hydra/launcher=submitit_slurm",
    "hydra.launcher.partition=low",
    "hydra.launcher.cpus_per_task=1",
)
END = 300  # seconds until a command has ended
# Lasts longer than the time limits of the tests, on any machine.
LONG = ("trainer.max_epochs=60", "callbacks.pace.seconds=1.5")


def ended(slurm, job: str) -> bool:
    """Tell whether a job will not run again; not while the controller gives no answer."""
    return slurm.state(job) in ("COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL")


def restarts(slurm, job: str) -> int:
    """Count how often SLURM has run a job again."""
    return int(slurm.job(job).get("Restarts", 0))


def kill(job: RunFolder, slurm) -> None:
    """Kill the process of a run, as the kernel does where memory runs out."""
    pid = job.read_status()["heartbeat"]["pid"]
    slurm.command("kill", f"-{signal.SIGKILL.value}", str(pid))


class TestSubmitit:
    """`heron train -m hydra/launcher=submitit_slurm`, which waits on the login node."""

    @pytest.fixture
    def waiting(self, slurm, command, in_background, tmp_path):
        """Start a sweep of two seeds on the cluster; it waits for the jobs."""

        def start(*more: str) -> subprocess.Popen[str]:
            words = command(*SUBMITIT, "run.job=seed-${seed}", *(more or ("seed=0,1",)))
            return in_background(words, tmp_path / "printed", env=slurm.environment)

        return start

    @pytest.fixture
    def jobs(self, tmp_path):
        return [RunFolder(tmp_path / "runs" / "sweep" / f"seed-{seed}") for seed in (0, 1)]

    def test_preempted_jobs_come_back_and_end_as_undisturbed(
        self, slurm, waiting, jobs, undisturbed, tmp_path
    ):
        process = waiting()
        for job in jobs:
            wait_until_it_trains(job)
        slurm.preempt()
        wait_for(lambda: all(job.state() == "requeued" for job in jobs), "requeued jobs", 60)
        shown = slurm.command(HERON, "sweep", str(jobs[0].path.parent))
        assert "requeued" in shown
        assert "failed" not in shown

        assert process.wait(END) == 0
        printed = (tmp_path / "printed").read_text("utf-8")
        for seed, job in enumerate(jobs):
            assert_same_run(job, undisturbed(f"seed={seed}"))
        assert "2 done" in printed
        assert "Traceback" not in printed
        assert printed.count("sacct") <= 1

    def test_a_job_at_its_time_limit_comes_back_and_ends_as_undisturbed(
        self, slurm, waiting, jobs, undisturbed
    ):
        process = waiting(
            "seed=0",
            "hydra.launcher.timeout_min=2",
            "hydra.launcher.signal_delay_s=60",
            "hydra.launcher.max_num_timeout=20",
            *LONG,
        )
        assert process.wait(2 * END) == 0
        assert_same_run(jobs[0], undisturbed(*LONG))

    def test_a_cancelled_job_is_interrupted_and_the_command_ends(
        self, slurm, waiting, jobs, tmp_path
    ):
        process = waiting()
        for job in jobs:
            wait_until_it_trains(job)
        for number in slurm.running():
            slurm.command("scancel", number)
        assert process.wait(END) != 0
        assert [job.state() for job in jobs] == ["interrupted", "interrupted"]
        assert "Traceback" not in (tmp_path / "printed").read_text("utf-8")

    def test_jobs_of_a_lost_node_come_back_and_end_as_undisturbed(
        self, slurm, waiting, jobs, undisturbed
    ):
        process = waiting()
        for job in jobs:
            wait_until_it_trains(job)
        slurm.kill_node("node1")
        slurm.start_node("node1")
        assert process.wait(END) == 0
        for seed, job in enumerate(jobs):
            assert_same_run(job, undisturbed(f"seed={seed}"))

    def test_a_killed_job_fails_and_the_same_command_resumes_it(
        self, slurm, waiting, jobs, undisturbed
    ):
        process = waiting("seed=0")
        wait_until_it_trains(jobs[0])
        kill(jobs[0], slurm)
        assert process.wait(END) != 0
        assert jobs[0].state() == "failed"
        assert waiting("seed=0").wait(END) == 0
        assert_same_run(jobs[0], undisturbed("seed=0"))


class TestBatch:
    """A batch script with `srun heron train`, or with `exec`, so that signals reach heron."""

    @pytest.fixture
    def job(self, tmp_path):
        return RunFolder(tmp_path / "runs" / "sweep" / "job")

    @pytest.fixture
    def submitted(self, slurm, command, tmp_path):
        def submit(*more: str, options: tuple[str, ...] = (), before: str = "exec") -> str:
            words = shlex.join([before, *command("run.job=job", *more)])
            text = f"#!/bin/bash\n{words}\n"
            options = ("-p", "low", "-c", "2", "--open-mode=append", *options)
            return slurm.submit(text, *options, folder=tmp_path)

        return submit

    @pytest.mark.parametrize("before", ["exec", "srun"])
    @pytest.mark.parametrize("devices", [1, 2])
    def test_a_preempted_job_comes_back_and_ends_as_undisturbed(
        self, before, devices, slurm, submitted, job, undisturbed
    ):
        number = submitted(f"trainer.devices={devices}", before=before)
        wait_until_it_trains(job)
        slurm.preempt()
        wait_for(lambda: job.state() == "requeued", "requeued job", 60)
        wait_for(lambda: ended(slurm, number), "end of the job", END)
        assert slurm.state(number) == "COMPLETED"
        assert restarts(slurm, number) == 1
        assert_same_run(job, undisturbed(f"trainer.devices={devices}"))

    @pytest.mark.parametrize(
        ("before", "sent"),
        [
            ("exec", "B:TERM@60"),
            ("srun", "TERM@60"),
            ("srun", "USR1@60"),
        ],
    )
    def test_a_job_near_its_time_limit_comes_back_and_ends_as_undisturbed(
        self, before, sent, slurm, submitted, job, undisturbed
    ):
        options = ("--time=2", f"--signal={sent}")
        number = submitted(*LONG, options=options, before=before)
        wait_for(lambda: ended(slurm, number), "end of the job", 2 * END)
        assert slurm.state(number) == "COMPLETED"
        assert restarts(slurm, number) >= 1
        assert_same_run(job, undisturbed(*LONG))

    def test_a_sweep_in_one_job_comes_back_and_ends_as_undisturbed(
        self, slurm, submitted, tmp_path, undisturbed
    ):
        number = submitted("-m", "seed=0,1", "run.job=seed-${seed}")
        jobs = [RunFolder(tmp_path / "runs" / "sweep" / f"seed-{seed}") for seed in (0, 1)]
        wait_until_it_trains(jobs[1])
        slurm.preempt()
        wait_for(lambda: ended(slurm, number), "end of the job", END)
        assert slurm.state(number) == "COMPLETED"
        for seed, job in enumerate(jobs):
            assert_same_run(job, undisturbed(f"seed={seed}"))

    def test_a_cancelled_job_does_not_come_back_and_resumes_when_submitted_again(
        self, slurm, submitted, job, undisturbed
    ):
        number = submitted(before="srun")
        wait_until_it_trains(job)
        slurm.command("scancel", number)
        wait_for(lambda: ended(slurm, number), "end of the job", 60)
        assert (slurm.state(number), job.state()) == ("CANCELLED", "interrupted")

        number = submitted(before="srun")
        wait_for(lambda: ended(slurm, number), "end of the job", END)
        assert_same_run(job, undisturbed())

    def test_a_killed_process_fails_the_job_and_resumes_when_submitted_again(
        self, slurm, submitted, job, undisturbed
    ):
        number = submitted()
        wait_until_it_trains(job)
        kill(job, slurm)
        wait_for(lambda: ended(slurm, number), "end of the job", 60)
        assert (slurm.state(number), job.state()) == ("FAILED", "failed")

        number = submitted()
        wait_for(lambda: ended(slurm, number), "end of the job", END)
        assert_same_run(job, undisturbed())

    def test_a_job_whose_time_is_over_saves_and_resumes_when_submitted_again(
        self, slurm, submitted, job, undisturbed
    ):
        number = submitted(*LONG, options=("--time=1",), before="srun")
        wait_for(lambda: ended(slurm, number), "end of the job", END)
        assert (slurm.state(number), job.state()) == ("TIMEOUT", "interrupted")

        number = submitted(*LONG, before="srun")
        wait_for(lambda: ended(slurm, number), "end of the job", END)
        assert_same_run(job, undisturbed(*LONG))

    def test_the_job_of_a_lost_node_comes_back_and_ends_as_undisturbed(
        self, slurm, submitted, job, undisturbed
    ):
        number = submitted(before="srun")
        wait_until_it_trains(job)
        slurm.kill_node("node1")
        slurm.start_node("node1")
        wait_for(lambda: ended(slurm, number), "end of the job", END)
        assert (slurm.state(number), restarts(slurm, number)) == ("COMPLETED", 1)
        assert_same_run(job, undisturbed())

    def test_a_step_without_a_batch_job_saves_and_resumes_when_called_again(
        self, slurm, command, job, undisturbed, in_background, tmp_path
    ):
        words = ["srun", "-p", "low", "-c", "2", *command("run.job=job")]
        process = in_background(words, tmp_path / "printed", env=slurm.environment)
        wait_until_it_trains(job)
        slurm.preempt()
        assert process.wait(END) != 0
        assert job.state() == "interrupted"

        subprocess.run(words, env=slurm.environment, check=True, timeout=END)
        assert_same_run(job, undisturbed())


def test_no_command_on_a_login_node_advises_srun(slurm, command, tmp_path):
    printed = slurm.command(*command("trainer.max_epochs=1"), "run.job=job")
    assert "srun" not in printed
    assert Path(tmp_path / "runs" / "sweep" / "job" / "scores.json").is_file()
