"""A page to explore a sweep, also as a W&B workspace (`heron dashboard`)."""

from pathlib import Path

from heron.commands import COMMANDS, LOOK, Command

_HELP = Path(__file__).with_name("dashboard.txt")
COMMANDS.register("dashboard", Command(f"{__name__}.command", _HELP, group=LOOK))
