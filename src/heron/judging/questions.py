"""What raters are asked: criteria and kinds of errors, heron's own or from a file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from heron.base.errors import ConfigError, DataError, Problem, nearest
from heron.base.tables import SUFFIXES, is_missing, read_table, table_format
from heron.languages.wording import Question

NONE = "no_error"  # looked, and found none
RESERVED = ("study", "rater", "item", "article", "summary", NONE, "comment")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


def choose_questions(
    key: str, words: Sequence[str], known: Sequence[Question], scale: bool
) -> tuple[Question, ...]:
    """Find the questions that an option names.

    Args:
        key: the option's name, for messages.
        words: names of `known`, or one table with the columns name, description and, if wanted,
            title; a criterion's table also has lowest and highest.
        known: those that heron knows.
        scale: whether they are criteria.

    Raises:
        ConfigError: an unknown name, or one that is there twice.
        DataError: a table with unusable rows.
    """
    if len(words) == 1 and table_format(Path(words[0])) in SUFFIXES:
        return _read_questions(Path(words[0]), scale)
    by_name = {question.name: question for question in known}
    for word in words:
        if word not in by_name:
            table = f"{key}=FILE.csv brings your own (name, title, description)"
            raise ConfigError(f"{key}={word}: not known.{nearest(word, by_name)} {table}")
    if len(set(words)) < len(words):
        raise ConfigError(f"{key}={','.join(words)}: a name is there twice")
    return tuple(by_name[word] for word in words)


def _read_questions(path: Path, scale: bool) -> tuple[Question, ...]:
    table = read_table(path)
    table.require("name", "description", *(("lowest", "highest") if scale else ()))
    problems = [
        *(p for name in ("name", "description") for p in table.missing_values(name)),
        *table.duplicates("name"),
    ]
    questions = []
    for index, row in enumerate(table.rows):
        text = {
            name: "" if is_missing(value) else str(value).strip() for name, value in row.items()
        }
        if text["name"] and not _is_name(text["name"]):
            fix = f"a letter, then letters, digits and _; not {', '.join(RESERVED)}"
            problems.append(Problem(table.where(index), f"name={text['name']}: unusable", fix))
        questions.append(_question(text))
    if problems:
        raise DataError(problems)
    return tuple(questions)


def _is_name(name: str) -> bool:
    return bool(_NAME.fullmatch(name)) and name not in RESERVED


def _question(text: dict[str, Any]) -> Question:
    title = text.get("title") or text["name"].replace("_", " ")
    ends = text.get("lowest", ""), text.get("highest", "")
    return Question(text["name"], title, text["description"], *ends)


def check_apart(criteria: Sequence[Question], errors: Sequence[Question]) -> None:
    """Check that there is something to rate, and that every name means one thing.

    Raises:
        ConfigError: it is not so.
    """
    if not criteria:
        raise ConfigError("criteria=: name at least one")
    both = {one.name for one in criteria} & {one.name for one in errors}
    if both:
        raise ConfigError(f"criteria and errors share the name {', '.join(sorted(both))}")
