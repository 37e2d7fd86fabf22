"""Training examples whose labels look wrong, by their training dynamics (`heron noise`)."""

from collections.abc import Sequence
from pathlib import Path

from heron.commands.listing import FORK_COMMANDS, Command


def run(words: Sequence[str]) -> int:
    """Run `heron noise`."""
    from heron_tools.noise.command import run

    return run(words)


FORK_COMMANDS.register("noise", Command(run, Path(__file__).with_name("noise.txt")))
