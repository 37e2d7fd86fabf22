"""Tables on disk: CSV, TSV, JSON Lines, JSON lists and Parquet, read row by row with line numbers.

A bad row is reported the same way everywhere: file, line, what is wrong, all bad rows at once. A
file that cannot be read at all is a DataError.
"""

from __future__ import annotations

import csv
import json
import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import IO, Any, Literal

from heron.base.cells import as_text, without_apostrophe
from heron.base.errors import DataError, Problem, nearest
from heron.base.files import atomic_open
from heron.base.table_formats import (
    content_format,
    read_rows,
)

# What is invisible in names: direction controls, zero-width spaces, marks of byte order.
BIDI_CONTROLS = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
_INVISIBLE = re.compile(f"[{BIDI_CONTROLS}\u200b\u2060\ufeff]")


@dataclass(frozen=True, slots=True)
class Table:
    """The rows of one file."""

    path: Path  # as the user named it
    columns: tuple[str, ...]  # in file order; in JSON the union over rows
    # One dictionary per good row, every column present. CSV cells are strings; JSON and Parquet
    # values keep their type, and a key that a row leaves out is None.
    rows: list[dict[str, Any]]
    # The 1-based line where each row begins; in Parquet and in a JSON list the row's number.
    lines: list[int]
    problems: list[Problem]  # what could not be read; empty unless `bad_rows="report"`
    # The line of each id in earlier tables of the same file (see `read_chunks`), extended by the
    # reader of the ids; None where this table is the whole file.
    ids: dict[str, int] | None = None

    def __len__(self) -> int:
        return len(self.rows)

    def where(self, index: int) -> str:
        """Name a row the way errors do: `train.csv:17`; `index` is its place in `rows`."""
        return f"{self.path}:{self.lines[index]}"

    def values(self, column: str) -> list[Any]:
        """Return one column, in row order."""
        return [row[column] for row in self.rows]

    def find(self, names: Sequence[str]) -> str | None:
        """Return the first of `names` that is a column, or None."""
        return next((name for name in names if name in self.columns), None)

    def require(self, *columns: str, keys: Mapping[str, str] | None = None) -> None:
        """Check that there is a row, and all `columns` and those that configuration keys name.

        Raises:
            DataError: what is missing, each column with the nearest one there is and its key.
        """
        if not self.rows:
            raise DataError(self.problems)
        keys = keys or {}
        problems = [] if keys else list(self.problems)
        missing = [column for column in (*columns, *keys) if column not in self.columns]
        for column in missing:
            what = f"no column '{column}'.{nearest(column, self.columns)}"
            fix = f"{keys[column]}=NAME names that column" if keys else ""
            problems.append(Problem(str(self.path), what, fix))
        if missing:
            raise DataError(problems)

    def missing_values(self, column: str) -> list[Problem]:
        """Report every row whose `column` holds nothing (see `is_missing`)."""
        return [
            Problem(self.where(index), f"'{column}' is empty", "fill it in or remove the row")
            for index, row in enumerate(self.rows)
            if is_missing(row[column])
        ]

    def duplicates(self, column: str) -> list[Problem]:
        """Report every row that repeats an earlier value of `column`, naming both lines."""
        first: dict[str, int] = {}
        problems = []
        for value, line in zip(self.values(column), self.lines, strict=True):
            text = "" if is_missing(value) else cell_text(value)
            if text and (earlier := first.setdefault(text, line)) != line:
                what = f"{column} '{text}' is already on line {earlier}"
                problems.append(Problem(f"{self.path}:{line}", what, f"each {column} once"))
        return problems


def is_missing(value: Any) -> bool:
    """Tell whether a cell holds nothing: None, NaN or blank text; the text `nan` is a text."""
    if isinstance(value, str):
        return not value.strip()
    return value is None or (isinstance(value, float) and value != value)


def cell_text(value: Any) -> str:
    """Write a label or id trimmed, composed (NFC), without what is invisible; 3.0 is `3`."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    text = str(value)
    if not text.isascii():
        text = unicodedata.normalize("NFC", _INVISIBLE.sub("", text))
    return text.strip()


def number_text(value: Any) -> Any:
    """Write a number where a text is meant, as CSV has it; other values are kept."""
    return cell_text(value) if type(value) in (int, float) and value == value else value


def read_table(
    path: Path | str,
    bad_rows: Literal["raise", "report"] = "raise",
    own: bool = False,
    only: Collection[str] | None = None,
    quoting: str = "auto",
) -> Table:
    """Read a .csv, .tsv, .jsonl, .json or .parquet file, perhaps packed (.gz).

    The content of .csv, .tsv and .json decides what it is: a list of JSON objects, one in each
    line, or a header and rows separated by commas, tabs, semicolons or bars. CRLF, blank lines and
    empty columns at the end are fine. Texts are UTF-8 or, with a byte-order mark, UTF-16.

    Args:
        path: of one of `SUFFIXES`.
        bad_rows: "raise" stops with a DataError of everything that was wrong; "report" returns the
            good rows, and the bad ones as `Table.problems`.
        own: heron may have written the file: undo `as_text`.
        only: the columns to read of a Parquet file, where it has them; None: all.
        quoting: of CSV and TSV, see `DataConfig.quoting`.
    """
    (table,) = read_chunks(Path(path), None, quoting, own, only)
    if table.problems and bad_rows == "raise":
        raise DataError(table.problems)
    return table


def read_chunks(
    path: Path,
    size: int | None,
    quoting: str = "auto",
    own: bool = False,
    only: Collection[str] | None = None,
) -> Iterator[Table]:
    """Read a table `size` rows at a time, so that memory does not grow with the file; None: all.

    JSON Lines and Parquet are read twice, so that the columns are known before the first rows. A
    JSON list is still read as a whole, and Parquet by row group.

    Yields:
        The parts of the table that `read_table(path, "report", own, only, quoting)` returns, at
        least one. Each has the columns of the whole file, and all share `ids`.
    """
    kind = content_format(path)
    columns: dict[str, None] = {}
    # All rows of CSV have the columns of the header: it needs no second reading.
    for _, row in () if size is None or kind == ".csv" else read_rows(path, only, quoting):
        columns |= dict.fromkeys(() if isinstance(row, Problem) else row)
    found, ids = read_rows(path, only, quoting), dict[str, int]()
    first = True
    while (chunk := list(islice(found, size))) or first:
        rows = [row for _, row in chunk if not isinstance(row, Problem)]
        lines = [line for line, row in chunk if not isinstance(row, Problem)]
        problems = [row for _, row in chunk if isinstance(row, Problem)]
        if own and kind == ".csv":
            rows = [
                {without_apostrophe(name): without_apostrophe(cell) for name, cell in row.items()}
                for row in rows
            ]
        if not chunk:
            problems.append(Problem(str(path), "has no rows", "at least one is needed"))
        columns = columns or dict.fromkeys(column for row in rows for column in row)
        for row in rows:
            if len(row) < len(columns):
                row.update({column: None for column in columns if column not in row})
        yield Table(path, tuple(columns), rows, lines, problems, None if size is None else ids)
        first = False


def as_table(source: Path | Table, quoting: str = "auto") -> Table:
    """Read a table and its problems, unless it has been read."""
    return source if isinstance(source, Table) else read_table(source, "report", quoting=quoting)


def write_table(path: Path | str, columns: Mapping[str, Sequence[Any]]) -> None:
    """Write columns of equal length as .csv, .jsonl or .parquet, atomically.

    Columns are lists or one-dimensional NumPy arrays; Parquet keeps their types, CSV writes None as
    an empty cell, and no text that a spreadsheet would compute (see `as_text`).
    """
    write_chunks(path, [columns])


def write_chunks(path: Path | str, chunks: Iterable[Mapping[str, Sequence[Any]]]) -> None:
    """Write a table as `write_table` does, some rows at a time, all with the same columns.

    There is at least one chunk; after an error in them, `path` is unchanged.
    """
    path = Path(path)
    if path.suffix not in (".csv", ".jsonl", ".parquet"):
        fix = "use .csv, .jsonl or .parquet"
        raise DataError(str(path), f"cannot write a '{path.suffix}' file", fix)
    chunks = iter(chunks)
    chunks = chain([next(chunks)], chunks)  # an error in the first chunk must not leave a folder
    if path.suffix == ".parquet":
        with atomic_open(path, "wb") as file:
            _write_parquet(file, chunks)
        return
    with atomic_open(path) as file:
        # Python before 3.13 leaves a lone carriage return unquoted, which breaks the row.
        writer = csv.writer(file, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
        for number, columns in enumerate(chunks):
            # NumPy scalars are no JSON values; tolist() makes them plain numbers.
            plain = [getattr(values, "tolist", lambda v=values: v)() for values in columns.values()]
            rows = zip(*plain, strict=True)
            if path.suffix == ".csv":
                if not number:
                    writer.writerow(map(as_text, columns))
                writer.writerows(map(as_text, row) for row in rows)
                continue
            for row in rows:
                json.dump(dict(zip(columns, row, strict=True)), file, ensure_ascii=False)
                file.write("\n")


def _write_parquet(file: IO[bytes], chunks: Iterable[Mapping[str, Sequence[Any]]]) -> None:
    import pyarrow  # start-up time
    import pyarrow.parquet

    waiting: list[Any] = []  # a column without any value so far has no type yet
    with ExitStack() as stack:
        writer: Any = None
        for columns in chunks:
            table = pyarrow.table(dict(columns))
            if writer is None:
                waiting.append(table)
                table = pyarrow.concat_tables(waiting, promote_options="default")
                if pyarrow.null() in table.schema.types:
                    continue
                writer = stack.enter_context(pyarrow.parquet.ParquetWriter(file, table.schema))
            writer.write_table(table.cast(writer.schema))
        if writer is None:
            pyarrow.parquet.write_table(table, file)
