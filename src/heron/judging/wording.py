"""What raters read on a form, by language; every string is required, so that none is forgotten."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module

from heron.base.errors import ConfigError, nearest

CODES = ("en", "he", "ro")


@dataclass(frozen=True, slots=True)
class Question:
    """A criterion to rate from 1 to 5, or a kind of error to tick.

    Args:
        name: in files and tables, the same in every language.
        title: its heading on the form.
        description: what raters are asked.
        lowest: what a 1 means; empty for a kind of error.
        highest: what a 5 means.
    """

    name: str
    title: str
    description: str
    lowest: str = ""
    highest: str = ""


@dataclass(frozen=True, slots=True)
class Interface:
    """The form's own words; those in braces are filled in."""

    title: str
    instructions: tuple[str, ...]
    keys: str
    article: str  # {number} {total}
    summary: str  # {number}
    progress: str  # {done} {total}
    previous: str
    next: str
    open: str
    save: str
    load: str
    clear: str
    errors: str
    none: str
    comment: str
    empty: str
    kept: str
    not_kept: str
    saved: str  # {name}
    loaded: str  # {name} {count}
    foreign: str  # {name}
    unreadable: str  # {name}
    unread: str  # {count}
    done: str
    noscript: str


@dataclass(frozen=True, slots=True)
class Wording:
    """A language's words.

    Args:
        interface: buttons, instructions, messages.
        criteria: those that heron knows.
        errors: kinds of errors that heron knows.
    """

    interface: Interface
    criteria: tuple[Question, ...]
    errors: tuple[Question, ...]


def get_wording(code: str) -> Wording:
    """Look the words of a language up.

    Raises:
        ConfigError: there are none.
    """
    if code not in CODES:
        raise ConfigError(f"wording={code}: forms are not in this language.{nearest(code, CODES)}")
    wording = import_module(f"heron.judging.words_{code}").WORDING
    assert isinstance(wording, Wording)
    return wording
