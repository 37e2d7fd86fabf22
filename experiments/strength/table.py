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
    def found(self) -> AgainstBaseline | None:
        """The test against the other cell."""
        return None if self.comparison is None else self.comparison.systems[-1].against


def finished(cell: Cell, out: Path) -> list[RunRecord]:
    """Read the finished runs of a cell."""
    folders = [out / cell.key / job for job in cell.jobs()]
    return [collect(folder)[0] for folder in folders if RunFolder(folder).state() == "done"]


def mean_score(plan: Plan, cell: Cell, out: Path) -> float | None:
    """Average a cell's score over its runs; None where one of them is not finished."""
    found = _summary(plan, cell, finished(cell, out))
    return found.mean if found and found.n == len(cell.jobs()) else None


def _summary(plan: Plan, cell: Cell, runs: Sequence[RunRecord]) -> Summary | None:
    kind = plan.sets[cell.set]
    scores = [run.score(kind.split, kind.metric) for run in runs]
    return summarize(score for score in scores if score is not None)


def overview(cells: Sequence[Cell], out: Path) -> Table:
    """List the cells with their numbers of finished runs."""
    rows = [(c.set, c.name, c.against or None, len(finished(c, out)), len(c.jobs())) for c in cells]
    return Table(f"Cells, in {out}", ("set", "cell", "against", "done", "runs"), tuple(rows))


def read_minutes(out: Path) -> dict[str, float]:
    """Read the minutes of processor time that each run took, by cell and job."""
    path = out / MINUTES
    return read_record(path, dict[str, float]) if path.is_file() else {}


def write_tables(plan: Plan, out: Path) -> list[Path]:
    """Compare the finished cells; write and return the files."""
    spent = read_minutes(out)
    rows = [_row(plan, cell, out, spent) for cell in plan.cells]
    recipes = _compared(plan, [row for row in rows if not row.cell.dynamics])
    dynamics = _compared(plan, [row for row in rows if row.cell.dynamics])
    tables = [
        Table(title, COLUMNS, tuple(_cells(plan, row) for row in part if row.runs), _NOTE)
        for title, part in (("Recipes", recipes), ("Dynamics beside plain training", dynamics))
    ]
    found = [write_file(out / "table.md", "\n".join(map(to_markdown, tables)))]
    tested = [row for row in dynamics if row.found]
    return [*found, write_file(out / "dynamics.png", _figure(tested))] if tested else found


def _row(plan: Plan, cell: Cell, out: Path, spent: dict[str, float]) -> Row:
    """Find a cell's runs, and compare them with those of the other cell on shared rows."""
    runs = finished(cell, out)
    times = [spent.get(f"{cell.key}/{run.path.name}") for run in runs]
    average = summarize(time for time in times if time is not None)
    row = Row(cell, runs, average.mean if average else None)
    base = finished(plan.find(cell.set, cell.against), out) if cell.against else []
    if not (base and runs):
        return row
    systems = [System({}, tuple(base), cell.against), System({}, tuple(runs), cell.name)]
    kind = plan.sets[cell.set]
    options = CompareOptions(split=kind.split, metric=kind.metric, rows="shared")
    try:
        return row._replace(comparison=compare(systems, options))
    except HeronError as error:
        print(f"heron strength: {cell.key}: {error}")
        return row


def _compared(plan: Plan, rows: Sequence[Row]) -> list[Row]:
    """Order rows by set, and correct the p-values of each set for their number."""
    found: list[Row] = []
    for name in plan.sets:
        own = [row for row in rows if row.cell.set == name]
        corrected = iter(holm([row.found.randomization.p for row in own if row.found]))
        found += [row._replace(p_holm=next(corrected)) if row.found else row for row in own]
    return found


def _cells(plan: Plan, row: Row) -> tuple[Value, ...]:
    cell, metric = row.cell, plan.sets[row.cell.set].metric
    name = f"{cell.name} +" if cell.first else cell.name
    started = f"{len(row.runs)} of {len(cell.jobs())}"
    minutes = None if row.minutes is None else Formatted(row.minutes, ".1f")
    if row.comparison is None or row.found is None or row.p_holm is None:
        score = _summary(plan, cell, row.runs)
        return (cell.set, name, started, score, metric, None, None, None, minutes)
    found, score = row.found.bootstrap, summarize(row.comparison.systems[-1].scores)
    tested = (Interval(found.difference, found.low, found.high), Formatted(row.p_holm, ".2g"))
    name = f"{name} against {cell.against}"
    return (cell.set, name, started, score, metric, *tested, row.comparison.rows, minutes)


def _figure(rows: Sequence[Row]) -> bytes:
    """Draw each curriculum's difference to plain training, with its interval."""
    from matplotlib.figure import Figure  # start-up time

    from heron.reports.figures import png

    figure = Figure(figsize=(7, 1 + 0.3 * len(rows)), layout="constrained")
    axes = figure.subplots()
    for place, row in enumerate(reversed(rows)):
        if row.found is not None:
            found = row.found.bootstrap
            axes.plot([found.low, found.high], [place, place], color="0.4")
            axes.plot(found.difference, place, "o", color="black")
    axes.axvline(0, color="0.7", linewidth=1)
    axes.set_yticks(range(len(rows)), [f"{r.cell.set}: {r.cell.name}" for r in reversed(rows)])
    axes.set_xlabel("difference to plain training (score, 95 % interval)")
    return png(figure)
