"""`heron runs clean`: remove checkpoints that ended runs do without."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from heron.base.cells import Table, show
from heron.base.terminal import print_lines, print_tables
from heron.config.parsing import parse_options
from heron_tools.dashboard.runs import megabytes, runs_by_sweep, spare_checkpoints


@dataclass
class CleanOptions:
    """Options of `heron runs clean`."""

    folder: Path = Path("runs")  # folder of sweeps, a sweep or a run
    dry: bool = True  # list the files; false: remove them


def run(arguments: Sequence[str]) -> int:
    """Run `heron runs clean [DIR] [dry=false]`; returns the exit code."""
    options = parse_options(CleanOptions, arguments)
    rows = []
    spare = []
    for runs in runs_by_sweep(options.folder).values():
        for record in runs:
            for path in spare_checkpoints(record):
                rows.append((str(path), record.state, megabytes([path])))
                spare.append(path)

    print_tables([Table("Checkpoints that ended runs do without", ("file", "state", "MB"), rows)])
    size = f"{len(spare)} files, {show(megabytes(spare))} MB"
    if options.dry:
        print_lines(f"{size}; dry=false removes them")
        return 0

    for path in spare:
        path.unlink(missing_ok=True)
    print_lines(f"removed {size}")
    return 0
