"""`heron train`: compose with Hydra, run one job or a sweep, report."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from heron import ranks, repeat
from heron.composition import Composition, compose_and_run
from heron.config import resolve
from heron.errors import ConfigError, HeronError
from heron.runtime.isolation import DONE, Job
from heron.runtime.launch import count_ranks
from heron.runtime.notices import begin
from heron.runtime.run_folder import RunFolder, run_path
from heron.runtime.sweep import Outcome, Sweep, run_here
from heron.secrets import redact


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
    if any(word.startswith(repeat.FLAG) for word in arguments):
        return repeat.run(arguments)
    found: list[Composition] = []
    compose_and_run("train", arguments, found.append)
    plan = plan_jobs(found)
    first = plan.jobs[0] if plan.jobs else None
    if first is None:
        return 2 if plan.refused else 0
    if ranks.launched():
        return _run_by_hand(plan)
    isolate = first.config.run.isolate
    apart = len(found) > 1 or any(count_ranks(job.config) > 1 for job in plan.jobs)
    if apart or isolate:
        return _run_sweep(plan, apart if isolate is None else isolate)
    code = run_here(first)
    if code == DONE:
        _report(first.folder.path)
    return 0 if code == DONE else 2


def plan_jobs(found: Sequence[Composition]) -> Plan:
    """Resolve compositions and name their folders; of two for one folder, the first counts."""
    plan, folders = Plan(), set[Path]()
    for composition in found:
        # One job's mistake must not take the rest of a sweep with it.
        try:
            config = resolve(composition.config)
        except HeronError as error:
            print(f"heron train: {error}", file=sys.stderr, flush=True)
            first_line = str(error).partition("\n")[0]
            plan.refused.append((", ".join(composition.overrides), first_line))
            continue
        config.experiment = composition.choices.get("experiment")
        folder = RunFolder(run_path(config, composition.overrides))
        if folder.path not in folders:
            plan.jobs.append(Job(config, folder, composition.overrides))
        folders.add(folder.path)
    return plan


def _run_by_hand(plan: Plan) -> int:
    """Train in processes that somebody has started with `torchrun`, each of which comes here."""
    if len(plan.jobs) != 1 or plan.refused:
        raise ConfigError("torchrun starts the processes of one run; a sweep starts its own")
    from heron.runtime.rank import leave_at_once, run_by_hand

    (job,) = plan.jobs
    code = run_by_hand(job)
    if code == DONE and ranks.is_first():
        _report(job.folder.path)
    leave_at_once(0 if code == DONE else 2)
    raise AssertionError


def _run_sweep(plan: Plan, isolate: bool) -> int:
    settings = plan.jobs[0].config.run
    outcomes = Sweep(plan.jobs, isolate, settings.n_jobs, settings.retry).run()
    if any(each.state == "done" for each in outcomes):
        folders = [each.job.folder.path for each in outcomes]
        _report(folders[0] if len(folders) == 1 else folders[0].parent)
    failed = plan.refused + [
        (", ".join(each.job.overrides), each.error) for each in outcomes if each.state != "done"
    ]
    if failed:
        _say_what_failed(failed, len(plan.jobs) + len(plan.refused), outcomes)
    return 2 if failed else 0


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
    logs = [each.job.folder.log for each in outcomes if each.state != "done"]
    for log in [log for log in logs if log.is_file()][:1]:
        print(f"What they printed: {log.parent.parent}/<job>/{log.name}", file=sys.stderr)


def _report(folder: Path) -> None:
    from heron.reporting.report import write_report

    files = write_report(folder)
    for path in (files.html, files.figure, *files.tables):
        print(path)
