"""`heron reproduce`: every table and figure of the papers, published numbers beside heron's."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from heron.base.cells import Table
from heron.base.errors import ConfigError, nearest
from heron.base.folders import default_cache_dir, default_data_dir
from heron.base.registry import on_demand
from heron.base.terminal import begin, print_tables
from heron.config.constraints import field_types
from heron.config.extensions import CLAIMS, TARGETS
from heron.config.options import DataFolders, parse_options
from heron.reproduction.status import has_model, status_table
from heron.reproduction.targets import Request, Target, choose_targets, read_targets

# Start-up time: the list of targets needs none of these.
_of_function = on_demand("heron.reproduction.results:of_function")
_of_runs = on_demand("heron.reproduction.results:of_runs")
_write = on_demand("heron.reproduction.results:write_reproduction")
_write_paper_report = on_demand("heron.reproduction.results:write_paper_report")
_claims_table = on_demand("heron.reproduction.claims:claims_table")
_plan_jobs = on_demand("heron.commands.train:plan_jobs")
_report = on_demand("heron.commands.train:report")
_spelt_out = on_demand("heron.commands.prompt:spelt_out")
_compose_and_run = on_demand("heron.config.compose:compose_and_run")
_run_jobs = on_demand("heron.sweeps.start:run_jobs")
_plan_prompts = on_demand("heron.prompting.plan:plan")
_collect = on_demand("heron.results.collect:collect")
_is_offline = on_demand("huggingface_hub.constants:is_offline_mode")


@dataclass
class ReproduceOptions(DataFolders):
    """Options of `heron reproduce`; all other words change the runs, as those of `heron train`."""

    target: str = ""  # `trc:T4`; a paper lists its targets, none lists all
    dry_run: bool = False  # list the runs, start none
    only: str | None = None  # the runs that have this value in an override, such as `ess`
    # What a target adds up: filled sheets, a finished run (`from=`).
    files: list[Path] = field(default_factory=list, metadata={"option": "from"})
    encoder: str | None = None  # in place of the paper's
    seed: str = "0"  # or several, `0,1,2`
    report: bool = False  # one page with all that has been reproduced of a paper
    out: Path = Path("reproductions")


def run(arguments: Sequence[str]) -> int:
    """List targets, or reproduce one; returns the exit code, 2 if any run failed."""
    own = {*field_types(ReproduceOptions), "from", "paths.data", "paths.cache"}
    words = [word if "=" in word else f"target={word}" for word in arguments]
    options = parse_options(ReproduceOptions, [w for w in words if w.partition("=")[0] in own])
    overrides = [word for word in words if word.partition("=")[0] not in own]
    targets = read_targets()
    chosen = choose_targets(options.target, targets)
    if options.report:
        return _report_paper(options, chosen)
    data, cache = (
        options.paths_data or default_data_dir(),
        options.paths_cache or default_cache_dir(),
    )
    if len(chosen) > 1 or not options.target:
        if overrides or options.dry_run:
            word = overrides[0] if overrides else "dry_run=true"
            raise ConfigError(f"{word} needs one target: heron reproduce {chosen[0].name} {word}")
        print_tables([status_table(chosen, data, cache)])
        return 0
    begin()
    (target,) = chosen
    if target.experiment is None:
        return _compute(target, options, overrides, data, cache, arguments)
    return _train(target, options, overrides, arguments)


def _compute(
    target: Target,
    options: ReproduceOptions,
    overrides: Sequence[str],
    data: Path,
    cache: Path,
    arguments: Sequence[str],
) -> int:
    """Fill a target by its function."""
    if overrides or options.only:
        word = overrides[0] if overrides else f"only={options.only}"
        known = ("from=", "encoder=", "seed=", "paths.data=", "out=")
        raise ConfigError(f"{word}: {target.name} trains nothing.{nearest(word, known)}")
    if target.name not in TARGETS:
        raise ConfigError(
            f"{target.name}: targets.yaml names no experiment, and no function is here"
        )
    if options.dry_run:
        print_tables([status_table([target], data, cache)])
        return 0
    if not options.seed.isdigit():
        raise ConfigError(f"seed={options.seed}: {target.name} takes one seed")
    request = Request(data, cache, int(options.seed), options.files, options.encoder)
    _finish(_of_function(target, TARGETS[target.name](request)), options, arguments)
    return 0


def _train(
    target: Target, options: ReproduceOptions, overrides: Sequence[str], arguments: Sequence[str]
) -> int:
    """Run a target's experiment, or what is left of it, and compare its scores."""
    if options.files:
        raise ConfigError(
            f"from={options.files[0]}: {target.name} trains its own runs; leave it out"
        )
    words = [f"experiment={target.experiment}", f"seed={options.seed}", *overrides]
    words += [f"encoder={options.encoder}"] if options.encoder else []
    words += [f"paths.data={options.paths_data}"] if options.paths_data else []
    words += [f"paths.cache={options.paths_cache}"] if options.paths_cache else []
    words = _spelt_out(words) if target.prompted else words
    found: list = []
    _compose_and_run("train", [*words, *(["-m"] if "-m" not in words else [])], found.append)
    plan = _plan_jobs([each for each in found if _is_chosen(each.overrides, options.only)])
    if not plan.jobs and not plan.refused:
        values = [word.partition("=")[2] for each in found for word in each.overrides]
        hint = nearest(options.only or "", list(dict.fromkeys(values)))
        raise ConfigError(f"only={options.only}: no run has this value.{hint}")
    absent = [
        job for job in plan.jobs if (reason := _absent_model(job)) and _refuse(plan, job, reason)
    ]
    jobs = [job for job in plan.jobs if job not in absent]
    if options.dry_run:
        print_tables([_jobs_table(target, plan.jobs, plan.refused)])
        if target.prompted and jobs:
            print_tables([_plan_prompts([job.config for job in jobs])])
        return 0
    code = (
        int(_run_jobs(jobs, plan.refused, True, _report)) if jobs else _print_refused(plan.refused)
    )
    runs = [run for job in jobs if job.folder.path.is_dir() for run in _collect(job.folder.path)]
    if not any(run.done for run in runs):
        print(f"heron reproduce: no run of {target.name} is finished", file=sys.stderr)
        return code or 2
    _finish(_of_runs(target, runs), options, arguments)
    return code


def _is_chosen(overrides: Sequence[str], only: str | None) -> bool:
    pairs = (word.partition("=") for word in overrides)
    return only is None or any(only in (value, f"{key}={value}") for key, _, value in pairs)


def _absent_model(job) -> str:
    """Say which model a run lacks where nothing may be downloaded; empty for none."""
    config = job.config
    name = config.encoder.name
    if config.baseline.name != "none" or job.folder.state() == "done" or has_model(name):
        return ""
    return (
        f"{name} is not on this computer, and downloads are off; encoder=DIR replaces it"
        if _is_offline()
        else ""
    )


def _refuse(plan, job, reason: str) -> bool:
    plan.refused.append((", ".join(job.overrides), reason))
    return True


def _print_refused(refused: Sequence[tuple[str, str]]) -> int:
    for overrides, reason in refused:
        print(f"heron reproduce: {overrides}: {reason}", file=sys.stderr)
    return 2


def _jobs_table(target: Target, jobs, refused: Sequence[tuple[str, str]]) -> Table:
    """List the runs that a target asks for: finished, to do, or not possible here."""
    reasons = dict(refused)
    rows = []
    for job in jobs:
        name = ", ".join(job.overrides)
        reason = reasons.pop(name, "")
        state = (
            "not here"
            if reason
            else {"absent": "to do"}.get(job.folder.state(), job.folder.state())
        )
        rows.append((name, state, reason or str(job.folder.path)))
    rows += [(name, "not here", reason) for name, reason in reasons.items()]
    left = sum(row[1] not in ("done", "not here") for row in rows)
    title = f"{target.name}: {len(rows)} runs, {left} to do; nothing is started"
    return Table(title, ("run", "state", "folder, or what is missing"), tuple(rows))


def _finish(found, options: ReproduceOptions, arguments: Sequence[str]) -> None:
    print_tables(found.tables)
    print(*_write(found, options.out, arguments), sep="\n")


def _report_paper(options: ReproduceOptions, chosen: Sequence[Target]) -> int:
    papers = {target.paper for target in chosen}
    if len(papers) > 1:
        raise ConfigError(f"report=true needs a paper: {', '.join(sorted(papers))}")
    (paper,) = papers
    more = [_claims_table(CLAIMS[paper]())] if paper in CLAIMS else []
    print(_write_paper_report(paper, chosen, options.out, more))
    return 0
