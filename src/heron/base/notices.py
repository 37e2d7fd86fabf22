"""Warnings of `heron train`: each once in a command, whatever the number of jobs."""

from __future__ import annotations

import sys
from collections.abc import Iterable

from heron.base import ranks
from heron.base.secrets import redact

# Of the process: whoever warns, in any layer, must not repeat what another job has said.
_said: set[str] = set()


def say(what: str, about: str | None = None, who: str = "heron train") -> None:
    """Print a warning on standard error, unless this command has said it before.

    Args:
        what: the warning.
        about: what makes two warnings the same, where it is not their text.
        who: the command that warns.
    """
    if not has_said(about or what) and ranks.is_first():
        print(f"{who}: warning: {redact(what)}", file=sys.stderr, flush=True)
    _said.add(about or what)


def has_said(about: str) -> bool:
    """Tell whether this command has said a warning; other jobs of the sweep count."""
    return about in _said


def said() -> set[str]:
    """List what this command has said."""
    return set(_said)


def mark_said(what: Iterable[str]) -> None:
    """Count as said what another process of this command has said."""
    _said.update(what)


def begin() -> None:
    """Forget what was said: a new command begins."""
    _said.clear()
