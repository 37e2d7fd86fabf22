"""Tables on disk: CSV, TSV, JSON Lines, JSON lists and Parquet, read row by row with line numbers.

A bad row is reported the same way everywhere: file, line, what is wrong, all bad rows at once. A
file that cannot be read at all is a DataError.
"""

from __future__ import annotations

import atexit
import codecs
import csv
import functools
import gzip
import io
import json
import re
import shutil
import sys
import tempfile
import unicodedata
import zlib
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import IO, Any, Literal

from heron.base.cells import as_text, without_apostrophe
from heron.base.errors import DataError, Fix, Problem, nearest
from heron.base.files import atomic_open, parse_json, write_file
from heron.base.terminal import say

SUFFIXES = (".csv", ".tsv", ".jsonl", ".json", ".parquet")
# What is invisible in names: direction controls, zero-width spaces, marks of byte order.
BIDI_CONTROLS = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
_INVISIBLE = re.compile(f"[{BIDI_CONTROLS}\u200b\u2060\ufeff]")
# Bytes that are not UTF-8 are decoded to these code points, which valid UTF-8 does not contain, so
# that one bad byte costs only its own row. A NUL is valid UTF-8, but belongs in no text.
_UNDECODABLE = re.compile("[\0\udc80-\udcff]")
# Characters of a cell: more than any article has, less than a file whose quote is never closed.
_LONGEST = 1 << 24
# How JSON begins: a list of objects, or an object. Objects in each line are a table, one is not.
_JSON = re.compile(r'\s*(?:(\[)\s*[{\]]|\{\s*(?:["}]|$))')
_JSON_LINES = re.compile(r"\s*\{[^\n]*\}[ \t\r]*\n\s*\{")
_HEAD = 1 << 16  # characters that tell a file's format
# Errors of files, gzip, Parquet and encodings.
_BROKEN = (OSError, EOFError, ValueError, NotImplementedError, zlib.error)

# What every format yields: the 1-based line, and the row or what is wrong with it.
Rows = Iterator[tuple[int, dict[str, Any] | str]]


@dataclass(frozen=True, slots=True)
class FileTable:
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
        fixes = {name: f"{key}=NAME names that column" for name, key in (keys or {}).items()}
        problems = [
            Problem(str(self.path), f"no column '{name}'.{nearest(name, self.columns)}", fix)
            for name, fix in (dict.fromkeys(columns, "") | fixes).items()
            if name not in self.columns
        ]
        problems = problems if self.rows else self.problems
        if problems or not self.rows:
            raise DataError(problems)

    def problem(self, index: int, what: str, fix: Fix = "") -> Problem:
        """Report a row: what is wrong with it, and how to fix that."""
        return Problem(self.where(index), what, fix)

    def missing_values(self, column: str) -> list[Problem]:
        """Report every row whose `column` holds nothing (see `is_missing`)."""
        what, fix = f"'{column}' is empty", "fill it in or remove the row"
        values = enumerate(self.values(column))
        return [self.problem(index, what, fix) for index, value in values if is_missing(value)]

    def duplicates(self, column: str) -> list[Problem]:
        """Report every row that repeats an earlier value of `column`, naming both lines."""
        first: dict[str, int] = {}
        problems = []
        for index, value in enumerate(self.values(column)):
            text = "" if is_missing(value) else cell_text(value)
            if text and (earlier := first.setdefault(text, index)) != index:
                what = f"{column} '{text}' is already on line {self.lines[earlier]}"
                problems.append(self.problem(index, what, f"each {column} once"))
        return problems


def is_missing(value: Any) -> bool:
    """Tell whether a cell holds nothing: None, NaN or blank text; the text `nan` is a text."""
    if isinstance(value, str):
        return not value.strip()
    return value is None or (isinstance(value, float) and value != value)


def cell_text(value: Any) -> str:
    """Write a label or id trimmed, in NFC, without invisible characters; 3.0 becomes `3`."""
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
) -> FileTable:
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
) -> Iterator[FileTable]:
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
    for _, row in () if size is None or kind == ".csv" else _read_rows(path, kind, only, quoting):
        columns |= dict.fromkeys(() if isinstance(row, str) else row)
    found, ids = _read_rows(path, kind, only, quoting), dict[str, int]()
    chunk = list(islice(found, size)) or [(0, "has no rows, and at least one is needed")]
    while chunk:
        rows = [row for _, row in chunk if not isinstance(row, str)]
        lines = [line for line, row in chunk if not isinstance(row, str)]
        problems = [
            Problem(f"{path}:{line}" if line else str(path), row)
            for line, row in chunk
            if isinstance(row, str)
        ]
        if own and kind == ".csv":
            rows = [
                {without_apostrophe(name): without_apostrophe(cell) for name, cell in row.items()}
                for row in rows
            ]
        columns = columns or dict.fromkeys(column for row in rows for column in row)
        for row in rows:
            if len(row) < len(columns):
                row.update({column: None for column in columns if column not in row})
        yield FileTable(path, tuple(columns), rows, lines, problems, None if size is None else ids)
        chunk = list(islice(found, size)) if size else []


def write_table(path: Path | str, columns: Mapping[str, Sequence[Any]]) -> None:
    """Write columns of equal length as .csv, .jsonl or .parquet, atomically.

    Columns are lists or one-dimensional NumPy arrays; Parquet keeps their types, CSV writes None as
    an empty cell, and escapes what a spreadsheet would compute (see `as_text`).
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


def table_format(path: Path) -> str:
    """Name a table's format by its suffix, in lower case: `.csv` for `rows.csv.gz` too."""
    return _unpacked(path).suffix.lower()


def table_stem(path: Path) -> str:
    """Name a file without its suffixes: `rows` for `rows.csv.gz`."""
    return _unpacked(path).stem


def _unpacked(path: Path) -> Path:
    return Path(path.stem if path.suffix.lower() == ".gz" else path.name)


@contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """Open a file to read, unpacking `.gz`; a DataError where it cannot be read in the block."""
    opener: Any = gzip.open if path.suffix.lower() == ".gz" else open
    try:
        with opener(path, "rb") as file:
            yield file
    except _BROKEN as error:
        why = getattr(error, "strerror", None) or error
        raise DataError(str(path), f"cannot be read: {why}") from error


def read_bytes(path: Path) -> bytes:
    """Read a file, unpacked if it ends in `.gz`; a DataError where that fails."""
    with opened(path) as file:
        return file.read()


@functools.cache
def received(path: Path) -> Path:
    """Copy standard input, which `-` names, to a temporary file once; other paths are kept."""
    if str(path) != "-":
        return path
    content = sys.stdin.buffer.read()
    kinds = {b"PAR1": ".parquet", b"{": ".json"}  # the rest shows in the text of a .csv
    begins = content.removeprefix(codecs.BOM_UTF8).lstrip()
    suffix = next((kind for mark, kind in kinds.items() if begins.startswith(mark)), ".csv")
    folder = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return write_file(folder / f"stdin{suffix}", content)


def content_format(path: Path) -> str:
    """Tell a table's format: its suffix, in lower case, or what its text shows.

    That is `.json` for a list of objects, `.jsonl` for an object in each line, `object` for one in
    a .json file, such as SQuAD's, `.csv` for all else that is not named as JSON.
    """
    suffix = table_format(path)
    if suffix not in (".csv", ".tsv", ".json"):
        return suffix
    with opened(path) as file:
        head = open_text(file).read(_HEAD)
    if begins := _JSON.match(head):
        is_object = suffix == ".json" and not _JSON_LINES.match(head)
        return ".json" if begins[1] else "object" if is_object else ".jsonl"
    return ".csv" if suffix == ".tsv" else suffix


def _read_rows(path: Path, kind: str, only: Collection[str] | None, quoting: str) -> Rows:
    """Read a file of this format row by row; a DataError where it cannot be read at all."""
    if table_format(path) not in SUFFIXES:
        fix = f"use one of {', '.join(SUFFIXES)}, or .gz"
        raise DataError(str(path), f"unknown file type '{path.suffix}'", fix)
    with opened(path) as file:
        if kind == ".parquet":
            yield from _read_parquet(path, file, only)
        elif kind == ".csv":
            yield from _read_csv(open_text(file), path, quoting)
        elif kind == ".jsonl":
            for line, content in enumerate(open_text(file, "\n"), 1):
                if content.strip():
                    yield line, _json_object(content.removesuffix("\n"))
        else:
            yield from _read_json_list(open_text(file))


def open_text(file: IO[bytes], ends: str = "") -> IO[str]:
    """Decode a file from its beginning; bytes that are not UTF-8 cost their own row only."""
    file.seek(0)
    wide = file.read(2) in (b"\xff\xfe", b"\xfe\xff")
    file.seek(0)
    encoding, errors = ("utf-16", "replace") if wide else ("utf-8-sig", "surrogateescape")
    return io.TextIOWrapper(file, encoding, errors, ends)


def _read_csv(text: IO[str], path: Path, quoting: str) -> Rows:
    """Read a table that begins with a header, which shows what separates cells."""
    usual = "\t" if table_format(path) == ".tsv" else ","
    widths = {sign: len(_header(text, sign)[1]) for sign in ("\t", usual, ",", ";", "|")}
    delimiter = "\t" if widths["\t"] > 1 else max((usual, ",", ";", "|"), key=widths.__getitem__)
    if quoting == "auto":
        quoting = _find_quoting(text, path, delimiter)
    names: list[str] = []
    alike: list[int] = []  # lines of quoted cells that may be rows
    for line, lines, cells in _records(text, delimiter, quoting):
        if isinstance(cells, csv.Error):
            yield line, f'broken quoting: {cells}; write a quote inside quotes as ""'
        elif not cells:
            continue
        elif wrong := undecodable(delimiter.join(cells)):
            yield line, wrong
        elif not names:
            names = [cell.strip() for cell in cells]
            while names[1:] and not names[-1]:  # unnamed columns at the end
                names.pop()
            if repeated := sorted({name for name in names if names.count(name) > 1}):
                yield line, f"columns named twice: {', '.join(repeated)}; rename one"
                return
        elif len(cells) < len(names) or any(map(str.strip, cells[len(names) :])):
            yield line, f"{len(cells)} cells where the header has {len(names)}: {', '.join(names)}"
        else:
            if len(lines) > 1 and _are_rows(lines, delimiter, len(names)):
                alike.append(line)
            yield line, dict(zip(names, cells, strict=False))
        if not names:  # the header cannot be read
            return
    if alike:
        what = f"{path}: the lines of {len(alike)} quoted cells look like rows (first: {alike[0]})"
        say(f"{what}; data.quoting=none reads them as rows", f"{path}: cells")


def _find_quoting(text: IO[str], path: Path, delimiter: str) -> str:
    """Tell whether quotes enclose cells or are characters, by which reading gives rows.

    Quoted names in the header decide. Else only records that are rows in just one reading count; a
    quoted cell of several lines that all look like rows counts for characters.
    """
    lines, header = _header(text, delimiter)
    width, quoted, alike, broken = len(header), 0, 0, 0
    if '"' in lines[0] and '"' not in "".join(header):
        return "csv"
    for _, lines, cells in _records(text, delimiter, "csv"):
        if not any('"' in line for line in lines):
            continue
        are_rows, several = _are_rows(lines, delimiter, width), len(lines) > 1
        if isinstance(cells, csv.Error):
            broken += are_rows
        elif len(cells) == width:
            alike += are_rows and several and width > 1
            quoted += not are_rows or (several and width == 1)
    if (quoted and not broken) or quoted >= broken + alike:
        return "csv"
    if not broken:
        what = f"{path}: quotes are read as characters: what they enclose looks like rows"
        say(f"{what}; data.quoting=csv reads cells of several lines", f"{path}: quotes")
    return "none"


def _header(text: IO[str], delimiter: str) -> tuple[list[str], list[str]]:
    """Find the lines of the header and its cells, without quoting where that is broken."""
    for _, lines, cells in _records(text, delimiter, "csv"):
        if isinstance(cells, csv.Error):
            cells = lines[0].rstrip("\r\n").split(delimiter)
        if cells:
            return lines, cells
    return [""], []


def _are_rows(lines: Sequence[str], delimiter: str, width: int) -> bool:
    """Tell whether every line that is not blank is a row if quotes are characters."""
    return all(line.count(delimiter) == width - 1 for line in lines if line.strip())


def _records(
    text: IO[str], delimiter: str, quoting: str
) -> Iterator[tuple[int, list[str], list[str] | csv.Error]]:
    """Read a file from its beginning: the number of a record's first line, its lines, its cells.

    Where quoting is broken, the record is one line and has an error, so that no line is lost.
    """
    # strict: otherwise a quote that is never closed silently hides the rest of the file.
    style: Any = csv.QUOTE_NONE if quoting == "none" else csv.QUOTE_MINIMAL
    csv.field_size_limit(_LONGEST)  # the default, 131,072 characters, is less than some articles
    text.seek(0)
    back, number, taken = deque[str](), 1, list[str]()

    def lines() -> Iterator[str]:
        while each := back.popleft() if back else next(text, ""):
            taken.append(each)
            yield each

    while True:
        cells: list[str] | csv.Error
        taken = []
        try:
            cells = next(csv.reader(lines(), delimiter=delimiter, quoting=style, strict=True))
        except StopIteration:
            return
        except csv.Error as error:
            back.extendleft(reversed(taken[1:]))
            taken, cells = taken[:1], error
        yield number, taken, cells
        number += len(taken)


def _read_json_list(text: IO[str]) -> Rows:
    """Read a JSON list, whose rows are numbered, or one row."""
    try:
        values = parse_json(text.read(), halves=True)
    except json.JSONDecodeError as error:
        yield error.lineno, f"broken JSON: {error}; nothing of it was read"
        return
    for number, value in enumerate(values if isinstance(values, list) else [values], 1):
        yield number, _json_object(json.dumps(value))


def _json_object(content: str) -> dict[str, Any] | str:
    """Parse one JSON object, or say what is wrong with it."""
    if wrong := undecodable(content):
        return wrong
    try:
        value = parse_json(content)
    except json.JSONDecodeError as error:
        return f"broken JSON: {error}"
    return value if isinstance(value, dict) else 'not a JSON object: write {"column": value, ...}'


def _read_parquet(path: Path, file: IO[bytes], only: Collection[str] | None) -> Rows:
    import pyarrow.parquet  # start-up time

    with tempfile.TemporaryFile() as unpacked:
        if path.suffix.lower() == ".gz":  # Parquet is read from its end, slow in a packed file
            shutil.copyfileobj(file, unpacked)
            file = unpacked
        found = pyarrow.parquet.ParquetFile(file)
        names = found.schema_arrow.names
        if repeated := sorted({name for name in names if names.count(name) > 1}):
            raise DataError(str(path), f"columns named twice: {', '.join(repeated)}", "rename one")
        wanted = None if only is None else [name for name in names if name in only]
        batches = found.iter_batches(1000, columns=wanted)
        yield from enumerate((row for batch in batches for row in batch.to_pylist()), 1)


def undecodable(text: str) -> str:
    """Say which byte of a text is not UTF-8, or NUL; empty where all are fine."""
    if not (found := _UNDECODABLE.search(text)):
        return ""
    # surrogateescape maps byte 0x80 + n to U+DC80 + n.
    byte, before = ord(found.group()) & 0xFF, text[: found.start()][-20:]
    return f"{f'not UTF-8: byte 0x{byte:02x}' if byte else 'a NUL byte'} after {before!r}"
