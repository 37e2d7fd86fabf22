"""`heron <command>`: finds the command and hands over; imports nothing heavy."""

import errno
import importlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from heron import __version__
from heron.base.errors import ConfigError, HeronError, nearest, os_error_text
from heron.base.secrets import redact
from heron.base.signals import exit_code, interruptible, terminable
from heron.config.registries import FORK_COMMANDS

# Each is `heron.commands.<name>`, with its help in `commands/help/<name>.txt`; forks add more.
COMMANDS = (
    *("train", "prompt", "options", "predict", "evaluate", "score", "sweep", "report", "dashboard"),
    *("analyze", "map", "noise", "compare", "data", "audit", "demo"),
)
# Commands that write into the run folder they read, which may belong to somebody else.
_INTO_RUNS = ("analyze", "dashboard", "map", "noise", "report")
# oneDNN caches 1,024 kernels, each with its memory, and batches of texts keep bringing new shapes:
# with bf16, a training of 12 layers grew beyond 7 GB, with this limit to 4 or 5 GB.
_KERNELS = ("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "64")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    Returns:
        The exit code: 0 done, 2 a user's mistake, 130 interrupted by Ctrl+C, 143 by SIGTERM.
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
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        print(_overview())
        return 0
    if arguments[0] in ("-V", "--version"):
        print(f"heron {__version__}")
        return 0
    name, rest = arguments[0], arguments[1:]
    os.environ.setdefault(*_KERNELS)  # before torch is imported; workers inherit it
    try:
        if name not in COMMANDS and name not in FORK_COMMANDS:
            known = (*COMMANDS, *FORK_COMMANDS)
            raise ConfigError(f"unknown command '{name}'.{nearest(name, known)}")
        if "-h" in rest or "--help" in rest:
            print(help_text(name), end="")
            return 0
        with terminable(), interruptible():
            if name not in COMMANDS:
                return FORK_COMMANDS[name].run(rest) or 0
            return importlib.import_module(f"heron.commands.{name}").run(rest) or 0
    except HeronError as error:
        print(f"heron {name}: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        raise  # `main` ends quietly
    except OSError as error:
        refused = error.errno in (errno.EACCES, errno.EPERM, errno.EROFS)
        hint = "; out=DIR writes to another folder" if refused and name in _INTO_RUNS else ""
        print(f"heron {name}: {redact(os_error_text(error, rest))}{hint}", file=sys.stderr)
        return 2
    except KeyboardInterrupt as error:
        then = "goes on from here" if name == "train" else "begins again"
        print(f"\nheron {name}: interrupted; the same command {then}", file=sys.stderr)
        return exit_code(error)


def help_text(name: str) -> str:
    """Read a command's help; its first line is its summary."""
    own = Path(__file__).parent / "commands" / "help" / f"{name}.txt"
    path = own if name in COMMANDS else FORK_COMMANDS[name].help
    return path.read_text(encoding="utf-8")


def _overview() -> str:
    names = [*COMMANDS, *FORK_COMMANDS]
    width = max(map(len, names))
    lines = [f"  {name:<{width}}  {help_text(name).splitlines()[0]}" for name in names]
    return "\n".join(
        [
            f"heron {__version__}: Hebrew, Romanian, NLU\n",
            "usage: heron <command> [key=value ...]\n",
            *lines,
            "\nExamples: heron demo",
            "          heron train experiment=trc/ess seed=1",
            "          heron <command> --help",
        ]
    )
