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
from heron.base.signals import exit_code, interruptible, terminable
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
    name, rest = (arguments or ["help"])[0], arguments[1:]
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
        name, rest = _split(arguments)
        if "-h" in rest or "--help" in rest:
            if name in COMMANDS:
                print(COMMANDS[name].help.read_text("utf-8"), end="")
            else:
                longer = [command for command in COMMANDS if command.startswith(f"{name} ")]
                print(_summaries(longer, max(map(len, longer))), end="")
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
        then = "resumes it" if COMMANDS[name].resumes else "begins again"
        print(f"\nheron {name}: interrupted; the same command {then}", file=sys.stderr)
        return exit_code(error)


def _split(arguments: Sequence[str]) -> tuple[str, list[str]]:
    """Separate the name of a command, a fork's of one word or two, from the words after it."""
    first, two = arguments[0], " ".join(arguments[:2])
    if first in OWN:  # loads no fork
        return first, list(arguments[1:])
    if two in COMMANDS:
        return two, list(arguments[2:])
    begun = [name for name in COMMANDS if name.startswith(f"{first} ")]
    if first in COMMANDS or (begun and arguments[1:2] in (["-h"], ["--help"])):
        return first, list(arguments[1:])
    word = two if begun else first
    raise ConfigError(f"unknown command '{word}'.{nearest(word, begun or COMMANDS)}")


def _grouped() -> str:
    """List all commands under the headings of their groups."""
    groups: dict[str, list[str]] = {group: [] for group in GROUPS}
    for name in COMMANDS:
        groups.setdefault(COMMANDS[name].group, []).append(name)
    width = max(map(len, COMMANDS))
    return "".join(f"{group}\n{_summaries(names, width)}\n" for group, names in groups.items())


def _summaries(names: Sequence[str], width: int) -> str:
    """List commands with the first lines of their help; those that are not heron's own with a *."""
    lines = []
    for name in names:
        summary = COMMANDS[name].help.read_text("utf-8").split("\n", 1)[0]
        mark = " " if name in OWN else "*"
        lines.append(f"{mark} {name:<{width}}  {summary}\n")
    return "".join(lines)


def _print(name: str, words: Sequence[str]) -> int:
    """Run a command, printing as `quiet` and `json` ask; returns its exit code."""
    command = importlib.import_module(COMMANDS[name].module).run
    terminal.begin(f"heron {name}")
    own = [word for word in words if word.startswith(("quiet=", "json="))]
    rest = [word for word in words if word not in own]
    if not own:
        return command(rest) or 0
    from heron.config.parsing import parse_options  # start-up time

    options = parse_options(PrintOptions, own)
    if not options.quiet and not options.json:
        return command(rest) or 0
    found: dict[str, list[Any]] = {"tables": [], "files": [], "notes": []}
    with ExitStack() as stack:
        gathered = found if options.json else None
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
        found["tables"] = list(map(to_json, found["tables"]))
        document = {"command": f"heron {name}", **found}
        text = json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False, default=_plain)
        print(visible(text))
    return code


def _plain(number: Any) -> Any:
    """Turn a number of NumPy into Python's."""
    return number.item()
