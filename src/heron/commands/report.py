"""`heron report DIR`: tables, a figure and an HTML page from what a run or a sweep left behind."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from heron.base.terminal import print_lines
from heron.config.parsing import parse_options
from heron.reports.sweep import write_report


@dataclass
class ReportOptions:
    """Options of `heron report`."""

    run: Path  # or a sweep
    out: Path | None = None  # default: into `run`
    published: Path | None = None  # a paper's numbers; default: found by the runs' key `report`
    # The baseline to test a sweep's systems against, as in `heron compare`; default: the runs
    # without a curriculum, where others have one.
    against: str | None = None


def run(arguments: Sequence[str]) -> int:
    """Write and name the files of a report; returns the exit code."""
    options = parse_options(ReportOptions, arguments)
    files = write_report(options.run, options.out, options.published, options.against)
    print_lines(files.html, files.figure, *files.tables)
    return 0
