"""Reading CSV, TSV and JSON lists, row by row with line numbers."""

import csv
import json
import re
import sys
from collections.abc import Sequence
from itertools import chain
from typing import IO

from heron.base.tables import Bad, Found, json_object, undecodable

# Separators found in tables that are called CSV or TSV, with their names for messages.
_DELIMITERS = {";": "semicolons", "\t": "tabs", ",": "commas", "|": "bars"}
_REST = "nothing after it was read"


def read_csv(text: IO[str], suffix: str, semicolons: bool = False) -> Found:
    """Read a table that begins with a header.

    `semicolons`: cells of a .csv file may be separated by them, as spreadsheets of some countries
    write; the header says so.
    """
    delimiter = "," if suffix == ".csv" else "\t"
    first = text.readline()
    if semicolons and delimiter == "," and first.count(";") > first.count(","):
        delimiter = ";"
    csv.field_size_limit(sys.maxsize)  # the default, 131,072 characters, is less than some articles
    # strict: otherwise a quote that is never closed silently hides the rest of the file.
    reader = csv.reader(chain([first], text), delimiter=delimiter, strict=True)
    header: list[str] = []
    while True:
        line = reader.line_num + 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield line, Bad(f"broken quoting: {error}", 'write a quote inside quotes as ""')
            continue
        if not cells:
            continue
        bad = undecodable(delimiter.join(cells))
        if bad or (not header and (bad := _other_delimiter(cells, delimiter))):
            yield line, bad
        elif not header:
            header = [cell.strip() for cell in cells]
            repeated = sorted({name for name in header if header.count(name) > 1})
            if repeated:
                yield line, Bad(f"columns named twice: {', '.join(repeated)}", "rename one")
                return
            continue
        elif len(cells) != len(header):
            what = f"{len(cells)} cells where the header has {len(header)}"
            yield line, Bad(what, f"the columns are {', '.join(header)}")
        else:
            yield line, dict(zip(header, cells, strict=True))
        if not header:  # the header cannot be read
            return


def _other_delimiter(header: Sequence[str], delimiter: str) -> Bad | None:
    """Tell whether a header of one cell has several names with another separator."""
    others = [name for sign, name in _DELIMITERS.items() if sign in header[0] and sign != delimiter]
    if len(header) > 1 or not others:
        return None
    what = f"one column only, '{header[0]}', whose names are separated by {others[0]}"
    return Bad(what, "separate cells by commas in a .csv file, by tabs in a .tsv file")


def read_json(text: IO[str], suffix: str) -> Found:
    """Read a JSON list; where several elements share a line, they have numbers instead."""
    found = list(_read_list(text.read()))
    shared = len({line for line, _ in found}) < len(found)
    return ((number if shared else line, row) for number, (line, row) in enumerate(found, 1))


def _read_list(text: str) -> Found:
    """Read a JSON list one element at a time, to know on which line each one begins."""
    decoder = json.JSONDecoder(parse_int=str)  # only the ends are needed
    line, counted = 1, 0
    at, separator = _next(text, 0), "["
    while text[at : at + 1] == separator:
        at = _next(text, at + 1)
        line, counted = line + text.count("\n", counted, at), at
        if separator == "[" and text[at : at + 1] == "]":
            return
        try:
            _, end = decoder.raw_decode(text, at)
        except json.JSONDecodeError as error:
            yield error.lineno, Bad(f"broken JSON: {error.msg}", _REST)
            return
        except RecursionError:
            yield line, Bad("broken JSON: nested too deeply", _REST)
            return
        yield line, json_object(text[at:end])
        at, separator = _next(text, end), ","
    line += text.count("\n", counted, at)
    if separator == "[":
        yield line, Bad("is not a JSON list", "write [{...}, {...}], or one object a line: .jsonl")
    elif text[at : at + 1] != "]":
        yield line, Bad("broken JSON: expected ',' or ']'", _REST)


def _next(text: str, at: int) -> int:
    """Find the first place from `at` without JSON's white space."""
    match = re.compile(r"[ \t\r\n]*").match(text, at)
    return match.end() if match else at
