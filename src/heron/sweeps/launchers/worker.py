"""One worker of a sweep, which takes jobs from its folder until none is left; picklable."""

import os
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from heron.base.folders import named_forks, set_named_forks
from heron.base.signals import TERMINATED, Terminated, terminable
from heron.sweeps.isolation import Redacting, start_server
from heron.sweeps.ledger import Queue
from heron.sweeps.sweep import Sweep

OVER = ".over"  # suffix of the empty file that a worker writes when it ends


@dataclass(frozen=True)
class Worker:
    """Called with its number, in a process that some library has started."""

    queue: Queue  # the jobs; planned by the command, which has their folders' states written
    # isolate, n_jobs: as in `run`.
    isolate: bool
    n_jobs: int
    of: int  # how many workers there are
    folder: str  # the command's working folder, to which paths are relative
    # Holds `worker-<number>.log`, which it prints to; once there is a file `stop`, its jobs are
    # interrupted and it ends.
    place: Path
    alone: bool = False  # no command waits for the workers
    forks: str = field(default_factory=named_forks)  # the command's `HERON_FORKS`

    @property
    def stop(self) -> Path:
        """The file that ends all workers."""
        return self.place / "stop"

    def __call__(self, number: int) -> int:
        """Work; returns how many jobs this worker has ended."""
        os.chdir(self.folder)
        set_named_forks(self.forks)
        # Each job is one task, whatever the cluster has given the worker. With this name, Lightning
        # does not ask SLURM for the number of processes.
        os.environ["SLURM_JOB_NAME"] = "bash"
        with _printing_to(self.place / f"worker-{number}.log"):
            print(f"worker {number}: process {os.getpid()} on {socket.gethostname()}", flush=True)
            if self.isolate:
                _start_server(self.queue.preload)
            sweep = Sweep(self.queue, self.isolate, self.n_jobs, stopped=self.stop.exists)
            try:
                with terminable():  # the libraries' own handlers kill the jobs, or ignore it
                    sweep.take_part(number, self.of)
            except KeyboardInterrupt as error:
                print("interrupted; the same command goes on from here", flush=True)
                if isinstance(error, Terminated):  # perhaps to be started again
                    raise SystemExit(TERMINATED) from error
            except Exception:
                self._leave(number)
                raise
            self._leave(number)  # not after `SystemExit`: a preempted worker is started again
            return sum(not each.kept for each in sweep.outcomes)

    def _leave(self, number: int) -> None:
        """Mark this worker as over; the last one may remove what was pickled for all."""
        (self.place / f"worker-{number}{OVER}").touch()
        if self.alone:  # otherwise the command reads the pickles for how workers ended
            remove_pickles(self.place, self.of)

    def checkpoint(self, number: int) -> Any:
        """Return what submitit starts after a preemption: this worker again."""
        from submitit.helpers import DelayedSubmission  # start-up time

        return DelayedSubmission(self, number)


def remove_pickles(place: Path, workers: int) -> None:
    """Remove what was pickled for workers, which may hold secrets, once all of them are over."""
    if len(list(place.glob(f"*{OVER}"))) >= workers:
        for path in place.glob("*.pkl"):
            path.unlink(missing_ok=True)


def _start_server(preload: tuple[str, ...]) -> None:
    """Start the jobs' server so that it ignores SIGUSR2, by which SLURM announces the time limit.

    The worker handles the signal and interrupts its jobs; in the jobs it would kill them.
    """
    if threading.current_thread() is not threading.main_thread():
        start_server(preload)
        return
    handler = signal.signal(signal.SIGUSR2, signal.SIG_IGN)
    try:
        start_server(preload)
    finally:
        signal.signal(signal.SIGUSR2, handler)


@contextmanager
def _printing_to(path: Path) -> Iterator[None]:
    """Append what Python prints to a file, secrets masked."""
    target = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        with Redacting(target) as file, redirect_stdout(file), redirect_stderr(file):
            yield
    finally:
        os.close(target)
