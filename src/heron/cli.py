"""`heron <command>`: finds the command and hands over; imports nothing heavy."""

import importlib
import json
import logging
import os
import sys
import warnings
from collections.abc import Sequence
from contextlib import ExitStack, redirect_stdout
from dataclasses import dataclass
from typing import Any

from heron.base import terminal
from heron.base.cells import to_json
from heron.base.errors import ConfigError, HeronError, nearest, os_error_text, visible
from heron.base.folders import VERSION
from heron.base.secrets import redact
from heron.base.signals import Terminated, exit_code, interruptible, terminable
from heron.base.slurm import requeue
from heron.commands import COMMANDS, GROUPS, OWN

# oneDNN caches 1,024 kernels, each with its memory, and batches of texts keep bringing new shapes:
# with bf16, a training of 12 layers grew beyond 7 GB, with this limit to 4 or 5 GB.
_KERNELS = ("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "64")
# How often a thread looks whether the others are ready before it sleeps. libgomp's default is long:
# where other programs need the cores, threads spend their time waiting.
SPINS = ("GOMP_SPINCOUNT", "1000")
_OVERVIEW = f"""heron {VERSION}: Hebrew, Romanian, NLU

usage: heron <command> [key=value ...]

{{}}* a tool or a fork: without its folder, the command is gone and all others work

Every command takes
  quiet=true  results and errors only: no progress, warnings and hints
  json=true   the results as one JSON document, all else on standard error

On a terminal only; environment variables:
  HERON_BIDI=off  no isolates (U+2068, U+2069), which keep Hebrew in its column
  NO_COLOR=1      no colours

Examples: heron demo
          heron report latest
          heron train experiment=trc/ess seed=1
          heron <command> --help"""


@dataclass
class PrintOptions:
    """What every command prints."""

    quiet: bool = False  # results and errors only: no progress, warnings and hints
    json: bool = False  # the results as one JSON document; all else goes to standard error


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    Returns:
        The exit code: 0 done, 2 failed, 130 interrupted by Ctrl+C, 143 by SIGTERM.
    """
    try:
        code = _run(list(sys.argv[1:] if arguments is None else arguments))
        sys.stdout.flush()
        return code
    except BrokenPipeError:  # the reader has closed the pipe, such as `head`
        if arguments is None:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # Python flushes the rest when it exits
        return 0


def _run(arguments: list[str]) -> int:
    """Run one command, and print its errors; returns its exit code."""
    name, *rest = arguments or ["help"]
    if name in ("-V", "--version"):
        print(f"heron {VERSION}")
        return 0
    os.environ.setdefault(*_KERNELS)  # before torch is imported; workers inherit it
    if "OMP_WAIT_POLICY" not in os.environ:
        os.environ.setdefault(*SPINS)
    try:
        if name in ("-h", "--help", "help"):
            print(_OVERVIEW.format(_grouped()))
            return 0
        if name in ("-sc", "--shell-completion"):
            from heron.commands.completion import run as complete  # start-up time: shells only

            return complete(rest)
        name, rest = _split(arguments)
        if "-h" in rest or "--help" in rest:
            print(_help(name), end="")
            return 0
        with terminable(), interruptible():
            return _print(name, rest)
    except HeronError as error:
        print(f"heron {name}: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        raise  # `main` ends quietly
    except OSError as error:
        print(f"heron {name}: {visible(redact(os_error_text(error, rest)))}", file=sys.stderr)
        return 2
    except KeyboardInterrupt as error:
        if isinstance(error, Terminated):
            requeue()
        again = "resumes it" if COMMANDS[name].resumes else "begins again"
        print(f"\nheron {name}: interrupted; the same command {again}", file=sys.stderr)
        return exit_code(error)


def _help(name: str) -> str:
    """Read a command's help; of the first word of several commands, list those."""
    if name in COMMANDS:
        return COMMANDS[name].help.read_text("utf-8")
    commands = [command for command in COMMANDS if command.startswith(f"{name} ")]
    return _summaries(commands, max(map(len, commands)))


def _split(arguments: Sequence[str]) -> tuple[str, list[str]]:
    """Separate the name of a command, a fork's of one word or two, from the words after it."""
    first, *rest = arguments
    if first in OWN:  # loads no fork
        return first, rest

    first_two = " ".join(arguments[:2])
    if first_two in COMMANDS:
        return first_two, rest[1:]

    longer = [name for name in COMMANDS if name.startswith(f"{first} ")]
    asks_for_help = rest[:1] in (["-h"], ["--help"])
    if first in COMMANDS or (longer and asks_for_help):
        return first, rest

    word = first_two if longer else first
    raise ConfigError(f"unknown command '{word}'.{nearest(word, longer or COMMANDS)}")


def _grouped() -> str:
    """List all commands under the headings of their groups."""
    groups: dict[str, list[str]] = {group: [] for group in GROUPS}
    for name in COMMANDS:
        groups.setdefault(COMMANDS[name].group, []).append(name)
    width = max(map(len, COMMANDS))
    text = ""
    for group, names in groups.items():
        text += f"{group}\n{_summaries(names, width)}\n"
    return text


def _summaries(names: Sequence[str], width: int) -> str:
    """List commands with the first lines of their help; those that are not heron's own with a *."""
    lines = []
    for name in names:
        summary = COMMANDS[name].help.read_text("utf-8").partition("\n")[0]
        mark = " " if name in OWN else "*"
        lines.append(f"{mark} {name:<{width}}  {summary}\n")
    return "".join(lines)


def _print(name: str, words: Sequence[str]) -> int:
    """Run a command, printing as `quiet` and `json` ask; returns its exit code."""
    command = importlib.import_module(COMMANDS[name].module).run
    terminal.begin(f"heron {name}")
    print_words = [word for word in words if word.startswith(("quiet=", "json="))]
    rest = [word for word in words if word not in print_words]
    if not print_words:
        return command(rest) or 0
    from heron.config.parsing import parse_options  # start-up time

    options = parse_options(PrintOptions, print_words)
    if not options.quiet and not options.json:
        return command(rest) or 0

    results: dict[str, list[Any]] = {"tables": [], "files": [], "notes": []}
    with ExitStack() as stack:
        gathered = results if options.json else None
        terminal.output(terminal.OutputFormat(sys.stdout, options.quiet, gathered))
        stack.callback(terminal.output, terminal.OutputFormat())
        messages = sys.stderr
        if options.quiet:
            messages = stack.enter_context(open(os.devnull, "w", encoding="utf-8"))
            stack.enter_context(warnings.catch_warnings(action="ignore"))
            logging.disable(logging.WARNING)
            stack.callback(logging.disable, logging.NOTSET)
        stack.enter_context(redirect_stdout(messages))
        code = command(rest) or 0

    if options.json:
        results["tables"] = [to_json(table) for table in results["tables"]]
        document = {"command": f"heron {name}", **results}
        # `default` is for numbers of NumPy.
        text = json.dumps(
            document,
            ensure_ascii=False,
            indent=2,
            allow_nan=False,
            default=lambda number: number.item(),
        )
        print(visible(text))
    return code
