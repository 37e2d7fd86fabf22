"""`heron runs`: the sweeps and runs under a folder, with their scores, sizes and ages."""

import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
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
    of_runs = []
    of_sweeps = []
    spare = []
    for sweep, runs in runs_by_sweep(options.folder).items():
        of_sweeps.append(row_of(sweep, count_states(runs), runs))
        for record in runs:
            of_runs.append(row_of(record.path, record.state, [record]))
            spare += spare_checkpoints(record)

    runs_table = Table("Runs", ("run", *_COLUMNS), of_runs, _NOTE)
    print_tables([runs_table, Table("Sweeps", ("sweep", *_COLUMNS), of_sweeps, _NOTE)])
    if spare:
        size = show(megabytes(spare))
        print_lines(f"{size} MB are checkpoints that ended runs do without: heron runs clean")
    return 0


def runs_by_sweep(folder: Path) -> dict[Path, list[RunRecord]]:
    """Read all runs under a folder, by the folder they lie in; a run's own folder is read, too.

    Raises:
        ConfigError: there are none.
    """
    sweeps = [folder] if is_run(folder) else find_sweeps(folder)
    if not sweeps:
        raise ConfigError(f"no runs under {folder}; heron train writes them (paths.runs)")
    return {sweep: collect(sweep) for sweep in sweeps}


def row_of(folder: Path, state: str, runs: Sequence[RunRecord]) -> list[Cell]:
    """Show a run's or a sweep's state, best score on validation, size and age."""
    metrics = {str(record.setting("trainer.monitor", "")) for record in runs}
    metric = metrics.pop() if len(metrics) == 1 else ""
    age = duration(time.time() - max(map(last_sign, runs)))
    size = megabytes(folder.rglob("*"))
    # One word, which no line break parts.
    return [str(folder), state, metric, best_score(runs, metric), size, age.replace(" ", "")]


def best_score(runs: Sequence[RunRecord], metric: str) -> float | None:
    """Find the best score on validation."""
    scores = [record.score("validation", metric) for record in runs]
    known = [score for score in scores if score is not None]
    if not known:
        return None
    return min(known) if is_minimised(metric) else max(known)


def last_sign(record: RunRecord) -> float:
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


def megabytes(paths: Iterable[Path]) -> Formatted:
    """Add up the sizes of files; of those that are one file (hard links), once."""
    sizes = {}
    for path in paths:
        with suppress(FileNotFoundError):  # a run that is training replaces its files
            status = path.lstat()
            sizes[status.st_dev, status.st_ino] = status.st_size * path.is_file()
    return Formatted(sum(sizes.values()) / 1e6, ",.1f")
