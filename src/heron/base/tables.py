"""Tables on disk: CSV, TSV, JSON Lines, JSON lists and Parquet, read row by row with line numbers.

Every other part of heron reads and writes rows through here, so that a bad row is reported the
same way everywhere: file, line, what is wrong, what would be right, all bad rows at once.
"""

from __future__ import annotations

import csv
import dataclasses
import gzip
import io
import json
import re
import shutil
import sys
import tempfile
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import IO, Any, Literal, NamedTuple

from heron.base.errors import DataError, Problem, nearest
from heron.base.files import atomic_open, parse_json

SUFFIXES = (".csv", ".tsv", ".jsonl", ".json", ".parquet")

# Bytes that are not UTF-8 are decoded to these code points, which valid UTF-8 does not contain, so
# that one bad byte costs only its own row. A NUL is valid UTF-8, but belongs in no text.
_UNDECODABLE = re.compile("[\0\udc80-\udcff]")
# Separators found in tables that are called CSV or TSV, with their names for messages.
_DELIMITERS = {";": "semicolons", "\t": "tabs", ",": "commas", "|": "bars"}
# Cells that a spreadsheet takes for formulas, after any apostrophes; plain numbers are harmless.
_LIVE = re.compile("'*[=+@\t\r\n＝＋－＠-]")
_NUMBER = re.compile(r"[+-]?(?:\d+(?:[.,]\d+)*|\.\d+)(?:[eE][+-]?\d+)?%?")
_SPACE = re.compile(r"[ \t\r\n]*")


@dataclass(frozen=True, slots=True)
class Table:
    """The rows of one file.

    Args:
        path: the file, as the user named it.
        columns: column names in file order; in JSON the union over rows.
        rows: one dictionary per good row, every column present. CSV cells are strings; JSON and
            Parquet values keep their type, and a key that a row leaves out is None.
        lines: for each row the 1-based line where it begins (in Parquet, and where several rows of
            JSON share a line, the row's number).
        problems: what could not be read; empty unless `bad_rows="report"`.
        ids: the line of each id in earlier tables of the same file (see `read_chunks`), extended by
            the reader of the ids; None where this table is the whole file.
    """

    path: Path
    columns: tuple[str, ...]
    rows: list[dict[str, Any]]
    lines: list[int]
    problems: list[Problem]
    ids: dict[str, int] | None = None

    def __len__(self) -> int:
        return len(self.rows)

    def where(self, index: int) -> str:
        """Name a row the way errors do: `train.csv:17`; `index` counts `rows` from 0."""
        return f"{self.path}:{self.lines[index]}"

    def values(self, column: str) -> list[Any]:
        """Return one column, in row order."""
        return [row[column] for row in self.rows]

    def find(self, names: Sequence[str]) -> str | None:
        """Return the first of `names` that is a column, or None."""
        return next((name for name in names if name in self.columns), None)

    def require(self, *columns: str) -> None:
        """Check that `columns` are there and that there is at least one row.

        Raises:
            DataError: the missing columns, each with the nearest one there is; or, without any
                row, what was wrong with the file.
        """
        if not self.rows:
            raise DataError(self.problems)
        missing = [
            Problem(str(self.path), f"no column '{column}'.{nearest(column, self.columns)}")
            for column in columns
            if column not in self.columns
        ]
        if missing:
            raise DataError([*self.problems, *missing])

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
            if is_missing(value):
                continue
            text = cell_text(value)
            if text in first:
                what = f"{column} '{text}' is already on line {first[text]}"
                problems.append(Problem(f"{self.path}:{line}", what, f"each {column} once"))
            first.setdefault(text, line)
        return problems


def table_format(path: Path) -> str:
    """Name a table's format by its suffix, in small letters: `.csv` for `rows.csv.gz` too."""
    return Path(_without_gz(path)).suffix.lower()


def table_stem(path: Path) -> str:
    """Name a file without its suffixes: `rows` for `rows.csv.gz`."""
    return Path(_without_gz(path)).stem


def _without_gz(path: Path) -> str:
    return path.stem if path.suffix.lower() == ".gz" else path.name


@contextmanager
def open_bytes(path: Path) -> Iterator[IO[bytes]]:
    """Open a file to read; one that ends in `.gz` is unpacked.

    Raises:
        OSError: it cannot be read or unpacked; of the block as well.
    """
    try:
        opener: Any = gzip.open if path.suffix.lower() == ".gz" else open
        with opener(path, "rb") as file:
            yield file
    except (EOFError, zlib.error) as error:
        raise OSError(f"broken gzip: {error}") from error


def read_bytes(path: Path) -> bytes:
    """Read a file as `open_bytes` does."""
    with open_bytes(path) as file:
        return file.read()


def is_missing(value: Any) -> bool:
    """Tell whether a cell holds nothing: None, NaN, blank text, or the text `nan` or `NaN`.

    Many tools write `nan` into a CSV file for a missing number.
    """
    if isinstance(value, str):
        return value.strip() in ("", "nan", "NaN")
    return value is None or (isinstance(value, float) and value != value)


def is_blank(value: Any) -> bool:
    """Tell whether a text cell holds nothing: None, NaN or blank, but not the text `nan`."""
    return not value.strip() if isinstance(value, str) else is_missing(value)


def cell_text(value: Any) -> str:
    """Write a cell as trimmed text; 3 and 3.0 are `3`, so files of different formats agree."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value).strip()


def as_text(value: Any) -> Any:
    """Put an apostrophe before a text that a spreadsheet would run, such as `=1+1` or `-x`.

    Numbers are unchanged. `read_table(..., own=True)` removes the apostrophe again.
    """
    is_live = isinstance(value, str) and _LIVE.match(value) and not _NUMBER.fullmatch(value)
    return f"'{value}" if is_live else value


def _without_apostrophe(cell: str) -> str:
    """Undo `as_text`."""
    return cell[1:] if cell.startswith("'") and _LIVE.match(cell) else cell


def read_table(
    path: Path | str,
    bad_rows: Literal["raise", "report"] = "raise",
    own: bool = False,
    only: Collection[str] | None = None,
) -> Table:
    """Read a table; its suffix names the format.

    A byte-order mark, CRLF line ends, blank lines and quoted line breaks in CSV are fine.

    Args:
        path: a .csv, .tsv, .jsonl, .json (a list of objects) or .parquet file, UTF-8, perhaps
            packed (.csv.gz). CSV and TSV begin with a header and quote with `"`, doubled inside
            quotes.
        bad_rows: "raise" stops when any row is bad; "report" returns the good rows, and the bad
            ones as `Table.problems`.
        own: remove the apostrophe that heron writes before a text like `=1+1`; for files that
            heron may have written.
        only: the columns to read of a Parquet file, where it has them; None: all.

    Raises:
        DataError: with "raise", everything that was wrong: no such file, an empty one, rows with
            too few or too many cells, broken JSON, text that is not UTF-8.
    """
    path = Path(path)
    undo = own and table_format(path) in (".csv", ".tsv")
    table = _table(path, _read(path, only), undo)
    if table.problems and bad_rows == "raise":
        raise DataError(table.problems)
    return table


def read_chunks(path: Path, size: int) -> Iterator[Table]:
    """Read a table some rows at a time, so that memory does not grow with the file.

    The file is read twice, so that its columns, and whether it can be read to its end, are known
    before the first rows. A JSON list (.json) is still read as a whole, and Parquet by row group.

    Args:
        path: as for `read_table`.
        size: rows at most, good and bad ones, of each table.

    Yields:
        The tables that `read_table(path, bad_rows="report")` consists of, at least one. Each has
        the columns of the whole file, and all share `ids`.
    """
    columns: dict[str, None] = {}
    for line, row in _read(path):
        if not isinstance(row, _Bad):
            columns |= dict.fromkeys(row)
        elif not line:
            yield _table(path, iter([(line, row)]))
            return
    found, ids = _read(path), dict[str, int]()
    first = True
    while (chunk := list(islice(found, size))) or first:
        yield dataclasses.replace(_table(path, iter(chunk), columns=columns), ids=ids)
        first = False


def _table(
    path: Path, found: _Rows, undo: bool = False, columns: Iterable[str] | None = None
) -> Table:
    """Divide what was read from a file into rows and problems.

    Args:
        path: the file.
        found: lines, and the row or what is wrong with each.
        undo: remove the apostrophes of `as_text`.
        columns: of the whole file, where this is a part of it.
    """
    rows: list[dict[str, Any]] = []
    lines: list[int] = []
    problems: list[Problem] = []
    for line, row in found:
        if isinstance(row, _Bad):
            if not line:  # the whole file
                for each in (rows, lines, problems):
                    each.clear()
            problems.append(Problem(f"{path}:{line}" if line else str(path), *row))
            continue
        if undo:
            row = {
                _without_apostrophe(column): _without_apostrophe(cell)
                for column, cell in row.items()
            }
        rows.append(row)
        lines.append(line)
    if not rows and not problems:
        problems.append(Problem(str(path), "has no rows", "at least one is needed"))
    named = columns or (column for row in rows for column in row)
    columns = tuple(dict.fromkeys(named))
    for row in rows:
        if len(row) < len(columns):
            row.update({column: None for column in columns if column not in row})
    return Table(path, columns, rows, lines, problems)


def as_table(source: Path | Table) -> Table:
    """Read a table and its problems, unless it has been read."""
    return source if isinstance(source, Table) else read_table(source, bad_rows="report")


def write_table(path: Path | str, columns: Mapping[str, Sequence[Any]]) -> None:
    """Write columns of equal length as .csv, .jsonl or .parquet, atomically.

    Args:
        path: its suffix names the format.
        columns: lists or one-dimensional NumPy arrays; Parquet keeps their types, CSV writes None
            as an empty cell, and no text that a spreadsheet would run (see `as_text`).

    Raises:
        DataError: another suffix.
    """
    write_chunks(path, [columns])


def write_chunks(path: Path | str, chunks: Iterable[Mapping[str, Sequence[Any]]]) -> None:
    """Write a table as `write_table` does, some rows at a time.

    Args:
        path: its suffix names the format.
        chunks: at least one, all with the same columns. They are consumed while the file is being
            written; after an error in them, `path` is unchanged.

    Raises:
        DataError: another suffix.
    """
    path = Path(path)
    if path.suffix not in (".csv", ".jsonl", ".parquet"):
        fix = "use .csv, .jsonl or .parquet"
        raise DataError(Problem(str(path), f"cannot write a '{path.suffix}' file", fix))
    chunks = iter(chunks)
    chunks = chain([next(chunks)], chunks)  # an error in the first leaves no folder either
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
                writer = pyarrow.parquet.ParquetWriter(file, table.schema)
                stack.enter_context(writer)
            writer.write_table(table.cast(writer.schema))
    if writer is None:
        table = pyarrow.concat_tables(waiting, promote_options="default")
        pyarrow.parquet.write_table(table, file)


class _Bad(NamedTuple):
    """A row, or (on line 0) a whole file, that cannot be read."""

    what: str
    fix: str = ""


# What every format yields: the 1-based line, and the row or what is wrong with it.
_Rows = Iterator[tuple[int, dict[str, Any] | _Bad]]


def _read(path: Path, only: Collection[str] | None = None) -> _Rows:
    if path.is_dir():
        yield 0, _Bad("is a folder, not a file", "name a file in it")
        return
    if table_format(path) not in SUFFIXES:
        yield (
            0,
            _Bad(f"unknown file type '{path.suffix}'", f"use one of {', '.join(SUFFIXES)}, or .gz"),
        )
        return
    try:
        with open_bytes(path) as file:
            yield from _read_open(path, file, only)
    except OSError as error:
        yield 0, _Bad(f"cannot be read: {(error.strerror or str(error)).lower()}")


def _read_open(path: Path, file: IO[bytes], only: Collection[str] | None) -> _Rows:
    suffix = table_format(path)
    blocks = iter(lambda: file.read(1 << 16), b"")
    first = next(blocks, b"")
    empty = all(not each.strip(b"\xef\xbb\xbf \t\r\n") for each in chain([first], blocks))
    file.seek(0)
    if empty:
        yield 0, _Bad("the file is empty", "at least one row is needed")
    elif suffix == ".parquet":
        yield from _read_parquet(path, file, only)
    elif first.startswith((b"\xff\xfe", b"\xfe\xff")):
        yield 0, _Bad("the text is UTF-16", "save it as UTF-8")
    else:
        # Lines of JSON end with "\n" only, because strings may contain U+2028 and the like. CSV
        # has "\r" as well, which is kept inside quotes.
        ends = "\n" if suffix == ".jsonl" else ""
        text = io.TextIOWrapper(file, "utf-8-sig", errors="surrogateescape", newline=ends)
        if suffix == ".jsonl":
            yield from _read_jsonl(text)
        elif suffix == ".json":
            yield from _read_json(text.read())
        else:
            yield from _read_csv(text, "," if suffix == ".csv" else "\t")


def _read_csv(text: IO[str], delimiter: str) -> _Rows:
    csv.field_size_limit(sys.maxsize)  # the default, 131,072 characters, is less than some articles
    # strict: otherwise a quote that is never closed silently hides the rest of the file.
    reader = csv.reader(text, delimiter=delimiter, strict=True)
    header: list[str] = []
    while True:
        line = reader.line_num + 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield line, _Bad(f"broken quoting: {error}", 'write a quote inside quotes as ""')
            continue
        if not cells:
            continue
        bad = _undecodable(delimiter.join(cells))
        if bad or (not header and (bad := _other_delimiter(cells, delimiter))):
            yield line, bad
        elif not header:
            header = [cell.strip() for cell in cells]
            repeated = sorted({name for name in header if header.count(name) > 1})
            if repeated:
                yield line, _Bad(f"columns named twice: {', '.join(repeated)}", "rename one")
                return
            continue
        elif len(cells) != len(header):
            what = f"{len(cells)} cells where the header has {len(header)}"
            yield line, _Bad(what, f"the columns are {', '.join(header)}")
        else:
            yield line, dict(zip(header, cells, strict=True))
        if not header:  # the header cannot be read
            return


def _other_delimiter(header: Sequence[str], delimiter: str) -> _Bad | None:
    """Tell whether a header of one cell has several names with another separator."""
    others = [name for sign, name in _DELIMITERS.items() if sign in header[0] and sign != delimiter]
    if len(header) > 1 or not others:
        return None
    what = f"one column only, '{header[0]}', whose names are separated by {others[0]}"
    return _Bad(what, "separate cells by commas in a .csv file, by tabs in a .tsv file")


def _read_jsonl(text: IO[str]) -> _Rows:
    for line, content in enumerate(text, 1):
        if content.strip():
            yield line, _json_object(content.removesuffix("\n"))


def _read_json(text: str) -> _Rows:
    """Read a JSON list; where several elements share a line, they have numbers instead."""
    found = list(_read_list(text))
    shared = len({line for line, _ in found}) < len(found)
    return ((number if shared else line, row) for number, (line, row) in enumerate(found, 1))


def _read_list(text: str) -> _Rows:
    """Read a JSON list one element at a time, to know on which line each one begins."""
    decoder = json.JSONDecoder(parse_int=str)  # only the ends are needed
    line, counted = 1, 0
    at, separator = _skip_space(text, 0), "["
    while text[at : at + 1] == separator:
        at = _skip_space(text, at + 1)
        line, counted = line + text.count("\n", counted, at), at
        if separator == "[" and text[at : at + 1] == "]":
            return
        try:
            _, end = decoder.raw_decode(text, at)
        except json.JSONDecodeError as error:
            yield error.lineno, _Bad(f"broken JSON: {error.msg}", "nothing after it was read")
            return
        except RecursionError:
            yield line, _Bad("broken JSON: nested too deeply", "nothing after it was read")
            return
        yield line, _json_object(text[at:end])
        at, separator = _skip_space(text, end), ","
    line += text.count("\n", counted, at)
    if separator == "[":
        yield line, _Bad("is not a JSON list", "write [{...}, {...}], or one object a line: .jsonl")
    elif text[at : at + 1] != "]":
        yield line, _Bad("broken JSON: expected ',' or ']'", "nothing after it was read")


def _read_parquet(path: Path, file: IO[bytes], only: Collection[str] | None) -> _Rows:
    import pyarrow  # start-up time
    import pyarrow.parquet

    with tempfile.TemporaryFile() as unpacked:
        if path.suffix.lower() == ".gz":  # Parquet is read from its end, slow in a packed file
            shutil.copyfileobj(file, unpacked)
            file = unpacked
        try:
            opened = pyarrow.parquet.ParquetFile(file)
            present = opened.schema_arrow.names
            wanted = None if only is None else [name for name in present if name in only]
            batches = opened.iter_batches(1000, columns=wanted)
            yield from enumerate((row for batch in batches for row in batch.to_pylist()), 1)
        except (pyarrow.ArrowException, OSError) as error:
            yield 0, _Bad(f"is not a readable Parquet file: {error}")


def _json_object(content: str) -> dict[str, Any] | _Bad:
    bad = _undecodable(content)
    if bad:
        return bad
    try:
        value = parse_json(content)
    except json.JSONDecodeError as error:
        return _Bad(f"broken JSON at character {error.pos + 1}: {error.msg}")
    if not isinstance(value, dict):
        return _Bad(f"a JSON {type(value).__name__}, not an object", 'write {"column": value, ...}')
    return value


def _undecodable(text: str) -> _Bad | None:
    found = _UNDECODABLE.search(text)
    if not found:
        return None
    if found.group() == "\0":
        return _Bad(f"a NUL byte after {text[: found.start()][-20:]!r}", "remove it")
    # surrogateescape maps byte 0x80 + n to U+DC80 + n.
    byte = ord(found.group()) - 0xDC00
    return _Bad(
        f"not UTF-8: byte 0x{byte:02x} after {text[: found.start()][-20:]!r}", "save as UTF-8"
    )


def _skip_space(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at
