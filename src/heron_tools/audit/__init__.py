"""Looks for leakage and shortcuts in a data set before anyone trains on it (`heron audit`)."""

from collections.abc import Sequence
from pathlib import Path

from heron.commands.listing import FORK_COMMANDS, Command


def run(words: Sequence[str]) -> int:
    """Run `heron audit`; see `heron_tools.audit.command`."""
    from heron_tools.audit.command import run

    return run(words)


FORK_COMMANDS.register("audit", Command(run, Path(__file__).with_name("audit.txt")))
