"""Tables on the terminal, or in a log."""

from __future__ import annotations

from collections.abc import Sequence

from heron.base.cells import Table, split_columns, to_rich

_LOG_WIDTH = 120  # characters, where the output is a file or a pipe


def print_tables(tables: Sequence[Table]) -> None:
    """Print each table that has rows, with its note below; on a terminal, cut to its width."""
    from rich.console import Console, ConsoleDimensions
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
