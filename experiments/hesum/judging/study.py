"""A study: summaries, raters, questions, and the system of each summary.

`key.json` has all of it; raters must not see it.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heron import __version__
from heron.base.errors import ConfigError, DataError, nearest, raise_all
from heron.base.files import read_json, write_json
from heron.base.tables import SUFFIXES, is_missing, read_table, table_format
from heron.languages import LANGUAGES

from .wording import RatingQuestion, Wording, read_wording

RATINGS = range(1, 6)  # Likert
TEMPLATES = Path(__file__).parent / "templates"
NO_ERROR = "no_error"  # the rater checked for errors and found none

_KIND = "heron judge key"
_RESERVED = ("study", "rater", "item", "article", "summary", NO_ERROR, "comment")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")

Metrics = dict[str, dict[str, dict[str, float]]]  # scores by system, guid and name


@dataclass(frozen=True, slots=True)
class JudgedSummary:
    """One summary: the guid of its article, and the system that wrote it."""

    guid: str
    system: str


@dataclass(frozen=True, slots=True)
class Study:
    """The content of a study's key, needed to read filled forms.

    Args:
        id: 8 hexadecimal digits, on every form, to detect forms of other studies.
        language: of the texts, ISO 639-1.
        wording: language of the form's own words.
        criteria: rated from 1 to 5.
        errors: kinds of errors to tick; may be empty.
        systems: names, in the order of tables.
        items: summaries by rater and item (`012-2`: article 12, summary 2), in the form's order.
        metrics: automatic scores, by system, guid and name.
        synthetic: whether the texts are generated.
        made: provenance: options, files and hashes of the sample.
    """

    id: str
    language: str
    wording: str
    criteria: tuple[RatingQuestion, ...]
    errors: tuple[RatingQuestion, ...]
    systems: tuple[str, ...]
    items: Mapping[str, Mapping[str, JudgedSummary]]
    metrics: Metrics
    synthetic: bool
    made: Mapping[str, Any]

    @property
    def guids(self) -> list[str]:
        """The articles, sorted."""
        guids: set[str] = set()
        for items in self.items.values():
            guids.update(judged.guid for judged in items.values())
        return sorted(guids)


def write_key(path: Path, study: Study) -> None:
    """Write `key.json`."""
    content = dataclasses.asdict(study)
    write_json(path, {"kind": _KIND, "heron": __version__, **content})


def read_key(path: Path) -> Study:
    """Read `key.json`.

    Raises:
        DataError: it is missing, or another file.
    """
    try:
        content = read_json(path)
        if not isinstance(content, dict) or content.pop("kind", None) != _KIND:
            raise ValueError("it is not a key")
        content.pop("heron")
        for items in content["items"].values():
            for item, fields in items.items():
                items[item] = JudgedSummary(**fields)
        for name in ("criteria", "errors"):
            content[name] = tuple(RatingQuestion(**fields) for fields in content[name])
        content["systems"] = tuple(content["systems"])
        return Study(**content)
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        fix = "key= is the key.json that `heron judge sample` wrote beside the forms"
        raise DataError(str(path), f"cannot be read as a key: {error}", fix) from error


def get_wording(code: str) -> Wording:
    """Find the words of a form in a language.

    Args:
        code: ISO 639-1.

    Raises:
        ConfigError: the language has none.
    """
    language = LANGUAGES.find(code)
    if language is None or language.wording is None:
        known = ", ".join(name for name in LANGUAGES if LANGUAGES[name].wording)
        raise ConfigError(
            f"wording={code}: no wording of forms in this language; choose {known}, or "
            "give its Language a wording (experiments/adding/language.md)"
        )
    return read_wording(language.wording)


def choose_questions(
    criteria: Sequence[str], errors: Sequence[str], wording: Wording
) -> tuple[tuple[RatingQuestion, ...], tuple[RatingQuestion, ...]]:
    """Choose the questions for raters.

    Args:
        criteria: names, or one table with the columns name, description, lowest, highest and, if
            wanted, title.
        errors: `all`, `none`, names, or a table with name, description and, if wanted, title.
        wording: heron's own questions.

    Returns:
        The criteria and the kinds of errors.

    Raises:
        ConfigError: an unknown or repeated name, or no criterion.
        DataError: a table with unusable rows.
    """
    rated = _choose("criteria", criteria, wording.criteria, ("lowest", "highest"))
    if not rated:
        raise ConfigError("criteria=: name at least one")

    if list(errors) == ["all"]:
        ticked = wording.errors
    elif list(errors) == ["none"]:
        ticked = ()
    else:
        ticked = _choose("errors", errors, wording.errors, ())

    kinds = {question.name for question in ticked}
    both = sorted(question.name for question in rated if question.name in kinds)
    if both:
        raise ConfigError(f"criteria and errors share the name {', '.join(both)}")
    return rated, ticked


def _choose(
    key: str, words: Sequence[str], known: Sequence[RatingQuestion], ends: tuple[str, ...]
) -> tuple[RatingQuestion, ...]:
    """Find questions by name, or read them from a table that `words` names.

    Args:
        key: the option, for messages.
        words: its value.
        known: heron's questions.
        ends: further columns that a table needs.
    """
    if len(words) == 1 and table_format(Path(words[0])) in SUFFIXES:
        return _read_questions(Path(words[0]), ends)

    by_name = {question.name: question for question in known}
    for word in words:
        if word not in by_name:
            table = f"{key}=FILE.csv brings your own (name, title, description)"
            raise ConfigError(f"{key}={word}: not known.{nearest(word, by_name)} {table}")
    if len(set(words)) < len(words):
        raise ConfigError(f"{key}={','.join(words)}: a repeated name")
    return tuple(by_name[word] for word in words)


def _read_questions(path: Path, ends: tuple[str, ...]) -> tuple[RatingQuestion, ...]:
    """Read a table of questions.

    Args:
        path: the table.
        ends: further columns that it needs, besides name and description.

    Raises:
        DataError: rows that cannot be used, all at once.
    """
    table = read_table(path)
    table.require("name", "description", *ends)
    problems = table.missing_values("name")
    problems += table.missing_values("description")
    problems += table.duplicates("name")

    questions = []
    for index, row in enumerate(table.rows):
        cells = {}
        for column, cell in row.items():
            cells[column] = "" if is_missing(cell) else str(cell).strip()

        name = cells["name"]
        if name and (name in _RESERVED or not _NAME.fullmatch(name)):
            fix = f"a letter, then letters, digits and _; not {', '.join(_RESERVED)}"
            problems.append(table.problem(index, f"name={name}: unusable", fix))

        title = cells.get("title") or name.replace("_", " ")
        lowest = cells.get("lowest", "")
        highest = cells.get("highest", "")
        questions.append(RatingQuestion(name, title, cells["description"], lowest, highest))

    raise_all(problems)
    return tuple(questions)
