"""What raters read on a form; every string is required, so that none is forgotten."""

from __future__ import annotations

from dataclasses import dataclass


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
