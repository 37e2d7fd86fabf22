"""A `Table` as a file: rounded in Markdown, each number in full in CSV and JSON."""

import csv
import html
import io
import math
from typing import Any

from heron.base.cells import Cell, Formatted, Interval, Summary, Table, show, sort_value
from heron.base.tables import as_text

# What the columns of such a cell are called in CSV.
_PARTS: dict[type, tuple[str, ...]] = {Summary: ("mean", "sd", "n"), Interval: ("", "low", "high")}


def to_markdown(table: Table) -> str:
    """Write the table in GitHub's Markdown, its title as a heading and its note below."""
    rows = [table.columns, ["---"] * len(table.columns), *(map(show, row) for row in table.rows)]
    lines = [f"### {_markdown(table.title)}", ""]
    lines += ["| " + " | ".join(map(_markdown, cells)) + " |" for cells in rows]
    return "\n".join([*lines, *(["", _markdown(table.note)] if table.note else []), ""])


def _markdown(text: str) -> str:
    return html.escape(" ".join(text.split()), quote=False).replace("|", r"\|")


def to_csv(table: Table) -> str:
    """Write the table as CSV with full precision; a summary becomes mean, sd and n columns."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    columns = list(zip(*table.rows, strict=True)) or [()] * len(table.columns)
    parts = [
        next((_PARTS[type(cell)] for cell in cells if type(cell) in _PARTS), ("",))
        for cells in columns
    ]
    named = zip(table.columns, parts, strict=True)
    writer.writerow(as_text(f"{name} {part}".strip()) for name, names in named for part in names)
    for row in table.rows:
        values: list[Cell] = []
        for cell, names in zip(row, parts, strict=True):
            whole = cell if isinstance(cell, Summary | Interval) else (sort_value(cell),)
            values += [*whole, *[None] * (len(names) - len(whole))]
        writer.writerow(map(as_text, values))
    return text.getvalue()


def to_json(table: Table) -> dict[str, Any]:
    """Turn the table into plain dictionaries; a column that is named again gets a number."""
    names: list[str] = []
    for name in table.columns:
        repeated = sum(column == name for column in table.columns[: len(names)])
        names.append(f"{name} {repeated + 1}" if repeated else name)
    rows = [dict(zip(names, map(_value, row), strict=True)) for row in table.rows]
    return {"title": table.title, "rows": rows, "note": table.note}


def _value(cell: Cell) -> Any:
    """Turn a cell into JSON, which knows no NaN and no infinity."""
    match cell:
        case Interval() | Summary():
            return {name: _value(value) for name, value in cell._asdict().items()}
        case Formatted(value, _):
            return _value(value)
        case float():
            return float(cell) if math.isfinite(cell) else None
        case _:
            return cell
