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
from typing import TYPE_CHECKING, Literal, NamedTuple

from heron.base.tables import as_text

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


class Formatted(NamedTuple):
    """A number with a format of its own: `.2f` for what a paper printed, `+.3f` for a change."""

    value: float
    spec: str


SYNTHETIC = "synthetic data: not a research result"
_LONGEST_WORD = 24  # longer ones (a job's name) may break, or little else would fit
_GAP = 3  # characters between two columns

Cell = str | int | float | Summary | Interval | Formatted | None


@dataclass(frozen=True, slots=True)
class Table:
    """A title, column names, rows of typed cells, and a note that must travel with them."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""


def with_synthetic(title: str, synthetic: bool) -> str:
    """Say in a title that its data is synthetic."""
    return f"{title}  ·  {SYNTHETIC}" if synthetic else title


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
        case Formatted(value, spec):
            return format(value, spec)
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
        case Summary() | Interval() | Formatted():
            return cell[0]
        case _:
            return cell


def to_rich(table: Table, width: int) -> RichTable:
    """Build the table for a terminal of `width` characters; its note is for the caller to print.

    Lines break between words. A table that does not fit even then is wider than `width`: rich
    itself would rather drop columns, a line that the terminal wraps loses nothing.
    """
    from rich.box import SIMPLE_HEAD
    from rich.table import Table as RichTable
    from rich.text import Text

    # Text objects, not strings: rich would take a value such as "[a]" for its own markup.
    shown = RichTable(box=SIMPLE_HEAD, show_edge=False, pad_edge=False)
    shown.title, shown.title_justify = Text(table.title, "bold"), "left"
    headings = [name.replace("_", " ") for name in table.columns]
    rows = [[show(cell) for cell in row] for row in table.rows]
    widths = _fit([*zip(headings, *rows, strict=True)], width)
    for index, heading in enumerate(headings):
        words = any(isinstance(row[index], str) for row in table.rows)
        justify: Literal["left", "right"] = "left" if words else "right"
        shown.add_column(Text(heading), justify=justify, width=widths[index], overflow="fold")
    for cells in rows:
        shown.add_row(*map(Text, cells))
    return shown


def split_columns(table: Table, width: int) -> list[Table]:
    """Cut a table that is wider than a terminal into several, the first column in each of them.

    Args:
        table: any.
        width: of the terminal, in characters.

    Returns:
        The table itself where it fits; its note stands below the last one.
    """
    shown = [[show(row[index]) for row in table.rows] for index in range(len(table.columns))]
    names = [name.replace("_", " ") for name in table.columns]
    first, *widths = map(
        _narrowest, ([name, *cells] for name, cells in zip(names, shown, strict=True))
    )
    parts: list[list[int]] = [[]]
    room = width - first
    for index, needed in enumerate(widths, 1):
        if parts[-1] and needed + _GAP > room:
            parts.append([])
            room = width - first
        parts[-1].append(index)
        room -= needed + _GAP
    tables = []
    for number, part in enumerate(parts):
        chosen = [0, *part]
        rows = tuple(tuple(row[index] for index in chosen) for row in table.rows)
        title = table.title + (", further columns" if number else "")
        note = table.note if number == len(parts) - 1 else ""
        tables.append(Table(title, tuple(table.columns[index] for index in chosen), rows, note))
    return tables


def _narrowest(cells: Sequence[str]) -> int:
    """Width of a column whose lines break between words."""
    words = [word for cell in cells for word in cell.split()]
    return min(max(map(len, words), default=1), _LONGEST_WORD)


def _fit(columns: Sequence[Sequence[str]], width: int) -> list[int]:
    """Choose column widths: no line breaks where there is room, from the left."""
    widths = list(map(_narrowest, columns))
    spare = width - sum(widths) - _GAP * (len(widths) - 1)
    for index, column in enumerate(columns):
        more = max(map(len, column)) - widths[index]
        if more <= spare:
            widths[index] += more
            spare -= more
    return widths


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
        as_text(f"{name} {part}".strip())
        for name, names in zip(table.columns, parts, strict=True)
        for part in names
    )
    for row in table.rows:
        cells = zip(row, parts, strict=True)
        writer.writerow(
            as_text(value) for cell, names in cells for value in _csv_values(cell, len(names))
        )
    return text.getvalue()


def _csv_parts(cells: Iterable[Cell]) -> tuple[str, ...]:
    for cell in cells:
        if isinstance(cell, Summary):
            return ("mean", "sd", "n")
        if isinstance(cell, Interval):
            return ("", "low", "high")
    return ("",)


def _csv_values(cell: Cell, width: int) -> list[str | int | float]:
    cell = cell.value if isinstance(cell, Formatted) else cell
    values = cell if isinstance(cell, Summary | Interval) else (cell,)
    filled = ["" if value is None else value for value in values]
    return filled + [""] * (width - len(filled))
