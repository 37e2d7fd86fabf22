"""`heron runs`: the sweeps and runs under a folder, with their scores, sizes and ages."""

import os
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from heron.base.cells import Cell, Formatted, Table, show
from heron.base.errors import ConfigError
from heron.base.run_folder import RunFolder
from heron.base.terminal import duration, print_lines, print_tables
from heron.config.parsing import parse_options
from heron.metrics.names import is_minimised
from heron.results.collect import RunRecord, collect, find_sweeps, is_run
from heron.results.systems import count_states

_COLUMNS = ("state", "metric", "validation", "MB", "age")
_NOTE = "validation: by trainer.monitor; of a sweep, its best. age: since the last sign of life."


@dataclass
class RunsOptions:
    """Options of `heron runs`."""

    folder: Path = Path("runs")  # folder of sweeps, a sweep or a run


def run(arguments: Sequence[str]) -> int:
    """Run `heron runs [DIR]`; returns the exit code."""
    options = parse_options(RunsOptions, arguments)
    found = runs_by_sweep(options.folder)
    print_tables([runs_table(options.folder, found), sweeps_table(options.folder, found)])
    spare = []
    for runs in found.values():
        for record in runs:
            spare += spare_checkpoints(record)
    if spare:
        size = show(megabytes(spare))
        print_lines(f"{size} MB are checkpoints that ended runs do without: heron runs clean")
    return 0


def runs_by_sweep(folder: Path) -> dict[Path, list[RunRecord]]:
    """Read all runs under a folder, by the folder they lie in.

    Raises:
        ConfigError: there are none.
    """
    if is_run(folder):
        return {folder.parent: collect(folder)}
    sweeps = find_sweeps(folder)
    if not sweeps:
        raise ConfigError(f"no runs under {folder}; heron train writes them (paths.runs)")
    return {sweep: collect(sweep) for sweep in sweeps}


def runs_table(folder: Path, found: dict[Path, list[RunRecord]]) -> Table:
    """Show each run's state, score on validation, size and age."""
    now = time.time()
    rows = []
    for runs in found.values():
        for record in runs:
            metric = monitor(record)
            row: list[Cell] = [_name(record.path, folder), record.state, metric]
            row += [record.score("validation", metric), megabytes(_files(record.path))]
            row.append(_age(now - last_change(record)))
            rows.append(row)
    return Table("Runs", ("run", *_COLUMNS), rows, _NOTE)


def sweeps_table(folder: Path, found: dict[Path, list[RunRecord]]) -> Table:
    """Show each sweep's states, best score, size (with its pages) and age."""
    now = time.time()
    rows = []
    for sweep, runs in found.items():
        metrics = {monitor(record) for record in runs}
        metric = metrics.pop() if len(metrics) == 1 else ""
        row: list[Cell] = [_name(sweep, folder), count_states(runs), metric]
        row += [best_score(runs, metric), megabytes(_files(sweep))]
        row.append(_age(now - max(map(last_change, runs))))
        rows.append(row)
    return Table("Sweeps", ("sweep", *_COLUMNS), rows, _NOTE)


def monitor(record: RunRecord) -> str:
    """Name the score that a run monitors."""
    return str(record.setting("trainer.monitor", ""))


def best_score(runs: Sequence[RunRecord], metric: str) -> float | None:
    """Find the best score on validation of finished runs."""
    scores = [record.score("validation", metric) for record in runs if record.done]
    known = [score for score in scores if score is not None]
    if not known:
        return None
    return min(known) if is_minimised(metric) else max(known)


def last_change(record: RunRecord) -> float:
    """Return the Unix time of a run's last sign of life; of a copied run, too."""
    heartbeat = record.status.get("heartbeat") or {}
    return float(heartbeat.get("time") or record.path.stat().st_mtime)


def spare_checkpoints(record: RunRecord) -> list[Path]:
    """List the checkpoints that a run and its stages do without: it has ended for good.

    A pruned run counts as ended: its search does not continue it. A run that was to keep its
    checkpoints keeps them; so does one that is trained again, or whose model has changed.
    """
    is_pruned = record.state == "pruned" and record.status.get("pruned_by")
    if not record.done and not is_pruned:
        return []
    run = RunFolder(record.path)
    if record.setting("run.keep_checkpoints") or run.is_busy() or run.changed():
        return []

    spare = []
    for folder in (record.path, *sorted(record.path.glob("stages/*"))):
        spare += RunFolder(folder).spare_checkpoints()
    return spare


def megabytes(files: Iterable[Path]) -> Formatted:
    """Add up the sizes of files; of those that are one file (hard links), once."""
    sizes = {}
    for path in files:
        status = os.lstat(path)
        sizes[status.st_dev, status.st_ino] = status.st_size
    return Formatted(sum(sizes.values()) / 1e6, ",.1f")


def _name(path: Path, folder: Path) -> str:
    """Name a folder by what to type after `heron report`."""
    return os.path.relpath(path) if not folder.is_absolute() else str(path)


def _age(seconds: float) -> str:
    """Show an age as one word, which no line break parts."""
    return duration(seconds).replace(" ", "")


def _files(folder: Path) -> Iterator[Path]:
    """List the files in a folder at any depth; links to folders are not followed."""
    for parent, _, names in os.walk(folder):
        for name in names:
            yield Path(parent, name)
