"""Reading CSV, TSV, JSON lists row by row, and any table some rows at a time."""

import csv
import dataclasses
import json
import re
from collections import deque
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import IO, Any

from heron.base.files import parse_json
from heron.base.tables import (
    Bad,
    Found,
    Table,
    json_object,
    make_table,
    open_text,
    opened,
    read_found,
    read_json_lines,
    table_format,
    undecodable,
)
from heron.base.terminal import say

# Characters of a cell: more than any article has, less than a file whose quote is never closed.
_LONGEST = 1 << 24
# How JSON begins: a list of objects, or an object. An object in each line is a table, one is not.
_JSON = re.compile(r'\s*(?:(\[)\s*[{\]]|\{\s*(?:["}]|$))')
_JSON_LINES = re.compile(r"\s*\{[^\n]*\}[ \t\r]*\n\s*\{")
_TEXTS = (".csv", ".tsv", ".json")
_HEAD = 1 << 16  # characters that tell a file's format


def read_chunks(path: Path, size: int, quoting: str = "auto") -> Iterator[Table]:
    """Read a table `size` rows at a time, so that memory does not grow with the file.

    JSON Lines and Parquet are read twice, so that the columns and errors are known before the first
    rows. A JSON list is still read as a whole, and Parquet by row group.

    Yields:
        The tables that `read_table(path, bad_rows="report")` consists of, at least one. Each has
        the columns of the whole file, and all share `ids`.
    """
    columns: dict[str, None] = {}
    # All rows of CSV have the columns of the first one, and the file is scanned before it.
    for line, row in () if content_format(path) == ".csv" else read_found(path):
        if not isinstance(row, Bad):
            columns |= dict.fromkeys(row)
        elif not line:
            yield make_table(path, iter([(line, row)]))
            return
    found, ids = read_found(path, quoting=quoting), dict[str, int]()
    first = True
    while (chunk := list(islice(found, size))) or first:
        table = make_table(path, iter(chunk), columns=columns)
        yield dataclasses.replace(table, ids=ids)
        columns, first = dict.fromkeys(table.columns), False


def content_format(path: Path) -> str:
    """Tell what a table is: its suffix, in small letters, or what the content of text shows.

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


def read_by_content(path: Path, file: IO[bytes], quoting: str) -> Found:
    """Read a .csv, .tsv or .json file as what it is; see `content_format`."""
    text = open_text(file)
    kind = _shown(table_format(path), text)
    text.seek(0)
    if kind == ".jsonl":
        return read_json_lines(text)
    return read_csv(text, path, quoting) if kind == ".csv" else read_json_list(text)


def read_csv(text: IO[str], path: Path, quoting: str) -> Found:
    """Read a table that begins with a header, whose cells tell what separates them."""
    usual = "\t" if table_format(path) == ".tsv" else ","
    widths = {sign: len(_header(text, sign)[1]) for sign in ("\t", usual, ",", ";", "|")}
    delimiter = "\t" if widths["\t"] > 1 else max((usual, ",", ";", "|"), key=widths.__getitem__)
    if quoting == "auto":
        quoting = _find_quoting(text, path, delimiter)
    names: list[str] = []
    alike: list[int] = []  # lines of quoted cells that may be rows
    for line, lines, cells in _records(text, delimiter, quoting):
        if isinstance(cells, csv.Error):
            yield line, Bad(f"broken quoting: {cells}", 'write a quote inside quotes as ""')
        elif not cells:
            continue
        elif bad := undecodable(delimiter.join(cells)):
            yield line, bad
        elif not names:
            names = _names(cells)
            if repeated := sorted({name for name in names if names.count(name) > 1}):
                yield line, Bad(f"columns named twice: {', '.join(repeated)}", "rename one")
                return
        elif not _fits(cells, len(names)):
            what = f"{len(cells)} cells where the header has {len(names)}"
            yield line, Bad(what, f"the columns are {', '.join(names)}")
        else:
            if len(lines) > 1 and _are_rows(lines, delimiter, len(names)):
                alike.append(line)
            yield line, dict(zip(names, cells, strict=False))
        if not names:  # the header cannot be read
            return
    if alike:
        what = f"{path}: the lines of {len(alike)} quoted cells look like rows (first: {alike[0]})"
        say(f"{what}; data.quoting=none reads them as rows", f"{path}: cells", "heron")


def _find_quoting(text: IO[str], path: Path, delimiter: str) -> str:
    """Tell whether quotes enclose cells or are characters, by what reads as rows of the header.

    Names in quotes decide. Else records count that are rows in one of both readings only; a quoted
    cell of several lines that all look like rows is a sign of characters.
    """
    lines, header = _header(text, delimiter)
    width, quoted, alike, broken = len(header), 0, 0, 0
    if '"' in lines[0] and '"' not in "".join(header):
        return "csv"
    for _, lines, cells in _records(text, delimiter, "csv", only_quotes=True):
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
        say(f"{what}; data.quoting=csv reads cells of several lines", f"{path}: quotes", "heron")
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
    """Tell whether there is a cell for each column, and none that is filled beyond them."""
    return len(cells) == width or (len(cells) > width and not any(map(str.strip, cells[width:])))


def _are_rows(lines: Sequence[str], delimiter: str, width: int) -> bool:
    """Tell whether every line that is not blank is a row if quotes are characters."""
    return all(line.count(delimiter) == width - 1 for line in lines if line.strip())


def _records(
    text: IO[str], delimiter: str, quoting: str, only_quotes: bool = False
) -> Iterator[tuple[int, list[str], list[str] | csv.Error]]:
    """Read a file from its beginning: the number of a record's first line, its lines, its cells.

    Where quoting is broken, the record is one line and has an error, so that no line is lost. The
    list of lines changes with the next record. `only_quotes` leaves out records without a quote.
    """
    taken: list[str] = []
    back = deque[str]()

    def lines() -> Iterator[str]:
        while each := back.popleft() if back else next(text, ""):
            if taken or not only_quotes or '"' in each:
                taken.append(each)
                yield each

    def reader() -> Iterator[list[str]]:
        # strict: otherwise a quote that is never closed silently hides the rest of the file.
        style: Any = csv.QUOTE_NONE if quoting == "none" else csv.QUOTE_MINIMAL
        return csv.reader(lines(), delimiter=delimiter, quoting=style, strict=True)

    csv.field_size_limit(_LONGEST)  # the default, 131,072 characters, is less than some articles
    text.seek(0)
    records, number = reader(), 1
    while True:
        taken.clear()
        try:
            yield number, taken, next(records)
        except StopIteration:
            return
        except csv.Error as error:
            back.extendleft(reversed(taken[1:]))
            del taken[1:]
            records = reader()
            yield number, taken, error
        number += len(taken)


def read_json_list(text: IO[str]) -> Found:
    """Read a JSON list, whose rows have numbers."""
    try:
        values = parse_json(text.read(), halves=True)
    except json.JSONDecodeError as error:
        yield error.lineno, Bad(f"broken JSON: {error.msg}", "nothing of it was read")
        return
    if not isinstance(values, list):
        yield 1, Bad("is not a JSON list", "write [{...}, {...}], or one object a line: .jsonl")
        return
    for number, value in enumerate(values, 1):
        yield number, json_object(json.dumps(value))
