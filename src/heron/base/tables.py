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
import math
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
from decimal import Decimal
from itertools import chain, islice
from pathlib import Path
from typing import IO, Any, Literal

from heron.base.cells import escape_formula, without_apostrophe
from heron.base.errors import DataError, Fix, HeronError, Problem, nearest, raise_all
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
# Names of the value itself in what Label Studio, pipelines and evaluation scripts write for it.
_NAMED = (
    "choices",
    "choice",
    "label",
    "text",
    "answer",
    "prediction_text",
    "summary_text",
    "generated_text",
    "translation_text",
)
_LFS = b"version https://git-lfs"  # how what git-lfs stores in place of a file begins
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

    def texts(self, column: str) -> list[str]:
        """Write one column by `cell_text`, empty where a cell holds nothing.

        Raises:
            DataError: every row whose cell is no text.
        """
        texts = []
        problems = []
        for index, value in enumerate(self.values(column)):
            try:
                texts.append(text_or_empty(value))
            except NotTextError as error:
                problems.append(self.problem(index, f"'{column}' {error}", "one value in each row"))
        raise_all(problems)
        return texts

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
        fixes = dict.fromkeys(columns, "")
        for name, key in (keys or {}).items():
            fixes[name] = f"{key}=NAME names that column"
        problems = []
        for name, fix in fixes.items():
            if name not in self.columns:
                what = f"no column '{name}'.{nearest(name, self.columns)}"
                problems.append(Problem(str(self.path), what, fix))
        raise_all(problems)

    def problem(self, index: int, what: str, fix: Fix = "") -> Problem:
        """Report a row: what is wrong with it, and how to fix that."""
        return Problem(self.where(index), what, fix)

    def missing_values(self, column: str) -> list[Problem]:
        """Report every row whose `column` holds nothing (see `is_missing`)."""
        problems = []
        for index, value in enumerate(self.values(column)):
            if is_missing(value):
                fix = "fill it in or remove the row"
                problems.append(self.problem(index, f"'{column}' is empty", fix))
        return problems

    def duplicates(self, column: str) -> list[Problem]:
        """Report every row that repeats an earlier value of `column`, naming both lines."""
        first: dict[str, int] = {}
        problems = []
        for index, text in enumerate(self.texts(column)):
            if text in first:
                what = f"{column} '{text}' is already on line {self.lines[first[text]]}"
                problems.append(self.problem(index, what, f"each {column} once"))
            elif text:
                first[text] = index
        return problems


class NotTextError(HeronError):
    """A cell whose value is neither a text nor a number."""


def plain_value(value: Any) -> Any:
    """Take a value out of what tools put around it; other lists and mappings are kept.

    A list of one value is that value, and of answers with scores the best. A mapping is the value
    under its one name in `_NAMED`, such as `{"label": ..., "score": ...}`. Empty ones are None.
    """
    if isinstance(value, str):  # nearly all cells
        return value
    if isinstance(value, bytes):
        return value.decode(errors="backslashreplace")
    if not isinstance(value, Mapping | list | tuple):
        return value
    if not value:
        return None
    if isinstance(value, Mapping):
        names = [name for name in _NAMED if name in value]
        return plain_value(value[names[0]]) if len(names) == 1 else value

    scores = [score for score in map(_score, value) if score is not None]
    if len(scores) == len(value):
        return plain_value(value[scores.index(max(scores))])
    return plain_value(value[0]) if len(value) == 1 else value


def _score(answer: Any) -> float | None:
    """Read the score of one of several answers; None where it has none."""
    if not isinstance(answer, Mapping):
        return None
    score = answer.get("score", answer.get("probability"))
    return score if isinstance(score, int | float) else None


def is_missing(value: Any) -> bool:
    """Tell whether a cell holds nothing: None, NaN or blank text; the text `nan` is a text."""
    if not isinstance(value, str):
        value = plain_value(value)
    if isinstance(value, str):
        return not value.strip()
    return value is None or (isinstance(value, float) and value != value)


def cell_text(value: Any) -> str:
    """Write a label or id trimmed, in NFC, without invisible characters; 3.0 becomes `3`.

    Raises:
        NotTextError: a list of several values, or a mapping that `plain_value` does not know.
    """
    value = plain_value(value)
    if not isinstance(value, str):
        if isinstance(value, Collection):
            count = len(value)
            raise NotTextError(f"is {count} values and no single one: {value!r:.60}")
        if isinstance(value, float | Decimal) and math.isfinite(value) and value == int(value):
            value = int(value)
    text = str(value)
    if not text.isascii():
        text = unicodedata.normalize("NFC", _INVISIBLE.sub("", text))
    return text.strip()


def text_or_empty(value: Any) -> str:
    """Write a cell by `cell_text`; empty where it holds nothing."""
    return "" if is_missing(value) else cell_text(value)


def number_text(value: Any) -> Any:
    """Write a number where a text is meant, as CSV has it; others as `plain_value` does."""
    value = plain_value(value)
    is_number = type(value) in (int, float, Decimal) and value == value
    return cell_text(value) if is_number else value


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
        own: heron may have written the file: undo `escape_formula`.
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
    columns: dict[str, None] = {}  # in order, each once
    # All rows of CSV have the columns of the header: it needs no second reading.
    if size is not None and kind != ".csv":
        for _, row in _read_rows(path, kind, only, quoting):
            if not isinstance(row, str):
                columns |= dict.fromkeys(row)
    ids = None if size is None else dict[str, int]()
    all_rows = _read_rows(path, kind, only, quoting)
    chunk = list(islice(all_rows, size)) or [(0, "has no rows, and at least one is needed")]
    while chunk:
        rows = []
        lines = []
        problems = []
        for line, row in chunk:
            if isinstance(row, str):
                problems.append(Problem(f"{path}:{line}" if line else str(path), row))
                continue
            lines.append(line)
            rows.append(_without_apostrophes(row) if own and kind == ".csv" else row)
        if not columns:
            for row in rows:
                columns |= dict.fromkeys(row)
        for row in rows:
            if len(row) < len(columns):
                row.update({column: None for column in columns if column not in row})
        yield FileTable(path, tuple(columns), rows, lines, problems, ids)
        chunk = list(islice(all_rows, size)) if size else []


def _without_apostrophes(row: Mapping[str, str]) -> dict[str, Any]:
    """Undo `escape_formula` in a row."""
    return {without_apostrophe(name): without_apostrophe(cell) for name, cell in row.items()}


def as_columns(names: Sequence[str], rows: Iterable[Sequence[Any]]) -> dict[str, list[Any]]:
    """Turn rows into the columns that `write_table` takes."""
    columns: dict[str, list[Any]] = {name: [] for name in names}
    for row in rows:
        for column, cell in zip(columns.values(), row, strict=True):
            column.append(cell)
    return columns


def write_table(path: Path | str, columns: Mapping[str, Sequence[Any]]) -> None:
    """Write columns of equal length as .csv, .jsonl or .parquet, atomically.

    Columns are lists or one-dimensional NumPy arrays; Parquet keeps their types, CSV writes None as
    an empty cell, and escapes what a spreadsheet would compute (see `escape_formula`).
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
            if path.suffix == ".csv" and not number:
                writer.writerow(map(escape_formula, columns))
            for row in zip(*map(_plain, columns.values()), strict=True):
                if path.suffix == ".csv":
                    writer.writerow(map(escape_formula, row))
                else:
                    json.dump(dict(zip(columns, row, strict=True)), file, ensure_ascii=False)
                    file.write("\n")


def _plain(values: Any) -> Sequence[Any]:
    """Turn an array into a list: NumPy's numbers are no JSON values."""
    plain: Sequence[Any] = values.tolist() if hasattr(values, "tolist") else values
    return plain


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
        with open(path, "rb") as file:
            is_pointer = file.read(len(_LFS)) == _LFS
        if is_pointer:
            raise DataError(str(path), "is a Git LFS pointer: git lfs pull fetches the file")
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
    begin = content.removeprefix(codecs.BOM_UTF8).lstrip()
    suffix = ".csv"  # whose text shows what it is
    if begin.startswith(b"PAR1"):
        suffix = ".parquet"
    elif begin.startswith(b"{"):
        suffix = ".json"
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
    json_begin = _JSON.match(head)
    if json_begin is None:
        return ".csv" if suffix == ".tsv" else suffix
    if json_begin[1]:
        return ".json"
    is_object = suffix == ".json" and not _JSON_LINES.match(head)
    return "object" if is_object else ".jsonl"


def _read_rows(path: Path, kind: str, only: Collection[str] | None, quoting: str) -> Rows:
    """Read a file of this format row by row; a DataError where it cannot be read at all."""
    if table_format(path) not in SUFFIXES:
        suffixes = ", ".join(SUFFIXES)
        packed = ".gz" if path.suffix.lower() == ".gz" else ""
        fix = f"use one of {suffixes}, perhaps packed (.csv.gz); unpack an archive"
        raise DataError(str(path), f"unknown file type '{table_format(path)}{packed}'", fix)

    with opened(path) as file:
        if kind == ".parquet":
            yield from _read_parquet(path, file, only)
        elif kind == ".csv":
            yield from _read_csv(open_text(file), path, quoting)
        elif kind == ".jsonl":
            for number, line in enumerate(open_text(file, "\n"), 1):
                if line.strip():
                    yield number, _json_object(line.removesuffix("\n"))
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
    delimiter = _find_delimiter(text, path)
    if quoting == "auto":
        quoting = _find_quoting(text, path, delimiter)

    names: list[str] = []
    doubtful: list[int] = []  # lines of quoted cells that may be rows
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

            repeated = _repeated(names)
            if repeated:
                yield line, f"columns named twice: {', '.join(repeated)}; rename one"
                return
        elif len(cells) < len(names) or any(map(str.strip, cells[len(names) :])):
            header = ", ".join(names)
            yield line, f"{len(cells)} cells where the header has {len(names)}: {header}"
        else:
            if len(lines) > 1 and _are_rows(lines, delimiter, len(names)):
                doubtful.append(line)
            yield line, dict(zip(names, cells, strict=False))

        if not names:  # the header cannot be read
            return

    if doubtful:
        count = len(doubtful)
        first = doubtful[0]
        what = f"{path}: the lines of {count} quoted cells look like rows (first: {first})"
        say(f"{what}; data.quoting=none reads them as rows", f"{path}: cells")


def _find_delimiter(text: IO[str], path: Path) -> str:
    """Tell what separates cells: a tab if the header has one, or what makes most cells of it."""
    usual = "\t" if table_format(path) == ".tsv" else ","
    widths = {sign: len(_header(text, sign)[1]) for sign in ("\t", usual, ",", ";", "|")}
    if widths["\t"] > 1:
        return "\t"
    return max((usual, ",", ";", "|"), key=widths.__getitem__)


def _repeated(names: Sequence[str]) -> list[str]:
    return sorted({name for name in names if names.count(name) > 1})


def _find_quoting(text: IO[str], path: Path, delimiter: str) -> str:
    """Tell whether quotes enclose cells (`csv`) or are characters like others (`none`).

    A header with quoted names has quotes around cells. Without one, each record with a quote is
    parsed both ways. It counts for the way in which alone it has as many cells as the header; a
    quoted cell of several lines that each look like a row counts for `none`.
    """
    lines, header = _header(text, delimiter)
    width = len(header)
    if '"' in lines[0] and '"' not in "".join(header):
        return "csv"
    # Records that count for quotes around cells; that are rows if quotes are characters; and lines
    # that are rows only then, because their quoting is broken.
    quoted = 0
    alike = 0
    broken = 0
    for _, lines, cells in _records(text, delimiter, "csv"):
        if not any('"' in line for line in lines):
            continue
        are_rows = _are_rows(lines, delimiter, width)
        is_several = len(lines) > 1
        if isinstance(cells, csv.Error):
            broken += are_rows
        elif len(cells) == width and are_rows:
            alike += is_several and width > 1
            quoted += is_several and width == 1
        elif len(cells) == width:
            quoted += 1
    if (quoted and not broken) or quoted >= broken + alike:
        return "csv"
    if not broken:
        what = f"{path}: quotes are read as characters: what they enclose looks like rows"
        say(f"{what}; data.quoting=csv reads cells of several lines", f"{path}: quotes")
    return "none"


def _header(text: IO[str], delimiter: str) -> tuple[list[str], list[str]]:
    """Read the header: its lines and cells; split at the delimiter where its quoting is broken."""
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
    """Read the records of CSV: the number of the first line, the lines, and the cells of each.

    Where quoting is broken, the record is a single line with the error in place of its cells; the
    next record begins on the line after it, so that no line is lost.
    """
    # strict: otherwise a quote that is never closed silently hides the rest of the file.
    style: Any = csv.QUOTE_NONE if quoting == "none" else csv.QUOTE_MINIMAL
    csv.field_size_limit(_LONGEST)  # the default, 131,072 characters, is less than some articles
    text.seek(0)
    unread = deque[str]()  # lines that a broken record had taken
    record = list[str]()  # lines

    def lines() -> Iterator[str]:
        while line := unread.popleft() if unread else next(text, ""):
            record.append(line)
            yield line

    number = 1
    while True:
        cells: list[str] | csv.Error
        record = []
        try:
            cells = next(csv.reader(lines(), delimiter=delimiter, quoting=style, strict=True))
        except StopIteration:
            return
        except csv.Error as error:
            unread.extendleft(reversed(record[1:]))
            record = record[:1]
            cells = error
        yield number, record, cells
        number += len(record)


def _read_json_list(text: IO[str]) -> Rows:
    """Read a JSON list, whose rows are numbered, also under a key of an object; or one row."""
    try:
        values = parse_json(text.read(), halves=True)
    except json.JSONDecodeError as error:
        yield error.lineno, f"broken JSON: {error}; nothing of it was read"
        return
    if isinstance(values, dict):
        lists = [value for value in values.values() if _is_list_of_objects(value)]
        values = lists[0] if len(lists) == 1 else [values]
    for number, value in enumerate(values, 1):
        yield number, _json_object(json.dumps(value))


def _is_list_of_objects(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(row, dict) for row in value)


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
    """Read the rows of a Parquet file; numbers of classes become their names."""
    import pyarrow.parquet  # start-up time

    with tempfile.TemporaryFile() as unpacked:
        if path.suffix.lower() == ".gz":  # Parquet is read from its end, slow in a packed file
            shutil.copyfileobj(file, unpacked)
            file = unpacked

        table = pyarrow.parquet.ParquetFile(file)
        names = table.schema_arrow.names
        repeated = _repeated(names)
        if repeated:
            raise DataError(str(path), f"columns named twice: {', '.join(repeated)}", "rename one")

        wanted = None if only is None else [name for name in names if name in only]
        classes = _class_names(table.schema_arrow.metadata or {})
        number = 0
        for batch in table.iter_batches(1000, columns=wanted):
            for row in batch.to_pylist():
                number += 1
                for name in classes.keys() & row.keys():
                    row[name] = classes[name].get(row[name], row[name])
                yield number, row


def _class_names(metadata: Mapping[bytes, bytes]) -> dict[str, dict[int, str | None]]:
    """Read the classes by number of each column from what `datasets` stores in Parquet.

    Number -1 is no label.
    """
    classes: dict[str, dict[int, str | None]] = {}
    try:
        stored = json.loads(metadata.get(b"huggingface", b"{}"))
        features = stored.get("info", {}).get("features", {})
        for column, feature in features.items():
            if isinstance(feature, dict) and feature.get("_type") == "ClassLabel":
                names = dict(enumerate(feature["names"]))
                classes[column] = {-1: None, **names}
    except (ValueError, TypeError, AttributeError, KeyError):  # written by something else
        return {}
    return classes


def undecodable(text: str) -> str:
    """Say which byte of a text is not UTF-8, or NUL; empty where all are fine."""
    match = _UNDECODABLE.search(text)
    if match is None:
        return ""
    byte = ord(match[0]) & 0xFF  # surrogateescape maps byte 0x80 + n to U+DC80 + n
    before = text[: match.start()][-20:]
    if not byte:
        return f"a NUL byte after {before!r}"
    return f"not UTF-8: byte 0x{byte:02x} after {before!r}"
