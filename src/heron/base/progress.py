"""Progress bars, on standard error."""

from collections.abc import Iterable, Sequence
from typing import TypeVar

from rich.console import Console
from rich.progress import track

from heron.base.terminal import output

Work = TypeVar("Work")


def messages() -> Console:
    """Make a console on standard error for progress; with `quiet=true`, it shows nothing."""
    return Console(stderr=True, quiet=output().quiet)


def tracked(plan: Sequence[Work], title: str, wanted: bool | None = None) -> Iterable[Work]:
    """Show a bar while a plan is worked off; `wanted` None: on terminals."""
    console = messages()
    shown = console.is_terminal if wanted is None else wanted
    return track(plan, title, console=console, disable=not shown, transient=True)
