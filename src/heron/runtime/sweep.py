"""The jobs of a sweep: planned, run, passed over and taken up again, by one or several commands.

The sweep's folder is the ledger. Every job has a `status.json` before anything trains; who works on
a job holds its lock; a job whose lock is free and that still says `running` was cut.
"""

from __future__ import annotations

import signal
import sys
import time
import traceback
from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import dataclass

from heron.errors import ConfigError, HeronError
from heron.files import locked, read_json
from heron.runtime.claim import BusyError, check_sources, claim, source_hashes
from heron.runtime.isolation import (
    BUSY,
    DONE,
    FAILED,
    INTERRUPTED,
    Job,
    JobProcess,
    start_server,
    wait_for_any,
)
from heron.runtime.launch import check_start, count_ranks, start_job
from heron.runtime.run_folder import RunFolder
from heron.runtime.states import Clock, is_elsewhere, note_failure, try_update
from heron.secrets import redact

_POLL = 0.1  # seconds between looks at what jobs print
_LOOK = 1.0  # seconds between looks at jobs that another command works on
_GRACE = 30.0  # seconds that a stopped job has to finish what it is writing


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a job ended, or that it was not run.

    Args:
        job: the job.
        state: `done` or `failed`.
        error: first line of what went wrong; empty when done.
        seconds: spent on it in this command.
        kept: nothing was run: the state is an earlier command's or another one's.
    """

    job: Job
    state: str
    error: str = ""
    seconds: float = 0.0
    kept: bool = False


class Sweep:
    """Runs jobs and keeps count.

    Args:
        jobs: all jobs of the command; their folders differ.
        isolate: each in a process of its own.
        n_jobs: how many side by side.
        retry: `cut`, or `failed` to try again whatever failed, too.
    """

    def __init__(self, jobs: Sequence[Job], isolate: bool, n_jobs: int = 1, retry: str = "cut"):
        if n_jobs > 1 and not isolate:
            raise ConfigError("run.n_jobs above 1 needs processes: set run.isolate=true or null")
        for job in jobs:
            check_start(job.config, isolate)
        self.jobs, self.isolate, self.n_jobs, self.retry = jobs, isolate, n_jobs, retry
        self.outcomes: list[Outcome] = []

    def run(self) -> list[Outcome]:
        """Run every job that is not done, those that another command works on included."""
        if self.isolate and any(count_ranks(job.config) == 1 for job in self.jobs):
            start_server()
        todo = [job for job in self.jobs if self._is_left(job)]
        self._say_what_is_kept()
        while todo:
            busy: list[Job] = []
            with closing(self._side_by_side(todo) if self.isolate else _here(todo)) as ended:
                for job, code, seconds in ended:
                    if code == BUSY or not self._record(job, code, seconds):
                        busy.append(job)
            todo = self._wait(busy)
        return self.outcomes

    def _is_left(self, job: Job) -> bool:
        """Claim a job's folder; tell whether the job has to be run, and record it if not."""
        job.folder.path.mkdir(parents=True, exist_ok=True)
        try:
            with locked(job.folder.lock, wait=False):
                claim(job.config, job.folder)
                status = read_json(job.folder.status) if job.folder.status.is_file() else {}
                if status.get("state") == "done":
                    _check_done(job)
                    return self._keep(job, "done")
                if status.get("state") == "failed" and not self._tries_again(status):
                    return self._keep(job, "failed", str(status.get("error")))
                if not status:
                    seed, words = job.config.seed, job.overrides
                    job.folder.update_status(state="pending", seed=seed, overrides=words)
        except BlockingIOError:
            pass  # another command works on it: looked at again when its turn comes
        except HeronError as error:
            print(f"heron train: {error}", file=sys.stderr, flush=True)
            return self._keep(job, "failed", str(error))
        return True

    def _tries_again(self, status: dict[str, object]) -> bool:
        # A run of before this was noted is tried again.
        return self.retry == "failed" or bool(status.get("retry", True))

    def _keep(self, job: Job, state: str, error: str = "") -> bool:
        self.outcomes.append(Outcome(job, state, _first_line(error), kept=True))
        return False

    def _say_what_is_kept(self) -> None:
        done = sum(each.state == "done" for each in self.outcomes)
        if done:
            print(
                f"heron train: {done} of {len(self.jobs)} jobs done already; "
                "run.resume=false starts over",
                flush=True,
            )

    def _side_by_side(self, todo: Sequence[Job]) -> Generator[tuple[Job, int, float], None, None]:
        """Yield jobs with their exit codes and seconds as they end."""
        waiting, working = list(todo), list[JobProcess]()
        try:
            while waiting or working:
                while waiting and len(working) < self.n_jobs:
                    job = waiting.pop(0)
                    if is_held(job.folder):
                        yield job, BUSY, 0.0
                    else:
                        working.append(start_job(job, self.n_jobs))
                wait_for_any(working, _POLL)
                for process in list(working):
                    code = process.exit_code  # before the last lines are read
                    self._show(process)
                    if code is not None:
                        working.remove(process)
                        process.close()
                        yield process.job, code, process.clock.seconds()
        finally:
            _stop(working)

    def _show(self, process: JobProcess) -> None:
        name = f"[{process.job.folder.path.name}] " if self.n_jobs > 1 else ""
        for line in process.lines():
            print(name + line, flush=True)

    def _record(self, job: Job, code: int, seconds: float) -> bool:
        """Note how a job ended; False if another command has taken it up in the meantime."""
        if code < 0 or code not in (DONE, FAILED, INTERRUPTED):
            try:
                with locked(job.folder.lock, wait=False):
                    _mark_killed(job, code)
            except BlockingIOError:
                return False
        status = read_json(job.folder.status)
        done = code == DONE
        error = "" if done else _first_line(str(status.get("error") or f"exit code {code}"))
        self.outcomes.append(Outcome(job, "done" if done else "failed", error, seconds))
        if self.isolate:
            print(self._line(self.outcomes[-1]), flush=True)
        return True

    def _line(self, last: Outcome) -> str:
        """Show one ended job and the total on one line."""
        states = [each.state for each in self.outcomes]
        left = len(self.jobs) - len(states)
        took = [each.seconds for each in self.outcomes if not each.kept]
        about = sum(took) / max(1, len(took)) * left / self.n_jobs
        how = "by another command" if last.kept else f"in {last.seconds:.1f} s"
        what = f"{last.state} {how}" + (f": {last.error}" if last.error else "")
        total = f"{states.count('done')} done, {states.count('failed')} failed, {left} left"
        time_left = f", about {duration(about)}" if left else ""
        name = last.job.folder.path.name
        return f"[{len(states)}/{len(self.jobs)}] {name}: {what} ({total}{time_left})"

    def _wait(self, busy: Sequence[Job]) -> list[Job]:
        """Wait for jobs of other commands; returns those that were left undone, to be run here."""
        if busy:
            print(f"heron train: waiting for {len(busy)} jobs of another command", flush=True)
        left, waiting = list[Job](), list(busy)
        while waiting and not left:
            time.sleep(_LOOK)
            for job in list(waiting):
                status = read_json(job.folder.status) if job.folder.status.is_file() else {}
                if is_held(job.folder) or is_elsewhere(status):
                    continue
                waiting.remove(job)
                if status.get("state") not in ("done", "failed"):
                    left.append(job)
                    continue
                self._keep(job, str(status["state"]), str(status.get("error") or ""))
                print(self._line(self.outcomes[-1]), flush=True)
        return left + waiting


def _here(todo: Sequence[Job]) -> Generator[tuple[Job, int, float], None, None]:
    """Run jobs in this process, one after the other."""
    for job in todo:
        started = time.monotonic()
        code = run_here(job, in_sweep=True)
        yield job, code, time.monotonic() - started


def run_here(job: Job, in_sweep: bool = False) -> int:
    """Run a job in this process; returns `DONE`, `FAILED` or, in a sweep, `BUSY`."""
    clock = Clock()
    done = job.config.run.resume and job.folder.state() == "done"
    note = ": done already; run.resume=false starts over" if done else ""
    print(f"heron train: {job.folder.path}{note}", flush=True)
    # Lightning and transformers take seconds to import; a typo in a key should not wait for them.
    from heron.runtime.job import run_job

    try:
        run_job(job.config, job.folder, job.overrides)
    except Exception as error:
        if in_sweep and isinstance(error, BusyError):
            return BUSY
        if not isinstance(error, HeronError | OSError):
            print(redact(traceback.format_exc()), file=sys.stderr, flush=True)
        print(redact(f"heron train: {error}"), file=sys.stderr, flush=True)
        if in_sweep:
            note_failure(job.folder, error, clock)
        return FAILED
    return DONE


def duration(seconds: float) -> str:
    """Show seconds as people say them: `40 s`, `12 min`, `3.5 h`."""
    if seconds < 90:
        return f"{max(0.0, seconds):.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 90 * 60 else f"{seconds / 3600:.1f} h"


def _check_done(job: Job) -> None:
    """Make sure that a finished job's data is still what it was, where it is still there."""
    try:
        sources = source_hashes(job.config)
    except HeronError:
        return
    check_sources(sources, job.folder)


def _mark_killed(job: Job, code: int) -> None:
    """Write down what a killed process could not."""
    reason = f"exit code {code}"
    if code < 0:
        name = signal.Signals(-code).name
        memory = ", perhaps because memory ran out" if -code == signal.SIGKILL else ""
        reason = f"by {name}{memory}"
    if job.folder.state() != "done":
        error = f"Killed: {reason}"
        try_update(job.folder, state="failed", error=error, traceback=None, retry=True)


def _stop(working: Sequence[JobProcess]) -> None:
    """Let jobs write down that they were interrupted; all at once, then wait for each."""
    until = time.monotonic() + _GRACE
    for process in working:
        process.interrupt()
    for process in working:
        process.end(until - time.monotonic())


def is_held(folder: RunFolder) -> bool:
    """Tell whether a process on this machine works on a run."""
    try:
        with locked(folder.lock, wait=False):
            return False
    except BlockingIOError:
        return True


def _first_line(text: str) -> str:
    return text.strip().partition("\n")[0]
