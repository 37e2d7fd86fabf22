"""Finds leakage and shortcuts in a data set before training on it (`heron audit`)."""

from pathlib import Path

from heron.commands import COMMANDS, DATA, Command

_HELP = Path(__file__).with_name("audit.txt")
COMMANDS.register("audit", Command(f"{__name__}.command", _HELP, group=DATA))
