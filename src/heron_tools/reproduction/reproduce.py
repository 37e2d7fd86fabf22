"""`heron reproduce`: the papers' tables and figures, published numbers beside heron's."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heron.base.cells import Row, Table
from heron.base.errors import ConfigError, nearest
from heron.base.terminal import begin, print_lines, print_tables
from heron.config.constraints import Seed, field_types
from heron.config.parsing import DataFolders, parse_options
from heron.results import CLAIMS
from heron_tools.reproduction.status import has_model, status_table
from heron_tools.reproduction.targets import (
    NOTHING,
    Target,
    TargetRequest,
    choose_targets,
    read_targets,
)

if TYPE_CHECKING:  # importing these modules would load Hydra
    from heron.training.run import Run


Refusal = tuple[str, str]  # a run's name, and why it cannot be run


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
    own_keys = {*field_types(ReproduceOptions), "from", "seed", "paths.data", "paths.cache"}
    own_words: list[str] = []
    overrides: list[str] = []
    for argument in arguments:
        word = argument if "=" in argument else f"target={argument}"
        if word.partition("=")[0] in own_keys:
            own_words.append(word)
        else:
            overrides.append(word)
    options = parse_options(ReproduceOptions, own_words)

    targets = choose_targets(options.target, read_targets())
    if options.report:
        return _report_paper(options, targets)
    if len(targets) > 1 or not options.target:
        if overrides or options.dry_run:
            command = " ".join(["heron reproduce", targets[0].name, *overrides])
            raise ConfigError(f"name one target to run it: {command}")
        print_tables([status_table(targets, *options.folders)])
        return 0

    begin()
    (target,) = targets
    _check_files(target, options.files)
    if target.experiment is None:
        result = _computed(target, options, overrides)
        code = 0
    else:
        result, code = _trained(target, options, overrides)
    from heron_tools.reproduction.results import write_reproduction

    if result is not None:
        print_tables(result.tables)
        print_lines(*write_reproduction(result, options.out, arguments))
    return code


def _computed(target: Target, options: ReproduceOptions, overrides: Sequence[str]) -> Any:
    """Compute a target without training, by its function.

    Returns:
        The `Reproduction`; None for a dry run.

    Raises:
        ConfigError: a word has no effect, because nothing is trained.
    """
    refused = [*overrides]
    if options.only:
        refused.append(f"only={options.only}")
    if len(options.seeds) != 1:
        refused.append(_seed_word(options))
    if refused:
        allowed = "from=, encoder=, one seed=, paths.data=, paths.cache=, out="
        raise ConfigError(f"{refused[0]}: {target.name} trains nothing. Allowed: {allowed}.")
    if options.dry_run:
        print_tables([status_table([target], *options.folders)])
        return None
    from heron_tools.reproduction.results import of_function

    return of_function(target, target.compute(_request(options)))


def _seed_word(options: ReproduceOptions) -> str:
    return f"seed={','.join(map(str, options.seeds))}"


def _request(options: ReproduceOptions) -> TargetRequest:
    return TargetRequest(*options.folders, options.seeds[0], options.files, options.encoder)


def _check_files(target: Target, files: Sequence[Path]) -> None:
    """Refuse files of `from=` that are not there, or that the target does not read."""
    for path in files:
        if not path.exists():
            raise ConfigError(f"from={path}: there is no such file or folder")
        if target.function is None:
            raise ConfigError(f"from={path}: no cell of {target.name} is computed from files")


def _trained(
    target: Target, options: ReproduceOptions, overrides: Sequence[str]
) -> tuple[Any, int]:
    """Run a target's unfinished runs and compare the scores; a dry run only lists them.

    With files, none is started: their cells stand beside those of the finished runs.

    Returns:
        The `Reproduction`, None without scores; and the exit code.
    """
    jobs, refused = _plan(target, options, overrides)
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

    filled = NOTHING
    code = 0
    if options.files:
        filled = target.compute(_request(options))
    elif jobs:
        code = int(run_planned(jobs, refused, report))
    else:
        code = 2
        for name, reason in refused:
            print(f"heron reproduce: {name}: {reason}", file=sys.stderr)

    runs = []
    for job in jobs:
        if job.folder.path.is_dir():
            runs += collect(job.folder.path)
    if filled.values or any(run.done for run in runs):
        return of_runs(target, runs, filled), code
    print(f"heron reproduce: no run of {target.name} is finished", file=sys.stderr)
    return None, code or 2


def _plan(
    target: Target, options: ReproduceOptions, overrides: Sequence[str]
) -> tuple[list[Run], list[Refusal]]:
    """Plan a target's runs; nothing is started.

    Args:
        target: one that an experiment reproduces.
        options: of the command.
        overrides: of the experiment, such as `trainer.max_epochs=1`.

    Returns:
        The runs; and refused runs with the reason (such as a missing model).

    Raises:
        ConfigError: no run has the value of `only`.
    """
    data_dir, cache_dir = options.folders
    experiment = f"experiment={target.experiment}"
    folders = [f"paths.data={data_dir}", f"paths.cache={cache_dir}"]
    words = [experiment, _seed_word(options), *overrides]
    if options.encoder:
        words.append(f"encoder={options.encoder}")
    words += folders
    from heron.sweeps.grid import compose_jobs
    from heron.sweeps.launch import plan_jobs
    from heron_tools.prompting.command import spelt_out

    if target.prompted:
        words = spelt_out(words)
    if "-m" not in words:
        words.append("-m")
    jobs = compose_jobs(words)
    chosen = [job for job in jobs if _is_chosen(job.overrides, options.only)]
    if not chosen:
        values = dict.fromkeys(word.partition("=")[2] for job in jobs for word in job.overrides)
        hint = nearest(options.only or "", list(values))
        raise ConfigError(f"only={options.only}: no run has this value.{hint}")

    plan = plan_jobs(chosen)
    refused = []
    for name, reason in plan.refused:
        varying = [word for word in name.split(", ") if word not in (experiment, *folders)]
        refused.append((", ".join(varying), reason))
    runs = []
    for run in plan.jobs:
        if reason := _absent_model(run):
            refused.append((run.folder.path.name, reason))
        else:
            runs.append(run)
    return runs, refused


def _is_chosen(overrides: Sequence[str], only: str | None) -> bool:
    """Tell whether a run has the override or the value `only`; all have without it."""
    if only is None:
        return True
    values = [word.partition("=")[2] for word in overrides]
    return only in overrides or only in values


def _absent_model(run: Run) -> str:
    """Name the model that a run lacks while downloads are off; empty if none."""
    from huggingface_hub.constants import is_offline_mode

    name = run.config.encoder.name
    needs_no_model = run.config.baseline.name != "none" or run.folder.state() == "done"
    if needs_no_model or has_model(name) or not is_offline_mode():
        return ""
    return f"{name} is not on this computer, and downloads are off; encoder=DIR replaces it"


def _jobs_table(target: Target, jobs: Sequence[Run], refused: Sequence[Refusal]) -> Table:
    """List the runs of a target: finished, to do, or not possible here."""
    rows: list[Row] = []
    to_do = 0
    for job in jobs:
        state = job.folder.state()
        if state != "done":
            to_do += 1
        if state == "absent":
            state = "to do"
        rows.append((job.folder.path.name, state, None))
    for name, reason in refused:
        rows.append((name, "not here", reason))

    title = f"{target.name}: {len(rows)} runs, {to_do} to do; nothing is started"
    note = ""
    if jobs:
        sweep = jobs[0].folder.path.parent
        note = f"Folders in {sweep}."
    return Table(title, ("run", "state", "what is missing"), rows, note)


def _report_paper(options: ReproduceOptions, targets: Sequence[Target]) -> int:
    paper = targets[0].paper
    if any(target.paper != paper for target in targets):
        raise ConfigError("report=true needs a paper: heron reproduce trc report=true")
    from heron_tools.reproduction.claims import claims_table
    from heron_tools.reproduction.results import write_paper_report

    more = [claims_table(paper, list(CLAIMS[paper]()))] if paper in CLAIMS else []
    print_lines(write_paper_report(paper, targets, options.out, more))
    return 0
