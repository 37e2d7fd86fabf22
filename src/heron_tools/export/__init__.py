"""Exports a run for plain transformers, with a model card (`heron export`)."""

from pathlib import Path

from heron.commands import COMMANDS, TRAIN, Command

_HELP = Path(__file__).with_name("export.txt")
COMMANDS.register("export", Command(f"{__name__}.command", _HELP, group=TRAIN))
