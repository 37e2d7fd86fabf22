"""People's labels: sheets to fill in, agreement, majority and adjudication."""

from collections.abc import Sequence
from pathlib import Path

from heron.commands.listing import FORK_COMMANDS, Command


def annotate(words: Sequence[str]) -> int:
    """Run `heron annotate`."""
    from heron_tools.annotation.annotate import run

    return run(words)


def agreement(words: Sequence[str]) -> int:
    """Run `heron agreement`."""
    from heron_tools.annotation.agreement import run

    return run(words)


for _run in (annotate, agreement):
    _help = Path(__file__).with_name(f"{_run.__name__}.txt")
    FORK_COMMANDS.register(_run.__name__, Command(_run, _help))
