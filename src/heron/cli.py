"""`heron <command>`: finds the command and hands over; imports nothing heavy."""

import errno
import importlib
import os
import sys
from collections.abc import Sequence

from heron.base.errors import ConfigError, HeronError, os_error_text, visible
from heron.base.folders import VERSION
from heron.base.registry import load
from heron.base.secrets import redact
from heron.base.signals import exit_code, interruptible, terminable

# Each is `heron.commands.<name>`, with its help in `commands/help/<name>.txt`; forks add more.
COMMANDS = (
    *("train", "options", "predict", "evaluate", "score", "sweep", "report"),
    *("map", "compare", "data", "new", "demo"),
)
_LISTING = "heron.commands.listing"  # only for help and for commands of forks
# oneDNN caches 1,024 kernels, each with its memory, and batches of texts keep bringing new shapes:
# with bf16, a training of 12 layers grew beyond 7 GB, with this limit to 4 or 5 GB.
_KERNELS = ("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "64")
# How often a thread looks whether the others are ready before it sleeps. libgomp's default is long:
# where other programs need the cores, threads spend their time waiting.
SPINS = ("GOMP_SPINCOUNT", "1000")


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
    name, rest = (arguments or ["help"])[0], arguments[1:]
    if name in ("-V", "--version"):
        print(f"heron {VERSION}")
        return 0
    os.environ.setdefault(*_KERNELS)  # before torch is imported; workers inherit it
    if "OMP_WAIT_POLICY" not in os.environ:
        os.environ.setdefault(*SPINS)
    try:
        if (bidi := os.environ.get("HERON_BIDI", "on")) not in ("on", "off"):
            raise ConfigError(f"HERON_BIDI={bidi}: must be on or off")
        if name in ("-h", "--help", "help"):
            print(load(f"{_LISTING}:overview")(COMMANDS))
            return 0
        if name not in COMMANDS:
            name, rest = load(f"{_LISTING}:split_name")(arguments, COMMANDS)
        if "-h" in rest or "--help" in rest:
            print(load(f"{_LISTING}:help_text")(name, COMMANDS), end="")
            return 0
        with terminable(), interruptible():
            module = f"heron.commands.{name}"
            if name not in COMMANDS:
                module = load(f"{_LISTING}:fork_module")(name)
            command = importlib.import_module(module).run
            if any(word.startswith(("json=", "quiet=")) for word in rest):
                from heron.commands.printing import run  # start-up time

                return run(command, name, rest)
            return command(rest) or 0
    except HeronError as error:
        print(f"heron {name}: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        raise  # `main` ends quietly
    except OSError as error:
        hint = ""  # the folder of a run that is read may belong to somebody else
        if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
            has_out = "out=" in load(f"{_LISTING}:help_text")(name, COMMANDS)
            hint = "; out=DIR writes to another folder" if has_out else ""
        text = visible(redact(os_error_text(error, rest)))
        print(f"heron {name}: {text}{hint}", file=sys.stderr)
        return 2
    except KeyboardInterrupt as error:
        resumes = name == "train" or load(f"{_LISTING}:resumes")(name, COMMANDS)
        then = "resumes it" if resumes else "begins again"
        print(f"\nheron {name}: interrupted; the same command {then}", file=sys.stderr)
        return exit_code(error)
