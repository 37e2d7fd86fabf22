"""The jobs of a sweep: where they come from, how they end, and the best of them.

The sweep's folder is the ledger: the jobs' folders say how they ended.
"""

import math
import signal
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from heron.base.errors import ConfigError
from heron.base.terminal import say
from heron.metrics.names import signed
from heron.training.process import Job

JOURNAL = "study.journal"  # in a sweep's folder: the trials of its searches
LAUNCHER = ".launcher"  # in a sweep's folder: workers' logs, and files of the library behind them


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a job ended, or that it was not run."""

    job: Job  # the job
    # `done`, `pruned` (ended early by its search), `failed`, or `interrupted` (by somebody else
    # than the command).
    state: str
    error: str = ""  # first line of what went wrong; empty when nothing did
    seconds: float = 0.0  # spent on it in this command
    kept: bool = False  # nothing was run: the state was left by an earlier command or another one


class Queue:
    """Where jobs come from; several processes may each have one on the same sweep.

    This one knows all jobs from the start; none can be taken until `put_back` has added some.
    `heron.sweeps.search.Search` makes them as it goes. With `searches`, the jobs are points of one
    space, the best of which is wanted.
    """

    preload: tuple[str, ...] = ()  # modules that the jobs' server imports besides its own

    def __init__(self, jobs: Sequence[Job], searches: bool = False):
        self._known, self.searches = list(jobs), searches
        self._waiting = deque[Job]()

    @property
    def total(self) -> int:
        """How many jobs there are to be."""
        return len(self._known)

    def known(self) -> list[Job]:
        """List the jobs that there are so far."""
        return list(self._known)

    def take(self) -> Job | None:
        """Take a job to run; None when there is none left for now."""
        return self._waiting.popleft() if self._waiting else None

    def put_back(self, jobs: Iterable[Job]) -> None:
        """Add jobs, to be taken before all others."""
        self._waiting.extend(jobs)

    def take_back(self, job: Job) -> bool:
        """Put back a job that was cut, if the jobs after it depend on it; none does here."""
        return False

    def ended(self, outcome: Outcome) -> None:
        """Record how a job ended, where its folder does not say all; twice does no harm."""

    def refused(self) -> list[tuple[str, str]]:
        """List jobs that cannot be run: their overrides and why."""
        return []


def killed(code: int) -> str:
    """Describe an exit code, for the `error` of a killed process; a negative one is a signal's."""
    if code >= 0:
        return f"Killed: exit code {code}"
    memory = ", perhaps because memory ran out" if -code == signal.SIGKILL else ""
    return f"Killed: by {signal.Signals(-code).name}{memory}"


class Best:
    """The best score on validation of a sweep's jobs; none where `trainer.monitor` varies."""

    def __init__(self) -> None:
        self.score: float | None = None
        self.job: Job | None = None
        self._common: set[str] | None = None
        self._monitors: set[str] = set()

    def add(self, job: Job) -> None:
        """Compare one more finished job."""
        words = set(job.overrides)
        self._common = words if self._common is None else self._common & words
        score, monitor = validation_score(job), job.config.trainer.monitor
        self._monitors.add(monitor)
        if score is None:
            return
        if self.score is None or signed(monitor, score) > signed(monitor, self.score):
            self.score, self.job = score, job

    def __bool__(self) -> bool:
        return self.job is not None and len(self._monitors) == 1

    def __str__(self) -> str:
        """Show the score, and what sets the job apart from the others."""
        if self.job is None:
            return ""
        own = [word for word in self.job.overrides if word not in (self._common or ())]
        return f"{self.score:.4f}" + (f" with {' '.join(own)}" if own else "")


def validation_score(job: Job) -> float | None:
    """Read what a finished job has scored on validation, by its `trainer.monitor`."""
    try:
        scores = job.folder.read_scores()
    except ConfigError as error:
        say(str(error))
        return None
    score = scores.get("validation", {}).get(job.config.trainer.monitor)
    return None if score is None or not math.isfinite(score) else float(score)


def progress_line(outcomes: Sequence[Outcome], total: int, at_once: int, best: Best) -> str:
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
    so_far = f"; best so far {best}" if best else ""
    return f"[{len(states)}/{of}] {name}: {what} ({counted}{time_left}{so_far})"


def duration(seconds: float) -> str:
    """Show seconds as people say them: `40 s`, `12 min`, `3.5 h`."""
    if seconds < 90:
        return f"{max(0.0, seconds):.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 90 * 60 else f"{seconds / 3600:.1f} h"
