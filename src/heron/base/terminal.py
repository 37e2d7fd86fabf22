"""What heron prints: results (tables, lines, files), and warnings, each once in a command.

All other output is messages: `quiet=true` drops them, `json=true` sends them to standard error.
"""

from __future__ import annotations

import os
import sys
import time
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar

from rich.cells import cell_len
from rich.text import Text

from heron.base import ranks
from heron.base.cells import Table, show
from heron.base.errors import visible
from heron.base.secrets import redact

if TYPE_CHECKING:
    from rich.console import Console
    from rich.containers import Lines
    from rich.table import Table as RichTable

Work = TypeVar("Work")

_LOG_WIDTH = 120  # columns of a file or a pipe; longer words make it wider
_LONGEST_WORD = 24  # on a terminal, longer words (such as a job's name) may break
_GAP = 3  # columns between two cells
_SOON = 3  # seconds without news

# Warnings and notes printed so far. A module global, because any layer may warn, and no job of a
# command is to repeat the warning of another.
_said: set[str] = set()
_command = "heron train"  # the command that prints them, or whose job does
_keepers: list[Callable[[str], None]] = []  # of the runs being worked on, the innermost last


class OutputFormat(NamedTuple):
    """How a command prints its results."""

    file: IO[str] | None = None  # None: standard output
    quiet: bool = False  # without warnings and progress
    found: dict[str, list[Any]] | None = None  # gathers results by kind; none are printed


_output = OutputFormat()  # a module global, because any layer may print


def output(change: OutputFormat | None = None) -> OutputFormat:
    """Tell how results are printed; `change` sets it from here on."""
    global _output
    _output = change or _output
    return _output


def hold_results(**found: Iterable[Any]) -> bool:
    """Keep results if this command gathers them; false if they are to be printed."""
    for kind, values in found.items() if _output.found is not None else ():
        _output.found[kind].extend(values)  # type: ignore[index]  # never None here
    return _output.found is not None


def say(what: str, about: str | None = None, of_result: bool = True) -> None:
    """Print a warning of this command, unless one `about` the same was printed before.

    During a run, it is kept with the results, unless they do not depend on it (`of_result=False`).
    """
    if _keepers and of_result:
        _keepers[-1](what)
    if first_time(about or what) and ranks.is_first() and not _output.quiet:
        print(visible(f"{_command}: warning: {redact(what)}"), file=sys.stderr, flush=True)


@contextmanager
def kept_by(keep: Callable[[str], None]) -> Iterator[None]:
    """Give `keep` every warning in the block, also one that an earlier job has printed."""
    _keepers.append(keep)
    try:
        yield
    finally:
        _keepers.pop()


def first_time(what: str) -> bool:
    """Tell whether this command has not printed a text yet, and count it as printed."""
    is_new = what not in {*_said, ""}
    _said.add(what)
    return is_new


def said(elsewhere: Iterable[str] = ()) -> set[str]:
    """List the warnings that this command has printed, after adding another process's."""
    _said.update(elsewhere)
    return set(_said)


def begin(command: str = "") -> None:
    """Begin a command, or another part of it, which may print every warning again."""
    global _command
    _command = command or _command
    _said.clear()


def print_lines(*lines: object, files: Iterable[Path] = ()) -> None:
    """Print lines of the results; lines that are paths, and `files`, are the files written."""
    notes = [line for line in lines if isinstance(line, str)]
    paths = [str(path) for path in (*lines, *files) if isinstance(path, Path)]
    if not hold_results(files=paths, notes=notes) and lines:
        print(visible("\n".join(map(str, lines))), file=_output.file, flush=True)


def print_tables(tables: Sequence[Table]) -> None:
    """Print each table that has rows, its note below it once; on a terminal, cut to its width."""
    from rich.console import Console, ConsoleDimensions  # start-up time

    if hold_results(tables=tables):
        return
    console = Console(file=_output.file)
    width = console.width if console.is_terminal else None
    for table in (table for table in tables if table.rows):
        for part in [table] if width is None else _split(table, width):
            shown = to_rich(part, width)
            least = console.measure(shown, options=console.options.update(width=10_000)).maximum
            console.size = ConsoleDimensions(max(width or _LOG_WIDTH, least), console.height)
            below = [Text(visible(part.note), "dim")] if first_time(part.note) else []
            console.print(Text(visible(part.title), "bold"), shown, *below, "", sep="\n")


def to_rich(table: Table, width: int | None = None) -> RichTable:
    """Build the table for a terminal of `width` columns, or for a file, without title and note.

    Lines break between words. A table that does not fit even then is wider: rich drops columns.
    """
    from rich.box import SIMPLE_HEAD  # start-up time
    from rich.table import Table as RichTable

    # Text objects, not strings: rich would take a value such as "[a]" for its own markup.
    text = Text if width is None else _Isolated
    shown = RichTable(box=SIMPLE_HEAD, show_edge=False, pad_edge=False)
    columns = _shown_columns(table)
    for index, (column, fit) in enumerate(zip(columns, _widths(columns, width), strict=True)):
        words = any(isinstance(row[index], str) for row in table.rows)
        justify: Literal["left", "right"] = "left" if words else "right"
        shown.add_column(text(column[0]), justify=justify, width=fit, overflow="fold")
    for cells in list(zip(*columns, strict=True))[1:]:
        shown.add_row(*map(text, cells))
    return shown


def _shown_columns(table: Table) -> list[list[str]]:
    """List the texts of each column, its heading first."""
    headings = [name.replace("_", " ") for name in table.columns]
    return [
        [visible(text) for text in column]
        for column in zip(headings, *(map(show, row) for row in table.rows), strict=True)
    ]


def _narrowest(cells: Sequence[str], width: int | None) -> int:
    """Measure a column whose lines break between words."""
    longest = max((cell_len(word) for cell in cells for word in cell.split()), default=1)
    return longest if width is None else min(longest, _LONGEST_WORD)


def _widths(columns: Sequence[Sequence[str]], width: int | None) -> list[int]:
    """Choose the widths of columns; spare width goes first to the columns that lack the least."""
    widths = [_narrowest(column, width) for column in columns]
    needs = [max(map(cell_len, column)) - own for column, own in zip(columns, widths, strict=True)]
    spare = max(0, (width or _LOG_WIDTH) - sum(widths) - _GAP * (len(widths) - 1))
    for served, index in enumerate(sorted(range(len(widths)), key=needs.__getitem__)):
        more = min(needs[index], spare // (len(widths) - served))
        widths[index] += more
        spare -= more
    return widths


def _split(table: Table, width: int) -> list[Table]:
    """Cut a table that does not fit into several, each with the first column."""
    first, *others = [_narrowest(column, width) for column in _shown_columns(table)]
    parts, room = [[0]], width - first
    for index, needed in enumerate(others, 1):
        if len(parts[-1]) > 1 and needed + _GAP > room:
            parts.append([0])
            room = width - first
        parts[-1].append(index)
        room -= needed + _GAP
    return [
        replace(
            table,
            title=table.title + (", further columns" if part is not parts[0] else ""),
            columns=tuple(table.columns[index] for index in part),
            rows=tuple(tuple(row[index] for index in part) for row in table.rows),
            note=table.note if part is parts[-1] else "",
        )
        for part in parts
    ]


def isolate(text: str, whole: str = "") -> str:
    """Keep text from reordering what stands beside it, if it or `whole` is written right to left.

    Only on a terminal, and not where HERON_BIDI is off.
    """
    is_terminal = (_output.file or sys.stdout).isatty()
    if not text or not is_terminal or os.environ.get("HERON_BIDI") == "off":
        return text
    if not any(unicodedata.bidirectional(letter) in ("R", "AL") for letter in whole or text):
        return text
    return f"\u2068{text}\u2069"


class _Isolated(Text):
    """A cell whose lines are isolated each: terminals order letters line by line."""

    def wrap(self, *options: Any, **more: Any) -> Lines:
        """Break the cell into lines."""
        lines = super().wrap(*options, **more)
        for line in lines:
            text = line.plain.rstrip()
            line.plain = isolate(text, self.plain) + line.plain[len(text) :]
        return lines


def messages() -> Console:
    """Make a console on standard error for progress; with `quiet=true`, it shows nothing."""
    from rich.console import Console  # start-up time

    return Console(stderr=True, quiet=_output.quiet)


def tracked(plan: Sequence[Work], title: str, wanted: bool | None = None) -> Iterator[Work]:
    """Go through a plan; one that takes seconds shows a bar on a terminal, else the time left once.

    `wanted`: true for a bar from the beginning on, false for nothing.
    """
    begun, took, done = time.monotonic(), 0.0, 0
    while done < len(plan) and not wanted and (wanted is False or took < _SOON):
        yield plan[done]
        took, done = time.monotonic() - begun, done + 1
    left = plan[done:]
    if left and (wanted or messages().is_terminal):
        from rich.progress import track  # start-up time

        bar: Any = {"total": len(plan), "completed": done, "console": messages(), "transient": True}
        yield from track(left, title, **bar)
        return
    if left and ranks.is_first() and not _output.quiet:
        line = f"{_command}: {title}: about {duration(took / done * len(left))} left"
        print(line, file=sys.stderr, flush=True)
    yield from left


def duration(seconds: float) -> str:
    """Show seconds as people say them: `40 s`, `12 min`, `3.5 h`."""
    if seconds < 90:
        return f"{max(0.0, seconds):.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 90 * 60 else f"{seconds / 3600:.1f} h"
