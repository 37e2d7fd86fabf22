"""The jobs of a sweep: planned, run, skipped and resumed, by one or several commands.

Every job has a `status.json` before anything trains. A process that works on a job holds its lock;
a job whose lock is free and that still says `running` was cut.
"""

import sys
import time
from collections import deque
from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from heron.base.errors import HeronError, first_line, visible
from heron.base.files import locked
from heron.base.run_folder import SETTLED
from heron.base.signals import INTERRUPTED
from heron.base.terminal import duration
from heron.metrics.names import signed
from heron.results.best import best_of, complexity
from heron.sweeps.devices import check_devices, start_job
from heron.sweeps.isolation import JobProcess, killed, start_server, wait_for_any
from heron.training.run import BUSY, DONE, BusyError, Run, count_ranks

_POLL = 0.1  # seconds between looks at what jobs print
_LOOK = 1.0  # seconds between looks at jobs that another command works on
_SECONDS_TO_END = 30.0  # seconds that stopped jobs have to finish what they are writing


@dataclass(frozen=True, slots=True)
class JobOutcome:
    """How a job ended, in this command or before."""

    job: Run  # the job
    # `done`, `pruned` (ended early by its search), `tried` (`trainer.fast_dev_run`), `failed`, or
    # `interrupted` (by somebody else than the command).
    state: str
    error: str = ""  # first line of what went wrong; empty when nothing did
    seconds: float = 0.0  # spent on it in this command
    score: float | None = None  # on validation, of a search's job that is done
    kept: bool = False  # nothing was run: the state was left by an earlier command or another one


class Sweep:
    """Runs the jobs of a command, `n_jobs` side by side, and counts how they end.

    Jobs have processes of their own unless `run.isolate` is false; several jobs at once, and a job
    on several devices, always have.

    Args:
        n_jobs: how many run at once.
        total: how many jobs a search is to have, which come in batches.
    """

    def __init__(self, n_jobs: int = 1, total: int = 0):
        self.n_jobs = n_jobs
        self.total = total
        self.preload: tuple[str, ...] = ()  # modules that the jobs' server imports besides its own
        self.isolate = True
        self._jobs: Sequence[Run] = ()  # jobs of the last batch
        self._ended: dict[Path, JobOutcome] = {}  # ended jobs of all batches
        self._waiting = deque[Run]()

    def run(self, jobs: Sequence[Run]) -> list[JobOutcome]:
        """Run every job that is not done, those that another command works on included.

        Args:
            jobs: one batch, at least one job.

        Returns:
            How each ended, in the order in which they were counted.
        """
        config = jobs[0].config
        has_ranks = any(count_ranks(job.config) > 1 for job in jobs)
        self.isolate = config.run.isolate is not False or self.n_jobs > 1 or has_ranks
        if self.isolate:
            # The server imports, and reads data, while jobs are planned. It only reads the data of
            # heads on a frozen encoder: reading takes as long as training one of them.
            several_heads = max(len(jobs), self.total) > 1 and config.encoder.freeze == "all"
            start_server(self.preload, jobs[0] if several_heads else None)

        self._waiting.extend(self.plan(jobs))
        while True:
            self.work()
            busy = self._open_jobs()
            if not busy:
                return self._own()
            _print_waiting(len(busy))
            free: list[Run] = []
            while busy and not free:
                time.sleep(_LOOK)
                busy, free = self._look()
            self._waiting.extend([*free, *busy])

    def plan(self, jobs: Sequence[Run]) -> list[Run]:
        """Claim the folders of all jobs; returns those to be run.

        A failed job is tried again unasked if it is the command's only one.

        Args:
            jobs: one batch.
        """
        for job in jobs:
            check_devices(job.config)
            self._ended.pop(job.folder.path, None)
        self._jobs = jobs
        retry = "failed" if max(len(jobs), self.total) == 1 else jobs[0].config.run.retry
        todo = [job for job in jobs if self._must_run(job, retry)]
        self._print_kept()
        return todo

    def work(self) -> None:
        """Run the jobs in the queue, except those that another command works on."""
        with closing(self._side_by_side() if self.isolate else self._here()) as ended:
            for job, code, seconds in ended:
                if code != BUSY:
                    self._record(job, code, seconds)

    def _open_jobs(self) -> list[Run]:
        """List the batch's jobs that have not ended."""
        return [job for job in self._jobs if job.folder.path not in self._ended]

    def _own(self) -> list[JobOutcome]:
        """List the outcomes of the batch's jobs that have ended."""
        paths = {job.folder.path for job in self._jobs}
        return [outcome for path, outcome in self._ended.items() if path in paths]

    def _of(self) -> int:
        """Count the command's jobs: of all batches so far, or all that a search is to have."""
        return max(self.total, len(self._ended) + len(self._open_jobs()))

    def _look(self) -> tuple[list[Run], list[Run]]:
        """Count jobs that other commands ended; returns those they work on, and the rest."""
        busy = []
        free = []
        for job in self._open_jobs():
            state = self._state(job)
            if state == "busy":
                busy.append(job)
            elif state == "free":
                free.append(job)
        return busy, free

    def _state(self, job: Run) -> str:
        """Tell whether others work on a job (`busy`), have `ended` it, or neither (`free`).

        One that they have ended is counted, as not run by this command.
        """
        if job.folder.is_busy():
            return "busy"
        status = job.folder.read_status()
        state = job.ended(status)
        if not state:
            return "free"
        self._add_kept(job, state, str(status.get("error") or ""))
        print(self._line(), flush=True)
        return "ended"

    def _must_run(self, job: Run, retry: str) -> bool:
        """Claim a job's folder; tell whether the job has to be run, and count it if not.

        Args:
            job: whose folder is made where it is missing.
            retry: value of `run.retry`.
        """
        job.folder.path.mkdir(parents=True, exist_ok=True)
        try:
            status = job.plan(retry)
        except BusyError:
            return True  # another command works on it: looked at again when its turn comes
        except HeronError as error:
            print(f"heron train: {error}", file=sys.stderr, flush=True)
            self._add_kept(job, "failed", str(error))
            return False
        if not status:
            return True
        state = str(status["state"])
        self._add_kept(job, state, str(status.get("error")) if state == "failed" else "")
        return False

    def _add_kept(self, job: Run, state: str, error: str) -> None:
        self._add(JobOutcome(job, state, first_line(error), kept=True))

    def _add(self, outcome: JobOutcome) -> None:
        if self.total and outcome.state == "done":
            outcome = replace(outcome, score=outcome.job.score())
        self._ended[outcome.job.folder.path] = outcome

    def _print_kept(self) -> None:
        states = [outcome.state for outcome in self._own()]
        done = states.count("done")
        pruned = states.count("pruned")
        if done or pruned:
            counts = f"{done} of {self._of()} jobs done already"
            if pruned:
                counts += f", {pruned} pruned"
            print(f"heron train: {counts}; run.resume=false starts over", flush=True)

    def _next(self) -> Run | None:
        """Take the next job that nobody works on and nobody has ended in the meantime."""
        while self._waiting:
            job = self._waiting.popleft()
            if self._state(job) == "free":
                return job
        return None

    def _side_by_side(self) -> Generator[tuple[Run, int, float], None, None]:
        """Yield jobs with their exit codes and seconds as they end.

        Yields:
            The job, its exit code and the seconds since its process was forked.
        """
        working: list[JobProcess] = []
        all_started = False
        try:
            while True:
                while not all_started and len(working) < self.n_jobs:
                    job = self._next()
                    if job is None:
                        all_started = True
                    else:
                        working.append(start_job(job, self.n_jobs))
                if not working:
                    return
                wait_for_any(working, _POLL)
                for process in list(working):
                    code = process.exit_code  # before the last lines are read
                    name = f"[{process.job.folder.path.name}] " if self.n_jobs > 1 else ""
                    for line in process.lines():
                        print(visible(name + line), flush=True)
                    if code is not None:
                        working.remove(process)
                        process.close()
                        yield process.job, code, process.clock.seconds()
        finally:
            _stop(working)

    def _here(self) -> Generator[tuple[Run, int, float], None, None]:
        """Run jobs in this process, one after the other."""
        from heron.training.job import train  # start-up time

        job = self._next()
        while job is not None:
            started = time.monotonic()
            code = job.attempt(partial(train, job))
            yield job, code, time.monotonic() - started
            job = self._next()

    def _record(self, job: Run, code: int, seconds: float) -> None:
        """Count how a job ended, unless another command has taken it up in the meantime.

        Args:
            job: that ended.
            code: its exit code.
            seconds: that it took.
        """
        if code not in (DONE, INTERRUPTED):
            try:
                with locked(job.folder.lock, wait=False):
                    if job.folder.read_status().get("state") not in (*SETTLED, "failed"):
                        # What the killed process could not write.
                        job.folder.try_update(
                            state="failed", error=killed(code), traceback=None, retry=True
                        )
            except BlockingIOError:
                return

        status = job.folder.read_status()
        error = ""
        if code == DONE:
            state = str(status.get("state"))
            state = state if state in SETTLED else "done"
        elif code == INTERRUPTED:
            state = "interrupted"
        else:
            state = "failed"
            error = first_line(str(status.get("error") or f"exit code {code}"))

        self._add(JobOutcome(job, state, error, seconds))
        if self.isolate or self._of() > len(self._jobs):
            print(self._line(), flush=True)

    def _line(self) -> str:
        return progress_line(list(self._ended.values()), self._of(), self.n_jobs)


def _print_waiting(jobs: int) -> None:
    print(f"heron train: waiting for {jobs} jobs of another command", flush=True)


def _stop(working: Sequence[JobProcess]) -> None:
    """Interrupt all jobs at once, then wait for each to end.

    Args:
        working: jobs that have not ended; those that need longer are killed.
    """
    until = time.monotonic() + _SECONDS_TO_END
    for process in working:
        process.interrupt()
    for process in working:
        process.end(until - time.monotonic())


def best_so_far(outcomes: Sequence[JobOutcome]) -> str:
    """Show the best score on validation of a search, and what sets its job apart; empty without.

    Args:
        outcomes: of all jobs that have ended.
    """
    scored = [outcome for outcome in outcomes if outcome.score is not None]
    if not scored:
        return ""
    values = []
    complexities = []
    for outcome in scored:
        config = outcome.job.config
        values.append(signed(config.trainer.monitor, outcome.score or 0.0))
        words = len(outcome.job.overrides)
        complexities.append(complexity(config.baseline.name, config.curriculum.name, words))
    first, *tied = best_of(values, complexities)

    best = scored[first]
    common = set.intersection(*(set(outcome.job.overrides) for outcome in scored))
    own = " ".join(word for word in best.job.overrides if word not in common)

    text = f"; best so far {best.score:.4f}"
    if own:
        text += f" with {own}"
    if tied:
        text += f" (a tie with {len(tied)} more)"
    return text


def progress_line(outcomes: Sequence[JobOutcome], total: int, at_once: int) -> str:
    """Show the job that has ended last and the total on one line.

    Args:
        outcomes: of all jobs that have ended, the last one at the end.
        total: jobs of the command, as far as is known.
        at_once: how many run side by side.
    """
    last = outcomes[-1]
    how = "by another command" if last.kept else f"in {last.seconds:.1f} s"
    ending = f"{last.state} {how}"
    if last.error:
        ending += f": {last.error}"

    states = [outcome.state for outcome in outcomes]
    total = max(total, len(states))
    left = total - len(states)

    counts = []
    for state in (*SETTLED, "interrupted", "failed"):
        if state in states or state in ("done", "failed"):
            counts.append(f"{states.count(state)} {state}")
    counts.append(f"{left} left")
    if left:
        seconds = [outcome.seconds for outcome in outcomes if not outcome.kept]
        mean = sum(seconds) / max(1, len(seconds))
        expected = mean * left / at_once
        counts.append(f"about {duration(expected)}")

    name = last.job.folder.path.name
    summary = ", ".join(counts) + best_so_far(outcomes)
    return f"[{len(states)}/{total}] {name}: {ending} ({summary})"
