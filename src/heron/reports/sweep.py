"""The report of a sweep: scores by group, budgets, tests, a paper's numbers, and a page."""

import dataclasses
import os
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple
from urllib.parse import quote

from heron.base.cells import SYNTHETIC, Cell, Formatted, Table, summarize, to_csv, to_markdown
from heron.base.errors import HeronError, first_line
from heron.base.files import write_file
from heron.base.terminal import print_lines, print_tables
from heron.metrics.names import COPIED_NOTE, is_copied
from heron.reports.pages import render
from heron.reports.run import (
    SPENT,
    ReportFiles,
    caveats,
    data_url,
    spent_cells,
    write_run_report,
)
from heron.results.collect import (
    SPLITS,
    RunRecord,
    cell_of,
    collect,
    headline_metrics,
    is_run,
)
from heron.results.systems import (
    System,
    count_states,
    differing_settings,
    group_runs,
    match_systems,
    settings_line,
    split_systems,
    without_first_runs,
)
from heron.tasks import FORK_ANALYSES

_MOST_PAGES = 60  # a page takes nearly a second; a run in a large grid less
_FIRST = "learnt from"
_MOST_NAMES = 3  # of groups with one budget; others are counted

Totals = list[Mapping[str, Any]]


def write_reports(folders: Sequence[Path]) -> list[ReportFiles]:
    """Write the report of each sweep; of several, print one table of all their runs.

    The sweeps of several experiments lie in a folder each; the experiment is a column.
    """
    several = len(folders) > 1
    files = [write_report(folder, quiet=several) for folder in folders]
    if several:
        runs = [run for folder in folders for run in collect(folder)]
        print_tables([group_table(runs, split) for split in _splits(runs)])
        if any(run.done for run in runs):
            names = shlex.join(map(str, folders))
            print_lines(f"heron compare {names} tests whether they differ")
    return files


def write_report(
    folder: Path,
    out: Path | None = None,
    published: Path | None = None,
    against: str | None = None,
    quiet: bool = False,
) -> ReportFiles:
    """Write the report of a run, or of a sweep and its runs, and print its tables.

    Args:
        folder: of the run or the sweep.
        out: where the files go, by default `folder`, where the runs get pages, too.
        published: of a sweep, a paper's numbers (YAML).
        against: of a sweep, the baseline that its systems are tested against.
        quiet: whether to leave a sweep's tables out of the terminal.

    Returns:
        Paths of `report.html`, `report.png`; of a sweep also `table.csv`, `table.md` and CSV files:
        one for each table of the paper, `spent.csv`, `significance.csv`.

    Raises:
        ConfigError: `folder` holds no run, or none as `against` says.
    """
    folder = Path(folder)
    runs, target = collect(folder), Path(out) if out else folder
    if is_run(folder):
        return write_run_report(runs[0], target)
    # Start-up time: matplotlib.
    from heron.reports.figures import sweep_figure

    splits = _splits(runs)
    tested, untested = significance_tables(runs, splits[0], against)
    unpaged = _write_run_pages(runs) if out is None else []
    states = {run.job: first_line(run.status.get("error")) for run in runs if run.state == "broken"}
    unfinished = (f"{r.job}: {states.get(r.job, r.state)}" for r in runs if not r.done)
    missing = [*unfinished, *untested, *unpaged]
    of_paper, drawn = _paper_view(runs, published, missing)
    groups = [group_table(runs, split) for split in splits]
    named = dict(of_paper)
    for where, table in tested.items():
        name = f"significance {where}".strip()
        named["".join(c if c.isalnum() or c in "=,._-" else "_" for c in name)] = table
    if spent := spent_table(runs):
        named["spent"] = spent
    shown = [*groups, *named.values()]
    print_tables([] if quiet else shown)
    figure = drawn or sweep_figure(runs)
    page = render(
        "sweep.html.j2",
        title=folder.resolve().name,
        synthetic=SYNTHETIC if any(run.synthetic for run in runs) else "",
        states=count_states(runs),
        missing=missing,
        warnings=dict.fromkeys(text for run in runs for text in run.warnings),
        tables=[*shown, runs_table(runs)],
        links=page_links(runs, target),
        figure=data_url(figure),
    )
    files = [
        write_file(target / "table.csv", to_csv(groups[0])),
        write_file(target / "table.md", "\n".join(map(to_markdown, shown))),
        *(write_file(target / f"{part}.csv", to_csv(table)) for part, table in named.items()),
    ]
    html = write_file(target / "report.html", page)
    image = write_file(target / "report.png", figure)
    print_lines(*(f"missing: {line}" for line in missing))
    return ReportFiles(html, image, tuple(files), tuple(missing))


def _splits(runs: Sequence[RunRecord]) -> list[str]:
    return [name for name in SPLITS if any(name in run.scores for run in runs)] or ["test"]


def _write_run_pages(runs: Sequence[RunRecord]) -> list[str]:
    """Write pages of runs that are new or changed; returns what was left out."""
    files = [(run, run.path / "report.html", run.path / "status.json") for run in runs]
    stale = [
        run
        for run, page, status in files
        if not (page.is_file() and status.is_file())
        or page.stat().st_mtime < status.stat().st_mtime
    ]
    if len(stale) > _MOST_PAGES:
        return [f"pages of {len(stale)} single runs: `heron report DIR/<run>` writes one"]
    for run in stale:
        write_run_report(run, run.path, quiet=True)
    return []


def _paper_view(
    runs: Sequence[RunRecord], published: Path | None, missing: list[str]
) -> tuple[Mapping[str, Table], bytes | None]:
    """Set the runs beside a paper's numbers if their key `report` asks for it: tables, a figure."""
    wanted = next((str(run.setting("report")) for run in runs if run.setting("report")), "")
    find = FORK_ANALYSES.find("report_view") if wanted else None
    view = find(wanted, runs, published) if find else None
    if wanted and view is None:
        missing.append(f"{wanted}: no published numbers found; name them with published=FILE")
    return view or ({}, None)


def page_links(runs: Sequence[RunRecord], folder: Path) -> dict[str, str]:
    """Find the runs' pages that exist; addresses relative to `folder`, by job.

    Job names hold `=` and `,`, so addresses are quoted.
    """
    pages = {run.job: run.path / "report.html" for run in runs}
    return {
        job: quote(Path(os.path.relpath(page, folder)).as_posix())
        for job, page in pages.items()
        if page.is_file()
    }


def group_table(runs: Sequence[RunRecord], split: str = "test") -> Table:
    """Compare the groups of a sweep on one split: mean ± sample sd (n) of each headline score."""
    groups, metrics = group_runs(runs), headline_metrics(runs)

    def cell(group: System, metric: str) -> Cell:
        """Summarize; an extractive baseline's score is the same for all systems."""
        values = group.values(split, metric)
        return values[0] if is_copied(metric) and len(set(values)) == 1 else summarize(values)

    rows = [
        (*g.settings.values(), count_states(g.runs), *(cell(g, metric) for metric in metrics))
        for g in groups
    ]
    notes = ["Mean ± sample standard deviation (number of finished runs)."]
    notes += [COPIED_NOTE] if any(map(is_copied, metrics)) else []
    notes += caveats(runs)
    # Settings in which runs differ that should not be compared as they are.
    mixed = dict.fromkeys(key for group in groups for key in differing_settings(group.runs))
    if mixed:
        notes.append(f"Runs of one row differ in more than seeds: {', '.join(mixed)}.")
    apart = [key for key in differing_settings(runs) if key.startswith(("data.", "trainer.max_"))]
    if apart := [key for key in apart if not key.startswith("data.sample")]:
        notes.append(f"Not all runs have the same data or length: {', '.join(apart)} differ.")
    if any(run.synthetic for run in runs):
        notes.append(f"{SYNTHETIC.capitalize()}.")
    columns = (*groups[0].settings, "runs", *metrics)
    return Table(f"{split}: scores", columns, tuple(rows), " ".join(notes))


def runs_table(runs: Sequence[RunRecord], split: str = "test") -> Table:
    """List every run with its state, minutes and headline scores."""
    metrics = headline_metrics(runs)
    rows: list[tuple[Cell, ...]] = []
    for run in runs:
        seconds, scores = run.status.get("seconds"), run.scores.get(split, {})
        minutes = None if seconds is None else Formatted(seconds / 60, ".1f")
        rows.append((run.job, run.state, minutes, *(cell_of(scores, name) for name in metrics)))
    return Table(f"{split}: runs", ("run", "state", "minutes", *metrics), tuple(rows))


def spent_table(runs: Sequence[RunRecord]) -> Table | None:
    """Set the training budgets of a sweep's groups side by side: means over their finished runs.

    Returns:
        None where no run has a curriculum and all groups took the same steps.
    """
    chosen = without_first_runs(runs)
    first = [run for run in runs if run not in chosen]
    groups = _spent(chosen)
    budgets: dict[float, list[str]] = {}
    for group, totals in groups:
        budgets.setdefault(fmean([t["steps"] for t in totals]), []).append(group.label)
    if not groups or (len(budgets) < 2 and all(run.curriculum == "none" for run in runs)):
        return None
    keys = tuple(groups[0][0].settings)
    rows: list[tuple[Cell, ...]] = [
        (*group.settings.values(), len(totals), *spent_cells(totals)) for group, totals in groups
    ]
    for group, totals in _spent(first):
        others = (group.settings.get(key, "–") for key in keys[1:])
        rows.append((*([_FIRST, *others] if keys else []), len(totals), *spent_cells(totals)))
    notes = [
        "Means over finished runs. steps: of the optimizer; planned: before any early stop; "
        "samples: rows, repeated ones as often as seen; tokens: without padding; padding: share of "
        "all positions in the batches."
    ]
    if len(budgets) > 1:
        listed = []
        for steps, names in sorted(budgets.items()):
            shown = ", ".join(names) if len(names) <= _MOST_NAMES else f"{len(names)} groups"
            listed.append(f"{steps:,.6g} steps ({shown})")
        notes.append(f"Not equal budgets: {'; '.join(listed)}.")
    if first:
        notes.append(f"{_FIRST}: runs whose dynamics the curricula use come on top, once per seed.")
    return Table("Spent", (*keys, "runs", *SPENT), tuple(rows), " ".join(notes))


def _spent(runs: Sequence[RunRecord]) -> list[tuple[System, Totals]]:
    """Group the finished runs that left a ledger: baselines and older runs have none."""
    found = []
    for group in group_runs(runs):
        ledgers = [run.ledger for run in group.runs if run.done and run.ledger]
        totals: Totals = [
            {"planned": ledger["planned_steps"], **ledger["total"]} for ledger in ledgers
        ]
        found += [(group, totals)] if totals else []
    return found


DRAWS = 2_000  # a report of a hundred runs must not take a minute


class Match(NamedTuple):
    """Systems that differ only in the settings that are compared."""

    where: str  # the settings that set this match apart from others, `encoder.freeze=4`
    baseline: System  # that the others are compared with
    systems: Sequence[System]  # all, with the baseline


def significance_tables(
    runs: Sequence[RunRecord], split: str, against: str | None = None
) -> tuple[dict[str, Table], list[str]]:
    """Test a sweep's systems against a baseline.

    The baseline is named by `against`: settings (`curriculum=none`), a run's name or its path.
    Default: the runs without a curriculum and with the curricula's oversampling.

    Returns:
        Tables by their systems' shared settings (empty where there is one table), and the reasons
        why others could not be compared.

    Raises:
        ConfigError: no run is as `against` says.
    """
    systems = group_runs(without_first_runs(runs))
    missing: list[str] = []
    matches = _named(systems, against) if against else _by_curriculum(systems, missing)
    tables = dict[str, Table]()
    for match in matches:
        found = _compare(match, split)
        if isinstance(found, str):
            where = f" ({match.where})" if match.where else ""
            missing.append(f"significance{where} against {match.baseline.label}: {found}")
        else:  # what the columns mean is said once
            note = found.note if not tables else found.note.partition("Cochran")[1:]
            tables[match.where] = dataclasses.replace(found, note="".join(note))
    return tables, missing


def _named(systems: Sequence[System], against: str) -> list[Match]:
    """Find the named baseline; if it fits several systems, make a table for each."""
    fitting = [systems[n] for n in match_systems(against, systems)]
    if len(fitting) == 1:
        return [Match("", fitting[0], systems)]
    compared = {part.strip().partition("=")[0] for part in against.split(",")}
    return [
        Match(settings_line(settings), baseline, same)
        for settings, same in split_systems(systems, lambda key: key not in compared)
        for baseline in same
        if baseline in fitting
    ]


def _by_curriculum(systems: Sequence[System], missing: list[str]) -> list[Match]:
    """Match curricula with the only system that has none, trained on the same rows."""
    trained = [one for one in systems if one.runs[0].setting("baseline.name", "none") == "none"]
    matches = []
    named = ("curriculum", "experiment")
    for settings, same in split_systems(
        trained, lambda key: key not in named and not key.startswith("curriculum.")
    ):
        # Oversampling makes another baseline, whether or not it was swept over.
        for rows in dict.fromkeys(map(_oversampling, same)):
            alike = [one for one in same if _oversampling(one) == rows]
            curricula = [one for one in alike if one.runs[0].curriculum != "none"]
            without = [one for one in alike if one not in curricula]
            if curricula and len(without) == 1:
                matches.append(Match(settings_line(settings), without[0], (*without, *curricula)))
            elif curricula and without:
                labels = "; ".join(one.label for one in without)
                missing.append(
                    f"significance: several groups have no curriculum ({labels}); "
                    "name one with against="
                )
    return matches


def _oversampling(system: System) -> str:
    run = system.runs[0]
    how = str(run.setting("batching.oversample", "none"))
    return how if how == "none" else f"{how} {run.setting('batching.multipliers')}"


def _compare(match: Match, split: str) -> Table | str:
    """Compare one match, or say why not."""
    # Start-up time: most reports compare nothing.
    from heron.results.comparing import CompareOptions, compare_runs
    from heron.results.comparison import systems_table

    baseline, *_ = match.baseline.done or match.baseline.runs
    runs = [run for system in match.systems for run in system.done]
    try:
        options = CompareOptions(split=split, draws=DRAWS)
        comparison = compare_runs(runs, against=baseline.job, options=options)
    except HeronError as error:
        return first_line(error)
    table = systems_table(comparison, split)
    notes = [table.note, "heron compare shows the tests over seeds as well, with more draws."]
    if found := comparison.cochran_q:
        notes.append(
            "Cochran's Q over the best runs of all systems, right or wrong: "
            f"Q({found.degrees}) = {found.statistic:.1f}, p = {found.p:.2g}."
        )
    title = f"{table.title}, where {match.where}" if match.where else table.title
    return dataclasses.replace(table, title=title, note=" ".join(notes))
