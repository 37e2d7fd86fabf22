"""The report of a sweep: scores by group, budgets, tests, a paper's numbers, and a page."""

import dataclasses
import os
import re
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
from heron.data.config import own_table_name
from heron.metrics.names import COPIED_NOTE, is_copied
from heron.reports.pages import render
from heron.reports.run import (
    SPENT,
    ReportFiles,
    caveats,
    data_urls,
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

_MOST_PAGES = 60  # writing a page takes nearly a second, longer than a run of a large grid
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
    target = Path(out) if out else folder
    runs = collect(folder)
    if is_run(folder):
        return write_run_report(runs[0], target)

    # Start-up time: matplotlib.
    from heron.reports.figures import sweep_figure, sweep_panels

    splits = _splits(runs)
    significance, untested = significance_tables(runs, splits[0], against)
    missing = []
    for run in runs:
        if not run.done:
            broken = run.state == "broken"
            state = first_line(run.status.get("error")) if broken else run.state
            missing.append(f"{run.job}: {state}")

    missing += untested
    if out is None:
        missing += _write_run_pages(runs)

    paper_tables, paper_figure = _paper_view(runs, published, missing)
    tables = dict(paper_tables)
    for settings, table in significance.items():
        name = f"significance {settings}".strip()
        tables[_file_name(name)] = table

    spent = spent_table(runs)
    if spent:
        tables["spent"] = spent

    groups = [group_table(runs, split) for split in splits]
    shown = [*groups, *tables.values()]
    if not quiet:
        print_tables(shown)

    figure = paper_figure or sweep_figure(runs)
    panels = [("as in the paper", paper_figure)] if paper_figure else sweep_panels(runs)
    page = render(
        "sweep.html.j2",
        title=title_of(runs, folder),
        synthetic=SYNTHETIC if any(run.synthetic for run in runs) else "",
        states=count_states(runs),
        missing=missing,
        warnings=dict.fromkeys(text for run in runs for text in run.warnings),
        tables=[*shown, runs_table(runs)],
        links=page_links(runs, target),
        panels=data_urls(panels),
    )
    files = [
        write_file(target / "table.csv", to_csv(groups[0])),
        write_file(target / "table.md", "\n".join(map(to_markdown, shown))),
    ]
    for name, table in tables.items():
        files.append(write_file(target / f"{name}.csv", to_csv(table)))

    html = write_file(target / "report.html", page)
    image = write_file(target / "report.png", figure)
    print_lines(*(f"missing: {line}" for line in missing))
    return ReportFiles(html, image, tuple(files), tuple(missing))


def title_of(runs: Sequence[RunRecord], folder: Path) -> str:
    """Name a sweep by its folder, after a user's own tables."""
    tables = {own_table_name(run.setting("data", {})) for run in runs} - {""}
    return ", ".join([*sorted(tables), folder.resolve().name])


def _file_name(title: str) -> str:
    """Make a file's name of a table's; signs that a path cannot hold become `_`."""
    return re.sub(r"[^\w=,.-]", "_", title)


def _splits(runs: Sequence[RunRecord]) -> list[str]:
    scored = {split for run in runs for split in run.scores}
    return [split for split in SPLITS if split in scored] or ["test"]


def _write_run_pages(runs: Sequence[RunRecord]) -> list[str]:
    """Write pages of runs that are new or changed; returns what was left out."""
    stale = []
    for run in runs:
        page = run.path / "report.html"
        status = run.path / "status.json"
        have_both = page.is_file() and status.is_file()
        if not have_both or page.stat().st_mtime < status.stat().st_mtime:
            stale.append(run)

    if len(stale) > _MOST_PAGES:
        return [f"pages of {len(stale)} single runs: `heron report DIR/<run>` writes one"]

    for run in stale:
        write_run_report(run, run.path, quiet=True)

    return []


def _paper_view(
    runs: Sequence[RunRecord], published: Path | None, missing: list[str]
) -> tuple[Mapping[str, Table], bytes | None]:
    """Compare the runs with the paper's numbers that their key `report` names.

    Returns:
        Tables by name, and a figure as PNG bytes; empty and None where there are no numbers.
    """
    wanted = [str(run.setting("report")) for run in runs if run.setting("report")]
    if not wanted:
        return {}, None

    report_view = FORK_ANALYSES.find("report_view")
    view = report_view(wanted[0], runs, published) if report_view else None
    if view is None:
        missing.append(f"{wanted[0]}: no published numbers found; name them with published=FILE")
        return {}, None

    return view


def page_links(runs: Sequence[RunRecord], folder: Path) -> dict[str, str]:
    """Find the runs' pages that exist.

    Args:
        runs: of the sweep.
        folder: the folder of the page that links to them.

    Returns:
        Addresses relative to `folder`, by job; they are quoted, because names of jobs hold `=`
        and `,`.
    """
    links = {}
    for run in runs:
        page = run.path / "report.html"
        if page.is_file():
            address = Path(os.path.relpath(page, folder)).as_posix()
            links[run.job] = quote(address)

    return links


def group_table(runs: Sequence[RunRecord], split: str = "test") -> Table:
    """Compare the groups of a sweep on one split.

    Args:
        runs: of the sweep, finished or not.
        split: whose scores are shown.

    Returns:
        A row for each group: its settings, the states of its runs, and of each headline score the
        mean ± sample sd (n).
    """
    groups = group_runs(runs)
    metrics = headline_metrics(runs)

    rows = []
    mixed: dict[str, None] = {}
    for group in groups:
        cells: list[Cell] = [*group.settings.values(), count_states(group.runs)]
        for metric in metrics:
            scores = group.values(split, metric)
            # An extractive baseline's score is the same for all systems.
            is_constant = is_copied(metric) and len(set(scores)) == 1
            cells.append(scores[0] if is_constant else summarize(scores))

        rows.append(tuple(cells))
        mixed |= dict.fromkeys(differing_settings(group.runs))

    notes = ["Mean ± sample standard deviation (number of finished runs)."]
    if any(map(is_copied, metrics)):
        notes.append(COPIED_NOTE)

    notes += caveats(runs)
    # Runs that differ in such settings should not be compared as they are.
    if mixed:
        notes.append(f"Runs of one row differ in more than seeds: {', '.join(mixed)}.")

    of_data = []
    for key in differing_settings(runs):
        if key.startswith(("data.", "trainer.max_")) and not key.startswith("data.sample"):
            of_data.append(key)

    if of_data:
        notes.append(f"Not all runs have the same data or length: {', '.join(of_data)} differ.")
    if any(run.synthetic for run in runs):
        notes.append(f"{SYNTHETIC.capitalize()}.")

    columns = (*groups[0].settings, "runs", *metrics)
    return Table(f"{split}: scores", columns, rows, " ".join(notes))


def runs_table(runs: Sequence[RunRecord]) -> Table:
    """List every run with its state, minutes and headline scores on test."""
    metrics = headline_metrics(runs)
    rows = []
    for run in runs:
        seconds = run.status.get("seconds")
        minutes = None if seconds is None else Formatted(seconds / 60, ".1f")
        scores = run.scores.get("test", {})
        cells = [cell_of(scores, metric) for metric in metrics]
        rows.append((run.job, run.state, minutes, *cells))

    return Table("test: runs", ("run", "state", "minutes", *metrics), rows)


def spent_table(runs: Sequence[RunRecord]) -> Table | None:
    """Set the training budgets of a sweep's groups side by side: means over their finished runs.

    Returns:
        None where no run has a curriculum and all groups took the same steps.
    """
    main = without_first_runs(runs)
    first = [run for run in runs if run not in main]
    groups = _spent(main)

    labels_by_steps: dict[float, list[str]] = {}
    for group, totals in groups:
        steps = fmean(total["steps"] for total in totals)
        labels_by_steps.setdefault(steps, []).append(group.label)

    have_curricula = any(run.curriculum != "none" for run in runs)
    if not groups or (len(labels_by_steps) < 2 and not have_curricula):
        return None

    keys = tuple(groups[0][0].settings)
    rows = []
    for group, totals in groups:
        rows.append((*group.settings.values(), len(totals), *spent_cells(totals)))

    for group, totals in _spent(first):
        others = [group.settings.get(key, "–") for key in keys[1:]]
        cells = [_FIRST, *others] if keys else []
        rows.append((*cells, len(totals), *spent_cells(totals)))

    notes = [
        "Means over finished runs. steps: of the optimizer; planned: before any early stop; "
        "samples: rows, repeated ones as often as seen; tokens: without padding; padding: share of "
        "all positions in the batches."
    ]

    if len(labels_by_steps) > 1:
        budgets = []
        for steps, labels in sorted(labels_by_steps.items()):
            count = len(labels)
            shown = ", ".join(labels) if count <= _MOST_NAMES else f"{count} groups"
            budgets.append(f"{steps:,.6g} steps ({shown})")

        notes.append(f"Not equal budgets: {'; '.join(budgets)}.")

    if first:
        notes.append(f"{_FIRST}: runs whose dynamics the curricula use come on top, once per seed.")

    return Table("Spent", (*keys, "runs", *SPENT), rows, " ".join(notes))


def _spent(runs: Sequence[RunRecord]) -> list[tuple[System, Totals]]:
    """Group the finished runs that have a ledger: baselines have none."""
    groups = []
    for group in group_runs(runs):
        totals: Totals = []
        for run in group.done:
            if run.ledger:
                totals.append({"planned": run.ledger["planned_steps"], **run.ledger["total"]})

        if totals:
            groups.append((group, totals))

    return groups


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

    tables: dict[str, Table] = {}
    for match in matches:
        try:
            table = _compare(match, split)
        except HeronError as error:
            where = f" ({match.where})" if match.where else ""
            reason = f"against {match.baseline.label}: {first_line(error)}"
            missing.append(f"significance{where} {reason}")
            continue

        if tables:  # the first table's note says what the columns mean
            _, cochran, result = table.note.partition("Cochran")
            table = dataclasses.replace(table, note=cochran + result)

        tables[match.where] = table

    return tables, missing


def _named(systems: Sequence[System], against: str) -> list[Match]:
    """Find the named baseline; if it fits several systems, make a table for each."""
    baselines = [systems[index] for index in match_systems(against, systems)]
    if len(baselines) == 1:
        return [Match("", baselines[0], systems)]

    compared = {part.strip().partition("=")[0] for part in against.split(",")}
    matches = []
    for settings, same in split_systems(systems, lambda key: key not in compared):
        where = settings_line(settings)
        matches += [Match(where, system, same) for system in same if system in baselines]

    return matches


def _by_curriculum(systems: Sequence[System], missing: list[str]) -> list[Match]:
    """Match curricula with the only system that has none, trained on the same rows."""
    trained = [system for system in systems if system.runs[0].baseline == "none"]
    matches = []
    for settings, same in split_systems(trained, _is_shared):
        # Oversampling makes another baseline, whether or not it was swept over.
        for rows in dict.fromkeys(map(_oversampling, same)):
            without = []
            curricula = []
            for system in same:
                if _oversampling(system) != rows:
                    continue
                if system.runs[0].curriculum == "none":
                    without.append(system)
                else:
                    curricula.append(system)

            if curricula and len(without) == 1:
                where = settings_line(settings)
                matches.append(Match(where, without[0], (*without, *curricula)))
            elif curricula and without:
                labels = "; ".join(system.label for system in without)
                missing.append(
                    f"significance: several groups have no curriculum ({labels}); "
                    "name one with against="
                )

    return matches


def _is_shared(key: str) -> bool:
    """Tell whether a curriculum and the system without one have the same value of a key."""
    return key not in ("curriculum", "experiment") and not key.startswith("curriculum.")


def _oversampling(system: System) -> str:
    """Describe on which rows a system was trained, by its oversampling."""
    run = system.runs[0]
    mode = str(run.setting("batching.oversample", "none"))
    return mode if mode == "none" else f"{mode} {run.setting('batching.multipliers')}"


def _compare(match: Match, split: str) -> Table:
    """Compare one match.

    Raises:
        HeronError: its runs cannot be compared.
    """
    # Start-up time: most reports compare nothing.
    from heron.results.comparison import systems_table
    from heron.results.run_comparison import CompareOptions, compare_runs

    baseline = (match.baseline.done or match.baseline.runs)[0]
    runs = [run for system in match.systems for run in system.done]
    options = CompareOptions(split=split, draws=DRAWS)
    comparison = compare_runs(runs, against=baseline.job, options=options)
    table = systems_table(comparison, split)
    notes = [table.note, "heron compare shows the tests over seeds as well, with more draws."]
    test = comparison.cochran_q

    if test:
        notes.append(
            "Cochran's Q over the best runs of all systems, right or wrong: "
            f"Q({test.degrees}) = {test.statistic:.1f}, p = {test.p:.2g}."
        )

    title = f"{table.title}, where {match.where}" if match.where else table.title
    return dataclasses.replace(table, title=title, note=" ".join(notes))
