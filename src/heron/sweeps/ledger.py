"""The jobs of a sweep: where they come from, how they end, and the best of them.

The sweep's folder is the ledger: the jobs' folders say how they ended.
"""

import signal
from collections.abc import Sequence
from dataclasses import dataclass

from heron.metrics.names import signed
from heron.training.run import Run


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


def killed(code: int) -> str:
    """Describe an exit code, for the `error` of a killed process; a negative one is a signal's."""
    if code >= 0:
        return f"Killed: exit code {code}"
    memory = ", perhaps because memory ran out" if -code == signal.SIGKILL else ""
    return f"Killed: by {signal.Signals(-code).name}{memory}"


def best_so_far(outcomes: Sequence[Outcome]) -> str:
    """Show the best score on validation of a search, and what sets its job apart; empty without."""
    scored = [each for each in outcomes if each.score is not None]
    if not scored:
        return ""
    best = max(scored, key=lambda each: signed(each.job.config.trainer.monitor, each.score or 0.0))
    common = set[str].intersection(*(set(each.job.overrides) for each in scored))
    own = [word for word in best.job.overrides if word not in common]
    return f"; best so far {best.score:.4f}" + (f" with {' '.join(own)}" if own else "")


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


def duration(seconds: float) -> str:
    """Show seconds as people say them: `40 s`, `12 min`, `3.5 h`."""
    if seconds < 90:
        return f"{max(0.0, seconds):.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 90 * 60 else f"{seconds / 3600:.1f} h"
