"""Which ids the rows of a file have, whether or not the rows can be used."""

from __future__ import annotations

from pathlib import Path

from heron.data.config import DataConfig
from heron.data.squad import is_squad, read_squad
from heron.data.tables import cell_text, is_missing, read_table


def read_guids(path: Path, config: DataConfig) -> list[str]:
    """Read the id of every row of a file, as its reader names the row.

    Args:
        path: a table, or SQuAD's JSON.
        config: the data set; one that joins ids from a second table is not meant.

    Returns:
        One id for each row, in file order; `<file stem>:<line>` where the file has none.
    """
    if config.task == "qa" and is_squad(path):
        rows = [(raw.guid, raw.number) for raw in read_squad(path)[0]]
    else:
        table = read_table(path, bad_rows="report")
        found = zip(table.rows, table.lines, strict=True)
        rows = [(row.get(config.columns.guid), line) for row, line in found]
    return [
        f"{path.stem}:{number}" if is_missing(guid) else cell_text(guid) for guid, number in rows
    ]
