"""The words of the forms of `heron judge`, from a language's YAML file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from heron.base.errors import ConfigError
from heron.base.files import read_yaml


@dataclass(frozen=True, slots=True)
class RatingQuestion:
    """A criterion (rated from 1 to 5), or a kind of error (to tick).

    Args:
        name: in files and tables, in all languages.
        title: its heading on the form.
        description: the question for raters.
        lowest, highest: the meaning of 1 and of 5; empty for a kind of error.
    """

    name: str
    title: str
    description: str
    lowest: str = ""
    highest: str = ""


@dataclass(frozen=True, slots=True)
class Interface:
    """The form's buttons and messages, all required; words in braces are filled in."""

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
    """The words of a language's forms, with heron's criteria and kinds of errors."""

    interface: Interface
    criteria: tuple[RatingQuestion, ...]
    errors: tuple[RatingQuestion, ...]


def read_wording(path: Path) -> Wording:
    """Read a language's words; `languages/english.yaml` is an example.

    Raises:
        ConfigError: a key is missing or unknown.
    """
    content = read_yaml(path)
    try:
        words = content["interface"]
        instructions = tuple(words["instructions"])
        return Wording(
            interface=Interface(**{**words, "instructions": instructions}),
            criteria=_questions(content["criteria"]),
            errors=_questions(content["errors"]),
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise ConfigError(f"{path}: {error}; compare src/heron/languages/english.yaml") from None


def _questions(content: Mapping[str, Mapping[str, str]]) -> tuple[RatingQuestion, ...]:
    return tuple(RatingQuestion(name, **question) for name, question in content.items())
