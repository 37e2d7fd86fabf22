"""The table of `heron strength`: each cell beside the one that it is compared with."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from heron.base.cells import Formatted, Interval, Table, summarize, to_markdown
from heron.base.cells import Cell as Value
from heron.base.errors import HeronError
from heron.base.files import write_file, write_json
from heron.base.run_folder import RunFolder, read_record
from heron.metrics.significance import holm
from heron.results.collect import RunRecord, collect
from heron.results.comparing import CompareOptions, compare
from heron.results.comparison import AgainstBaseline, Comparison
from heron.results.systems import System

from .cells import Cell, Plan, job_name

_NOTE = (
    "Score: mean ± sample sd over seeds (n), folds together, on the rows that both cells have; of a "
    "cell that is compared with none, over its runs. Difference: 95 % interval of the paired "
    "bootstrap, whole documents or texts where rows have them; p: approximate randomisation, Holm's "
    "within the set. Minutes: processor time of a run, mean. +: trained on further data."
)
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
    folders = [out / cell.key / job_name(job) for job in cell.jobs()]
    found = [collect(folder)[0] for folder in folders if RunFolder(folder).state() == "done"]
    return [run for run in found if run.done]


def mean_score(cell: Cell, out: Path, split: str, metric: str) -> float | None:
    """Average a cell's score over its runs; None where one of them is not finished."""
    runs = finished(cell, out)
    scores = [score for run in runs if (score := run.score(split, metric)) is not None]
    found = summarize(scores)
    return found.mean if found and len(scores) == len(cell.jobs()) else None


def overview(cells: Sequence[Cell], out: Path) -> Table:
    """List the cells with their numbers of finished runs."""
    rows = [(c.set, c.name, c.against or None, len(finished(c, out)), len(c.jobs())) for c in cells]
    return Table(f"Cells, in {out}", ("set", "cell", "against", "done", "runs"), tuple(rows))


def write_tables(plan: Plan, cells: Sequence[Cell], out: Path) -> list[Path]:
    """Compare the finished cells; write and return the files."""
    spent = read_record(out / "minutes.json") if (out / "minutes.json").is_file() else {}
    rows = []
    for name in plan.sets:
        for dynamics in (False, True):
            own = [cell for cell in cells if (cell.set, cell.of_dynamics) == (name, dynamics)]
            rows += _compared([_row(plan, cell, out, spent) for cell in own])
    parts = {
        "Recipes": [row for row in rows if not row.cell.of_dynamics],
        "What dynamics buy, each beside plain training": [r for r in rows if r.cell.of_dynamics],
    }
    tables = [
        Table(title, COLUMNS, tuple(_cells(plan, row) for row in part if row.runs), _NOTE)
        for title, part in parts.items()
    ]
    write_json(out / "table.json", [_values(row) for row in rows if row.runs])
    found = [write_file(out / "table.md", "\n".join(map(to_markdown, tables))), out / "table.json"]
    tested = [row for row in rows if row.cell.of_dynamics and row.found]
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


def _compared(rows: list[Row]) -> list[Row]:
    """Correct the p-values of a set's comparisons for their number."""
    tested = [row for row in rows if row.found]
    corrected = iter(holm([row.found.randomization.p for row in tested if row.found]))
    return [row._replace(p_holm=next(corrected)) if row.found else row for row in rows]


def _cells(plan: Plan, row: Row) -> tuple[Value, ...]:
    kind, cell = plan.sets[row.cell.set], row.cell
    name = f"{cell.name} +" if cell.first else cell.name
    started = f"{len(row.runs)} of {len(cell.jobs())}"
    minutes = None if row.minutes is None else Formatted(row.minutes, ".1f")
    if row.comparison is None or row.found is None or row.p_holm is None:
        scores = [run.score(kind.split, kind.metric) for run in row.runs]
        score = summarize(value for value in scores if value is not None)
        return (cell.set, name, started, score, kind.metric, None, None, None, minutes)
    found = row.found.bootstrap
    difference = Interval(found.difference, found.low, found.high)
    score = summarize(row.comparison.systems[-1].scores)
    tested = (difference, Formatted(row.p_holm, ".2g"), row.comparison.rows)
    return (
        cell.set,
        f"{name} against {cell.against}",
        started,
        score,
        kind.metric,
        *tested,
        minutes,
    )


def _values(row: Row) -> dict[str, object]:
    found, comparison = row.found, row.comparison
    values = {"set": row.cell.set, "cell": row.cell.name, "runs": len(row.runs)}
    values |= {"dynamics": row.cell.of_dynamics, "minutes": row.minutes}
    if found is None or comparison is None:
        return values
    drawn = found.bootstrap
    return {
        **values,
        "against": row.cell.against,
        "metric": comparison.settings.metric,
        "scores": {system.label: system.scores for system in comparison.systems},
        "difference": [drawn.difference, drawn.low, drawn.high],
        **{"p": found.randomization.p, "p_holm": row.p_holm},
        **{"rows": comparison.rows, "groups": comparison.groups, "notes": comparison.notes},
    }


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
