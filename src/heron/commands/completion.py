"""`heron -sc query=SHELL`: what may stand next on a command line, for the completion of shells.

Hydra writes the script that a shell asks with, and completes the words of `heron train`.
"""

import os
import re
from collections.abc import Sequence
from contextlib import suppress

from heron.base.errors import HeronError
from heron.commands import COMMANDS

_KEY = re.compile(r"(?<![\w/.])([a-z][\w.]*)=")  # an option in a command's help
_STANDS_FOR_KEYS = {"key", "option"}


def run(arguments: Sequence[str]) -> int:
    """Answer a shell, or print its script (`install=`); returns the exit code."""
    from heron.commands.train import run as run_train  # start-up time

    line = os.environ.get("COMP_LINE", "")
    _, _, typed = line.lstrip().partition(" ")
    if any(word.startswith("query=") for word in arguments):
        words = completions(typed)
        if words or not typed.startswith("train "):
            print("\n".join(words))
            return 0
        os.environ["COMP_LINE"] = f"heron {_words_for_hydra(typed)}"
    return run_train(["-sc", *arguments])


def completions(typed: str) -> list[str]:
    """List what may stand in place of the last word; empty where Hydra alone knows.

    Args:
        typed: the line after `heron `; with a blank at its end, a new word begins.
    """
    before, word = _last_word(typed)
    for command in (" ".join(before[:2]), *before[:1]):
        if command in COMMANDS:
            words = _option_words(command, word)
            break
    else:
        words = _next_words(before)
    return sorted({name for name in words if name.startswith(word)})


def _next_words(before: Sequence[str]) -> list[str]:
    """List the words with which the name of a command may go on."""
    place = len(before)
    parts = [name.split() for name in COMMANDS]
    return [name[place] for name in parts if name[:place] == before and name[place:]]


def _last_word(typed: str) -> tuple[list[str], str]:
    """Separate the words before from the one that is being typed."""
    words = typed.split()
    is_new = not typed.strip() or typed[-1].isspace()
    return (words, "") if is_new else (words[:-1], words[-1])


def _option_words(command: str, word: str) -> list[str]:
    """List a command's options, or the values of one: options of a group, and files."""
    from hydra.plugins.completion_plugin import CompletionPlugin  # start-up time

    from heron.config.describe import groups, keys

    name, equals, value = word.partition("=")
    if equals:
        values = [*groups().get(name, ()), *CompletionPlugin.complete_files(value)]
        return [f"{name}={value}" for value in values]
    if command == "train":
        return []
    if command == "options":
        return [*groups(), *(key.name for key in keys())]
    text = COMMANDS[command].help.read_text("utf-8")
    return [f"{name}=" for name in _KEY.findall(text) if name not in _STANDS_FOR_KEYS]


def _words_for_hydra(typed: str) -> str:
    """Write the words of `heron train` as Hydra reads them; the last one stays as it is typed."""
    from heron.config.words import rewrite  # start-up time

    _, *before = typed.split()
    words, word = _last_word(" ".join(before) + typed[len(typed.rstrip()) :])
    with suppress(HeronError):  # Hydra then reads them as they are
        words = rewrite(words)
    return " ".join([*words, word])
