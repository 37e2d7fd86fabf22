"""`heron sweep DIR`: progress of a sweep, read from the files of its jobs."""

import statistics
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from heron.base.cells import Cell, Table
from heron.base.errors import ConfigError, first_line
from heron.base.run_folder import JOURNAL, RunFolder
from heron.base.terminal import duration, hold_results, print_lines, print_tables
from heron.config.constraints import Positive
from heron.config.parsing import parse_options
from heron.metrics.names import with_copied
from heron.results.collect import RunRecord, collect, headline_metrics, is_run

# In this order. `pruned`: ended early by its search.
_ENDED, _BAD = ("done", "pruned"), ("failed", "broken")
_STATES = (*_ENDED, "running", "pending", "interrupted", *_BAD, "absent")


@dataclass
class SweepOptions:
    """Options of `heron sweep`."""

    run: Path  # folder of a sweep or a run
    watch: bool = False  # repeat until nothing runs or waits
    every: Positive = 5.0  # seconds between repeats


@dataclass(frozen=True, slots=True)
class JobProgress:
    """One job of a sweep."""

    run: RunRecord  # as its folder shows it
    state: str  # one of `_STATES`
    epochs: int  # finished ones
    of: int  # how many it was to train; it may stop earlier

    @property
    def seconds(self) -> float:
        """Seconds of work on the job, over all its processes."""
        return float(self.run.status.get("seconds", 0.0))


def run(arguments: Sequence[str]) -> int:
    """Run `heron sweep DIR [--watch] [every=SECONDS]`; returns 1 if any job failed, else 0."""
    words = ["watch=true" if word == "--watch" else word for word in arguments]
    options = parse_options(SweepOptions, words)
    was_idle = False
    while True:
        folder = options.run
        started = (folder / JOURNAL).exists()
        # A search was started here, but no job yet.
        if options.watch and started and not any(map(is_run, (folder, *folder.iterdir()))):
            print(f"{folder}: no job has begun", flush=True)
            time.sleep(options.every)
            continue
        jobs = read_progress(folder)
        idle = not any(job.state in ("running", "pending") for job in jobs)
        # A search may be between two jobs: a second look must find the same.
        ended = not options.watch or (idle and (was_idle or not started))
        was_idle = idle
        if ended or not hold_results():  # gathered once, at the end
            print_tables([progress_table(jobs), failure_table(jobs)])
            print_lines(summary(jobs))
        if ended:
            return 1 if any(job.state in _BAD for job in jobs) else 0
        time.sleep(options.every)


def read_progress(folder: Path) -> list[JobProgress]:
    """Read every job of a sweep, ordered by state, then by name."""
    jobs = []
    for run in collect(folder):
        state = run.state if run.state in _STATES else "broken"
        of = int(run.setting("trainer.max_epochs", 0))
        if run.setting("baseline.name", "none") != "none" or run.setting("trainer.max_steps"):
            of = 0  # no epochs, or as many as the steps take
        jobs.append(JobProgress(run, state, min(_epochs(RunFolder(run.path)), of), of))
    return sorted(jobs, key=lambda job: (_STATES.index(job.state), job.run.job))


def progress_table(jobs: Sequence[JobProgress]) -> Table:
    """Show state, epochs, seconds and the headline score on validation of each job."""
    headline = headline_metrics([job.run for job in jobs])
    monitored = {str(job.run.setting("trainer.monitor")) for job in jobs}
    first = list(monitored) if len(monitored) == 1 and monitored <= set(headline) else headline[:1]
    metrics = with_copied(first or ["score"], headline)
    rows = []
    for job in jobs:
        found = job.run.scores.get("validation", {})
        scores: list[Cell] = [found.get(metric) for metric in metrics]
        epochs = f"{job.epochs} of {job.of}" if job.of else ""
        if job.state == "running" and (steps := job.run.status.get("steps")):
            epochs += f" (step {steps['done']} of {steps['of']})"
        rows.append((job.state, job.run.job, epochs, f"{job.seconds:.1f}", *scores))
    columns = ("state", "job", "epochs", "seconds", *(f"validation {name}" for name in metrics))
    return Table("Jobs", columns, tuple(rows))


def failure_table(jobs: Sequence[JobProgress]) -> Table:
    """Show the first line of each failure."""
    bad = [job.run for job in jobs if job.state in (*_BAD, "interrupted")]
    errors = ((run.job, first_line(str(run.status.get("error") or ""))) for run in bad)
    rows = tuple(pair for pair in errors if pair[1])
    note = "What was printed: log.txt in the job's folder; the traceback's end: status.json."
    return Table("Failures", ("job", "error"), rows, note)


def summary(jobs: Sequence[JobProgress]) -> str:
    """Say on one line how many jobs are in which state, and about how long the rest takes."""
    counts = Counter(job.state for job in jobs)
    parts = [f"{counts[state]} {state}" for state in _STATES if counts[state]]
    text, left = f"{len(jobs)} jobs: {', '.join(parts)}", time_left(jobs)
    return f"{text}; about {duration(left)} left" if left else text


def time_left(jobs: Sequence[JobProgress]) -> float:
    """Estimate the seconds until running and pending jobs are done; 0 where nothing is known.

    Each job is assumed to take the median time of finished jobs, and as many to run at once as now.
    """
    done = [job.seconds for job in jobs if job.state == "done"]
    if not done:
        return 0.0
    each = statistics.median(done)
    running = [max(0.0, each - job.seconds) for job in jobs if job.state == "running"]
    waiting = sum(job.state == "pending" for job in jobs)
    return (sum(running) + each * waiting) / max(1, len(running))


def _epochs(folder: RunFolder) -> int:
    """Count the epochs with a validation score, or else those that have begun."""
    try:
        rows = folder.read_metrics()
    except ConfigError:
        return 0
    validated = [row for row in rows if "validation/loss" in row]
    return max((int(row["epoch"]) + 1 for row in validated or rows if "epoch" in row), default=0)
