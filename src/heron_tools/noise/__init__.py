"""Finds suspicious labels by training dynamics (`heron noise`)."""

from pathlib import Path

from heron.commands import COMMANDS, LOOK, Command

_HELP = Path(__file__).with_name("noise.txt")
COMMANDS.register("noise", Command(f"{__name__}.command", _HELP, group=LOOK))
