"""A process of its own for every job of a sweep, at the price of a fork.

A server process imports torch, transformers, Lightning and heron once and touches no device; each
job is forked from it. A kill, a leak or a setting of one job does not reach another. A job prints
to its `log.txt`, from which the parent shows it.
"""

import dataclasses
import io
import multiprocessing
import os
import pickle
import signal
import sys
import types
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from multiprocessing import connection, forkserver, resource_tracker
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, cast

from heron.base import terminal
from heron.base.files import known_hashes, remember_hashes
from heron.base.folders import VARIABLE, experiment_roots, load_forks
from heron.base.ranks import threads
from heron.base.secrets import redact
from heron.base.signals import end_with_parent, hold_sigterm, let_sigterm_through, raise_at_sigterm
from heron.sweeps import READ
from heron.training.run import Clock, Run

_context = multiprocessing.get_context("forkserver")
# Runs a job in its own process, beside `processes - 1` others: its exit code, and how it failed.
RunAlone = Callable[[Run, int], tuple[int, dict[str, Any] | None]]


def start_server(preload: Sequence[str] = (), job: Run | None = None) -> None:
    """Start the server, which begins to import `preload` and more; returns at once.

    Then it reads the data of `job`, if its folder is claimed by that time, for all that it forks.

    Args:
        preload: modules that it imports besides heron's.
        job: whose data it reads; None: no data.
    """
    _context.set_forkserver_preload([*preload, "heron.sweeps.preload"])
    with hold_sigterm():
        resource_tracker.ensure_running()  # starting it later would unblock SIGTERM

    os.environ[READ] = str(job.folder.config) if job else ""
    # SIGTERM to a whole process group must not end the server: only it learns how jobs end.
    with _without_main(), hold_sigterm():
        forkserver.ensure_running()
    del os.environ[READ]


class JobProcess:
    """A job in a process of its own; `n_jobs` run side by side and share the cores.

    `clock` counts from the fork, so that the server's start counts for no job.

    Args:
        job: claimed by the command.
        n_jobs: how many run side by side.
        run: does the work in the process; None trains.
    """

    def __init__(self, job: Run, n_jobs: int = 1, run: RunAlone | None = None):
        self._follow_log(job)
        self.failure: dict[str, Any] | None = None  # the job's own report, if it sent one
        self._replies, theirs = _context.Pipe(duplex=False)

        where = os.getcwd(), os.environ.get(VARIABLE, "")
        known = known_hashes(), terminal.said()
        self._process = _context.Process(
            target=_work,
            args=(pickle.dumps(job.composed()), n_jobs, where, known, theirs, run or _run),
            name=job.folder.path.name,
        )

        with _without_main():
            self._process.start()  # waits until the server has imported what it needs
        self.clock = Clock()
        theirs.close()

    def _follow_log(self, job: Run) -> None:
        self.job = job
        self.clock = Clock()
        self._offset = 0
        if job.folder.log.is_file():
            self._offset = job.folder.log.stat().st_size

    @property
    def sentinel(self) -> int:
        """What `multiprocessing.connection.wait` waits for."""
        return self._process.sentinel

    @property
    def pid(self) -> int:
        """The process id."""
        assert self._process.pid is not None
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        """None while the job works; negative: the signal that killed it."""
        return self._process.exitcode

    def lines(self) -> list[str]:
        """Read what the job has printed since the last call: whole lines, all when it has ended."""
        ended = self.exit_code is not None
        try:
            with open(self.job.folder.log, "rb") as file:
                file.seek(self._offset)
                text = file.read()
        except FileNotFoundError:
            return []
        if not ended:
            text = text[: text.rfind(b"\n") + 1]
        self._offset += len(text)
        return text.decode("utf-8", errors="replace").splitlines()

    def receive(self) -> None:
        """Keep the file hashes and warnings that the job has sent, for the jobs after it.

        To be called before the job has ended: the job waits while the pipe is full.
        """
        if self._replies.closed or not self._replies.poll():
            return
        try:
            hashes, warnings, self.failure = self._replies.recv()
        except (EOFError, OSError):  # the job was killed
            self._replies.close()
            return
        remember_hashes(hashes)
        terminal.said(warnings)

    def close(self) -> None:
        """Release what an ended job has held open."""
        self._process.join()
        self.receive()
        self._replies.close()

    def interrupt(self) -> None:
        """Ask the job to end; a training saves first."""
        if self.exit_code is None:
            os.kill(self.pid, signal.SIGTERM)

    def end(self, seconds: float = 0.0) -> None:
        """Wait for the job's end; kill it after `seconds`."""
        self._process.join(max(0.0, seconds))
        if self.exit_code is None:
            self._process.kill()
            self._process.join()


def wait_for_any(processes: list[JobProcess], seconds: float) -> None:
    """Wait until one of the jobs ends, at most `seconds`, and keep what they have sent.

    Args:
        processes: of the jobs.
        seconds: at most.
    """
    connection.wait([process.sentinel for process in processes], seconds)
    for process in processes:
        process.receive()


def killed(code: int) -> str:
    """Describe an exit code, for the `error` of a killed process; a negative one is a signal's."""
    if code >= 0:
        return f"Killed: exit code {code}"
    memory = ", perhaps because memory ran out" if -code == signal.SIGKILL else ""
    return f"Killed: by {signal.Signals(-code).name}{memory}"


@contextmanager
def _without_main() -> Iterator[None]:
    """Keep a new process from importing the main program again, as it otherwise would.

    That takes time, and a script that trains when it is imported would start itself again.
    """
    main = sys.modules["__main__"]
    sys.modules["__main__"] = types.ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


def _work(
    pickled: bytes,
    n_jobs: int,
    where: tuple[str, str],
    known: tuple[dict[Any, str], set[str]],
    replies: Connection,
    run: RunAlone,
) -> None:
    """Run one job; in its own process.

    Args:
        pickled: the job.
        n_jobs: how many jobs run side by side.
        where: the command's working folder and its `HERON_FORKS`.
        known: the file hashes and the warnings of the jobs before it.
        replies: gets the further ones, and the failure that `run` returns.
        run: does the work.
    """
    # Ctrl+C in a terminal reaches a whole process group: the parent alone decides.
    os.setsid()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    raise_at_sigterm()

    folder, forks = where
    os.chdir(folder)
    os.environ[VARIABLE] = forks  # the command may have named them after the server's start
    job = _unpickled(pickled)
    print_to(job.folder.log)
    hashes, warnings = known
    remember_hashes(hashes)
    terminal.said(warnings)

    code, failure = run(job, n_jobs)
    new = {version: digest for version, digest in known_hashes().items() if version not in hashes}
    replies.send((new, terminal.said(), failure))
    sys.exit(code)


def _unpickled(job: bytes) -> Run:
    """Read a job, whose configuration may have classes of forks that the server does not know."""
    try:
        return cast(Run, pickle.loads(job))
    except ModuleNotFoundError:
        load_forks(experiment_roots())
        return cast(Run, pickle.loads(job))


def _run(job: Run, processes: int) -> tuple[int, None]:
    end_with_parent()
    return job.attempt(lambda: train_beside(job, processes), is_alone=True), None


def train_beside(job: Run, processes: int) -> None:
    """Train in this process, one of several that share the cores.

    Args:
        job: claimed by the command.
        processes: how many share the cores.
    """
    import torch  # start-up time: the parent, which imports this module, does without

    from heron.training.job import train

    if processes > 1:
        torch.set_num_threads(threads(processes))
    # The parent has cleared the folder where asked to.
    config = dataclasses.replace(job.config, run=dataclasses.replace(job.config.run, resume=True))
    let_sigterm_through()  # the server holds it back
    train(dataclasses.replace(job, config=config))


def print_to(log: Path) -> None:
    """Append everything that this process prints, C libraries included, to a file.

    Args:
        log: is made where it is missing.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    # In somebody else's run folder, a link could lead to any file.
    target = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW, 0o644)
    os.dup2(target, 1)
    os.dup2(target, 2)
    os.close(target)
    for number, name in ((1, "stdout"), (2, "stderr")):
        # The streams that the server inherited may be a notebook's or a test's.
        setattr(sys, name, Redacting(number))


class Redacting(io.TextIOWrapper):
    """Masks secrets in what is written to a file descriptor, which stays open, line by line."""

    def __init__(self, number: int):
        raw = os.fdopen(number, "wb", closefd=False)
        super().__init__(raw, encoding="utf-8", line_buffering=True)

    def write(self, text: str) -> int:
        """Write `text` with its secrets masked."""
        return super().write(redact(text))
