"""Files of questions as `RawQuestion`s, whose content is not checked yet.

SQuAD's JSON is nested in SQuAD 1.1, SQuAD 2.0 and HeQ (`data`, `paragraphs`, `qas`), and flat in
ParaShoot (`data` is a list of questions, each with its context and with its answers as two parallel
lists). A table has one question in each row.
"""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heron.base.errors import Problem, nearest
from heron.base.files import parse_json
from heron.base.tables import (
    Table,
    as_table,
    cell_text,
    is_blank,
    is_missing,
    read_bytes,
    table_format,
)
from heron.config.data import DataConfig
from heron.data.rows import SIDE, Labels
from heron.tasks.qa.task import NO_ANSWER

# The text and the `answer_start` of each answer.
Answers = list[tuple[Any, Any]]


@dataclass(frozen=True, slots=True)
class RawQuestion:
    """One question as it is in a file; missing values are None.

    Args:
        number: its line in a table, or its number from 1 in JSON.
        guid: its id.
        group: the article's title.
        context: the text with the answer.
        question: the question.
        answers: an empty list where there is no answer.
        row: all values of the question, by name.
        impossible: the value of `is_impossible`.
        malformed: what is wrong with the shape of `answers`; empty: nothing.
    """

    number: int
    guid: Any
    group: Any
    context: Any
    question: Any
    answers: Answers | None
    row: Mapping[str, Any]
    impossible: Any = None
    malformed: str = ""


class AnswersError(Exception):
    """Answers in a shape that is neither SQuAD's nor ParaShoot's."""


def is_squad(path: Path) -> bool:
    """Tell SQuAD's JSON from a table by its suffix and first character."""
    if table_format(path) != ".json":
        return False
    try:
        with (gzip.open if path.suffix.lower() == ".gz" else open)(path, "rb") as file:
            return file.read(4096).lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{")
    except (OSError, EOFError, zlib.error):
        return False


def place_of(path: Path, number: int) -> str:
    """Name a question for messages: by its line in a table, by its number in JSON."""
    return f"{path}{' question ' if is_squad(path) else ':'}{number}"


def read_squad(path: Path) -> tuple[list[RawQuestion], list[Problem]]:
    """Read every question of a file, in file order, and report malformed parts."""
    try:
        content = parse_json(read_bytes(path).decode("utf-8-sig"), halves=True)
    except OSError as error:
        return [], [Problem(str(path), f"cannot be read: {(error.strerror or str(error)).lower()}")]
    except UnicodeDecodeError as error:
        return [], [Problem(str(path), f"is not UTF-8 at byte {error.start}", "save it as UTF-8")]
    except json.JSONDecodeError as error:
        return [], [Problem(f"{path}:{error.lineno}", f"broken JSON: {error.msg}")]
    articles = content.get("data") if isinstance(content, dict) else None
    if not isinstance(articles, list):
        fix = 'SQuAD\'s form is {"data": [...]}, a table is a list [...] or one object a line'
        return [], [Problem(str(path), "has no list 'data'", fix)]
    questions: list[RawQuestion] = []
    problems: list[Problem] = []
    for found in _walk(articles):
        if isinstance(found, str):
            problems.append(Problem(str(path), found, "see SQuAD's form"))
        else:
            questions.append(_question(len(questions) + 1, found))
    if not questions and not problems:
        problems.append(Problem(str(path), "has no questions", "at least one is needed"))
    return questions, problems


def read_answers(value: Any) -> Answers | None:
    """Read `answers`: a list of `{text, answer_start}`, or `{text: [...], answer_start: [...]}`.

    Raises:
        AnswersError: another shape.
    """
    if value is None:
        return None
    if isinstance(value, Mapping):
        texts, starts = value.get("text"), value.get("answer_start")
        if not isinstance(texts, list) or not isinstance(starts, list | None):
            raise AnswersError("'answers' lacks its lists 'text' and 'answer_start'")
        starts = [None] * len(texts) if starts is None else starts
        if len(texts) != len(starts):
            what = f"{len(texts)} texts and {len(starts)} starts"
            raise AnswersError(f"'answers' has {what}: one start for each text")
        return list(zip(texts, starts, strict=True))
    if isinstance(value, list) and all(isinstance(answer, Mapping) for answer in value):
        return [(answer.get("text"), answer.get("answer_start")) for answer in value]
    raise AnswersError(f"'answers' is a {type(value).__name__}, not a list of answers")


def _walk(articles: Sequence[Any]) -> Iterator[Mapping[str, Any] | str]:
    """Yield each question with the values around it, or an error about a part."""
    for number, article in enumerate(articles, 1):
        if not isinstance(article, dict):
            yield f"data[{number}] is no object: {article!r:.40}"
        elif "paragraphs" in article:
            yield from _walk_paragraphs(number, article)
        elif "question" in article:
            yield article
        else:
            hint = nearest("paragraphs", article)
            yield f"data[{number}] has neither 'paragraphs' nor a 'question'.{hint}"


def _walk_paragraphs(number: int, article: Mapping[str, Any]) -> Iterator[Mapping[str, Any] | str]:
    paragraphs = article["paragraphs"]
    for place, paragraph in enumerate(paragraphs if isinstance(paragraphs, list) else [None], 1):
        rows = paragraph.get("qas") if isinstance(paragraph, dict) else None
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            yield f"data[{number}].paragraphs[{place}] has no list 'qas' of questions"
        else:
            above = {**article, **paragraph}
            shared = {name: value for name, value in above.items() if not isinstance(value, list)}
            yield from ({**shared, **row} for row in rows)


def _question(number: int, row: Mapping[str, Any]) -> RawQuestion:
    answers, malformed = None, ""
    try:
        answers = read_answers(row.get("answers"))
    except AnswersError as error:
        malformed = str(error)
    return RawQuestion(
        number=number,
        guid=row.get("id"),
        group=row.get("title"),
        context=row.get("context"),
        question=row.get("question"),
        answers=answers,
        row=row,
        impossible=row.get("is_impossible"),
        malformed=malformed,
    )


def read_question_table(
    source: Path | Table,
    config: DataConfig,
    labels: Labels,
    side: Sequence[str] = (),
    contexts: bool = True,
) -> tuple[list[RawQuestion], list[Problem]]:
    """Read every row of a table, and report malformed rows.

    Args:
        source: the table, or its file.
        config: names of its columns. Answers may also be in a column `answers`, in the shapes that
            `read_answers` reads.
        labels: `required` needs a column of answers.
        side: columns of `data.columns.side`, which are needed.
        contexts: whether context and question are needed.

    Raises:
        DataError: no rows, or missing columns.
    """
    table = as_table(source)
    columns = config.columns
    keys = dict.fromkeys(side, SIDE)
    if contexts:
        keys |= {
            columns.text: "data.columns.text",
            str(columns.text_pair): "data.columns.text_pair",
        }
    if labels == "required" and "answers" not in table.columns:
        keys[columns.answer] = "data.columns.answer"
    table.require(keys=keys)
    rows = zip(table.rows, table.lines, strict=True)
    return [_raw(row, line, table, config) for row, line in rows], list(table.problems)


def _raw(row: Mapping[str, Any], line: int, table: Table, config: DataConfig) -> RawQuestion:
    columns, answers, malformed = config.columns, None, ""
    try:
        if columns.answer in table.columns:
            answers = _cells(row[columns.answer], row.get(columns.answer_start))
            allowed = NO_ANSWER in config.label_order or config.qa.no_answer == "drop"
            if answers == [] and not allowed:
                answers = None  # an empty cell: not labelled
        else:
            answers = read_answers(row.get("answers"))
    except AnswersError as error:
        malformed = str(error)
    return RawQuestion(
        number=line,
        guid=row[columns.guid] if columns.guid in table.columns else None,
        group=row.get(columns.group or ""),
        context=row.get(columns.text),
        question=row.get(str(columns.text_pair)),
        answers=answers,
        row=row,
        malformed=malformed,
    )


def _cells(text: Any, start: Any) -> list[tuple[Any, Any]]:
    """Read one answer with its start, or lists of several.

    Raises:
        AnswersError: lists of different lengths.
    """
    if isinstance(text, list):
        starts = [None] * len(text) if start is None else start
        if not isinstance(starts, list) or len(starts) != len(text):
            raise AnswersError("as many answer starts as answers are needed")
        return list(zip(text, starts, strict=True))
    if is_blank(text):
        return []
    return [(cell_text(text) if not isinstance(text, str) else text, _whole(start))]


def _whole(start: Any) -> Any:
    """Read a number from a cell of CSV; other values are reported later."""
    if is_missing(start):
        return None
    written = cell_text(start)
    return int(written) if written.removeprefix("-").isdecimal() else start
