"""What analyses leave behind: tables as JSON with full precision, texts and pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from heron.base.cells import Cell, Formatted, Interval, Summary, Table
from heron.base.files import atomic_open, write_json


def write_tables(path: Path, facts: Mapping[str, Any], tables: Sequence[Table]) -> Path:
    """Write facts and tables as JSON, with full precision."""
    write_json(path, {**facts, "tables": [_plain(table) for table in tables]})
    return path


def _plain(table: Table) -> dict[str, Any]:
    """Turn a table into JSON's own types, with full precision."""
    rows = [
        {column: _value(cell) for column, cell in zip(table.columns, row, strict=True)}
        for row in table.rows
    ]
    return {"title": table.title, "rows": rows, "note": table.note}


def _value(cell: Cell) -> Any:
    match cell:
        case Interval() | Summary():
            return cell._asdict()
        case Formatted(value, _):
            return value
        case _:
            return cell


def write(path: Path, content: str | bytes) -> Path:
    """Write a text or bytes, atomically; returns the path."""
    with atomic_open(path, "wb" if isinstance(content, bytes) else "w") as file:
        file.write(content)
    return path
