"""A job on several devices: one process ("rank") per device. A sweep handles them as one process.

Lightning's own launcher is not used: it runs the command line again, and in a sweep the command
line is not that of the job.

When one process ends badly, the others are ended. Each sends how it has failed, and the job reports
the earliest error that is not a lost connection to another process.
"""

import os
import re
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

from heron.base import ranks
from heron.base.errors import ConfigError
from heron.base.files import locked
from heron.base.ranks import count_cores, uses_gpu
from heron.base.run_folder import SETTLED
from heron.base.secrets import redacted
from heron.base.signals import INTERRUPTED, Terminated, end_with_parent
from heron.sweeps.isolation import JobProcess, killed, train_beside
from heron.tasks.config import Config
from heron.training.run import (
    BUSY,
    DONE,
    FAILED,
    BusyError,
    Clock,
    Run,
    count_ranks,
    ending_state,
    failure,
    job_exit_code,
)

_SECONDS_TO_END = 30.0  # seconds that the other ranks have to end where one has ended badly
# Errors about a lost connection to another process: mostly a consequence of the failure.
_LOST = re.compile("gloo/transport|nccl|TCPStore|DistNetworkError", re.IGNORECASE)


def start_job(job: Run, n_jobs: int = 1) -> JobProcess:
    """Start a job of a sweep in a process of its own, or in several.

    Args:
        job: its folder was prepared by the command; the job's own process locks it again.
        n_jobs: how many run side by side.
    """
    if count_ranks(job.config) == 1:
        return JobProcess(job, n_jobs)
    return RanksProcess(job, n_jobs)


def check_devices(config: Config) -> None:
    """Raise a ConfigError where a run needs more devices than this machine has.

    On a CPU, a device is a core; a machine with a single core allows two, to try it.

    Args:
        config: of the run.
    """
    wanted = count_ranks(config)
    if wanted == 1:
        return
    import torch  # start-up time

    on_gpu = uses_gpu(config.trainer.accelerator)
    present = torch.cuda.device_count() if on_gpu else max(count_cores(), 2)
    if wanted > present:
        unit = "GPUs" if on_gpu else "cores"
        raise ConfigError(f"trainer.devices={wanted}: this machine has {present} {unit}")


class RanksProcess(JobProcess):
    """A job in `trainer.devices` processes; the processes of `n_jobs` jobs share the cores."""

    def __init__(self, job: Run, n_jobs: int = 1):
        self._follow_log(job)
        devices = job.config.trainer.devices
        self._scratch = tempfile.TemporaryDirectory(prefix="heron-")
        self._ranks = []
        for rank in range(devices):
            run = partial(_run_rank, rank, devices, self._scratch.name)
            self._ranks.append(JobProcess(job, n_jobs * devices, run))
        self._asked_to_end = self._is_closed = False
        # Of all ranks, when the first bad one was seen; empty until then.
        self._codes_at_failure: list[int | None] = []
        self._until = 0.0

    @property
    def pid(self) -> int:
        """The process id of rank 0."""
        return self._ranks[0].pid

    @property
    def sentinel(self) -> int:
        """The handle to wait for: the first working process's."""
        working = (process for process in self._ranks if process.exit_code is None)
        return next(working, self._ranks[0]).sentinel

    @property
    def exit_code(self) -> int | None:
        """None while the job works; where one process has ended badly, the others are ended."""
        codes = [process.exit_code for process in self._ranks]
        if not self._codes_at_failure and any(codes):
            self._codes_at_failure = codes
            self._until = time.monotonic() + _SECONDS_TO_END
            self._each(JobProcess.interrupt)
        elif self._codes_at_failure and time.monotonic() > self._until:
            self._each(JobProcess.end)
        if None in codes:
            return None

        self.receive()
        if not any(codes):
            return DONE
        if self._was_interrupted():
            return INTERRUPTED
        return BUSY if BUSY in self._codes_at_failure else FAILED

    def receive(self) -> None:
        """Keep what the processes have sent."""
        self._each(JobProcess.receive)

    def interrupt(self) -> None:
        """Ask the job to end; a training saves a checkpoint first."""
        self._asked_to_end = True
        self._each(JobProcess.interrupt)

    def end(self, seconds: float = 0.0) -> None:
        """Wait for the job's end, kill it after `seconds`, and close."""
        until = time.monotonic() + seconds
        while self.exit_code is None and time.monotonic() < until:
            time.sleep(0.05)
        self._each(JobProcess.end)
        self.close()

    def close(self) -> None:
        """End all processes; write a failure to `status.json` if the job could not."""
        if self._is_closed:
            return
        self._is_closed = True
        self._each(JobProcess.close)
        if self.exit_code not in (DONE, BUSY):
            with suppress(BlockingIOError), locked(self.job.folder.lock, wait=False):
                if self.job.folder.state() not in SETTLED:
                    self.job.folder.try_update(**self._cause())
        self._scratch.cleanup()

    def _each(self, action: Callable[[JobProcess], None]) -> None:
        for process in self._ranks:
            action(process)

    def _failures(self) -> list[dict[str, Any]]:
        """List how the processes that ended by themselves have failed.

        The earliest comes first; lost connections to other processes come last.
        """
        failures = []
        for process, code in zip(self._ranks, self._codes_at_failure, strict=False):
            if code and process.failure:
                failures.append(process.failure)
        return sorted(failures, key=lambda end: (is_lost_connection(end["error"]), end["time"]))

    def _kills(self) -> list[int]:
        """List the (negative) exit codes of ranks that a signal ended: not heron's own SIGTERM."""
        codes = [code or 0 for code in self._codes_at_failure]
        return [code for code in codes if code < 0 and code != -signal.SIGTERM]

    def _was_interrupted(self) -> bool:
        """Tell whether the job or one of its processes was asked to end."""
        if self._asked_to_end:
            return True
        if self._kills():
            return False
        failures = self._failures()
        began_with_interruption = bool(failures) and failures[0]["state"] != "failed"
        return began_with_interruption or -signal.SIGTERM in self._codes_at_failure

    def _cause(self) -> dict[str, Any]:
        """Describe for `status.json` what ended the job.

        Returns:
            Keys of `status.json`.
        """
        cause = {}
        failures = self._failures()
        if failures:
            cause = {key: value for key, value in failures[0].items() if key != "time"}
        if self._was_interrupted():
            state = ending_state(Terminated())
            by_sigterm = "Terminated: by SIGTERM"
            return {**cause, "state": state, "error": by_sigterm, "retry": True}

        kills = self._kills()
        if cause and not kills:
            return cause
        bad = kills or [code for code in self._codes_at_failure if code]
        error = f"{killed(bad[0])} (one of {len(self._ranks)} processes)"
        return {"state": "failed", "retry": True, "error": error, "traceback": None}


def _run_rank(
    rank: int, devices: int, scratch: str, job: Run, processes: int
) -> tuple[int, dict[str, Any] | None]:
    """Join the process group of a job's ranks and train in it; called in the rank's process.

    Args:
        rank: number of the process.
        devices: how many there are.
        scratch: a folder in which they meet.
        job: that they train.
        processes: how many share the cores, those of other jobs included.

    Returns:
        The exit code, and how it failed.
    """
    os.environ.update(RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(devices))
    clock = Clock()
    end_with_parent(scratch)

    if rank:  # the first process prints for all, and writes `.hydra`
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        if job.whole is not None:
            job.whole.hydra.output_subdir = None

    try:
        print(f"heron train: {job.folder.path}", flush=True)
        ranks.join(job.config.trainer.accelerator, f"file://{scratch}/ranks")
        train_beside(job, processes)
        ranks.leave()
    except (Exception, KeyboardInterrupt) as error:
        if is_lost_connection(str(error)):
            print(f"heron train: process {rank} lost the others", file=sys.stderr)
        elif isinstance(error, Exception) and not isinstance(error, BusyError):
            job.print_error(error)
        report = {**failure(error, clock.seconds()), "time": time.time()}
        return job_exit_code(error), redacted(report)
    return DONE, None


def is_lost_connection(error: str) -> bool:
    """Tell from an error's text whether it may only say that another process has ended."""
    return bool(_LOST.search(error))
