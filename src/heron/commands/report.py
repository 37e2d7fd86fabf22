"""`heron report DIR`: tables, a figure and an HTML page from what a run or a sweep left behind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from heron.base.cells import Table, to_csv, to_markdown
from heron.base.errors import ConfigError
from heron.base.files import atomic_open
from heron.base.terminal import print_tables
from heron.config.options import parse_folder
from heron.reports.budgets import spent_table, stage_table
from heron.reports.papers import PaperView, paper_view
from heron.reports.significance import significance_tables
from heron.reports.tables import class_table, group_table, runs_table, score_table
from heron.results.collect import RunRecord, collect, is_run
from heron.results.published import find_published

_MOST_PAGES = 60  # each takes most of a second; a grid of hundreds trains in less


@dataclass
class ReportOptions:
    """Options of `heron report`.

    Args:
        folder: a run folder or a sweep folder.
        out: where the report goes; default: into `folder`.
        published: a paper's published numbers; default: found by the runs' `report` key.
        against: the baseline that a sweep's systems are tested against, as in `heron compare`;
            default: the runs without a curriculum, where others have one.
    """

    folder: Path
    out: Path | None = None
    published: Path | None = None
    against: str | None = None


@dataclass(frozen=True, slots=True)
class ReportFiles:
    """What was written, and what could not be shown and why."""

    html: Path
    figure: Path
    tables: tuple[Path, ...] = ()
    missing: tuple[str, ...] = ()


def run(arguments: Sequence[str]) -> int:
    """Run `heron report DIR [out=DIR] [published=FILE] [against=GROUP]`; returns the exit code."""
    options = parse_folder(
        ReportOptions, arguments, "name a run or a sweep: heron report runs/<sweep>"
    )
    files = write_report(options.folder, options.out, options.published, options.against)
    for path in (files.html, files.figure, *files.tables):
        print(path)
    return 0


def write_report(
    folder: Path,
    out: Path | None = None,
    published: Path | None = None,
    against: str | None = None,
) -> ReportFiles:
    """Write the report of a run or a sweep and print its tables.

    Args:
        folder: a run folder or a sweep folder.
        out: where the files go; default: into `folder`.
        published: a paper's numbers (YAML) for sweeps whose configuration asks for a paper's view.
        against: the baseline that a sweep's systems are tested against.

    Returns:
        Paths of `report.html` and `report.png`; for a sweep also `table.csv`, `table.md` and CSV
        files: one for each table of the paper, `spent.csv`, `significance.csv`.

    Raises:
        ConfigError: `folder` holds no run, or none as `against` says.
    """
    folder = Path(folder)
    runs = collect(folder)
    target = Path(out) if out else folder
    if is_run(folder):
        if against:
            raise ConfigError(f"against={against} needs a sweep, and {folder} is one run")
        files = _write_run(runs[0], target)
    else:
        further, missing = _further_tables(runs, against)
        missing += _write_run_pages(runs) if out is None else []
        files = _write_sweep(folder.resolve().name, runs, target, published, further, missing)
    for line in files.missing:
        print(f"missing: {line}")
    return files


def _write_run(run: RunRecord, target: Path, quiet: bool = False) -> ReportFiles:
    from heron.reports.figures import run_figure
    from heron.reports.html import run_page
    from heron.results.artefacts import read_artefacts

    artefacts = read_artefacts(run)
    scores, classes = score_table(run), class_table(run, artefacts.split)
    if not quiet:
        print_tables([scores, classes])
    figure = run_figure(run, artefacts)
    page = run_page(run, artefacts, [scores, classes, stage_table(run)], figure)
    html = _write(target / "report.html", page)
    return ReportFiles(html, _write(target / "report.png", figure), (), artefacts.missing)


def _write_run_pages(runs: Sequence[RunRecord]) -> list[str]:
    """Write the page of every run that changed since its page was written.

    Returns:
        What was left out: of very many runs, pages are written for those who ask.
    """
    stale = [run for run in runs if not _has_fresh_page(run)]
    if len(stale) > _MOST_PAGES:
        return [f"pages of {len(stale)} single runs: `heron report DIR/<run>` writes one"]
    for run in stale:
        _write_run(run, run.path, quiet=True)
    return []


def _has_fresh_page(run: RunRecord) -> bool:
    page, status = run.path / "report.html", run.path / "status.json"
    both = page.is_file() and status.is_file()
    return both and page.stat().st_mtime >= status.stat().st_mtime


def _write_sweep(
    name: str,
    runs: Sequence[RunRecord],
    target: Path,
    published: Path | None,
    further: Mapping[str, Table],
    left_out: Sequence[str],
) -> ReportFiles:
    from heron.reports.figures import fraction_figure, sweep_figure
    from heron.reports.html import sweep_page

    missing = [*(f"{run.job}: {run.state}" for run in runs if not run.done), *left_out]
    view = _paper_view(runs, published, missing)
    groups = [group_table(runs, split) for split in _splits(runs)]
    named = {**view.tables, **further}
    shown = [*groups, *named.values()]
    print_tables(shown)
    figure = fraction_figure(view) if view.curves else sweep_figure(runs)
    page = sweep_page(name, runs, [*shown, runs_table(runs)], figure, missing, target)
    tables = [
        _write(target / "table.csv", to_csv(groups[0])),
        _write(target / "table.md", "\n".join(map(to_markdown, shown))),
        *(_write(target / f"{part}.csv", to_csv(table)) for part, table in named.items()),
    ]
    html = _write(target / "report.html", page)
    image = _write(target / "report.png", figure)
    return ReportFiles(html, image, tuple(tables), tuple(missing))


def _further_tables(
    runs: Sequence[RunRecord], against: str | None
) -> tuple[dict[str, Table], list[str]]:
    """Build the tables of tests and of budgets, by file name; and what could not be compared."""
    tested, missing = significance_tables(runs, _splits(runs)[0], against)
    tables = {
        "".join(
            c if c.isalnum() or c in "=,._-" else "_" for c in f"significance {where}".strip()
        ): t
        for where, t in tested.items()
    }
    spent = spent_table(runs)
    return {**tables, **({"spent": spent} if spent else {})}, missing


def _splits(runs: Sequence[RunRecord]) -> list[str]:
    present = {split for run in runs for split in run.scores}
    return [split for split in ("test", "validation") if split in present] or ["test"]


def _paper_view(runs: Sequence[RunRecord], published: Path | None, missing: list[str]) -> PaperView:
    """Set the runs beside the paper's numbers, if their configuration asks for it."""
    wanted = next((str(run.setting("report")) for run in runs if run.setting("report")), "")
    if not wanted:
        return PaperView({})
    path = published or find_published(wanted)
    if path is None:
        missing.append(f"{wanted}: no published numbers found; name them with published=FILE")
        return PaperView({})
    return paper_view(wanted, runs, path)


def _write(path: Path, content: str | bytes) -> Path:
    with atomic_open(path, "wb" if isinstance(content, bytes) else "w") as file:
        file.write(content)
    return path
