"""Tables that people fill in, as spreadsheet programs read and write them."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from heron.base.files import atomic_open
from heron.base.tables import as_text, write_table


def write_for_people(path: Path, columns: Mapping[str, Sequence[Any]]) -> None:
    """Write columns of equal length as a table that people fill in.

    CSV is written for spreadsheet programs: texts that they would run have an apostrophe in front.
    """
    if path.suffix != ".csv":
        write_table(path, columns)
        return
    with atomic_open(path) as file:
        file.write("\ufeff")  # without it, spreadsheet programs do not expect UTF-8
        writer = csv.writer(file, lineterminator="\n", quoting=csv.QUOTE_ALL)
        writer.writerow(map(as_text, columns))
        writer.writerows(map(as_text, row) for row in zip(*columns.values(), strict=True))
