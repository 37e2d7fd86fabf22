"""The commands of heron and of forks: their names and their help."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from heron.base.columns import aligned, broken, terminal_width
from heron.base.errors import ConfigError, nearest
from heron.base.folders import VERSION
from heron.base.registry import Registry


@dataclass(frozen=True, slots=True)
class Command:
    """A command that a fork adds to `heron`."""

    # Name of the module whose `run` gets the words after the command's and returns the exit code.
    module: str
    help: Path  # a text file; its first line is the command's summary
    resumes: bool = False  # whether the same command resumes after an interruption


# Commands of forks, of one or two words (`judge`, `build trc`); heron's own are in `heron.cli`.
FORK_COMMANDS: Registry[Command] = Registry("command")


def split_name(arguments: Sequence[str], own: Sequence[str]) -> tuple[str, list[str]]:
    """Separate the name of a fork's command, of one word or two, from the words after it.

    Raises:
        ConfigError: there is no such command.
    """
    first, two = arguments[0], " ".join(arguments[:2])
    if two in FORK_COMMANDS:
        return two, list(arguments[2:])
    begun = [name for name in FORK_COMMANDS if name.startswith(f"{first} ")]
    if begun and arguments[1:2] in (["-h"], ["--help"]):
        return first, list(arguments[1:])
    if begun and first not in FORK_COMMANDS:
        raise ConfigError(f"'{two}' is no command. Allowed: {', '.join(begun)}.")
    if first not in FORK_COMMANDS:
        known = (*own, *FORK_COMMANDS)
        raise ConfigError(f"unknown command '{first}'.{nearest(first, known)}")
    return first, list(arguments[1:])


def fork_module(name: str) -> str:
    """Name the module of a fork's command."""
    return FORK_COMMANDS[name].module


def resumes(name: str, own: Sequence[str]) -> bool:
    """Tell whether the same command of a fork resumes after an interruption."""
    return name not in own and FORK_COMMANDS[name].resumes


def help_text(name: str, own: Sequence[str]) -> str:
    """Read a command's help; its first line is its summary.

    Of the first of two words, it is the list of the commands that begin with it.
    """
    is_command = name in own or name in FORK_COMMANDS
    begun = [each for each in FORK_COMMANDS if not is_command and each.startswith(f"{name} ")]
    if begun:
        return _list(begun, own) + "\n"
    return "\n\n".join(map(_fit, _read(name, own).split("\n\n")))


def _read(name: str, own: Sequence[str]) -> str:
    path = Path(__file__).parent / "help" / f"{name}.txt"
    return (path if name in own else FORK_COMMANDS[name].help).read_text(encoding="utf-8")


def _fit(paragraph: str) -> str:
    """Break a paragraph that is too wide for the terminal; commands stay whole, to be copied."""
    width, lines = terminal_width(), paragraph.splitlines()
    if width is None or max(map(len, lines), default=0) <= width:
        return paragraph
    if not any(line.startswith(("  ", "usage:", "heron ")) for line in lines):
        return "\n".join([*broken(" ".join(lines)), *[""] * paragraph.endswith("\n")])
    found = list[str]()
    for line in lines:
        command, *remark = re.split(r"(?<=\S) {2,}|^ {3,}", line, maxsplit=1)
        if command:
            found.append(command if command[0] == " " else "\n    ".join(broken(command, 4)))
        found += [" " * 6 + part for part in broken("".join(remark), 6) if part]
    return "\n".join([*found, *[""] * paragraph.endswith("\n")])


def overview(own: Sequence[str]) -> str:
    """List all commands with their summaries."""
    return "\n".join(
        [
            f"heron {VERSION}: Hebrew, Romanian, NLU\n",
            "usage: heron <command> [key=value ...]\n",
            _list([*own, *FORK_COMMANDS], own),
            "\nEvery command takes",
            "  quiet=true  results and errors only: no progress, warnings and hints",
            "  json=true   the results as one JSON document, all else on standard error",
            "\nOn a terminal only; environment variables:",
            "  HERON_BIDI=off  no isolates (U+2068, U+2069), which keep Hebrew in its column",
            "  NO_COLOR=1      no colours",
            "\nExamples: heron demo",
            "          heron train experiment=trc/ess seed=1",
            "          heron <command> --help",
        ]
    )


def _list(names: Sequence[str], own: Sequence[str]) -> str:
    return "\n".join(aligned([(f"  {name}", _read(name, own).splitlines()[0]) for name in names]))
