"""`heron reproduce`: every table and figure of the papers, published numbers beside heron's."""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heron.base.cells import Table
from heron.base.errors import ConfigError, nearest
from heron.base.folders import default_cache_dir, default_data_dir
from heron.base.terminal import begin, print_lines, print_tables
from heron.config.constraints import Seed, field_types
from heron.config.options import DataFolders, parse_options
from heron.results.published import CLAIMS, TARGETS
from heron_tools.reproduction.status import has_model, status_table
from heron_tools.reproduction.targets import Request, Target, choose_targets, read_targets

if TYPE_CHECKING:  # these load Hydra
    from heron.base.run_folder import RunFolder
    from heron.sweeps.launch import Plan
    from heron.training.compose import Composition
    from heron.training.process import Job


Folders = tuple[Path, Path]  # of data sets, and the cache


@dataclass
class ReproduceOptions(DataFolders):
    """Options of `heron reproduce`; all other words change the runs, as those of `heron train`."""

    target: str = ""  # `trc:T4`; a paper lists its targets, none lists all
    dry_run: bool = False  # list the runs, start none
    only: str | None = None  # the runs that have this value in an override, such as `ess`
    # What a target adds up: filled sheets, a finished run (`from=`).
    files: list[Path] = field(default_factory=list, metadata={"option": "from"})
    encoder: str | None = None  # in place of the paper's
    # One run for each (`seed=0,1,2`).
    seeds: list[Seed] = field(default_factory=lambda: [0], metadata={"option": "seed"})
    report: bool = False  # one page with all that has been reproduced of a paper
    out: Path = Path("reproductions")


def run(arguments: Sequence[str]) -> int:
    """List targets, or reproduce one; returns the exit code, 2 if any run failed."""
    own = {*field_types(ReproduceOptions), "from", "seed", "paths.data", "paths.cache"}
    words = [word if "=" in word else f"target={word}" for word in arguments]
    options = parse_options(ReproduceOptions, [w for w in words if w.partition("=")[0] in own])
    overrides = [word for word in words if word.partition("=")[0] not in own]
    targets = read_targets()
    chosen = choose_targets(options.target, targets)
    folders = options.paths_data or default_data_dir(), options.paths_cache or default_cache_dir()
    if options.report:
        return _report_paper(options, chosen)
    if len(chosen) > 1 or not options.target:
        if overrides or options.dry_run:
            word = overrides[0] if overrides else "dry_run=true"
            raise ConfigError(f"{word} needs one target: heron reproduce {chosen[0].name} {word}")
        print_tables([status_table(chosen, *folders)])
        return 0
    begin()
    (target,) = chosen
    if target.experiment is None:
        found, code = _computed(target, options, folders, overrides), 0
    else:
        found, code = _trained(target, options, folders, overrides)
    from heron_tools.reproduction.results import write_reproduction

    if found is not None:
        print_tables(found.tables)
        print_lines(*write_reproduction(found, options.out, arguments))
    return code


def _computed(
    target: Target, options: ReproduceOptions, folders: Folders, overrides: Sequence[str]
) -> Any:
    """Fill a target by its function; None for a dry run."""
    if overrides or options.only:
        word = overrides[0] if overrides else f"only={options.only}"
        allowed = "from=, encoder=, seed=, paths.data=, paths.cache=, out="
        raise ConfigError(f"{word}: {target.name} trains nothing. Allowed: {allowed}.")
    if target.name not in TARGETS:
        raise ConfigError(f"{target.name}: has neither an experiment nor a function")
    if len(options.seeds) != 1:
        raise ConfigError(f"seed={options.seeds}: {target.name} trains nothing and takes one seed")
    if options.dry_run:
        print_tables([status_table([target], *folders)])
        return None
    request = Request(*folders, options.seeds[0], options.files, options.encoder)
    from heron_tools.reproduction.results import of_function

    return of_function(target, TARGETS[target.name](request))


def _trained(
    target: Target, options: ReproduceOptions, folders: Folders, overrides: Sequence[str]
) -> tuple[Any, int]:
    """Run what is left of a target's experiment, and compare the scores; nothing in a dry run."""
    if options.files:
        raise ConfigError(f"from=: {target.name} trains its own runs; leave it out")
    plan, absent, typed = _plan(target, options, folders, overrides)
    from heron.commands.train import report
    from heron.results.collect import collect
    from heron.sweeps.launch import run_planned
    from heron_tools.prompting.plan import plan as plan_prompts
    from heron_tools.reproduction.results import of_runs

    if options.dry_run:
        print_tables([_jobs_table(target, plan.jobs, absent, plan.refused)])
        if target.prompted and plan.jobs:
            print_tables([plan_prompts([job.config for job in plan.jobs])])
        return None, 0
    jobs = [job for job in plan.jobs if job.folder not in absent]
    refused = [
        *plan.refused,
        *((", ".join(job.overrides), absent[job.folder]) for job in plan.jobs if job not in jobs),
    ]
    code = 2
    if jobs:
        code = int(run_planned(jobs, refused, report))
    for overrides_, reason in [] if jobs else refused:
        print(f"heron reproduce: {overrides_}: {reason}", file=sys.stderr)
    runs = [run for job in jobs if job.folder.path.is_dir() for run in collect(job.folder.path)]
    if any(run.done for run in runs):
        return of_runs(target, runs, typed), code
    print(f"heron reproduce: no run of {target.name} is finished", file=sys.stderr)
    return None, code or 2


def _plan(
    target: Target, options: ReproduceOptions, folders: Folders, overrides: Sequence[str]
) -> tuple[Plan, dict[RunFolder, str], set[str]]:
    """Plan a target's runs; and say of which ones the model is absent, and which keys are typed."""
    typed = [*overrides, *([f"encoder={options.encoder}"] if options.encoder else [])]
    words = [
        f"experiment={target.experiment}",
        f"seed={','.join(map(str, options.seeds))}",
        *typed,
        *(f"paths.data={folders[0]}", f"paths.cache={folders[1]}"),
    ]
    from heron.sweeps.launch import plan_jobs
    from heron.training.compose import compose_and_run
    from heron_tools.prompting.command import spelt_out

    if target.prompted:
        typed, words = spelt_out(["experiment=", *typed])[1:], spelt_out(words)
    found: list[Composition] = []
    compose_and_run("train", [*words, *([] if "-m" in words else ["-m"])], found.append)
    chosen = [each for each in found if _is_chosen(each.overrides, options.only)]
    if not chosen:
        values = [word.partition("=")[2] for each in found for word in each.overrides]
        hint = nearest(options.only or "", list(dict.fromkeys(values)))
        raise ConfigError(f"only={options.only}: no run has this value.{hint}")
    plan = plan_jobs(chosen)
    own = {f"experiment={target.experiment}", *(word for word in words if word[:6] == "paths.")}
    plan.refused = [(_short(name, own), reason) for name, reason in plan.refused]
    reasons = {job.folder: _absent_model(job) for job in plan.jobs}
    absent = {folder: reason for folder, reason in reasons.items() if reason}
    return plan, absent, {word.lstrip("+~").partition("=")[0] for word in typed}


def _short(name: str, own: Collection[str]) -> str:
    """Leave out of a run's overrides those that the command itself adds."""
    return ", ".join(word for word in name.split(", ") if word not in own)


def _is_chosen(overrides: Sequence[str], only: str | None) -> bool:
    pairs = (word.partition("=") for word in overrides)
    return only is None or any(only in (value, f"{key}={value}") for key, _, value in pairs)


def _absent_model(job: Job) -> str:
    """Say which model a run lacks where nothing may be downloaded; empty for none."""
    name, baseline = job.config.encoder.name, job.config.baseline.name
    from huggingface_hub.constants import is_offline_mode

    if (
        baseline != "none"
        or job.folder.state() == "done"
        or has_model(name)
        or not is_offline_mode()
    ):
        return ""
    return f"{name} is not on this computer, and downloads are off; encoder=DIR replaces it"


def _jobs_table(
    target: Target,
    jobs: Sequence[Job],
    absent: Mapping[RunFolder, str],
    refused: Sequence[tuple[str, str]],
) -> Table:
    """List the runs that a target asks for: finished, to do, or not possible here."""
    rows = []
    for job in jobs:
        reason, state = absent.get(job.folder), job.folder.state()
        state = "not here" if reason else "to do" if state == "absent" else state
        rows.append((job.folder.path.name, state, reason))
    rows += [(name, "not here", reason) for name, reason in refused]
    left = sum(row[1] not in ("done", "not here") for row in rows)
    title = f"{target.name}: {len(rows)} runs, {left} to do; nothing is started"
    note = f"Folders in {jobs[0].folder.path.parent}." if jobs else ""
    return Table(title, ("run", "state", "what is missing"), tuple(rows), note)


def _report_paper(options: ReproduceOptions, chosen: Sequence[Target]) -> int:
    papers = {target.paper for target in chosen}
    if len(papers) > 1:
        raise ConfigError(f"report=true needs a paper: {', '.join(sorted(papers))}")
    (paper,) = papers
    from heron_tools.reproduction.claims import claims_table
    from heron_tools.reproduction.results import write_paper_report

    more = [claims_table(paper, CLAIMS[paper]())] if paper in CLAIMS else []
    print_lines(write_paper_report(paper, chosen, options.out, more))
    return 0
