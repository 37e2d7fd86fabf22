"""`heron reproduce`: the papers' tables and figures, published numbers beside heron's."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heron.base.cells import Table
from heron.base.errors import ConfigError, nearest
from heron.base.terminal import begin, print_lines, print_tables
from heron.config.constraints import Seed, field_types
from heron.config.parsing import DataFolders, parse_options
from heron.results import CLAIMS
from heron_tools.reproduction.status import has_model, status_table
from heron_tools.reproduction.targets import NOTHING, Request, Target, choose_targets, read_targets

if TYPE_CHECKING:  # importing these modules would load Hydra
    from heron.training.run import Run


Folders = tuple[Path, Path]  # `paths.data` and `paths.cache`


@dataclass
class ReproduceOptions(DataFolders):
    """Options of `heron reproduce`; all other arguments are overrides, as for `heron train`."""

    target: str = ""  # `trc:T4`; a paper's name lists its targets, empty lists all
    dry_run: bool = False  # list the runs, start none
    only: str | None = None  # only runs with this value in an override, such as `ess`
    # Files that a target is computed from (`from=`): filled sheets, or a finished run.
    files: list[Path] = field(default_factory=list, metadata={"option": "from"})
    encoder: str | None = None  # replaces the paper's
    # One run per seed (`seed=0,1,2`).
    seeds: list[Seed] = field(default_factory=lambda: [0], metadata={"option": "seed"})
    report: bool = False  # one page with all reproduced targets of a paper
    out: Path = Path("reproductions")


def run(arguments: Sequence[str]) -> int:
    """List targets, or reproduce one; returns the exit code, 2 if any run failed."""
    own = {*field_types(ReproduceOptions), "from", "seed", "paths.data", "paths.cache"}
    words = [word if "=" in word else f"target={word}" for word in arguments]
    options = parse_options(ReproduceOptions, [w for w in words if w.partition("=")[0] in own])
    overrides = [word for word in words if word.partition("=")[0] not in own]
    chosen = choose_targets(options.target, read_targets())
    folders = options.folders
    if options.report:
        return _report_paper(options, chosen)
    (target,) = chosen if len(chosen) == 1 else [None]
    if target is None or not options.target:
        if overrides or options.dry_run:
            word = " ".join(["heron reproduce", chosen[0].name, *overrides])
            raise ConfigError(f"name one target to run it: {word}")
        print_tables([status_table(chosen, *folders)])
        return 0
    begin()
    _check_files(target, options.files)
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
    """Compute a target without training, by its function; None for a dry run."""
    words = [*overrides, *([f"only={options.only}"] if options.only else [])]
    words += [f"seed={','.join(map(str, options.seeds))}"] if len(options.seeds) != 1 else []
    if words:
        allowed = "from=, encoder=, one seed=, paths.data=, paths.cache=, out="
        raise ConfigError(f"{words[0]}: {target.name} trains nothing. Allowed: {allowed}.")
    if options.dry_run:
        print_tables([status_table([target], *folders)])
        return None
    from heron_tools.reproduction.results import of_function

    return of_function(target, target.compute(_request(options, folders)))


def _request(options: ReproduceOptions, folders: Folders) -> Request:
    return Request(*folders, options.seeds[0], options.files, options.encoder)


def _check_files(target: Target, files: Sequence[Path]) -> None:
    """Refuse files of `from=` that are not there, or that the target does not read."""
    if missing := [path for path in files if not path.exists()]:
        raise ConfigError(f"from={missing[0]}: there is no such file or folder")
    if files and target.function is None:
        raise ConfigError(f"from={files[0]}: no cell of {target.name} is computed from files")


def _trained(
    target: Target, options: ReproduceOptions, folders: Folders, overrides: Sequence[str]
) -> tuple[Any, int]:
    """Run a target's unfinished runs and compare the scores; a dry run only lists them.

    With files, none is started: their cells stand beside those of the finished runs.
    """
    jobs, refused = _plan(target, options, folders, overrides)
    from heron.commands.train import report
    from heron.results.collect import collect
    from heron.sweeps.launch import run_planned
    from heron_tools.prompting.plan import plan as plan_prompts
    from heron_tools.reproduction.results import of_runs

    if options.dry_run:
        print_tables([_jobs_table(target, jobs, refused)])
        if target.prompted and jobs:
            print_tables([plan_prompts([job.config for job in jobs])])
        return None, 0
    filled, code = NOTHING, 0
    if options.files:
        filled = target.compute(_request(options, folders))
    else:
        code = int(run_planned(jobs, refused, report)) if jobs else 2
        for words, reason in [] if jobs else refused:
            print(f"heron reproduce: {words}: {reason}", file=sys.stderr)
    runs = [run for job in jobs if job.folder.path.is_dir() for run in collect(job.folder.path)]
    if filled.values or any(run.done for run in runs):
        return of_runs(target, runs, filled), code
    print(f"heron reproduce: no run of {target.name} is finished", file=sys.stderr)
    return None, code or 2


def _plan(
    target: Target, options: ReproduceOptions, folders: Folders, overrides: Sequence[str]
) -> tuple[list[Run], list[tuple[str, str]]]:
    """Plan a target's runs.

    Returns:
        The runs; and refused runs with the reason (such as a missing model).
    """
    words = [
        f"experiment={target.experiment}",
        f"seed={','.join(map(str, options.seeds))}",
        *overrides,
        *([f"encoder={options.encoder}"] if options.encoder else []),
        *(f"paths.data={folders[0]}", f"paths.cache={folders[1]}"),
    ]
    from heron.sweeps.grid import compose_jobs
    from heron.sweeps.launch import plan_jobs
    from heron_tools.prompting.command import spelt_out

    if target.prompted:
        words = spelt_out(words)
    found = compose_jobs([*words, *([] if "-m" in words else ["-m"])])
    chosen = [each for each in found if _is_chosen(each.overrides, options.only)]
    if not chosen:
        values = [word.partition("=")[2] for each in found for word in each.overrides]
        hint = nearest(options.only or "", list(dict.fromkeys(values)))
        raise ConfigError(f"only={options.only}: no run has this value.{hint}")
    plan = plan_jobs(chosen)
    own = {f"experiment={target.experiment}", *(word for word in words if word[:6] == "paths.")}
    short = [[word for word in name.split(", ") if word not in own] for name, _ in plan.refused]
    refused = [(", ".join(left), why) for left, (_, why) in zip(short, plan.refused, strict=True)]
    absent = {job.folder.path.name: why for job in plan.jobs if (why := _absent_model(job))}
    jobs = [job for job in plan.jobs if job.folder.path.name not in absent]
    return jobs, [*refused, *absent.items()]


def _is_chosen(overrides: Sequence[str], only: str | None) -> bool:
    pairs = (word.partition("=") for word in overrides)
    return only is None or any(only in (value, f"{key}={value}") for key, _, value in pairs)


def _absent_model(job: Run) -> str:
    """Name the model that a run lacks while downloads are off; empty if none."""
    from huggingface_hub.constants import is_offline_mode

    name = job.config.encoder.name
    is_asked = job.config.baseline.name != "none" or job.folder.state() == "done"
    if is_asked or has_model(name) or not is_offline_mode():
        return ""
    return f"{name} is not on this computer, and downloads are off; encoder=DIR replaces it"


def _jobs_table(target: Target, jobs: Sequence[Run], refused: Sequence[tuple[str, str]]) -> Table:
    """List the runs of a target: finished, to do, or not possible here."""
    states = [job.folder.state().replace("absent", "to do") for job in jobs]
    rows = [(job.folder.path.name, s, None) for job, s in zip(jobs, states, strict=True)]
    left = len(states) - states.count("done")
    title = f"{target.name}: {len(jobs) + len(refused)} runs, {left} to do; nothing is started"
    note = f"Folders in {jobs[0].folder.path.parent}." if jobs else ""
    absent = [(name, "not here", reason) for name, reason in refused]
    return Table(title, ("run", "state", "what is missing"), (*rows, *absent), note)


def _report_paper(options: ReproduceOptions, chosen: Sequence[Target]) -> int:
    if len({target.paper for target in chosen}) > 1:
        raise ConfigError("report=true needs a paper: heron reproduce trc report=true")
    paper = chosen[0].paper
    from heron_tools.reproduction.claims import claims_table
    from heron_tools.reproduction.results import write_paper_report

    more = [claims_table(paper, CLAIMS[paper]())] if paper in CLAIMS else []
    print_lines(write_paper_report(paper, chosen, options.out, more))
    return 0
