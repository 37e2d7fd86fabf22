"""A page to explore a sweep with, and the same in a W&B workspace (`heron dashboard`)."""

from collections.abc import Sequence
from pathlib import Path

from heron.commands.listing import FORK_COMMANDS, Command


def run(words: Sequence[str]) -> int:
    """Run `heron dashboard`."""
    from heron_tools.dashboard.command import run

    return run(words)


FORK_COMMANDS.register("dashboard", Command(run, Path(__file__).with_name("dashboard.txt")))
