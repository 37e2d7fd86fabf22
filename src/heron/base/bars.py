"""A progress bar over a list of work, where people watch."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

Work = TypeVar("Work")


def tracked(plan: Sequence[Work], title: str, wanted: bool | None = None) -> Iterable[Work]:
    """Show a bar on standard error while a plan is worked off.

    Args:
        plan: one entry for each step of the bar.
        title: what is being done.
        wanted: show it or not; None shows it on terminals.
    """
    from rich.console import Console
    from rich.progress import track

    console = Console(stderr=True)
    shown = console.is_terminal if wanted is None else wanted
    return track(plan, title, console=console, disable=not shown, transient=True)
