"""A sweep's folder as its ledger: what jobs' folders say, and how the jobs of a command ended."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from heron.base.errors import ConfigError
from heron.base.files import is_locked
from heron.base.notices import say
from heron.base.run_folder import RunFolder
from heron.metrics.names import signed
from heron.sweeps.isolation import Job
from heron.training.status import is_elsewhere

JOURNAL = "study.journal"  # in a sweep's folder: what a search has asked for and been told
LAUNCHER = ".launcher"  # there, too: what workers print, and what a library keeps for them


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a job ended, or that it was not run.

    Args:
        job: the job.
        state: `done`, `pruned` (ended early by its search), `failed`, or `interrupted` (asked to
            end by somebody else than the command).
        error: first line of what went wrong; empty when nothing did.
        seconds: spent on it in this command.
        kept: nothing was run: the state is an earlier command's or another one's.
    """

    job: Job
    state: str
    error: str = ""
    seconds: float = 0.0
    kept: bool = False


def is_busy(folder: RunFolder) -> bool:
    """Tell whether a process, here or on another machine, works on a run."""
    return is_held(folder) or is_elsewhere(folder.read_status())


def is_held(folder: RunFolder) -> bool:
    """Tell whether a process on this machine works on a run."""
    return is_locked(folder.lock)


class Best:
    """The best score on validation of a sweep's jobs; none where `trainer.monitor` varies."""

    def __init__(self) -> None:
        self.score: float | None = None
        self.job: Job | None = None
        self._common: set[str] | None = None
        self._monitors: set[str] = set()

    def see(self, job: Job) -> None:
        """Look at one more finished job."""
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
    """Show the job that has ended last and the total on one line.

    Args:
        outcomes: how jobs have ended so far; at least one.
        total: how many there are to be.
        at_once: how many run side by side.
        best: shown where there is one.
    """
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
