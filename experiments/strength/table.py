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
from heron.results.comparison import AgainstBaseline, Comparison
from heron.results.run_comparison import CompareOptions, compare
from heron.results.systems import System

from .cells import Cell, StrengthPlan

_NOTE = (
    "Score: mean ± sample sd (n) over seeds, folds together, on the rows that both cells have; of "
    "a cell that is compared with none, over its runs. Difference: paired bootstrap of whole "
    "documents or texts, 95 %; p: approximate randomisation, Holm's within set and table. Minutes: "
    "processor time of a run, mean. +: trained on further data."
)
MINUTES = "minutes.json"  # processor minutes by run
COLUMNS = ("set", "recipe", "runs", "score", "of", "difference", "p (Holm)", "rows", "minutes")


class StrengthRow(NamedTuple):
    """A cell with its finished runs; without a comparison if it has none, or is not finished."""

    cell: Cell
    runs: list[RunRecord]
    minutes: Formatted | None  # processor minutes of a run, mean
    comparison: Comparison | None = None
    p_holm: float | None = None

    @property
    def test(self) -> AgainstBaseline | None:
        """The significance test against the other cell."""
        if self.comparison is None:
            return None
        return self.comparison.systems[-1].against


def finished(cell: Cell, out: Path) -> list[RunRecord]:
    """Read the finished runs of a cell.

    Args:
        cell: of the plan.
        out: the folder of all runs.
    """
    runs = []
    for job in cell.jobs():
        folder = out / cell.key / job
        if RunFolder(folder).state() == "done":
            run = collect(folder)[0]
            runs.append(run)
    return runs


def mean_score(plan: StrengthPlan, cell: Cell, out: Path) -> float | None:
    """Average a cell's score over its runs.

    Args:
        plan: with the score of the cell's set.
        cell: of the plan.
        out: the folder of all runs.

    Returns:
        The mean; None where a run is not finished.
    """
    summary = _score_summary(plan, cell, finished(cell, out))
    if summary is None or summary.n < len(cell.jobs()):
        return None
    return summary.mean


def _score_summary(plan: StrengthPlan, cell: Cell, runs: Sequence[RunRecord]) -> Summary | None:
    """Average the score of a cell over its runs; None where no run has one."""
    of_set = plan.sets[cell.set]
    scores = []
    for run in runs:
        score = run.score(of_set.split, of_set.metric)
        if score is not None:
            scores.append(score)
    return summarize(scores)


def overview(cells: Sequence[Cell], out: Path) -> Table:
    """List the cells with their numbers of finished runs.

    Args:
        cells: in the table's order.
        out: the folder of all runs.
    """
    rows = []
    for cell in cells:
        done = len(finished(cell, out))
        jobs = len(cell.jobs())
        rows.append((cell.set, cell.name, cell.against or None, done, jobs))

    columns = ("set", "cell", "against", "done", "runs")
    return Table(f"Cells, in {out}", columns, rows)


def read_minutes(out: Path) -> dict[str, float]:
    """Read the minutes of processor time that each run took, by cell and job."""
    path = out / MINUTES
    return read_record(path, dict[str, float]) if path.is_file() else {}


def write_tables(plan: StrengthPlan, out: Path) -> list[Path]:
    """Compare the finished cells, and write `table.md` and `dynamics.png`.

    Args:
        plan: all cells.
        out: the folder of all runs, which gets the files.

    Returns:
        The files; the figure is written if a curriculum was compared with plain training.
    """
    minutes = read_minutes(out)
    rows = [_row(plan, cell, out, minutes) for cell in plan.cells]
    recipes = _corrected(plan, [row for row in rows if not row.cell.dynamics])
    dynamics = _corrected(plan, [row for row in rows if row.cell.dynamics])

    of_recipes = to_markdown(_table("Recipes", plan, recipes))
    of_dynamics = to_markdown(_table("Dynamics beside plain training", plan, dynamics))
    files = [write_file(out / "table.md", f"{of_recipes}\n{of_dynamics}")]

    if any(row.test for row in dynamics):
        files.append(write_file(out / "dynamics.png", _figure(dynamics)))
    return files


def _row(plan: StrengthPlan, cell: Cell, out: Path, minutes: dict[str, float]) -> StrengthRow:
    """Read a cell's runs, and compare them with those of the other cell on shared rows.

    Args:
        plan: with the other cell.
        cell: the row's.
        out: the folder of all runs.
        minutes: processor minutes by run.
    """
    runs = finished(cell, out)
    names = [f"{cell.key}/{run.path.name}" for run in runs]
    average = summarize(minutes[name] for name in names if name in minutes)
    mean_minutes = None
    if average:
        mean_minutes = Formatted(average.mean, ".1f")
    row = StrengthRow(cell, runs, mean_minutes)

    if not cell.against:
        return row
    other = plan.find(cell.set, cell.against)
    other_runs = finished(other, out)
    if not runs or not other_runs:
        return row

    baseline = System({}, tuple(other_runs), cell.against)
    system = System({}, tuple(runs), cell.name)
    of_set = plan.sets[cell.set]
    options = CompareOptions(split=of_set.split, metric=of_set.metric, rows="shared")
    try:
        comparison = compare([baseline, system], options)
    except HeronError as error:
        print(f"heron strength: {cell.key}: {error}")
        return row
    return row._replace(comparison=comparison)


def _corrected(plan: StrengthPlan, rows: Sequence[StrengthRow]) -> list[StrengthRow]:
    """Order rows by set, and correct the p-values of each set for their number.

    Args:
        plan: with the order of the sets.
        rows: of one table.

    Returns:
        The rows, with `p_holm` where they have a test.
    """
    ordered: list[StrengthRow] = []
    for name in plan.sets:
        of_set = [row for row in rows if row.cell.set == name]
        p_values = {row.cell.key: row.test.randomization.p for row in of_set if row.test}
        corrected = holm(list(p_values.values()))
        p_holm = dict(zip(p_values, corrected, strict=True))

        for row in of_set:
            p = p_holm.get(row.cell.key)
            ordered.append(row._replace(p_holm=p))
    return ordered


def _table(title: str, plan: StrengthPlan, rows: Sequence[StrengthRow]) -> Table:
    cells = [_cells(plan, row) for row in rows if row.runs]
    return Table(title, COLUMNS, cells, _NOTE)


def _cells(plan: StrengthPlan, row: StrengthRow) -> tuple[Value, ...]:
    """Fill in a row of the table, in the order of `COLUMNS`.

    Args:
        plan: with the score of the cell's set.
        row: a cell with runs. Without a comparison, it gets the score over all its runs, and no
            difference.
    """
    cell = row.cell
    metric = plan.sets[cell.set].metric
    name = f"{cell.name} +" if cell.first else cell.name
    runs = f"{len(row.runs)} of {len(cell.jobs())}"
    score = _score_summary(plan, cell, row.runs)
    difference = p = rows = None

    if row.comparison and row.test and row.p_holm is not None:
        name = f"{name} against {cell.against}"
        score = summarize(row.comparison.systems[-1].scores)
        bootstrap = row.test.bootstrap
        difference = Interval(bootstrap.difference, bootstrap.low, bootstrap.high)
        p = Formatted(row.p_holm, ".2g")
        rows = row.comparison.rows

    return (cell.set, name, runs, score, metric, difference, p, rows, row.minutes)


def _figure(rows: Sequence[StrengthRow]) -> bytes:
    """Draw each curriculum's difference to plain training, with its interval, as PNG."""
    from matplotlib.figure import Figure  # start-up time

    from heron.reports.figures import png

    differences = {}
    for row in reversed(rows):  # the first row is drawn at the top
        if row.test:
            differences[f"{row.cell.set}: {row.cell.name}"] = row.test.bootstrap

    figure = Figure(figsize=(7, 1 + 0.3 * len(differences)), layout="constrained")
    axes = figure.subplots()
    for height, difference in enumerate(differences.values()):
        axes.plot([difference.low, difference.high], [height, height], color="0.4")
        axes.plot(difference.difference, height, "o", color="black")
    axes.axvline(0, color="0.7", linewidth=1)
    axes.set_yticks(range(len(differences)), list(differences))
    axes.set_xlabel("difference to plain training (score, 95 % interval)")
    return png(figure)
