"""What heron prints: results (tables, lines, files), and warnings, each once in a command.

All else are messages: `quiet=true` drops them, `json=true` sends them to standard error.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal, NamedTuple

from rich.cells import cell_len
from rich.text import Text

from heron.base import ranks
from heron.base.cells import Table, show
from heron.base.errors import visible
from heron.base.secrets import redact

if TYPE_CHECKING:
    from rich.table import Table as RichTable

_LOG_WIDTH = 120  # characters, where the output is a file or a pipe
_LONGEST_WORD = 24  # longer words (such as a job's name) may break
_GAP = 3  # characters between two columns

# Warnings printed so far. A module global, because any layer may warn, and no job of a command is
# to repeat the warning of another.
_said: set[str] = set()


class Output(NamedTuple):
    """How a command prints its results."""

    file: IO[str] | None = None  # None: standard output
    quiet: bool = False  # without warnings and progress
    found: dict[str, list[Any]] | None = None  # gathers results by kind; none are printed


_output = Output()  # a module global, because any layer may print


def output(change: Output | None = None) -> Output:
    """Tell how results are printed; `change` is how they are to be from here on."""
    global _output
    _output = change or _output
    return _output


def gather(**found: Iterable[Any]) -> bool:
    """Keep results where they are gathered; false where they are to be printed."""
    for kind, values in found.items() if _output.found is not None else ():
        _output.found[kind].extend(values)  # type: ignore[index]  # it is not None
    return _output.found is not None


def say(what: str, about: str | None = None, who: str = "heron train") -> None:
    """Print a warning of the command `who`, unless one `about` the same was printed before."""
    if (about or what) not in _said and ranks.is_first() and not _output.quiet:
        print(visible(f"{who}: warning: {redact(what)}"), file=sys.stderr, flush=True)
    _said.add(about or what)


def said(elsewhere: Iterable[str] = ()) -> set[str]:
    """List the warnings that this command has printed, `elsewhere` by another process of it."""
    _said.update(elsewhere)
    return set(_said)


def begin() -> None:
    """Begin a new command, which may print every warning again."""
    _said.clear()


def print_lines(*lines: object, tables: Sequence[Table] = (), files: Iterable[Path] = ()) -> None:
    """Print lines of the results; paths are files that were written.

    Gathered, they are notes, unless they show `tables`; `files` are those that lines name.
    """
    notes = [line for line in lines if isinstance(line, str) and not tables]
    paths = [str(path) for path in (*lines, *files) if isinstance(path, Path)]
    if not gather(tables=tables, files=paths, notes=notes) and lines:
        print(visible("\n".join(map(str, lines))), file=_output.file, flush=True)


def print_tables(tables: Sequence[Table]) -> None:
    """Print each table that has rows, with its note below; on a terminal, cut to its width."""
    from rich.console import Console, ConsoleDimensions  # start-up time

    if gather(tables=tables):
        return
    console, text, width = Console(file=_output.file), Text, _LOG_WIDTH
    wanted = [table for table in tables if table.rows]
    if console.is_terminal:
        from heron.base.columns import Isolated, split_columns  # only for terminals

        text, width = Isolated, console.width
        needed = [[_narrowest(c) + _GAP for c in _shown_columns(table)] for table in wanted]
        parts = map(split_columns, wanted, needed, [width + _GAP] * len(wanted))
        wanted = [part for each in parts for part in each]
    for table in wanted:
        shown = to_rich(table, width, text)
        least = console.measure(shown, options=console.options.update(width=10_000)).maximum
        console.size = ConsoleDimensions(max(width, least), console.height)
        console.print(shown, Text(visible(table.note), "dim"), "", sep="\n")


def to_rich(table: Table, width: int, text: type[Text] = Text) -> RichTable:
    """Build the table for a terminal of `width` characters, of `text`, without its note.

    Lines break between words. A table that does not fit even then is wider: rich drops columns.
    """
    from rich.box import SIMPLE_HEAD  # start-up time
    from rich.table import Table as RichTable

    # Text objects, not strings: rich would take a value such as "[a]" for its own markup.
    shown = RichTable(box=SIMPLE_HEAD, show_edge=False, pad_edge=False)
    shown.title, shown.title_justify = Text(visible(table.title), "bold"), "left"
    columns = _shown_columns(table)
    widths = _fit(columns, width)
    for index, (heading, *_) in enumerate(columns):
        words = any(isinstance(row[index], str) for row in table.rows)
        justify: Literal["left", "right"] = "left" if words else "right"
        shown.add_column(text(heading), justify=justify, width=widths[index], overflow="fold")
    for cells in list(zip(*columns, strict=True))[1:]:
        shown.add_row(*map(text, cells))
    return shown


def _shown_columns(table: Table) -> list[list[str]]:
    """List the texts of each column, its heading first."""
    headings = [visible(name.replace("_", " ")) for name in table.columns]
    rows = [[visible(show(cell)) for cell in row] for row in table.rows]
    return [list(column) for column in zip(headings, *rows, strict=True)]


def _narrowest(cells: Sequence[str]) -> int:
    """Width of a column whose lines break between words."""
    words = [word for cell in cells for word in cell.split()]
    return min(max(map(cell_len, words), default=1), _LONGEST_WORD)


def _fit(columns: Sequence[Sequence[str]], width: int) -> list[int]:
    """Choose column widths: no line breaks where there is room, from the left.

    Columns that still need more share what is left.
    """
    widths = list(map(_narrowest, columns))
    spare = width - sum(widths) - _GAP * (len(widths) - 1)
    short = []
    for index, column in enumerate(columns):
        more = max(map(cell_len, column)) - widths[index]
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
