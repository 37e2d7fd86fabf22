"""A sweep from the jobs of a command line to its exit code."""

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from heron.base.errors import ConfigError, visible
from heron.base.registry import on_demand
from heron.base.secrets import redact
from heron.base.signals import TERMINATED
from heron.config.compose import Composition
from heron.config.schema import Config
from heron.sweeps.devices import check_start
from heron.sweeps.launchers import check_launcher, launch, require
from heron.sweeps.ledger import Outcome, Queue
from heron.sweeps.sweep import Sweep
from heron.training.claim import check_job
from heron.training.process import Job

Refused = list[tuple[str, str]]  # jobs that cannot be run: their overrides and why
Report = Callable[[Path], None]  # writes the report of a run or a sweep

Search = on_demand("heron.sweeps.search:Search")  # optional dependency: Optuna


def run_jobs(jobs: Sequence[Job], refused: Refused, several: bool, report: Report) -> int:
    """Run jobs as a sweep; the first one's settings say how. Returns the command's exit code.

    With `several`, each has a process of its own unless `run.isolate` is set. `report` is called
    once at the end, unless nothing was done. A single job that failed is tried again.
    """
    first = jobs[0].config
    if len(jobs) == 1 and not refused:
        first = replace(first, run=replace(first.run, retry="failed"))
    isolate = _check_launch(first, several)
    queue = Queue(jobs, searches=first.sweeper.name == "random")
    return run_sweep(queue, first, jobs[0].folder.path.parent, isolate, refused, report)


def run_search(first: Composition, report: Report) -> int:
    """Run the jobs that Optuna chooses, from the space's first point on; returns the exit code."""
    require("optuna", "sweeper=optuna")
    config = first.resolved()
    assert first.search is not None
    check_job(config, {}, read=True)
    isolate = _check_launch(config, several=True)
    search = Search(first.search, config, first.overrides)
    search.start()
    return run_sweep(search, config, search.folder, isolate, [], report)


def _check_launch(config: Config, several: bool) -> bool:
    """Make sure that this command can start its jobs, before anything is written or cleared.

    Returns whether each gets a process of its own.
    """
    settings, launcher = config.run, config.launcher
    alone = several or launcher.name != "local"
    isolate = alone if settings.isolate is None else settings.isolate
    check_start(config, isolate)
    if jobs_at_once(config) > 1 and not isolate:
        raise ConfigError("launcher=joblib needs processes: set run.isolate=true or null")
    if launcher.name != "slurm" and not launcher.wait:
        raise ConfigError(
            f"launcher.wait=false needs launcher=slurm: the jobs of launcher={launcher.name}"
            " end with the command"
        )
    check_launcher(launcher)
    return isolate


def jobs_at_once(config: Config) -> int:
    """Count the jobs that a process of this sweep runs side by side.

    `launcher=joblib`, by which earlier versions started workers here, is another name for it.
    """
    launcher = config.launcher
    return config.run.n_jobs * (launcher.workers if launcher.name == "joblib" else 1)


def run_sweep(
    queue: Queue, config: Config, folder: Path, isolate: bool, refused: Refused, report: Report
) -> int:
    """Run a queue of jobs, here or by a launcher, print what failed; returns the exit code."""
    sweep = Sweep(queue, isolate, jobs_at_once(config), config.run.retry)
    if config.launcher.name in ("local", "joblib"):
        outcomes = sweep.run()
    else:
        left = launch(sweep, config, folder)
        if left is None:
            return 2 if refused else 0
        outcomes = left
    if any(each.state == "done" for each in outcomes):
        paths = [each.job.folder.path for each in outcomes]
        report(paths[0] if len(paths) == 1 else paths[0].parent)
        _print_others(paths)
    failed = [*refused, *queue.refused()] + [
        (", ".join(each.job.overrides), each.error) for each in outcomes if each.state == "failed"
    ]
    if failed:
        _print_failed(failed, len(outcomes) + len(refused) + len(queue.refused()), outcomes)
        return 2
    if cut := sum(each.state == "interrupted" for each in outcomes):
        print(
            f"heron train: {cut} of {len(outcomes)} jobs interrupted; the same command goes on "
            "with them",
            file=sys.stderr,
        )
    return TERMINATED if cut else 0


def _print_others(paths: Sequence[Path]) -> None:
    """Print that a sweep's tables include runs that this command did not ask for."""
    marks = [] if len(paths) == 1 else paths[0].parent.glob("*/config.yaml")
    if others := sorted({mark.parent for mark in marks} - set(paths)):
        print(
            f"The tables also show runs that this command did not ask for ({len(others)}, such as "
            f"{others[0].name}); run.sweep=NAME keeps runs apart"
        )


def _print_failed(failed: Refused, jobs: int, outcomes: Sequence[Outcome]) -> None:
    print(f"heron train: {len(failed)} of {jobs} jobs failed:", file=sys.stderr)
    for overrides, error in failed:
        print(visible(redact(f"  {overrides}: {error}")), file=sys.stderr)
    print(
        "The same command goes on with what was cut (killed, out of memory, disk full); "
        "run.retry=failed tries the others again, too.",
        file=sys.stderr,
    )
    logs = [each.job.folder.log for each in outcomes if each.state == "failed"]
    for log in [log for log in logs if log.is_file()][:1]:
        print(f"What they printed: {log.parent.parent}/<job>/{log.name}", file=sys.stderr)


def with_folds(words: Sequence[str]) -> list[str]:
    """Write `folds=N` out: a sweep over the N parts of a cross-validation."""
    found: list[str] = []
    for word in words:
        key, _, number = word.partition("=")
        if key == "folds":
            if not (number.isdecimal() and int(number) > 1):
                raise ConfigError(f"{word}: give the number of folds, 2 or more")
            if not {"-m", "--multirun"} & set(words):
                raise ConfigError(f"{word} trains {number} runs: add -m")
            folds = ",".join(map(str, range(int(number))))
            found += [f"data.folds.count={number}", f"data.folds.fold={folds}"]
        else:
            found.append(word)
    return found
