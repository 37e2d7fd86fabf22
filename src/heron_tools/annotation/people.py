"""Tables that people fill in, as spreadsheet programs read and write them."""

from __future__ import annotations

import csv
import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from heron.base.cells import as_text
from heron.base.errors import DataError
from heron.base.files import atomic_open
from heron.base.tables import Table, is_missing, read_table, write_table


def write_for_people(path: Path, columns: Mapping[str, Sequence[Any]]) -> None:
    """Write columns of equal length as a table that people fill in.

    CSV is written for spreadsheet programs: texts that look like formulas begin with an apostrophe.
    """
    if path.suffix != ".csv":
        write_table(path, columns)
        return
    with atomic_open(path) as file:
        file.write("\ufeff")  # without it, spreadsheet programs do not expect UTF-8
        writer = csv.writer(file, lineterminator="\n", quoting=csv.QUOTE_ALL)
        writer.writerow(map(as_text, columns))
        writer.writerows(map(as_text, row) for row in zip(*columns.values(), strict=True))


def read_from_people(path: Path) -> Table:
    """Read a table that people have filled in, whatever spreadsheet program wrote it.

    Raises:
        DataError: it cannot be read, or has no rows; names file and line.
    """
    return filled_rows(read_table(path, own=True))


def filled_rows(table: Table) -> Table:
    """Drop empty rows, which spreadsheet programs write after the last row."""
    kept = [n for n, row in enumerate(table.rows) if not all(map(is_missing, row.values()))]
    if not kept:
        raise DataError(str(table.path), "has no rows", "at least one is needed")
    rows, lines = [table.rows[n] for n in kept], [table.lines[n] for n in kept]
    return dataclasses.replace(table, rows=rows, lines=lines)
