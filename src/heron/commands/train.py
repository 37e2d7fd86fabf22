"""`heron train`: compose with Hydra, run one job or a sweep, report."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from heron.base import ranks
from heron.base.errors import ConfigError, HeronError, first_line
from heron.base.notices import begin
from heron.base.run_folder import RunFolder
from heron.base.secrets import redact
from heron.base.signals import TERMINATED
from heron.commands import repeat
from heron.config.compose import Composition, compose_and_run, own_words
from heron.config.run_names import config_key, run_path
from heron.config.schema import Config
from heron.sweeps.devices import check_start
from heron.sweeps.here import run_here
from heron.sweeps.isolation import DONE, Job
from heron.sweeps.ledger import Outcome
from heron.sweeps.queue import JobList, Queue
from heron.sweeps.sweep import Sweep
from heron.training.claim import check_job, count_ranks

_ONE_RUN = "torchrun starts the processes of one run; a sweep starts its own"


@dataclass
class Plan:
    """What a command line asks for.

    Args:
        jobs: one per folder, in order.
        refused: jobs that cannot be, their overrides and why.
    """

    jobs: list[Job] = field(default_factory=list)
    refused: list[tuple[str, str]] = field(default_factory=list)


def run(arguments: Sequence[str]) -> int:
    """Train as the command line says; returns the exit code."""
    begin()
    by_hand = ranks.launched() > 0
    if any(word.startswith(repeat.FLAG) for word in arguments):
        if by_hand:
            raise ConfigError(f"torchrun: {repeat.FLAG}DIR starts its own processes; leave it out")
        return repeat.run(arguments)
    found: list[Composition] = []
    compose_and_run("train", arguments, found.append)
    if found and found[0].search is not None:
        if by_hand:
            raise ConfigError(_ONE_RUN)
        return _run_search(found[0])
    plan = plan_jobs(found)
    first = plan.jobs[0] if plan.jobs else None
    if first is None:
        return 2 if plan.refused else 0
    if by_hand:
        return _run_by_hand(plan)
    isolate = first.config.run.isolate
    apart = len(found) > 1 or any(count_ranks(job.config) > 1 for job in plan.jobs)
    if apart or isolate or first.config.launcher.name != "local":
        queue = JobList(plan.jobs, searches=first.config.sweeper.name == "random")
        folder = first.folder.path.parent
        isolate = _check_launch(first.config, apart)
        return _run_sweep(queue, first.config, folder, isolate, plan.refused)
    code = run_here(first)
    if code == DONE:
        _report(first.folder.path)
    return 0 if code == DONE else 2


def plan_jobs(found: Sequence[Composition]) -> Plan:
    """Resolve compositions and name their folders; of two that are one run, the first counts."""
    plan, keys, planned = Plan(), dict[Path, str](), set[Path]()
    mistakes: dict[str, HeronError | None] = {}
    said = set[str]()
    for composition in found:
        # One job's mistake must not take the rest of a sweep with it.
        try:
            config = composition.resolved()
            _check_length(config, composition.overrides)
            folder = RunFolder(run_path(config, composition.overrides))
            key = config_key(config)
            if keys.setdefault(folder.path, key) != key:
                raise ConfigError(
                    f"run.job={config.run.job} names one folder for several jobs: leave it out, "
                    "or give each job a name of its own"
                )
            is_done = config.run.resume and folder.state() == "done"  # its data may be gone
            if not is_done and not ranks.launched():
                check_job(config, mistakes, read=len(found) > 1)
        except HeronError as error:
            if str(error) not in said:
                print(f"heron train: {error}", file=sys.stderr, flush=True)
            said.add(str(error))
            plan.refused.append((", ".join(composition.overrides), first_line(error)))
            continue
        if folder.path not in planned:
            plan.jobs.append(Job(config, folder, own_words(composition.overrides)))
        planned.add(folder.path)
    return plan


def _run_by_hand(plan: Plan) -> int:
    """Train in processes that somebody has started with `torchrun`, each of which comes here."""
    if len(plan.jobs) != 1 or plan.refused:
        raise ConfigError(_ONE_RUN)
    from heron.sweeps.rank import leave_at_once, run_by_hand

    (job,) = plan.jobs
    code = run_by_hand(job)
    if code == 0 and ranks.is_first():
        _report(job.folder.path)
    leave_at_once(code)
    raise AssertionError


def _run_search(first: Composition) -> int:
    """Let Optuna choose the jobs."""
    from heron.sweeps.launchers import require
    from heron.sweeps.search import Search

    require("optuna", "sweeper=optuna")
    config = first.resolved()
    assert first.search is not None
    check_job(config, {}, read=True)
    isolate = _check_launch(config, several=True)
    search = Search(first.search, config, first.overrides)
    search.start()
    return _run_sweep(search, config, search.folder, isolate, [])


def _check_launch(config: Config, several: bool) -> bool:
    """Make sure that this command can start its jobs, before anything is written or cleared.

    Returns:
        Whether each gets a process of its own.
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
    if launcher.name != "local":
        from heron.sweeps.launchers import check_launcher

        check_launcher(launcher)
    return isolate


def _run_sweep(
    queue: Queue,
    config: Config,
    folder: Path,
    isolate: bool,
    refused: list[tuple[str, str]],
) -> int:
    sweep = Sweep(queue, isolate, jobs_at_once(config), config.run.retry)
    if config.launcher.name in ("local", "joblib"):
        outcomes = sweep.run()
    else:
        from heron.sweeps.launchers import launch

        left = launch(sweep, config, folder)
        if left is None:
            return 2 if refused else 0
        outcomes = left
    if any(each.state == "done" for each in outcomes):
        paths = [each.job.folder.path for each in outcomes]
        _report(paths[0] if len(paths) == 1 else paths[0].parent)
        _say_what_else(paths)
    failed = [*refused, *queue.refused()] + [
        (", ".join(each.job.overrides), each.error) for each in outcomes if each.state == "failed"
    ]
    if failed:
        jobs = len(outcomes) + len(refused) + len(queue.refused())
        _say_what_failed(failed, jobs, outcomes)
        return 2
    if cut := sum(each.state == "interrupted" for each in outcomes):
        print(
            f"heron train: {cut} of {len(outcomes)} jobs interrupted; the same command goes on "
            "with them",
            file=sys.stderr,
        )
    return TERMINATED if cut else 0


def jobs_at_once(config: Config) -> int:
    """Count the jobs that a process of this sweep runs side by side.

    `launcher=joblib`, by which earlier versions started workers here, is another name for it.
    """
    launcher = config.launcher
    return config.run.n_jobs * (launcher.workers if launcher.name == "joblib" else 1)


def _check_length(config: Config, overrides: Sequence[str]) -> None:
    """Refuse epochs that somebody has typed where steps decide: they would be ignored silently."""
    typed = {word.lstrip("+").partition("=")[0] for word in overrides}
    steps = config.trainer.max_steps
    if steps is not None and "trainer.max_epochs" in typed and "trainer.max_steps" not in typed:
        raise ConfigError(
            f"trainer.max_epochs={config.trainer.max_epochs}: trainer.max_steps={steps} says how "
            "long this trains; add trainer.max_steps=null"
        )


def _say_what_else(paths: Sequence[Path]) -> None:
    """Say that a sweep's tables show runs that this command did not ask for."""
    marks = [] if len(paths) == 1 else paths[0].parent.glob("*/config.yaml")
    if others := sorted({mark.parent for mark in marks} - set(paths)):
        print(
            f"The tables also show runs that this command did not ask for ({len(others)}, such as "
            f"{others[0].name}); run.sweep=NAME keeps runs apart"
        )


def _say_what_failed(
    failed: Sequence[tuple[str, str]], jobs: int, outcomes: Sequence[Outcome]
) -> None:
    print(f"heron train: {len(failed)} of {jobs} jobs failed:", file=sys.stderr)
    for overrides, error in failed:
        print(redact(f"  {overrides}: {error}"), file=sys.stderr)
    print(
        "The same command goes on with what was cut (killed, out of memory, disk full); "
        "run.retry=failed tries the others again, too.",
        file=sys.stderr,
    )
    logs = [each.job.folder.log for each in outcomes if each.state == "failed"]
    for log in [log for log in logs if log.is_file()][:1]:
        print(f"What they printed: {log.parent.parent}/<job>/{log.name}", file=sys.stderr)


def _report(folder: Path) -> None:
    from heron.commands.report import write_report

    files = write_report(folder)
    for path in (files.html, files.figure, *files.tables):
        print(path)
