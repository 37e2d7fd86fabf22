"""`Table`: typed cells, shown in a terminal, in Markdown, in HTML and in CSV.

People get rounded text (`0.482 ± 0.011 (3)`), programs get every number in a column of its own.
"""

from __future__ import annotations

import csv
import html
import io
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from rich.table import Table as RichTable


class Summary(NamedTuple):
    """Mean and sample standard deviation of `n` runs; `sd` is None for a single run."""

    mean: float
    sd: float | None
    n: int


class Interval(NamedTuple):
    """A score and the bounds of its 95 % interval."""

    value: float
    low: float
    high: float


Cell = str | int | float | Summary | Interval | None


@dataclass(frozen=True, slots=True)
class Table:
    """A title, column names, rows of typed cells, and a note that must travel with them."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""


def summarize(values: Iterable[float]) -> Summary | None:
    """Mean, sample standard deviation (n - 1) and n; None when there is no value."""
    values = list(values)
    if not values:
        return None
    sd = statistics.stdev(values) if len(values) > 1 else None
    return Summary(statistics.fmean(values), sd, len(values))


def show(cell: Cell) -> str:
    """Round one cell for reading: three decimals, `mean ± sd (n)`, `value [low, high]`."""
    match cell:
        case None:
            return "–"
        case Summary(mean, None, n):
            return f"{mean:.3f} ({n})"
        case Summary(mean, sd, n):
            return f"{mean:.3f} ± {sd:.3f} ({n})"
        case Interval(value, low, high):
            return f"{value:.3f} [{low:.3f}, {high:.3f}]"
        case float():
            return f"{cell:.3f}"
        case int():
            return f"{cell:,}"
        case _:
            return str(cell)


def is_number(cell: Cell) -> bool:
    """Whether a cell is right-aligned: everything but words."""
    return not isinstance(cell, str)


def sort_value(cell: Cell) -> float | str:
    """What a sortable column compares: the mean, the value, or the words."""
    match cell:
        case None:
            return ""
        case Summary() | Interval():
            return cell[0]
        case _:
            return cell


def to_rich(table: Table) -> RichTable:
    """Build the table for the terminal."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table as RichTable
    from rich.text import Text

    # Text objects, not strings: rich would take a value such as "[a]" for its own markup.
    shown = RichTable(
        title=Text(table.title), caption=Text(table.note), box=SIMPLE_HEAD, title_justify="left"
    )
    for index, name in enumerate(table.columns):
        words = any(isinstance(row[index], str) for row in table.rows)
        shown.add_column(Text(name), justify="left" if words else "right", overflow="fold")
    for row in table.rows:
        shown.add_row(*(Text(show(cell)) for cell in row))
    return shown


def to_markdown(table: Table) -> str:
    """Write the table in GitHub's Markdown, its title as a heading and its note below."""
    lines = [f"### {_markdown(table.title)}", "", _markdown_row(table.columns)]
    lines.append(_markdown_row(["---"] * len(table.columns)))
    lines += [_markdown_row([show(cell) for cell in row]) for row in table.rows]
    return "\n".join([*lines, *(["", _markdown(table.note)] if table.note else []), ""])


def _markdown_row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(_markdown(cell) for cell in cells) + " |"


def _markdown(text: str) -> str:
    return html.escape(" ".join(text.split()), quote=False).replace("|", r"\|")


def to_csv(table: Table) -> str:
    """Write the table as CSV with full precision; a summary becomes mean, sd and n columns."""
    parts = [_csv_parts(row[index] for row in table.rows) for index in range(len(table.columns))]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(
        f"{name} {part}".strip()
        for name, names in zip(table.columns, parts, strict=True)
        for part in names
    )
    for row in table.rows:
        cells = zip(row, parts, strict=True)
        writer.writerow(value for cell, names in cells for value in _csv_values(cell, len(names)))
    return text.getvalue()


def _csv_parts(cells: Iterable[Cell]) -> tuple[str, ...]:
    for cell in cells:
        if isinstance(cell, Summary):
            return ("mean", "sd", "n")
        if isinstance(cell, Interval):
            return ("", "low", "high")
    return ("",)


def _csv_values(cell: Cell, width: int) -> list[str | int | float]:
    values = cell if isinstance(cell, Summary | Interval) else (cell,)
    filled = ["" if value is None else value for value in values]
    return filled + [""] * (width - len(filled))
