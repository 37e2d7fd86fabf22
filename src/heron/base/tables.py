"""Tables on disk: CSV, TSV, JSON Lines, JSON lists and Parquet, read row by row with line numbers.

A bad row is reported the same way everywhere: file, line, what is wrong, all bad rows at once.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
import shutil
import tempfile
import unicodedata
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import IO, Any, Literal, NamedTuple

from heron.base.errors import DataError, Problem, nearest
from heron.base.files import atomic_open, parse_json

SUFFIXES = (".csv", ".tsv", ".jsonl", ".json", ".parquet")

# Bytes that are not UTF-8 are decoded to these code points, which valid UTF-8 does not contain, so
# that one bad byte costs only its own row. A NUL is valid UTF-8, but belongs in no text.
_UNDECODABLE = re.compile("[\0\udc80-\udcff]")
# Cells that a spreadsheet takes for formulas, after any apostrophes; plain numbers are harmless.
_LIVE = re.compile("'*[=+@\t\r\n＝＋－＠-]")
_NUMBER = re.compile(r"[+-]?(?:\d+(?:[.,]\d+)*|\.\d+)(?:[eE][+-]?\d+)?%?")
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
            fix = f"{keys[column]}=NAME says which column it is" if keys else ""
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


def table_format(path: Path) -> str:
    """Name a table's format by its suffix, in small letters: `.csv` for `rows.csv.gz` too."""
    return _unpacked(path).suffix.lower()


def table_stem(path: Path) -> str:
    """Name a file without its suffixes: `rows` for `rows.csv.gz`."""
    return _unpacked(path).stem


def _unpacked(path: Path) -> Path:
    return Path(path.stem if path.suffix.lower() == ".gz" else path.name)


@contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """Open a file to read, unpacking `.gz`; broken packing is an OSError, of the block as well."""
    opener: Any = gzip.open if path.suffix.lower() == ".gz" else open
    try:
        with opener(path, "rb") as file:
            yield file
    except (EOFError, zlib.error) as error:
        raise OSError(f"broken gzip: {error}") from error


def read_bytes(path: Path) -> bytes:
    """Read a file, unpacked if it ends in `.gz`; an OSError where that fails."""
    with opened(path) as file:
        return file.read()


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


def as_text(value: Any) -> Any:
    """Put an apostrophe before a text that a spreadsheet would run, such as `=1+1` or `-x`."""
    is_live = isinstance(value, str) and _LIVE.match(value) and not _NUMBER.fullmatch(value)
    return f"'{value}" if is_live else value


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
    path = Path(path)
    undo = own and table_format(path) in (".csv", ".tsv")
    table = make_table(path, read_found(path, only, quoting), undo)
    if table.problems and bad_rows == "raise":
        raise DataError(table.problems)
    return table


def make_table(
    path: Path, found: Found, undo: bool = False, columns: Iterable[str] | None = None
) -> Table:
    """Divide what was read, perhaps a part with `columns`, into rows and problems."""

    def undone(cell: str) -> str:
        return cell[1:] if cell.startswith("'") and _LIVE.match(cell) else cell

    rows: list[dict[str, Any]] = []
    lines: list[int] = []
    problems: list[Problem] = []
    for line, row in found:
        if isinstance(row, Bad):
            if not line:  # the whole file
                rows, lines, problems = [], [], []
            problems.append(Problem(f"{path}:{line}" if line else str(path), *row))
            continue
        rows.append({undone(name): undone(cell) for name, cell in row.items()} if undo else row)
        lines.append(line)
    if not rows and not problems:
        problems.append(Problem(str(path), "has no rows", "at least one is needed"))
    columns = tuple(dict.fromkeys(columns or (column for row in rows for column in row)))
    for row in rows:
        if len(row) < len(columns):
            row.update({column: None for column in columns if column not in row})
    return Table(path, columns, rows, lines, problems)


def as_table(source: Path | Table, quoting: str = "auto") -> Table:
    """Read a table and its problems, unless it has been read."""
    return source if isinstance(source, Table) else read_table(source, "report", quoting=quoting)


def write_table(path: Path | str, columns: Mapping[str, Sequence[Any]]) -> None:
    """Write columns of equal length as .csv, .jsonl or .parquet, atomically.

    Columns are lists or one-dimensional NumPy arrays; Parquet keeps their types, CSV writes None as
    an empty cell, and no text that a spreadsheet would run (see `as_text`).
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


class Bad(NamedTuple):
    """A row, or (on line 0) a whole file, that cannot be read."""

    what: str
    fix: str = ""


# What every format yields: the 1-based line, and the row or what is wrong with it.
Found = Iterator[tuple[int, dict[str, Any] | Bad]]


def read_found(path: Path, only: Collection[str] | None = None, quoting: str = "auto") -> Found:
    """Read a file row by row; see `read_table`."""
    if path.is_dir():
        yield 0, Bad("is a folder, not a file", "name a file in it")
    elif table_format(path) not in SUFFIXES:
        fix = f"use one of {', '.join(SUFFIXES)}, or .gz"
        yield 0, Bad(f"unknown file type '{path.suffix}'", fix)
    else:
        try:
            with opened(path) as file:
                yield from _read_open(path, file, only, quoting)
        except OSError as error:
            yield 0, Bad(f"cannot be read: {(error.strerror or str(error)).lower()}")


def _read_open(path: Path, file: IO[bytes], only: Collection[str] | None, quoting: str) -> Found:
    blocks = iter(lambda: file.read(1 << 16), b"")
    first = next(blocks, b"")
    empty = all(not each.strip(b"\xef\xbb\xbf \t\r\n") for each in chain([first], blocks))
    file.seek(0)
    if empty:
        yield 0, Bad("the file is empty", "at least one row is needed")
    elif table_format(path) == ".parquet":
        yield from _read_parquet(path, file, only)
    elif table_format(path) == ".jsonl":
        yield from read_json_lines(open_text(file, "\n"))
    else:
        from heron.base.table_formats import read_by_content  # start-up time

        yield from read_by_content(path, file, quoting)


def open_text(file: IO[bytes], ends: str = "") -> IO[str]:
    """Decode a file from its beginning; bytes that are not UTF-8 cost their own row only."""
    file.seek(0)
    wide = file.read(2) in (b"\xff\xfe", b"\xfe\xff")
    file.seek(0)
    encoding, errors = ("utf-16", "replace") if wide else ("utf-8-sig", "surrogateescape")
    return io.TextIOWrapper(file, encoding, errors, ends)


def read_json_lines(text: IO[str]) -> Found:
    """Read an object in each line."""
    for line, content in enumerate(text, 1):
        if content.strip():
            yield line, json_object(content.removesuffix("\n"))


def _read_parquet(path: Path, file: IO[bytes], only: Collection[str] | None) -> Found:
    import pyarrow  # start-up time
    import pyarrow.parquet

    with tempfile.TemporaryFile() as unpacked:
        if path.suffix.lower() == ".gz":  # Parquet is read from its end, slow in a packed file
            shutil.copyfileobj(file, unpacked)
            file = unpacked
        try:
            found = pyarrow.parquet.ParquetFile(file)
            present = found.schema_arrow.names
            wanted = None if only is None else [name for name in present if name in only]
            batches = found.iter_batches(1000, columns=wanted)
            yield from enumerate((row for batch in batches for row in batch.to_pylist()), 1)
        except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:
            yield 0, Bad(f"is not a readable Parquet file: {error}")


def json_object(content: str) -> dict[str, Any] | Bad:
    """Parse one JSON object, or say what is wrong with it."""
    if bad := undecodable(content):
        return bad
    try:
        value = parse_json(content)
    except json.JSONDecodeError as error:
        return Bad(f"broken JSON at character {error.pos + 1}: {error.msg}")
    if not isinstance(value, dict):
        return Bad(f"a JSON {type(value).__name__}, not an object", 'write {"column": value, ...}')
    return value


def undecodable(text: str) -> Bad | None:
    """Say which byte of a text is not UTF-8, or NUL; None where all are fine."""
    if not (found := _UNDECODABLE.search(text)):
        return None
    before = repr(text[: found.start()][-20:])
    if found.group() == "\0":
        return Bad(f"a NUL byte after {before}", "remove it")
    # surrogateescape maps byte 0x80 + n to U+DC80 + n.
    byte = ord(found.group()) - 0xDC00
    return Bad(f"not UTF-8: byte 0x{byte:02x} after {before}", "save as UTF-8")
