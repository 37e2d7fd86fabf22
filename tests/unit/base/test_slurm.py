"""Which jobs of SLURM come back, with a `scontrol` that records what it is asked.

`tests/cluster` tries the same on a real SLURM.
"""

from __future__ import annotations

import os
import signal

import pytest

from heron.base import slurm
from heron.base.signals import Terminated, terminable

BATCH = {"JobState": "RUNNING", "BatchFlag": "1", "Requeue": "1", "Restarts": "0"}
SCRIPT = """\
#!/bin/sh
echo "$@" >> {folder}/asked
[ "$1" = show ] && echo "{fields}"
exit 0
"""


@pytest.fixture
def asked(tmp_path, monkeypatch):
    """Stand in for SLURM's controller; returns what it was asked to requeue."""

    def answer(**fields: str) -> list[str]:
        shown = " ".join(f"{name}={value}" for name, value in (BATCH | fields).items())
        program = tmp_path / "scontrol"
        program.write_text(SCRIPT.format(folder=tmp_path, fields=shown), encoding="utf-8")
        program.chmod(0o755)
        slurm.will_return.cache_clear()
        slurm.requeue()
        lines = (tmp_path / "asked").read_text(encoding="utf-8").splitlines()
        return [line for line in lines if line.startswith("requeue")]

    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.setenv("SLURM_JOB_ID", "12")
    monkeypatch.delenv("SLURM_RESTART_COUNT", raising=False)
    yield answer
    slurm.will_return.cache_clear()


def test_a_running_batch_job_is_requeued(asked):
    assert asked() == ["requeue 12"]


def test_a_task_of_an_array_is_named_by_both_numbers(asked, monkeypatch):
    monkeypatch.setenv("SLURM_ARRAY_JOB_ID", "12")  # the last task's own number, too
    monkeypatch.setenv("SLURM_ARRAY_TASK_ID", "3")
    assert asked() == ["requeue 12_3"]


@pytest.mark.parametrize(
    "fields",
    [{"JobState": "COMPLETING"}, {"BatchFlag": "0"}, {"Requeue": "0"}],
    ids=["cancelled", "srun alone", "--no-requeue"],
)
def test_a_job_that_cannot_come_back_is_not_requeued(fields, asked):
    assert asked(**fields) == []
    assert not slurm.will_return()


def test_a_job_that_slurm_has_requeued_itself_is_not_requeued_twice(asked, monkeypatch):
    monkeypatch.setenv("SLURM_RESTART_COUNT", "1")
    assert asked(JobState="COMPLETING", Restarts="2") == []
    assert slurm.will_return()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2])
def test_in_a_job_of_slurm_the_signals_before_the_time_limit_end_a_command(number, monkeypatch):
    monkeypatch.setenv("SLURM_JOB_ID", "12")
    with pytest.raises(Terminated) as ended, terminable():
        os.kill(os.getpid(), number)
    assert ended.value.signal == number
