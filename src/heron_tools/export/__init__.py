"""A run as a folder that plain transformers loads, as ONNX, and its card (`heron export`)."""

from collections.abc import Sequence
from pathlib import Path

from heron.commands.listing import FORK_COMMANDS, Command


def run(words: Sequence[str]) -> int:
    """Run `heron export`."""
    from heron_tools.export.command import run

    return run(words)


FORK_COMMANDS.register("export", Command(run, Path(__file__).with_name("export.txt")))
