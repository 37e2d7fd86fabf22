"""Read a system's predictions, and find the one of each gold row, for `heron score`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from heron.base.errors import ConfigError, DataError, Problem
from heron.base.files import parse_json
from heron.base.table_formats import content_format
from heron.base.tables import Table, cell_text, read_bytes, read_table
from heron.data.rows import Rows


def read_predicted(path: Path) -> Table:
    """Read a table, or a JSON object `{guid: prediction}` as one with these two columns.

    Raises:
        DataError: as `heron.base.tables.read_table`.
    """
    if content_format(path) != "object":
        return read_table(path, own=True)
    pairs: list[tuple[str, Any]] = []

    def keep(found: list[tuple[str, Any]]) -> dict[str, Any]:
        pairs[:] = found  # the outermost object is the last to be read
        return dict(found)

    try:
        parse_json(read_bytes(path).decode("utf-8-sig"), object_pairs_hook=keep)
    except (OSError, ValueError) as error:
        raise DataError(str(path), f"cannot be read: {error}") from error
    rows = [{"guid": guid, "prediction": value} for guid, value in pairs]
    return Table(path, ("guid", "prediction"), rows, list(range(1, len(rows) + 1)), [])


def match_rows(
    table: Table,
    rows: Rows,
    gold: Path,
    guid_columns: Sequence[str],
    by_position: bool = False,
    names: tuple[str, str] = ("prediction", "row"),
) -> tuple[list[int], str]:
    """Find the prediction of each gold row that counts; others may have predictions too.

    Args:
        table: the predictions.
        rows, gold: of the gold file, and its path.
        guid_columns: names that the table's column of ids may have.
        by_position: rows are joined by their order.
        names: what is predicted and for what, `("answer", "question")`.

    Returns:
        For each of `rows.examples` the number of a row of the table, and how they were joined.

    Raises:
        ConfigError: ids in the gold file alone.
        DataError: bad gold rows, or none; ids that are missing, extra or repeated; another number
            of rows.
    """
    gives, to = names
    if rows.problems:
        raise DataError(rows.problems)
    counted = [example.guid for example in rows.examples]
    if not counted:
        raise DataError(str(gold), "no row can be scored: all are left out")
    guid = None if by_position else table.find(guid_columns)
    if guid is None:
        if rows.has_ids and not by_position:
            raise ConfigError(
                f"{gold} has ids, {table.path} has none: add a column guid there, or say "
                "join=position if the rows of both files stand in the same order"
            )
        for guids in (rows.guids, counted):
            if len(table) == len(guids):
                places = {name: row for row, name in enumerate(guids)}
                return [places[name] for name in counted], "by position"
        what = f"{len(table)} rows for the {len(rows.guids)} {to}s of {gold}, {len(counted)} scored"
        raise DataError(str(table.path), what, "a column guid joins rows by name")
    problems = [*table.missing_values(guid), *table.duplicates(guid)]
    places = {cell_text(value): row for row, value in enumerate(table.values(guid))}
    fix = "" if rows.has_ids else f"{gold} has no ids; join=position joins rows by order"
    problems += [
        Problem(f"{gold}: {name}", f"no {gives} to it in {table.path}", fix)
        for name in counted
        if name not in places
    ]
    problems += [
        Problem(f"{table.path}: {name}", f"no such {to} in {gold}", fix)
        for name in sorted(places.keys() - set(rows.guids))
    ]
    if problems:
        raise DataError(problems)
    return [places[name] for name in counted], f"on {guid}"
