"""A job on several devices: one process per device, started by torch's launcher.

A sweep handles all of them as one process.

heron starts its ranks through `torch.distributed.run` because Lightning's own launcher runs the
command line again, and in a sweep's worker the command line is not that of the job.

The launcher ends all processes when one ends badly. Each process writes to a scratch folder how it
ended, and the job reports the earliest error that is not a lost connection to another process. All
of them end when their parent ends: it holds a lock, and they exit when they can have it.
"""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
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
from heron.training.stored import to_yaml

JOB = "HERON_RANKS_JOB"  # an environment variable, because any user can read a command line
ALIVE, PRINTED = "alive.lock", "launcher.txt"  # in the scratch folder
_SECONDS = 5.0  # to wait for a run's lock when its processes have ended
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
        self._alive = self._open.enter_context(ExitStack())
        self._alive.enter_context(locked(self._scratch / ALIVE))
        self._asked_to_end = False
        self._is_closed = False
        devices = job.config.trainer.devices
        environment = {
            **os.environ,
            JOB: describe(job, self._scratch),
            "OMP_NUM_THREADS": str(threads(n_jobs * devices)),
        }
        command = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
        command += ["--local-addr=127.0.0.1", f"--nproc-per-node={devices}"]
        command += ["-m", "heron.sweeps.rank"]
        self._sentinel, theirs = os.pipe()
        self._open.callback(os.close, self._sentinel)
        with open(self._scratch / PRINTED, "wb") as printed:
            self._launcher = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=printed,
                stderr=subprocess.STDOUT,
                env=environment,
                pass_fds=[theirs],  # closed when the launcher ends; `sentinel` can then be read
                start_new_session=True,  # this process alone decides what Ctrl+C does
            )
        os.close(theirs)

    @property
    def pid(self) -> int:
        """The launcher's process id."""
        return self._launcher.pid

    @property
    def sentinel(self) -> int:
        """A file descriptor that can be read when the launcher has ended."""
        return self._sentinel

    @property
    def exit_code(self) -> int | None:
        """None while the job works."""
        code = self._launcher.poll()
        if code is None:
            return None
        if code == 0:
            return DONE
        if self._was_interrupted():
            return INTERRUPTED
        return BUSY if any(each["code"] == BUSY for each in self._read_ends()) else FAILED

    def receive(self) -> None:
        """Do nothing: unlike a `JobProcess`, these processes send nothing back."""

    def interrupt(self) -> None:
        """Ask the job to end; a training saves a checkpoint first."""
        self._asked_to_end = True
        super().interrupt()

    def end(self, seconds: float) -> None:
        """Wait for the launcher to end, kill it after `seconds`, and close."""
        try:
            self._launcher.wait(max(0.0, seconds))
        except subprocess.TimeoutExpired:
            self._launcher.kill()
        self.close()

    def close(self) -> None:
        """End all processes; write a failure to `status.json` if the job could not."""
        if self._is_closed:
            return
        self._is_closed = True
        self._launcher.wait()
        bad = self.exit_code not in (DONE, BUSY)
        cause = self._cause() if bad else {}
        self._alive.close()  # processes that are still there end now
        if bad:
            self._write_cause(cause)
        self._open.close()

    def _read_ends(self) -> list[dict[str, Any]]:
        """Read how the processes have ended, the earliest first."""
        try:
            found = [read_json(path) for path in self._scratch.glob("rank=*.json")]
        except OSError:
            return []
        return sorted(found, key=lambda end: float(end["time"]))

    def _launcher_output(self) -> str:
        """Read what the launcher has printed."""
        return (self._scratch / PRINTED).read_text("utf-8", errors="replace")

    def _was_interrupted(self) -> bool:
        """Tell whether the job, its launcher or one of its processes was asked to end."""
        if self._asked_to_end or "got signal: 15" in self._launcher_output():  # as torch says it
            return True
        # When one process fails, the launcher sends SIGTERM to the others: the first end decides.
        own = [
            each for each in self._read_ends() if not is_lost_connection(each["failure"]["error"])
        ]
        return bool(own) and own[0]["code"] == INTERRUPTED and not self._kill_codes()

    def _kill_codes(self) -> list[int]:
        """List the (negative) exit codes of processes that a signal but SIGTERM ended."""
        codes = self._exit_codes()
        return [code for code in codes if code < 0 and code != -signal.SIGTERM]

    def _exit_codes(self) -> list[int]:
        """List the exit codes that the launcher has printed, and its own."""
        codes = [
            int(code) for code in re.findall(r"exitcode\s*:\s*(-?\d+)", self._launcher_output())
        ]
        return [*codes, self._launcher.returncode]

    def _write_cause(self, cause: dict[str, Any]) -> None:
        folder, until = self.job.folder, time.monotonic() + _SECONDS
        while True:
            try:
                with locked(folder.lock, wait=False):
                    if folder.state() not in ("done", "pruned"):
                        try_update(folder, **cause)
                    return
            except BlockingIOError:  # the first process may still hold it
                if time.monotonic() > until:
                    return
                time.sleep(0.05)

    def _cause(self) -> dict[str, Any]:
        """Describe for `status.json` what ended the job."""
        ends = self._read_ends()
        first: dict[str, Any] = ends[0]["failure"] if ends else {}
        if self._was_interrupted():
            by_sigterm = "Terminated: by SIGTERM"
            return {**first, "state": "interrupted", "error": by_sigterm, "retry": True}
        if first and not is_lost_connection(first["error"]):
            return first
        kills = self._kill_codes()
        if first and not kills:
            return first
        how = killed((kills or self._exit_codes())[0])
        return {
            "state": "failed",
            "retry": True,
            "error": f"{how} (one of {self.job.config.trainer.devices} processes)",
            "traceback": self._launcher_output().splitlines()[-20:],
        }


def is_lost_connection(error: str) -> bool:
    """Tell from an error's text whether it may only say that another process has ended."""
    return bool(_LOST.search(error))


def describe(job: Run, scratch: Path) -> str:
    """Write down a job for the processes that run it, as JSON; see `heron.sweeps.rank.read_job`."""
    return json.dumps(
        {
            "config": to_yaml(job.config),
            "folder": str(job.folder.path.absolute()),
            "overrides": job.overrides,
            "scratch": str(scratch),
        }
    )
