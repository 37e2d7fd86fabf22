"""Columns of text, aligned by what is seen; on a terminal cut to its width, Hebrew kept in place.

Points and other combining marks take no column, wide letters two.
"""

import os
import shutil
import sys
import unicodedata
from collections.abc import Sequence
from typing import Any

from rich.cells import cell_len
from rich.containers import Lines
from rich.text import Text

from heron.base.cells import Table
from heron.base.terminal import output

_NARROWEST = 24  # columns; less room for the last cells of `aligned`, and they go below the others
_GAP = 2
_BELOW = 4  # columns, by which they are indented there


def terminal_width() -> int | None:
    """Count the columns of the terminal that results are printed on; None for a file or a pipe."""
    file = output().file or sys.stdout
    return shutil.get_terminal_size().columns if file.isatty() else None


def isolate(text: str, whole: str = "") -> str:
    """Keep text from reordering what stands beside it, if it or `whole` is written right to left.

    Only on a terminal, and not where HERON_BIDI is off.
    """
    if not text or terminal_width() is None or os.environ.get("HERON_BIDI") == "off":
        return text
    if not any(unicodedata.bidirectional(letter) in ("R", "AL") for letter in whole or text):
        return text
    return f"\u2068{text}\u2069"


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Pad every column but the last to its widest cell; on a terminal, break the last one.

    Where the last one has little room, or a word of it does not fit, it goes below the others.
    """
    *widths, _ = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    room = terminal_width() or sys.maxsize
    beside = sum(widths) + _GAP * len(widths)
    lines = []
    for *cells, last in rows:
        padded = "".join(
            isolate(cell) + " " * (width + _GAP - cell_len(cell))
            for cell, width in zip(cells, widths, strict=True)
        )
        longest = max(map(cell_len, last.split()), default=0)
        is_below = room - beside < max(_NARROWEST, longest) and beside + cell_len(last) > room
        indent = _BELOW if is_below else beside
        first, *more = [""] * is_below + broken(last, indent)
        lines.append((padded + isolate(first, last)).rstrip())
        lines += [" " * indent + isolate(part, last) for part in more]
    return lines


def broken(text: str, beside: int = 0) -> list[str]:
    """Break text between words where a terminal has no room for it beside so many columns.

    A longer word stays whole, so that an address or a hash can be copied.
    """
    width, lines = (terminal_width() or sys.maxsize) - beside, [""]
    if cell_len(text) <= width:
        return [text]
    for word in text.split():
        longer = f"{lines[-1]} {word}".lstrip()
        if lines[-1] and cell_len(longer) > width:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


class Isolated(Text):
    """A cell whose lines are isolated each: terminals order letters line by line."""

    def wrap(self, *options: Any, **more: Any) -> Lines:
        """Break the cell into lines."""
        lines = super().wrap(*options, **more)
        for line in lines:
            text = line.plain.rstrip()
            line.plain = isolate(text, self.plain) + line.plain[len(text) :]
        return lines


def split_columns(table: Table, needed: Sequence[int], width: int) -> list[Table]:
    """Cut a table wider than `width` into several, each with the first column.

    `needed` is the width of each column with the gap after it, and `width` that of the terminal
    with one gap more.
    """
    parts: list[list[int]] = [[0]]
    room = width - needed[0]
    for index in range(1, len(needed)):
        if len(parts[-1]) > 1 and needed[index] > room:
            parts.append([0])
            room = width - needed[0]
        parts[-1].append(index)
        room -= needed[index]
    tables: list[Table] = []
    for part in parts:
        rows = tuple(tuple(row[index] for index in part) for row in table.rows)
        title = table.title + (", further columns" if tables else "")
        note = table.note if part is parts[-1] else ""
        tables.append(Table(title, tuple(table.columns[index] for index in part), rows, note))
    return tables
