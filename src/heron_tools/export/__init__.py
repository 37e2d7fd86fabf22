"""A run as a folder that plain transformers loads, as ONNX, and its card (`heron export`)."""

from pathlib import Path

from heron.commands import COMMANDS, Command

_HELP = Path(__file__).with_name("export.txt")
COMMANDS.register("export", Command(f"{__name__}.command", _HELP))
