"""`Table`: typed cells, rounded as text (`0.482 ± 0.011 (3)`), in full in CSV and JSON."""

import csv
import html
import io
import math
import re
import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

# Beginnings of cells that a spreadsheet would compute; plain numbers are harmless. Leading
# apostrophes count, too, so that `without_apostrophe` undoes `escape_formula` exactly.
_LIVE = re.compile("'*[=+@\t\r\n＝＋－＠-]")
# † marks scores on substitute data.
_NUMBER = re.compile(r"[+-]?(?:\d+(?:[.,]\d+)*|\.\d+)(?:[eE][+-]?\d+)?%?(?: †)?")


def escape_formula(value: Any) -> Any:
    """Put an apostrophe before a text that a spreadsheet would compute, such as `=1+1` or `-x`."""
    if not isinstance(value, str) or not _LIVE.match(value) or _NUMBER.fullmatch(value):
        return value
    return f"'{value}"


def without_apostrophe(cell: str) -> str:
    """Undo `escape_formula`."""
    return cell[1:] if cell.startswith("'") and _LIVE.match(cell) else cell


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

Cell = str | int | float | Summary | Interval | Formatted | None
Row = Sequence[Cell]


@dataclass(frozen=True, slots=True)
class Table:
    """A title, column names, rows of typed cells, and a note to show with them."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Row]
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


def sort_value(cell: Cell) -> float | str:
    """Return what a sortable column compares: the mean, the value, or the text."""
    if isinstance(cell, Summary | Interval | Formatted):
        return cell[0]
    return "" if cell is None else cell


# What is added to a column's name in CSV: an entry for each value of a cell of this type.
_PARTS: dict[type, tuple[str, ...]] = {Summary: ("mean", "sd", "n"), Interval: ("", "low", "high")}


def to_markdown(table: Table) -> str:
    """Write the table in GitHub's Markdown, its title as a heading and its note below."""
    lines = [f"### {_markdown(table.title)}", ""]
    lines.append(_markdown_row(table.columns))
    lines.append(_markdown_row(["---"] * len(table.columns)))
    for row in table.rows:
        lines.append(_markdown_row([show(cell) for cell in row]))
    if table.note:
        lines += ["", _markdown(table.note)]
    return "\n".join([*lines, ""])


def _markdown_row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(map(_markdown, cells)) + " |"


def _markdown(text: str) -> str:
    return html.escape(" ".join(text.split()), quote=False).replace("|", r"\|")


def to_csv(table: Table) -> str:
    """Write the table as CSV with full precision.

    A summary becomes mean, sd and n columns; an interval value, low and high.
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    parts = []
    header = []
    for index, column in enumerate(table.columns):
        names = _parts(table, index)
        parts.append(names)
        for name in names:
            header.append(escape_formula(f"{column} {name}".strip()))
    writer.writerow(header)

    for row in table.rows:
        values = []
        for cell, names in zip(row, parts, strict=True):
            values += _numbers(cell, len(names))
        writer.writerow(map(escape_formula, values))
    return text.getvalue()


def _numbers(cell: Cell, count: int) -> list[Cell]:
    """List a cell's values, padded with None to `count`."""
    values: list[Cell] = [sort_value(cell)]
    if isinstance(cell, Summary | Interval):
        values = list(cell)
    return values + [None] * (count - len(values))


def _parts(table: Table, index: int) -> tuple[str, ...]:
    """Name the columns of CSV that a column needs; `("",)` for a single one."""
    for row in table.rows:
        if type(row[index]) in _PARTS:
            return _PARTS[type(row[index])]
    return ("",)


def to_json(table: Table) -> dict[str, Any]:
    """Turn the table into plain dictionaries; repeated column names get a number."""
    counts = Counter[str]()
    names = []
    for name in table.columns:
        counts[name] += 1
        names.append(f"{name} {counts[name]}" if counts[name] > 1 else name)
    rows = []
    for row in table.rows:
        values = [_value(cell) for cell in row]
        rows.append(dict(zip(names, values, strict=True)))
    return {"title": table.title, "rows": rows, "note": table.note}


def _value(cell: Cell) -> Any:
    """Turn a cell into JSON, which has no NaN and no infinity."""
    match cell:
        case Interval() | Summary():
            return {name: _value(value) for name, value in cell._asdict().items()}
        case Formatted(value, _):
            return _value(value)
        case float():
            return float(cell) if math.isfinite(cell) else None
        case _:
            return cell
