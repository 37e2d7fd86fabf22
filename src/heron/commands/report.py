"""`heron report DIR`: tables, a figure and an HTML page from what a run or a sweep left behind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from heron.base.errors import ConfigError
from heron.config.options import parse_folder
from heron.reports.run import ReportFiles, write_run_report
from heron.results.collect import collect, is_run


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
        Paths of the files; see `write_run_report` and `write_sweep_report`.

    Raises:
        ConfigError: `folder` holds no run, or none as `against` says.
    """
    folder = Path(folder)
    runs = collect(folder)
    if is_run(folder):
        if against:
            raise ConfigError(f"against={against} needs a sweep, and {folder} is one run")
        files = write_run_report(runs[0], Path(out) if out else folder)
    else:
        # Start-up time: the report of one run needs no papers, budgets or tests.
        from heron.reports.sweep import write_sweep_report

        files = write_sweep_report(folder, runs, out, published, against)
    for line in files.missing:
        print(f"missing: {line}")
    return files
