"""`quiet=true` and `json=true`, which every command takes."""

import json
import logging
import os
import sys
import warnings
from collections.abc import Callable, Sequence
from contextlib import ExitStack, redirect_stdout
from dataclasses import dataclass
from typing import Any

from heron.base import terminal
from heron.base.cells import to_json
from heron.base.errors import ConfigError, visible
from heron.config.options import EVERYWHERE, parse_options

_SHOWN_BY_HYDRA = ("--cfg", "-c", "--info", "-i")


@dataclass
class PrintOptions:
    """What every command prints."""

    quiet: bool = False  # results and errors only: no progress, warnings and hints
    json: bool = False  # the results as one JSON document; all else goes to standard error


def run(command: Callable[[Sequence[str]], int | None], name: str, words: Sequence[str]) -> int:
    """Run a command, printing as `quiet` and `json` ask; returns its exit code."""
    own = [word for word in words if word.partition("=")[0] in EVERYWHERE]
    options = parse_options(PrintOptions, own)
    rest = [word for word in words if word not in own]
    if not options.quiet and not options.json:
        return command(rest) or 0
    if shown := [word for word in rest if word in _SHOWN_BY_HYDRA]:
        raise ConfigError(f"{own[0]}: {shown[0]} prints the configuration only; leave one out")
    found: dict[str, list[Any]] = {"tables": [], "files": [], "notes": []}
    with ExitStack() as stack:
        gathered = found if options.json else None
        terminal.output(terminal.Output(sys.stdout, options.quiet, gathered))
        stack.callback(terminal.output, terminal.Output())
        messages = sys.stderr
        if options.quiet:
            messages = stack.enter_context(open(os.devnull, "w", encoding="utf-8"))
            stack.enter_context(warnings.catch_warnings(action="ignore"))
            logging.disable(logging.WARNING)
            stack.callback(logging.disable, logging.NOTSET)
        stack.enter_context(redirect_stdout(messages))
        code = command(rest) or 0
    if options.json:
        document = {
            "command": f"heron {name}",
            **found,
            "tables": list(map(to_json, found["tables"])),
        }
        text = json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False, default=_plain)
        print(visible(text))
    return code


def _plain(number: Any) -> Any:
    """Turn a number of NumPy into Python's."""
    return number.item()
