"""Annotation: sheets to fill in, agreement, majority and adjudication."""

from pathlib import Path

from heron.commands import COMMANDS, DATA, Command

for _name in ("annotate", "agreement"):
    _help = Path(__file__).with_name(f"{_name}.txt")
    COMMANDS.register(_name, Command(f"{__name__}.{_name}", _help, group=DATA))
