"""The table of `heron strength`: each cell beside the one that it is compared with."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from heron.base.cells import Cell as Value
from heron.base.cells import Formatted, Interval, Summary, Table, summarize, to_markdown
from heron.base.errors import HeronError
from heron.base.files import write_file
from heron.base.run_files import read_record
from heron.base.run_folder import RunFolder
from heron.metrics.significance import holm
from heron.results.collect import RunRecord, collect
from heron.results.comparing import CompareOptions, compare
from heron.results.comparison import AgainstBaseline, Comparison
from heron.results.systems import System

from .cells import Cell, Plan

_NOTE = (
    "Score: mean ± sample sd (n) over seeds, folds together, on the rows that both cells have; of "
    "a cell that is compared with none, over its runs. Difference: paired bootstrap of whole "
    "documents or texts, 95 %; p: approximate randomisation, Holm's within set and table. Minutes: "
    "processor time of a run, mean. +: trained on further data."
)
MINUTES = "minutes.json"  # processor minutes by run
COLUMNS = ("set", "recipe", "runs", "score", "of", "difference", "p (Holm)", "rows", "minutes")


class Row(NamedTuple):
    """A cell and what was found; no comparison where it has none, or is not finished."""

    cell: Cell
    runs: list[RunRecord]
    minutes: float | None
    comparison: Comparison | None = None
    p_holm: float | None = None

    @property
    def test(self) -> AgainstBaseline | None:
        """The test against the other cell."""
        return None if self.comparison is None else self.comparison.systems[-1].against


def finished(cell: Cell, out: Path) -> list[RunRecord]:
    """Read the finished runs of a cell."""
    folders = [out / cell.key / job for job in cell.jobs()]
    return [collect(folder)[0] for folder in folders if RunFolder(folder).state() == "done"]


def mean_score(plan: Plan, cell: Cell, out: Path) -> float | None:
    """Average a cell's score over its runs; None where one of them is not finished."""
    summary = _summary(plan, cell, finished(cell, out))
    if summary is None or summary.n < len(cell.jobs()):
        return None
    return summary.mean


def _summary(plan: Plan, cell: Cell, runs: Sequence[RunRecord]) -> Summary | None:
    kind = plan.sets[cell.set]
    scores = [run.score(kind.split, kind.metric) for run in runs]
    return summarize(score for score in scores if score is not None)


def overview(cells: Sequence[Cell], out: Path) -> Table:
    """List the cells with their numbers of finished runs."""
    rows = []
    for cell in cells:
        done = len(finished(cell, out))
        rows.append((cell.set, cell.name, cell.against or None, done, len(cell.jobs())))
    return Table(f"Cells, in {out}", ("set", "cell", "against", "done", "runs"), tuple(rows))


def read_minutes(out: Path) -> dict[str, float]:
    """Read the minutes of processor time that each run took, by cell and job."""
    path = out / MINUTES
    return read_record(path, dict[str, float]) if path.is_file() else {}


def write_tables(plan: Plan, out: Path) -> list[Path]:
    """Compare the finished cells; write and return the files."""
    minutes = read_minutes(out)
    rows = [_row(plan, cell, out, minutes) for cell in plan.cells]
    recipes = _corrected(plan, [row for row in rows if not row.cell.dynamics])
    dynamics = _corrected(plan, [row for row in rows if row.cell.dynamics])
    tables = [
        _table("Recipes", plan, recipes),
        _table("Dynamics beside plain training", plan, dynamics),
    ]
    files = [write_file(out / "table.md", "\n".join(map(to_markdown, tables)))]
    tested = [row for row in dynamics if row.test]
    if tested:
        files.append(write_file(out / "dynamics.png", _figure(tested)))
    return files


def _table(title: str, plan: Plan, rows: Sequence[Row]) -> Table:
    cells = [_cells(plan, row) for row in rows if row.runs]
    return Table(title, COLUMNS, tuple(cells), _NOTE)


def _row(plan: Plan, cell: Cell, out: Path, minutes: dict[str, float]) -> Row:
    """Find a cell's runs, and compare them with those of the other cell on shared rows."""
    runs = finished(cell, out)
    names = [f"{cell.key}/{run.path.name}" for run in runs]
    average = summarize(minutes[name] for name in names if name in minutes)
    row = Row(cell, runs, average.mean if average else None)
    base = []
    if cell.against:
        base = finished(plan.find(cell.set, cell.against), out)
    if not base or not runs:
        return row
    systems = [System({}, tuple(base), cell.against), System({}, tuple(runs), cell.name)]
    kind = plan.sets[cell.set]
    options = CompareOptions(split=kind.split, metric=kind.metric, rows="shared")
    try:
        return row._replace(comparison=compare(systems, options))
    except HeronError as error:
        print(f"heron strength: {cell.key}: {error}")
        return row


def _corrected(plan: Plan, rows: Sequence[Row]) -> list[Row]:
    """Order rows by set, and correct the p-values of each set for their number."""
    ordered: list[Row] = []
    for name in plan.sets:
        of_set = [row for row in rows if row.cell.set == name]
        corrected = iter(holm([row.test.randomization.p for row in of_set if row.test]))
        for row in of_set:
            ordered.append(row._replace(p_holm=next(corrected)) if row.test else row)
    return ordered


def _cells(plan: Plan, row: Row) -> tuple[Value, ...]:
    cell = row.cell
    metric = plan.sets[cell.set].metric
    name = f"{cell.name} +" if cell.first else cell.name
    started = f"{len(row.runs)} of {len(cell.jobs())}"
    minutes = None if row.minutes is None else Formatted(row.minutes, ".1f")
    if row.comparison is None or row.test is None or row.p_holm is None:
        score = _summary(plan, cell, row.runs)
        return (cell.set, name, started, score, metric, None, None, None, minutes)
    name = f"{name} against {cell.against}"
    score = summarize(row.comparison.systems[-1].scores)
    bootstrap = row.test.bootstrap
    difference = Interval(bootstrap.difference, bootstrap.low, bootstrap.high)
    p = Formatted(row.p_holm, ".2g")
    rows = row.comparison.rows
    return (cell.set, name, started, score, metric, difference, p, rows, minutes)


def _figure(rows: Sequence[Row]) -> bytes:
    """Draw each curriculum's difference to plain training, with its interval."""
    from matplotlib.figure import Figure  # start-up time

    from heron.reports.figures import png

    figure = Figure(figsize=(7, 1 + 0.3 * len(rows)), layout="constrained")
    axes = figure.subplots()
    names: list[str] = []
    for row in reversed(rows):
        if row.test is not None:
            bootstrap, height = row.test.bootstrap, len(names)
            axes.plot([bootstrap.low, bootstrap.high], [height, height], color="0.4")
            axes.plot(bootstrap.difference, height, "o", color="black")
            names.append(f"{row.cell.set}: {row.cell.name}")
    axes.axvline(0, color="0.7", linewidth=1)
    axes.set_yticks(range(len(names)), names)
    axes.set_xlabel("difference to plain training (score, 95 % interval)")
    return png(figure)
