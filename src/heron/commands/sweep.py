"""`heron sweep DIR`: progress of a sweep, read from the files of its jobs."""

import statistics
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from heron.base.cells import Row, Table
from heron.base.errors import ConfigError, first_line
from heron.base.run_folder import JOURNAL, SETTLED, RunFolder
from heron.base.terminal import duration, hold_results, print_lines, print_tables
from heron.config.constraints import Positive
from heron.config.parsing import parse_options
from heron.metrics.names import with_copied
from heron.results.collect import RunRecord, collect, headline_metrics, is_run

_BAD = ("failed", "broken")
_STATES = (*SETTLED, "running", "pending", "interrupted", "requeued", *_BAD, "absent")


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
    """Print the progress of a sweep, once or repeatedly; returns 1 if any job failed, else 0."""
    words = ["watch=true" if word == "--watch" else word for word in arguments]
    options = parse_options(SweepOptions, words)
    folder = options.run
    was_idle = False
    while True:
        is_search = (folder / JOURNAL).exists()
        has_begun = not is_search or any(map(is_run, (folder, *folder.iterdir())))
        if options.watch and not has_begun:
            print(f"{folder}: no job has begun", flush=True)
            time.sleep(options.every)
            continue

        jobs = read_progress(folder)
        states = {job.state for job in jobs}
        is_idle = states.isdisjoint(("running", "pending"))
        # A search may be between two jobs: a second look must find the same.
        has_ended = not options.watch or (is_idle and (was_idle or not is_search))
        was_idle = is_idle

        if has_ended or not hold_results():  # gathered once, at the end
            print_tables([progress_table(jobs), failure_table(jobs)])
            print_lines(summary(jobs))

        if has_ended:
            return 0 if states.isdisjoint(_BAD) else 1
        time.sleep(options.every)


def read_progress(folder: Path) -> list[JobProgress]:
    """Read every job of a sweep, ordered by state, then by name."""
    jobs = []
    for run in collect(folder):
        state = run.state if run.state in _STATES else "broken"

        planned = int(run.setting("trainer.max_epochs", 0))
        is_baseline = run.setting("baseline.name", "none") != "none"
        has_steps = bool(run.setting("trainer.max_steps"))
        if is_baseline or has_steps:
            planned = 0  # no epochs, or as many as the steps take

        begun = _epochs(RunFolder(run.path))
        finished = min(begun, planned)
        jobs.append(JobProgress(run, state, finished, planned))

    return sorted(jobs, key=lambda job: (_STATES.index(job.state), job.run.job))


def progress_table(jobs: Sequence[JobProgress]) -> Table:
    """Show state, epochs, seconds and the headline score on validation of each job."""
    metrics = _shown_metrics([job.run for job in jobs])
    columns = ["state", "job", "epochs", "seconds"]
    for metric in metrics:
        columns.append(f"validation {metric}")

    rows: list[Row] = []
    for job in jobs:
        epochs = f"{job.epochs} of {job.of}" if job.of else ""
        steps = job.run.status.get("steps")
        if job.state == "running" and steps:
            epochs += f" (step {steps['done']} of {steps['of']})"

        validation = job.run.scores.get("validation", {})
        scores = [validation.get(metric) for metric in metrics]
        seconds = f"{job.seconds:.1f}"
        rows.append((job.state, job.run.job, epochs, seconds, *scores))

    return Table("Jobs", columns, rows)


def _shown_metrics(runs: Sequence[RunRecord]) -> list[str]:
    """Choose the score that all runs monitor, or else the task's headline score."""
    headline = headline_metrics(runs)
    monitored = {str(run.setting("trainer.monitor")) for run in runs}
    if len(monitored) == 1 and monitored <= set(headline):
        return with_copied(list(monitored), headline)
    return with_copied(headline[:1] or ["score"], headline)


def failure_table(jobs: Sequence[JobProgress]) -> Table:
    """Show the first line of each failure."""
    rows = []
    for job in jobs:
        error = first_line(str(job.run.status.get("error") or ""))
        if error and job.state in (*_BAD, "interrupted"):
            rows.append((job.run.job, error))

    note = "What was printed: log.txt in the job's folder; the traceback's end: status.json."
    return Table("Failures", ("job", "error"), rows, note)


def summary(jobs: Sequence[JobProgress]) -> str:
    """Say on one line how many jobs are in which state, and about how long the rest takes."""
    counts = Counter(job.state for job in jobs)
    parts = []
    for state in _STATES:
        if counts[state]:
            parts.append(f"{counts[state]} {state}")

    text = f"{len(jobs)} jobs: " + ", ".join(parts)
    seconds = time_left(jobs)
    if seconds:
        text += f"; about {duration(seconds)} left"

    return text


def time_left(jobs: Sequence[JobProgress]) -> float:
    """Estimate the seconds until running and pending jobs are done; 0 where nothing is known.

    Each job is assumed to take the median time of finished jobs, and as many to run at once as now.
    """
    done = [job.seconds for job in jobs if job.state == "done"]
    if not done:
        return 0.0

    usual = statistics.median(done)
    left = 0.0
    running = 0
    for job in jobs:
        if job.state == "running":
            running += 1
            left += max(0.0, usual - job.seconds)
        elif job.state == "pending":
            left += usual

    return left / max(1, running)


def _epochs(folder: RunFolder) -> int:
    """Count the epochs with a validation score, or else those that have begun."""
    try:
        rows = folder.read_metrics()
    except ConfigError:
        return 0

    validated = [row for row in rows if "validation/loss" in row]
    numbers = [int(row["epoch"]) for row in validated or rows if "epoch" in row]
    return max(numbers, default=-1) + 1
