"""`heron report DIR`: tables, a figure and an HTML page from what a run or a sweep left behind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from heron.config.options import parse_folder
from heron.reports.run import write_report


@dataclass
class ReportOptions:
    """Options of `heron report`.

    Args:
        folder: a run folder or a sweep folder.
        out: where the report goes; default: into `folder`.
        published: a paper's published numbers; default: found by the runs' `report` key.
        against: the baseline to test a sweep's systems against, as in `heron compare`; default: the
            runs without a curriculum, where others have one.
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
