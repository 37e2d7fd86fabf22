"""Check annotators' questions, and write the data set.

Source: ParaShoot, section 2.2 (alerts while annotating) and 2.3: 68 of 3,106 questions were
discarded, yes/no questions and those with extremely short or long answers.
Deviates: the paper gives no limits. The defaults are the shortest and longest of the released train
file: answers of 1 to 52 words, questions of 2 to 25.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from heron.base.cells import Table
from heron.base.errors import ConfigError, nearest
from heron.base.files import write_json
from heron.base.tables import write_table
from heron.data.config import SPLITS
from heron.data.overrides import write_config
from heron.languages import get_language
from heron.languages.words import folded_words, words

from ..question_words import asks_yes_or_no
from .label_studio import Asked, Export

FILES = {"train": "train.json", "validation": "dev.json", "test": "test.json"}
# Reasons why a question is unusable; it is always left out.
NO_QUESTION, NO_ANSWER, MISPLACED = UNUSABLE = ("no_question", "no_answer", "misplaced")
REPEATED = "repeated"  # a check over all questions on a paragraph


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of the checks."""

    language: str = "he"
    answer_words: tuple[int, int] = (1, 52)
    question_words: tuple[int, int] = (2, 25)


@dataclass(frozen=True, slots=True)
class Found:
    """A problem that a check found in a question."""

    asked: Asked
    check: str
    detail: str
    rejects: bool  # whether it excludes the question


@dataclass(frozen=True, slots=True)
class Checked:
    """The kept questions, all problems found, and the reasons for excluding questions."""

    kept: list[Asked] = field(default_factory=list)
    found: list[Found] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)  # the first reason of each excluded question


def _unusable(asked: Asked, ids: Container[str]) -> Iterator[tuple[str, str]]:
    """Yield the reason why a question is unusable, with a message; at most one."""
    start, end = asked.span or (0, 0)
    if not words(asked.question):
        yield NO_QUESTION, "no question was written for this answer"
    elif not asked.answer:
        yield NO_ANSWER, "no span was marked for this question, or a blank one"
    elif asked.marked is not None and asked.marked.strip() != asked.answer:
        yield MISPLACED, f"from {start} to {end} the paragraph has '{asked.answer:.40}'"
    elif asked.id in ids:
        yield REPEATED, "another export has the same region"


def _yes_no(asked: Asked, limits: Limits) -> str:
    found = asks_yes_or_no(asked.question, get_language(limits.language))
    return "asks for yes or no" if found else ""


def _answer_length(asked: Asked, limits: Limits) -> str:
    return _outside("answer", asked.answer, limits.answer_words)


def _question_length(asked: Asked, limits: Limits) -> str:
    return _outside("question", asked.question, limits.question_words)


def _outside(what: str, text: str, limits: tuple[int, int]) -> str:
    count, (fewest, most) = len(text.split()), limits
    wrong = f"the {what} has {count} words, allowed are {fewest} to {most}"
    return "" if fewest <= count <= most else wrong


def _question_mark(asked: Asked, limits: Limits) -> str:
    return "" if asked.question.endswith(("?", "؟")) else "does not end with a question mark"


def _answer_in_question(asked: Asked, limits: Limits) -> str:
    answer, question = folded_words(asked.answer), folded_words(asked.question)
    places = range(len(question) - len(answer) + 1)
    stands = answer and any(question[n : n + len(answer)] == answer for n in places)
    return f"the question names the answer, '{asked.answer:.40}'" if stands else ""


# Checks of a usable question; they return a message, or an empty text.
CHECKS: Mapping[str, Callable[[Asked, Limits], str]] = {
    "yes_no": _yes_no,
    "answer_length": _answer_length,
    "question_mark": _question_mark,
    "question_length": _question_length,
    "answer_in_question": _answer_in_question,
}
NAMES = (*CHECKS, REPEATED)


def check_questions(asked: Sequence[Asked], reject: Sequence[str], limits: Limits) -> Checked:
    """Check every question.

    Args:
        asked: in the order of the exports; of repeated questions the first is kept.
        reject: checks that exclude a question; findings of the others are only listed.
        limits: the limits of the checks.

    Raises:
        ConfigError: an unknown check.
    """
    for name in reject:
        if name not in NAMES:
            raise ConfigError(f"reject={name}: no such check.{nearest(name, NAMES, listed=True)}")
    checked = Checked()
    seen: dict[tuple[str, ...], Asked] = {}
    ids: set[str] = set()  # a region in two exports is one question
    for one in asked:
        found = [Found(one, *problem, rejects=True) for problem in _unusable(one, ids)]
        if not found:
            wrong = {name: check(one, limits) for name, check in CHECKS.items()}
            first = seen.setdefault((one.paragraph.text, *folded_words(one.question)), one)
            wrong[REPEATED] = "" if first is one else f"asked in {first.where} already"
            found = [Found(one, name, said, name in reject) for name, said in wrong.items() if said]
        ids.add(one.id)
        checked.found.extend(found)
        reasons = [each.check for each in found if each.rejects]
        if reasons:
            checked.reasons.append(reasons[0])
        else:
            checked.kept.append(one)
    return checked


def write_data_set(out: Path, name: str, checked: Checked, language: str) -> list[Path]:
    """Write the files of the splits that have questions, the problems and the data set's YAML."""
    paths, files = [], {}
    for split in SPLITS:
        rows = [_squad(one) for one in checked.kept if one.paragraph.split == split]
        if rows:
            path = out / FILES[split]
            write_json(path, {"version": "v1.1", "data": rows})
            files[split] = path, len(rows)
            paths.append(path)
    write_table(out / "problems.csv", _problem_columns(checked.found))
    config = write_config(out, name, files, _settings(name, language))
    return [*paths, out / "problems.csv", config]


def _squad(one: Asked) -> dict[str, Any]:
    assert one.span is not None
    return {
        "id": one.id,
        "title": one.paragraph.title,
        "context": one.paragraph.text,
        "question": one.question,
        "answers": {"text": [one.answer], "answer_start": [one.span[0]]},
    }


def _problem_columns(found: Sequence[Found]) -> dict[str, list[str]]:
    rows = [
        (
            one.asked.where,
            one.asked.task,
            one.asked.annotator,
            one.asked.question,
            one.asked.answer,
            one.check,
            one.detail,
            "rejected" if one.rejects else "listed",
        )
        for one in found
    ]
    names = ("where", "task", "annotator", "question", "answer", "check", "problem", "then")
    return {name: [row[place] for row in rows] for place, name in enumerate(names)}


def _settings(name: str, language: str) -> dict[str, Any]:
    return {
        "title": f"{name}, questions on paragraphs",
        "language": language,
        "task": "qa",
        "format": "squad_json",
        "licence": "",
        "citation": "made by heron build parashoot",
        "label_order": ["answer"],
        "columns": {"text": "context", "text_pair": "question", "guid": "id", "group": "title"},
    }


def size_table(export: Export, checked: Checked) -> Table:
    """Lay out ParaShoot's Table 1 of the kept questions."""
    rows: list[tuple[str | int, ...]] = []
    for split in (*SPLITS, "total"):
        own = [one for one in checked.kept if split in (one.paragraph.split, "total")]
        articles = {one.paragraph.title for one in own}
        rows.append((split, len(articles), len({one.paragraph.id for one in own}), len(own)))
    note = f"{export.tasks} tasks, {export.open} of them without a question."
    columns = ("split", "articles", "paragraphs", "questions")
    return Table("Articles, paragraphs and questions", columns, tuple(rows), note)


def check_table(export: Export, checked: Checked) -> Table:
    """Count what the checks found: rejected questions by their first reason."""
    reasons = checked.reasons
    listed = [one.check for one in checked.found if not one.rejects]
    rows = [
        (name, reasons.count(name), listed.count(name))
        for name in (*UNUSABLE, *NAMES)
        if name in reasons or name in listed
    ]
    rows.append(("all", len(reasons), len(listed)))
    total = len(export.asked)
    note = f"{total} questions - {len(reasons)} rejected = {len(checked.kept)}."
    return Table("Problems", ("check", "rejected", "listed only"), tuple(rows), note)
