"""Warnings of `heron train`: each once in a command, whatever the number of jobs."""

from __future__ import annotations

import sys
from collections.abc import Iterable

from heron import ranks
from heron.secrets import redact

_said: set[str] = set()


def say(what: str) -> None:
    """Print a warning on standard error, unless this command has said it before."""
    if what not in _said and ranks.is_first():
        print(f"heron train: warning: {redact(what)}", file=sys.stderr, flush=True)
    _said.add(what)


def said() -> set[str]:
    """List what this command has said."""
    return set(_said)


def take_over(what: Iterable[str]) -> None:
    """Count as said what another process of this command has said."""
    _said.update(what)


def begin() -> None:
    """Forget what was said: a new command begins."""
    _said.clear()
