"""What heron prints: tables, progress bars, and warnings, each once in a command."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Literal, TypeVar

from heron.base import ranks
from heron.base.cells import Table, show
from heron.base.secrets import redact

if TYPE_CHECKING:
    from rich.table import Table as RichTable

Work = TypeVar("Work")

_LOG_WIDTH = 120  # characters, where the output is a file or a pipe
_LONGEST_WORD = 24  # longer words (such as a job's name) may break
_GAP = 3  # characters between two columns

# Warnings printed so far. A module global, because any layer may warn, and no job of a command is
# to repeat the warning of another.
_said: set[str] = set()


def say(what: str, about: str | None = None, who: str = "heron train") -> None:
    """Print a warning of the command `who`, unless one `about` the same was printed before."""
    if (about or what) not in _said and ranks.is_first():
        print(f"{who}: warning: {redact(what)}", file=sys.stderr, flush=True)
    _said.add(about or what)


def said() -> set[str]:
    """List the warnings that this command has printed."""
    return set(_said)


def mark_said(what: Iterable[str]) -> None:
    """Do not print these warnings, which another process of this command has printed."""
    _said.update(what)


def begin() -> None:
    """Begin a new command, which may print every warning again."""
    _said.clear()


def tracked(plan: Sequence[Work], title: str, wanted: bool | None = None) -> Iterable[Work]:
    """Show a bar on standard error while a plan is worked off; `wanted` None: on terminals."""
    from rich.console import Console  # start-up time, here and below
    from rich.progress import track

    console = Console(stderr=True)
    shown = console.is_terminal if wanted is None else wanted
    return track(plan, title, console=console, disable=not shown, transient=True)


def print_tables(tables: Sequence[Table]) -> None:
    """Print each table that has rows, with its note below; on a terminal, cut to its width."""
    from rich.console import Console, ConsoleDimensions  # start-up time
    from rich.text import Text

    console = Console()
    width = console.width if console.is_terminal else _LOG_WIDTH
    wanted = [table for table in tables if table.rows]
    if console.is_terminal:
        wanted = [part for table in wanted for part in split_columns(table, width)]
    for table in wanted:
        shown = to_rich(table, width)
        needed = console.measure(shown, options=console.options.update(width=10_000)).maximum
        console.size = ConsoleDimensions(max(width, needed), console.height)
        console.print(shown, Text(table.note, "dim"), "", sep="\n")


def to_rich(table: Table, width: int) -> RichTable:
    """Build the table for a terminal of `width` characters, without its note.

    Lines break between words. A table that does not fit even then is wider: rich drops columns.
    """
    from rich.box import SIMPLE_HEAD  # start-up time
    from rich.table import Table as RichTable
    from rich.text import Text

    # Text objects, not strings: rich would take a value such as "[a]" for its own markup.
    shown = RichTable(box=SIMPLE_HEAD, show_edge=False, pad_edge=False)
    shown.title, shown.title_justify = Text(table.title, "bold"), "left"
    columns = _shown_columns(table)
    widths = _fit(columns, width)
    for index, (heading, *_) in enumerate(columns):
        words = any(isinstance(row[index], str) for row in table.rows)
        justify: Literal["left", "right"] = "left" if words else "right"
        shown.add_column(Text(heading), justify=justify, width=widths[index], overflow="fold")
    for cells in list(zip(*columns, strict=True))[1:]:
        shown.add_row(*map(Text, cells))
    return shown


def split_columns(table: Table, width: int) -> list[Table]:
    """Cut a table wider than `width` into several, each with the first column."""
    first, *widths = map(_narrowest, _shown_columns(table))
    parts: list[list[int]] = [[0]]
    room = width - first
    for index, needed in enumerate(widths, 1):
        if len(parts[-1]) > 1 and needed + _GAP > room:
            parts.append([0])
            room = width - first
        parts[-1].append(index)
        room -= needed + _GAP
    tables: list[Table] = []
    for part in parts:
        rows = tuple(tuple(row[index] for index in part) for row in table.rows)
        title = table.title + (", further columns" if tables else "")
        note = table.note if part is parts[-1] else ""
        tables.append(Table(title, tuple(table.columns[index] for index in part), rows, note))
    return tables


def _shown_columns(table: Table) -> list[list[str]]:
    """List the texts of each column, its heading first."""
    headings = [name.replace("_", " ") for name in table.columns]
    rows = [[show(cell) for cell in row] for row in table.rows]
    return [list(column) for column in zip(headings, *rows, strict=True)]


def _narrowest(cells: Sequence[str]) -> int:
    """Width of a column whose lines break between words."""
    words = [word for cell in cells for word in cell.split()]
    return min(max(map(len, words), default=1), _LONGEST_WORD)


def _fit(columns: Sequence[Sequence[str]], width: int) -> list[int]:
    """Choose column widths: no line breaks where there is room, from the left.

    Columns that still need more share what is left.
    """
    widths = list(map(_narrowest, columns))
    spare = width - sum(widths) - _GAP * (len(widths) - 1)
    short = []
    for index, column in enumerate(columns):
        more = max(map(len, column)) - widths[index]
        if more <= spare:
            widths[index] += more
            spare -= more
        else:
            short.append((more, index))
    for left, (more, index) in zip(range(len(short), 0, -1), sorted(short), strict=True):
        share = max(0, min(more, spare // left))
        widths[index] += share
        spare -= share
    return widths
