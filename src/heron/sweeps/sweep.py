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
from heron.base.signals import INTERRUPTED
from heron.base.terminal import duration
from heron.metrics.names import signed
from heron.results.best import Complexity, best_of, complexity
from heron.sweeps.devices import check_devices, start_job
from heron.sweeps.isolation import JobProcess, killed, start_server, wait_for_any
from heron.training.run import BUSY, DONE, BusyError, Run, count_ranks

_POLL = 0.1  # seconds between looks at what jobs print
_LOOK = 1.0  # seconds between looks at jobs that another command works on
_FOR_JOBS = 30.0  # seconds that stopped jobs have to finish what they are writing


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a job ended, or that it was not run."""

    job: Run  # the job
    # `done`, `pruned` (ended early by its search), `failed`, or `interrupted` (by somebody else
    # than the command).
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
        self.n_jobs, self.total = n_jobs, total
        self.preload: tuple[str, ...] = ()  # modules that the jobs' server imports besides its own
        self.isolate = True
        self._jobs: Sequence[Run] = ()  # jobs of the last batch
        self._ended: dict[Path, Outcome] = {}  # ended jobs of all batches
        self._waiting = deque[Run]()

    def run(self, jobs: Sequence[Run]) -> list[Outcome]:
        """Run every job that is not done, those that another command works on included."""
        several = any(count_ranks(job.config) > 1 for job in jobs)
        self.isolate = jobs[0].config.run.isolate is not False or self.n_jobs > 1 or several
        if self.isolate:
            # It imports while jobs are planned. To read takes as long as to train a head.
            heads = max(len(jobs), self.total) > 1 and jobs[0].config.encoder.freeze == "all"
            start_server(self.preload, jobs[0] if heads else None)
        self._waiting.extend(self.plan(jobs))
        while True:
            self.work()
            busy, free = self._open_jobs(), list[Run]()
            if not busy:
                return self._own()
            _print_waiting(len(busy))
            while busy and not free:
                time.sleep(_LOOK)
                busy, free = self._look()
            self._waiting.extend([*free, *busy])

    def plan(self, jobs: Sequence[Run]) -> list[Run]:
        """Claim the folders of all jobs; returns those to be run.

        A failed job is tried again unasked if it is the command's only one.
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
        """Run the jobs that wait and that nobody works on."""
        with closing(self._side_by_side() if self.isolate else self._here()) as ended:
            for job, code, seconds in ended:
                if code != BUSY:
                    self._record(job, code, seconds)

    def _open_jobs(self) -> list[Run]:
        """List the jobs that are not counted as ended."""
        return [job for job in self._jobs if job.folder.path not in self._ended]

    def _own(self) -> list[Outcome]:
        """List how the jobs that are counted ended."""
        paths = {job.folder.path for job in self._jobs}
        return [outcome for path, outcome in self._ended.items() if path in paths]

    def _of(self) -> int:
        """Count all jobs, also those to come, as far as is known."""
        return max(self.total, len(self._ended) + len(self._open_jobs()))

    def _look(self) -> tuple[list[Run], list[Run]]:
        """Count jobs that other commands ended; returns those they work on, and the rest."""
        found: dict[str, list[Run]] = {"busy": [], "free": [], "ended": []}
        for job in self._open_jobs():
            found[self._state(job)].append(job)
        return found["busy"], found["free"]

    def _state(self, job: Run) -> str:
        """Tell whether others work on a job (`busy`), have `ended` it, or neither (`free`).

        One that they have ended is counted, as not run by this command.
        """
        if job.folder.is_busy():
            return "busy"
        status = job.folder.read_status()
        if not (state := job.ended(status)):
            return "free"
        error = first_line(str(status.get("error") or ""))
        self._add(Outcome(job, state, error, kept=True))
        print(self._line(), flush=True)
        return "ended"

    def _must_run(self, job: Run, retry: str) -> bool:
        """Claim a job's folder; tell whether the job has to be run, and count it if not."""
        job.folder.path.mkdir(parents=True, exist_ok=True)
        try:
            if status := job.plan(retry):
                state = str(status["state"])
                error = str(status.get("error")) if state == "failed" else ""
                return self._keep(job, state, error)
        except BusyError:
            pass  # another command works on it: looked at again when its turn comes
        except HeronError as error:
            print(f"heron train: {error}", file=sys.stderr, flush=True)
            return self._keep(job, "failed", str(error))
        return True

    def _keep(self, job: Run, state: str, error: str = "") -> bool:
        self._add(Outcome(job, state, first_line(error), kept=True))
        return False

    def _add(self, outcome: Outcome) -> None:
        if self.total and outcome.state == "done":
            outcome = replace(outcome, score=outcome.job.score())
        self._ended[outcome.job.folder.path] = outcome

    def _print_kept(self) -> None:
        states = [each.state for each in self._own()]
        done, pruned = states.count("done"), states.count("pruned")
        if done or pruned:
            print(
                f"heron train: {done} of {self._of()} jobs done already"
                + (f", {pruned} pruned" if pruned else "")
                + "; run.resume=false starts over",
                flush=True,
            )

    def _next(self) -> Run | None:
        """Take the next job that nobody works on and nobody has ended in the meantime."""
        while self._waiting:
            job = self._waiting.popleft()
            if self._state(job) == "free":
                return job
        return None

    def _side_by_side(self) -> Generator[tuple[Run, int, float], None, None]:
        """Yield jobs with their exit codes and seconds as they end."""
        working, dry = list[JobProcess](), False
        try:
            while True:
                while not dry and len(working) < self.n_jobs:
                    job = self._next()
                    if job is not None:
                        working.append(start_job(job, self.n_jobs))
                    dry = job is None
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

        while (job := self._next()) is not None:
            started = time.monotonic()
            code = job.attempt(partial(train, job))
            yield job, code, time.monotonic() - started

    def _record(self, job: Run, code: int, seconds: float) -> None:
        """Count how a job ended, unless another command has taken it up in the meantime."""
        if code not in (DONE, INTERRUPTED):
            try:
                with locked(job.folder.lock, wait=False):
                    if job.folder.read_status().get("state") not in ("done", "pruned", "failed"):
                        # What the killed process could not write.
                        how = {"error": killed(code), "traceback": None, "retry": True}
                        job.folder.try_update(state="failed", **how)
            except BlockingIOError:
                return
        status = job.folder.read_status()
        state, error = "failed", first_line(str(status.get("error") or f"exit code {code}"))
        if code == DONE:
            state, error = "pruned" if status.get("state") == "pruned" else "done", ""
        elif code == INTERRUPTED:
            state, error = "interrupted", ""
        self._add(Outcome(job, state, error, seconds))
        if self.isolate or self._of() > len(self._jobs):
            print(self._line(), flush=True)

    def _line(self) -> str:
        return progress_line(list(self._ended.values()), self._of(), self.n_jobs)


def _print_waiting(jobs: int) -> None:
    print(f"heron train: waiting for {jobs} jobs of another command", flush=True)


def _stop(working: Sequence[JobProcess]) -> None:
    """Interrupt all jobs at once, then wait for each to end."""
    until = time.monotonic() + _FOR_JOBS
    for process in working:
        process.interrupt()
    for process in working:
        process.end(until - time.monotonic())


def best_so_far(outcomes: Sequence[Outcome]) -> str:
    """Show the best score on validation of a search, and what sets its job apart; empty without."""
    scored = [outcome for outcome in outcomes if outcome.score is not None]
    if not scored:
        return ""
    values = [signed(each.job.config.trainer.monitor, each.score or 0.0) for each in scored]
    first, *tied = best_of(values, [_complexity(outcome.job) for outcome in scored])
    common = set[str].intersection(*(set(outcome.job.overrides) for outcome in scored))
    own = [word for word in scored[first].job.overrides if word not in common]
    setting = f" with {' '.join(own)}" if own else ""
    others = f" (a tie with {len(tied)} more)" if tied else ""
    return f"; best so far {scored[first].score:.4f}{setting}{others}"


def _complexity(job: Run) -> Complexity:
    config = job.config
    return complexity(config.baseline.name, config.curriculum.name, len(job.overrides))


def progress_line(outcomes: Sequence[Outcome], total: int, at_once: int) -> str:
    """Show the job that has ended last and the total on one line; `at_once` run side by side."""
    last, states = outcomes[-1], [each.state for each in outcomes]
    of = max(total, len(states))
    left = of - len(states)
    took = [each.seconds for each in outcomes if not each.kept]
    about = sum(took) / max(1, len(took)) * left / at_once
    how = "by another command" if last.kept else f"in {last.seconds:.1f} s"
    what = f"{last.state} {how}" + (f": {last.error}" if last.error else "")
    counts = [f"{states.count('done')} done", f"{states.count('failed')} failed"]
    for state in ("interrupted", "pruned"):
        if state in states:
            counts.insert(1, f"{states.count(state)} {state}")
    counted = ", ".join([*counts, f"{left} left"])
    time_left = f", about {duration(about)}" if left else ""
    name = last.job.folder.path.name
    return f"[{len(states)}/{of}] {name}: {what} ({counted}{time_left}{best_so_far(outcomes)})"
