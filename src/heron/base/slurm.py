"""A job of SLURM that is preempted, or near its time limit, is run again and goes on.

SLURM sends a signal first and kills the job later. A job that ends in between counts as finished
and would never come back, so it asks to be requeued when its state is saved, as Lightning's
`SLURMEnvironment` and submitit do.
"""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from heron.base.signals import TERMINATED, Terminated, terminable

_PATIENCE = 60.0  # seconds for an answer of the controller


@cache
def will_return() -> bool:
    """Tell whether SLURM runs this process's batch job again, or can be asked to.

    It cannot where somebody has cancelled the job or its time is over, for what `srun` or `salloc`
    has allocated, and under `--no-requeue`.
    """
    job = _job()
    can_be_requeued = job.get("BatchFlag") == "1" and job.get("Requeue") == "1"
    return can_be_requeued and (job["JobState"] == "RUNNING" or _is_requeued(job))


def requeue() -> None:
    """Ask SLURM to run this process's job again, where it can."""
    if not will_return():
        return
    print(f"SLURM runs job {_number()} again, and it goes on from here", flush=True)
    if not _is_requeued(_job()):
        _scontrol("requeue", _number())  # SLURM ends this process soon after


@contextmanager
def submitit_returns() -> Iterator[None]:
    """Let a job of submitit save its state in the block before it is requeued.

    submitit itself ignores SIGTERM, and requeues at once before the time limit (SIGUSR2).
    """
    if os.environ.get("SUBMITIT_EXECUTOR") != "slurm":
        yield
        return

    try:
        with terminable():
            yield
    except Terminated as ending:
        handler = signal.getsignal(ending.signal)
        if ending.signal != signal.SIGTERM and callable(handler):
            handler(ending.signal, None)  # counts the time limits, requeues, and exits
        requeue()
        raise SystemExit(TERMINATED) from None


def _job() -> dict[str, str]:
    """Read what SLURM's controller knows of this process's job; empty outside SLURM."""
    fields = {}
    if "SLURM_JOB_ID" in os.environ:
        for field in _scontrol("show", "job", _number()).split():
            name, _, value = field.partition("=")
            fields[name] = value
    return fields


def _number() -> str:
    """Number this process's job; a task of an array by both numbers: one alone names the array."""
    array = os.environ.get("SLURM_ARRAY_JOB_ID")
    if array is None:
        return os.environ["SLURM_JOB_ID"]
    return f"{array}_{os.environ['SLURM_ARRAY_TASK_ID']}"


def _is_requeued(job: dict[str, str]) -> bool:
    """Tell whether SLURM has requeued the job since it began; it does so when a grace is over."""
    return int(job.get("Restarts", 0)) > int(os.environ.get("SLURM_RESTART_COUNT", 0))


def _scontrol(*words: str) -> str:
    """Run SLURM's `scontrol`; returns what it prints, nothing where it fails."""
    import subprocess  # start-up time: every command imports this module

    try:
        completed = subprocess.run(
            ["scontrol", *words], capture_output=True, text=True, timeout=_PATIENCE, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return completed.stdout
