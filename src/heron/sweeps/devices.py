"""A job on several devices: one process ("rank") per device. A sweep handles all as one process.

Lightning's own launcher is not used: it runs the command line again, and in a sweep the command
line is not that of the job.

When one process ends badly, the others are ended. Each writes to a scratch folder how it ended, and
the job reports the earliest error that is not a lost connection to another process. All of them end
when their parent ends: it holds a lock, and they exit when they can have it.
"""

import os
import pickle
import re
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from heron.base.errors import ConfigError
from heron.base.files import locked, read_json
from heron.base.ranks import count_cores, threads
from heron.base.signals import INTERRUPTED
from heron.sweeps.isolation import JobProcess
from heron.sweeps.ledger import killed
from heron.tasks.config import Config
from heron.training.run import BUSY, DONE, FAILED, Run, count_ranks
from heron.training.status import try_update

# In the scratch folder, which only its owner can read, unlike a command line.
JOB, ALIVE, PRINTED = "job.pickle", "alive.lock", "printed.txt"
_GRACE = 30.0  # seconds that the others have to end where one has ended badly
# Errors about a lost connection to another process: mostly a consequence of the failure.
_LOST = re.compile("gloo/transport|nccl|TCPStore|DistNetworkError", re.IGNORECASE)


def start_job(job: Run, n_jobs: int = 1) -> JobProcess:
    """Start a job of a sweep in a process of its own, or in several."""
    return (JobProcess if count_ranks(job.config) == 1 else RanksProcess)(job, n_jobs)


def check_start(config: Config, isolate: bool) -> None:
    """Make sure that this command can start what a run needs.

    Raises:
        ConfigError: the run needs several processes although `run.isolate` is false, or more
            devices than this machine has.
    """
    if count_ranks(config) == 1:
        return
    if not isolate:
        raise ConfigError(
            f"trainer.devices={config.trainer.devices} needs processes of its own: "
            "set run.isolate=null"
        )
    _check_devices(config)


def _check_devices(config: Config) -> None:
    """Refuse more devices than this machine has."""
    import torch  # start-up time

    wanted = config.trainer.devices
    on_cpu = config.trainer.accelerator == "cpu" or not torch.cuda.is_available()
    present = count_cores() if on_cpu else torch.cuda.device_count()
    if wanted <= present or (on_cpu and config.run.oversubscribe):
        return
    what = "processor core" if on_cpu else "GPU"
    forced = ", or run.oversubscribe=true to have processes share cores" if on_cpu else ""
    raise ConfigError(
        f"trainer.devices={wanted}: this machine has {present} {what}{'s' * (present != 1)}; set "
        f"trainer.devices to at most {present}{forced}"
    )


class RanksProcess(JobProcess):
    """A job in `trainer.devices` processes; the processes of `n_jobs` jobs share the cores."""

    def __init__(self, job: Run, n_jobs: int = 1):
        self._follow_log(job)
        self._open = ExitStack()
        scratch = self._open.enter_context(tempfile.TemporaryDirectory(prefix="heron-"))
        self._scratch = Path(scratch)
        self._open.enter_context(locked(self._scratch / ALIVE))
        (self._scratch / JOB).write_bytes(pickle.dumps(replace(job, whole=None)))
        self._asked_to_end = self._is_closed = False
        self._first: list[int | None] = []  # exit codes where one was bad, before the rest is ended
        self._until = 0.0
        devices = job.config.trainer.devices
        environment = {
            **os.environ,
            "WORLD_SIZE": str(devices),
            "OMP_NUM_THREADS": str(threads(n_jobs * devices)),
        }
        self._sentinel, theirs = os.pipe()
        self._open.callback(os.close, self._sentinel)
        with open(self._scratch / PRINTED, "wb") as printed:
            self._ranks = [
                subprocess.Popen(
                    [sys.executable, "-m", "heron.sweeps.rank", scratch],
                    stdin=subprocess.DEVNULL,
                    stdout=printed,
                    stderr=subprocess.STDOUT,
                    env={**environment, "RANK": str(rank), "LOCAL_RANK": str(rank)},
                    pass_fds=[theirs],  # closed when all have ended; `sentinel` can then be read
                    start_new_session=True,  # this process alone decides what Ctrl+C does
                )
                for rank in range(devices)
            ]
        os.close(theirs)

    @property
    def pid(self) -> int:
        """The process id of rank 0."""
        return self._ranks[0].pid

    @property
    def sentinel(self) -> int:
        """A file descriptor that can be read when all processes have ended."""
        return self._sentinel

    @property
    def exit_code(self) -> int | None:
        """None while the job works; where one process has ended badly, the others are ended."""
        codes = [each.poll() for each in self._ranks]
        if not self._first and any(codes):
            self._first, self._until = codes, time.monotonic() + _GRACE
            self._send(signal.SIGTERM)
        elif self._first and time.monotonic() > self._until:
            self._send(signal.SIGKILL)
        if None in codes:
            return None
        if not any(codes):
            return DONE
        if self._was_interrupted():
            return INTERRUPTED
        return BUSY if BUSY in self._first else FAILED

    def receive(self) -> None:
        """Do nothing: unlike a `JobProcess`, these processes send nothing back."""

    def interrupt(self) -> None:
        """Ask the job to end; a training saves a checkpoint first."""
        self._asked_to_end = True
        self._send(signal.SIGTERM)

    def end(self, seconds: float) -> None:
        """Wait for the job's end, kill it after `seconds`, and close."""
        until = time.monotonic() + seconds
        while self.exit_code is None and time.monotonic() < until:
            time.sleep(0.05)
        self._send(signal.SIGKILL)
        self.close()

    def close(self) -> None:
        """End all processes; write a failure to `status.json` if the job could not."""
        if self._is_closed:
            return
        self._is_closed = True
        for each in self._ranks:
            each.wait()
        if self.exit_code not in (DONE, BUSY):
            with suppress(BlockingIOError), locked(self.job.folder.lock, wait=False):
                if self.job.folder.state() not in ("done", "pruned"):
                    try_update(self.job.folder, **self._cause())
        self._open.close()

    def _send(self, sent: signal.Signals) -> None:
        for each in self._ranks:
            each.send_signal(sent)  # nothing is sent to one that has ended

    def _read_ends(self) -> list[dict[str, Any]]:
        """Read how the processes that have ended by themselves did so, the earliest first."""
        paths = [self._scratch / f"rank={n}.json" for n, code in enumerate(self._first) if code]
        found = [read_json(path) for path in paths if path.is_file()]
        return sorted(found, key=lambda end: float(end["time"]))

    def _own_ends(self) -> list[dict[str, Any]]:
        """List those ends that are no consequence of another one's."""
        return [end for end in self._read_ends() if not is_lost_connection(end["failure"]["error"])]

    def _kills(self) -> list[int]:
        """List the (negative) exit codes of processes that somebody else has killed."""
        return [code for code in self._first if code and code < 0 and code != -signal.SIGTERM]

    def _was_interrupted(self) -> bool:
        """Tell whether the job or one of its processes was asked to end."""
        if self._asked_to_end or self._kills():
            return self._asked_to_end
        own = self._own_ends()
        return -signal.SIGTERM in self._first or (bool(own) and own[0]["code"] == INTERRUPTED)

    def _cause(self) -> dict[str, Any]:
        """Describe for `status.json` what ended the job."""
        ends, kills = [*self._own_ends(), *self._read_ends()], self._kills()
        first: dict[str, Any] = ends[0]["failure"] if ends else {}
        if self._was_interrupted():
            by_sigterm = "Terminated: by SIGTERM"
            return {**first, "state": "interrupted", "error": by_sigterm, "retry": True}
        if first and not kills:
            return first
        how = killed((kills or [code for code in self._first if code])[0])
        printed = (self._scratch / PRINTED).read_text("utf-8", errors="replace")
        return {
            "state": "failed",
            "retry": True,
            "error": f"{how} (one of {len(self._ranks)} processes)",
            "traceback": printed.splitlines()[-20:],
        }


def is_lost_connection(error: str) -> bool:
    """Tell from an error's text whether it may only say that another process has ended."""
    return bool(_LOST.search(error))
