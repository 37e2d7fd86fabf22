"""Tables on the terminal, or in a log."""

from __future__ import annotations

from collections.abc import Sequence

from heron.reporting.cells import Table, to_rich

_LOG_WIDTH = 120  # characters, where the output is a file or a pipe


def print_tables(tables: Sequence[Table]) -> None:
    """Print each table that has rows, with its note below."""
    from rich.console import Console, ConsoleDimensions
    from rich.text import Text

    console = Console()
    width = console.width if console.is_terminal else _LOG_WIDTH
    for table in filter(lambda table: table.rows, tables):
        shown = to_rich(table, width)
        needed = console.measure(shown, options=console.options.update(width=10_000)).maximum
        console.size = ConsoleDimensions(max(width, needed), console.height)
        console.print(shown, Text(table.note, "dim"), "", sep="\n")
