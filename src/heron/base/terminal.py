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
    """Return how results are printed; `change` replaces it."""
    global _output
    _output = change or _output
    return _output


def hold_results(**found: Iterable[Any]) -> bool:
    """Collect results by kind for `json=true`; returns false where they must be printed instead."""
    if _output.found is None:
        return False
    for kind, values in found.items():
        _output.found[kind].extend(values)
    return True


def say(what: str, about: str | None = None, of_result: bool = True) -> None:
    """Print a warning of this command, unless one `about` the same was printed before.

    During a run, it is kept with the results, unless they do not depend on it (`of_result=False`).
    """
    if _keepers and of_result:
        _keepers[-1](what)
    if first_time(about or what):
        announce(f"warning: {redact(what)}")


def announce(message: str) -> None:
    """Print a message of this command on standard error; nothing with `quiet=true`."""
    if ranks.is_first() and not _output.quiet:
        print(visible(f"{_command}: {message}"), file=sys.stderr, flush=True)


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
    is_new = bool(what) and what not in _said
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
    if hold_results(files=paths, notes=notes) or not lines:
        return
    text = "\n".join(map(str, lines))
    print(visible(text), file=_output.file, flush=True)


def print_tables(tables: Sequence[Table]) -> None:
    """Print each table that has rows, its note below it once; on a terminal, cut to its width."""
    from rich.console import Console, ConsoleDimensions  # start-up time

    if hold_results(tables=tables):
        return
    console = Console(file=_output.file)
    width = console.width if console.is_terminal else None
    parts = []
    for table in tables:
        if table.rows:
            parts += [table] if width is None else _split(table, width)

    for part in parts:
        rich_table = to_rich(part, width)
        unlimited = console.options.update(width=10_000)
        needed = console.measure(rich_table, options=unlimited).maximum
        console.size = ConsoleDimensions(max(width or _LOG_WIDTH, needed), console.height)
        console.print(Text(visible(part.title), "bold"))
        console.print(rich_table)
        if first_time(part.note):
            console.print(Text(visible(part.note), "dim"))
        console.print()


def to_rich(table: Table, width: int | None = None) -> RichTable:
    """Build the table for a terminal of `width` columns, or for a file, without title and note.

    Lines break between words. A table that does not fit even then is wider: rich drops columns.
    """
    from rich.box import SIMPLE_HEAD  # start-up time
    from rich.table import Table as RichTable

    # Text objects, not strings: rich would take a value such as "[a]" for its own markup.
    text = Text if width is None else _Isolated
    rich_table = RichTable(box=SIMPLE_HEAD, show_edge=False, pad_edge=False)
    columns = _column_texts(table)
    widths = _widths(columns, width)
    for index, (heading, *_) in enumerate(columns):
        has_words = any(isinstance(row[index], str) for row in table.rows)
        justify: Literal["left", "right"] = "left" if has_words else "right"
        rich_table.add_column(text(heading), justify=justify, width=widths[index], overflow="fold")
    _, *rows = zip(*columns, strict=True)
    for cells in rows:
        rich_table.add_row(*map(text, cells))
    return rich_table


def _column_texts(table: Table) -> list[list[str]]:
    """List the texts of each column, its heading first."""
    columns = []
    for index, name in enumerate(table.columns):
        cells = [show(row[index]) for row in table.rows]
        columns.append([visible(text) for text in (name.replace("_", " "), *cells)])
    return columns


def _narrowest(cells: Sequence[str], width: int | None) -> int:
    """Measure a column whose lines break between words."""
    words = " ".join(cells).split()
    longest = max(map(cell_len, words), default=1)
    return longest if width is None else min(longest, _LONGEST_WORD)


def _widths(columns: Sequence[Sequence[str]], width: int | None) -> list[int]:
    """Choose the widths of columns; spare width goes first to the columns that lack the least."""
    widths = []
    lacking = []  # what each column lacks to show its longest cell in one line
    for cells in columns:
        narrowest = _narrowest(cells, width)
        widths.append(narrowest)
        lacking.append(max(map(cell_len, cells)) - narrowest)

    spare = width or _LOG_WIDTH
    spare -= sum(widths) + _GAP * (len(widths) - 1)
    waiting = len(widths)  # columns
    for index in sorted(range(waiting), key=lacking.__getitem__):
        more = min(lacking[index], max(0, spare) // waiting)
        widths[index] += more
        spare -= more
        waiting -= 1

    return widths


def _split(table: Table, width: int) -> list[Table]:
    """Cut a table that does not fit into several, each with the first column."""
    first, *others = [_narrowest(cells, width) for cells in _column_texts(table)]
    part = [0]  # indices of columns
    parts = [part]
    room = width - first
    for index, narrowest in enumerate(others, 1):
        needed = narrowest + _GAP
        if len(part) > 1 and needed > room:
            part = [0]
            parts.append(part)
            room = width - first
        part.append(index)
        room -= needed

    title = table.title
    tables = []
    for part in parts:
        columns = [table.columns[index] for index in part]
        rows = [[row[index] for index in part] for row in table.rows]
        tables.append(Table(title, columns, rows))
        title = f"{table.title}, further columns"

    tables[-1] = replace(tables[-1], note=table.note)
    return tables


def isolate(text: str, whole: str = "") -> str:
    """Put right-to-left text between isolates, so that a terminal does not reorder its neighbours.

    Text is also isolated where `whole`, of which it is a line, has right-to-left letters. It stays
    as it is in files and pipes, and under `HERON_BIDI=off`.
    """
    is_terminal = (_output.file or sys.stdout).isatty()
    if not text or not is_terminal or os.environ.get("HERON_BIDI") == "off":
        return text
    directions = set(map(unicodedata.bidirectional, whole or text))
    if directions.isdisjoint(("R", "AL")):
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
    """Iterate over a plan, with progress on standard error where it takes more than seconds.

    A terminal gets a bar, anything else one line with the time left.

    Args:
        plan: what is iterated over.
        title: of the bar.
        wanted: true for a bar from the beginning on, false for no progress.
    """
    if wanted is False:
        yield from plan
        return
    begin = time.monotonic()
    seconds = 0.0
    done = 0
    while done < len(plan) and not wanted and seconds < _SOON:
        yield plan[done]
        done += 1
        seconds = time.monotonic() - begin
    rest = plan[done:]
    if not rest:
        return

    if wanted or messages().is_terminal:
        from rich.progress import track  # start-up time

        console = messages()
        yield from track(
            rest, title, total=len(plan), completed=done, console=console, transient=True
        )
        return
    announce(f"{title}: about {duration(seconds / done * len(rest))} left")
    yield from rest


def duration(seconds: float) -> str:
    """Show seconds as people say them: `40 s`, `12 min`, `3.5 h`, `9 days`."""
    if seconds < 90:
        return f"{max(0.0, seconds):.0f} s"
    minutes = seconds / 60
    if minutes < 90:
        return f"{minutes:.0f} min"
    hours = minutes / 60
    return f"{hours:.1f} h" if hours < 48 else f"{hours / 24:.0f} days"
