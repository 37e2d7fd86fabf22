"""`heron train`: compose with Hydra, run one job or a sweep, report."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from heron.base import ranks
from heron.base.errors import ConfigError, HeronError, first_line
from heron.base.registry import on_demand
from heron.base.run_folder import RunFolder
from heron.base.terminal import begin, print_lines
from heron.config.compose import Composition, compose_and_run
from heron.config.run_names import config_key, run_path
from heron.config.schema import Config
from heron.config.words import job_words
from heron.results.collect import collect, is_run
from heron.training.claim import check_job, count_ranks
from heron.training.process import DONE, Job, run_here

# Start-up time: one run starts no sweep.
run_jobs = on_demand("heron.sweeps.start:run_jobs")
with_folds = on_demand("heron.sweeps.start:with_folds")
run_search = on_demand("heron.sweeps.start:run_search")
run_by_hand = on_demand("heron.sweeps.rank:run_by_hand")
end_at_once = on_demand("heron.sweeps.rank:end_at_once")
repeat = on_demand("heron.commands.repeat:run")
write_report = on_demand("heron.reports.sweep:write_report")
write_run_report = on_demand("heron.reports.run:write_run_report")

FLAG = "run.from="
_ONE_RUN = "torchrun starts the processes of one run; a sweep starts its own"


@dataclass
class Plan:
    """The jobs of a command line."""

    jobs: list[Job] = field(default_factory=list)  # one per folder, in order
    refused: list[tuple[str, str]] = field(default_factory=list)  # overrides, and why


def run(arguments: Sequence[str]) -> int:
    """Train as the command line says; returns the exit code."""
    begin()
    by_hand = ranks.launched() > 0
    if any(word.startswith("folds=") for word in arguments):
        arguments = with_folds(arguments)
    if any(word.startswith(FLAG) for word in arguments):
        if by_hand:
            raise ConfigError(f"torchrun: {FLAG}DIR starts its own processes; leave it out")
        return int(repeat(arguments))
    found: list[Composition] = []
    compose_and_run("train", arguments, found.append)
    if found and found[0].search is not None:
        if by_hand:
            raise ConfigError(_ONE_RUN)
        return int(run_search(found[0], _report))
    plan = plan_jobs(found)
    if not plan.jobs:
        return 2 if plan.refused else 0
    first = plan.jobs[0]
    if by_hand:  # every process that `torchrun` has started comes here
        if len(plan.jobs) > 1 or plan.refused:
            raise ConfigError(_ONE_RUN)
        code = run_by_hand(first)
        if code == 0 and ranks.is_first():
            _report(first.folder.path)
        end_at_once(code)
        raise AssertionError
    apart = len(found) > 1 or any(count_ranks(job.config) > 1 for job in plan.jobs)
    if apart or first.config.run.isolate or first.config.launcher.name != "local":
        return int(run_jobs(plan.jobs, plan.refused, apart, _report))
    code = run_here(first)
    if code == DONE:
        _report(first.folder.path)
    return 0 if code == DONE else 2


def plan_jobs(found: Sequence[Composition]) -> Plan:
    """Resolve compositions and name their folders; the second of two equal runs is left out."""
    plan, keys, planned = Plan(), dict[Path, str](), set[Path]()
    mistakes: dict[str, HeronError | None] = {}
    said = set[str]()
    for composition in found:
        # A mistake in one job must not end the sweep.
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
            plan.jobs.append(Job(config, folder, job_words(composition.overrides)))
        planned.add(folder.path)
    return plan


def _check_length(config: Config, overrides: Sequence[str]) -> None:
    """Refuse typed epochs where steps decide: they would be ignored silently."""
    typed = {word.lstrip("+").partition("=")[0] for word in overrides}
    steps = config.trainer.max_steps
    if steps is not None and "trainer.max_epochs" in typed and "trainer.max_steps" not in typed:
        raise ConfigError(
            f"trainer.max_epochs={config.trainer.max_epochs}: trainer.max_steps={steps} says how "
            "long this trains; add trainer.max_steps=null"
        )


def _report(folder: Path) -> None:
    files = write_run_report(collect(folder)[0], folder) if is_run(folder) else write_report(folder)
    print_lines(files.html, files.figure, *files.tables)
