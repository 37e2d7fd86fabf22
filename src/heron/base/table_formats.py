"""Reading CSV, TSV, JSON and Parquet row by row, each with its line."""

import csv
import gzip
import io
import json
import re
import shutil
import tempfile
import zlib
from collections import deque
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from heron.base.errors import DataError, Problem
from heron.base.files import parse_json
from heron.base.terminal import say

SUFFIXES = (".csv", ".tsv", ".jsonl", ".json", ".parquet")
# Bytes that are not UTF-8 are decoded to these code points, which valid UTF-8 does not contain, so
# that one bad byte costs only its own row. A NUL is valid UTF-8, but belongs in no text.
_UNDECODABLE = re.compile("[\0\udc80-\udcff]")
# Characters of a cell: more than any article has, less than a file whose quote is never closed.
_LONGEST = 1 << 24
# How JSON begins: a list of objects, or an object. Objects in each line are a table, one is not.
_JSON = re.compile(r'\s*(?:(\[)\s*[{\]]|\{\s*(?:["}]|$))')
_JSON_LINES = re.compile(r"\s*\{[^\n]*\}[ \t\r]*\n\s*\{")
_TEXTS = (".csv", ".tsv", ".json")
_HEAD = 1 << 16  # characters that tell a file's format

# What every format yields: the 1-based line, and the row or what is wrong with it.
Rows = Iterator[tuple[int, dict[str, Any] | Problem]]


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
    """Open a file to read, unpacking `.gz`; broken gzip is an OSError, also within the block."""
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


def content_format(path: Path) -> str:
    """Tell a table's format: its suffix, in lower case, or what its text shows.

    That is `.json` for a list of objects, `.jsonl` for an object in each line, `object` for one in
    a .json file, such as SQuAD's, `.csv` for all else that is not named as JSON.
    """
    suffix = table_format(path)
    try:
        with opened(path) as file:
            return _shown(suffix, open_text(file)) if suffix in _TEXTS else suffix
    except OSError:
        return suffix


def _shown(suffix: str, text: IO[str]) -> str:
    head = text.read(_HEAD)
    if begins := _JSON.match(head):
        is_object = suffix == ".json" and not _JSON_LINES.match(head)
        return ".json" if begins[1] else "object" if is_object else ".jsonl"
    return ".csv" if suffix == ".tsv" else suffix


def read_rows(path: Path, only: Collection[str] | None = None, quoting: str = "auto") -> Rows:
    """Read a file row by row (see `read_table`); a DataError where it cannot be read at all."""
    if table_format(path) not in SUFFIXES:
        fix = f"use one of {', '.join(SUFFIXES)}, or .gz"
        raise DataError(str(path), f"unknown file type '{path.suffix}'", fix)
    try:
        with opened(path) as file:
            if table_format(path) == ".parquet":
                yield from _read_parquet(path, file, only)
                return
            text = open_text(file, "\n" if table_format(path) == ".jsonl" else "")
            kind = _shown(table_format(path), text)
            text.seek(0)
            if kind == ".csv":
                yield from _read_csv(text, path, quoting)
            elif kind == ".jsonl":
                for line, content in enumerate(text, 1):
                    if content.strip():
                        yield line, _json_object(f"{path}:{line}", content.removesuffix("\n"))
            else:
                yield from _read_json_list(text, path)
    except OSError as error:
        what = f"cannot be read: {(error.strerror or str(error)).lower()}"
        raise DataError(str(path), what) from error


def open_text(file: IO[bytes], ends: str = "") -> IO[str]:
    """Decode a file from its beginning; bytes that are not UTF-8 cost their own row only."""
    file.seek(0)
    wide = file.read(2) in (b"\xff\xfe", b"\xfe\xff")
    file.seek(0)
    encoding, errors = ("utf-16", "replace") if wide else ("utf-8-sig", "surrogateescape")
    return io.TextIOWrapper(file, encoding, errors, ends)


def _read_csv(text: IO[str], path: Path, quoting: str) -> Rows:
    """Read a table that begins with a header, which shows what separates cells."""

    def bad(line: int, what: str, fix: str) -> Problem:
        return Problem(f"{path}:{line}", what, fix)

    usual = "\t" if table_format(path) == ".tsv" else ","
    widths = {sign: len(_header(text, sign)[1]) for sign in ("\t", usual, ",", ";", "|")}
    delimiter = "\t" if widths["\t"] > 1 else max((usual, ",", ";", "|"), key=widths.__getitem__)
    if quoting == "auto":
        quoting = _find_quoting(text, path, delimiter)
    names: list[str] = []
    alike: list[int] = []  # lines of quoted cells that may be rows
    for line, lines, cells in _records(text, delimiter, quoting):
        if isinstance(cells, csv.Error):
            yield line, bad(line, f"broken quoting: {cells}", 'write a quote inside quotes as ""')
        elif not cells:
            continue
        elif wrong := undecodable(f"{path}:{line}", delimiter.join(cells)):
            yield line, wrong
        elif not names:
            names = _names(cells)
            if repeated := sorted({name for name in names if names.count(name) > 1}):
                yield line, bad(line, f"columns named twice: {', '.join(repeated)}", "rename one")
                return
        elif not _fits(cells, len(names)):
            what = f"{len(cells)} cells where the header has {len(names)}"
            yield line, bad(line, what, f"the columns are {', '.join(names)}")
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


def _names(header: Sequence[str]) -> list[str]:
    """Trim the names of columns, and leave out unnamed columns at the end."""
    names = [cell.strip() for cell in header]
    while names[1:] and not names[-1]:
        names.pop()
    return names


def _fits(cells: Sequence[str], width: int) -> bool:
    """Tell whether there is a cell for each column, and no filled one beyond them."""
    return len(cells) == width or (len(cells) > width and not any(map(str.strip, cells[width:])))


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


def _read_json_list(text: IO[str], path: Path) -> Rows:
    """Read a JSON list, whose rows are numbered."""
    try:
        values = parse_json(text.read(), halves=True)
    except json.JSONDecodeError as error:
        what, fix = f"broken JSON: {error.msg}", "nothing of it was read"
        yield error.lineno, Problem(f"{path}:{error.lineno}", what, fix)
        return
    if not isinstance(values, list):
        fix = "write [{...}, {...}], or one object a line: .jsonl"
        raise DataError(f"{path}:1", "is not a JSON list", fix)
    for number, value in enumerate(values, 1):
        yield number, _json_object(f"{path}:{number}", json.dumps(value))


def _read_parquet(path: Path, file: IO[bytes], only: Collection[str] | None) -> Rows:
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
            what = f"is not a readable Parquet file: {error}"
            raise DataError(str(path), what) from error


def _json_object(where: str, content: str) -> dict[str, Any] | Problem:
    """Parse one JSON object, or say what is wrong with it."""
    if problem := undecodable(where, content):
        return problem
    try:
        value = parse_json(content)
    except json.JSONDecodeError as error:
        return Problem(where, f"broken JSON at character {error.pos + 1}: {error.msg}")
    if isinstance(value, dict):
        return value
    fix = 'write {"column": value, ...}'
    return Problem(where, f"a JSON {type(value).__name__}, not an object", fix)


def undecodable(where: str, text: str) -> Problem | None:
    """Say which byte of a text is not UTF-8, or NUL; None where all are fine."""
    if not (found := _UNDECODABLE.search(text)):
        return None
    before = repr(text[: found.start()][-20:])
    if found.group() == "\0":
        return Problem(where, f"a NUL byte after {before}", "remove it")
    # surrogateescape maps byte 0x80 + n to U+DC80 + n.
    byte = ord(found.group()) - 0xDC00
    return Problem(where, f"not UTF-8: byte 0x{byte:02x} after {before}", "save as UTF-8")
