"""A table with a question in each row as `RawQuestion`s, see `heron.tasks.qa.squad`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from heron.base.errors import Problem
from heron.base.tables import Table, as_table, cell_text, is_blank, is_missing
from heron.config.data import DataConfig
from heron.data.rows import SIDE, Labels, require_columns
from heron.tasks.qa.options import NO_ANSWER
from heron.tasks.qa.squad import AnswersError, RawQuestion, read_answers


def read_question_table(
    source: Path | Table,
    config: DataConfig,
    labels: Labels,
    side: Sequence[str] = (),
    contexts: bool = True,
) -> tuple[list[RawQuestion], list[Problem]]:
    """Read every row of a table, and what of it is no row.

    Args:
        source: the table, or its file.
        config: names of its columns. Answers may also be in a column `answers`, in either of the
            two shapes that JSON has them in.
        labels: under `required`, a column of answers must be there.
        side: columns of `data.columns.side` that must be there.
        contexts: whether context and question must be there.

    Raises:
        DataError: no rows, or columns that are missing.
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
    require_columns(table, keys)
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
        # A column that is there needs a value in every row.
        guid=row[columns.guid] if columns.guid in table.columns else None,
        group=row.get(columns.group or ""),
        context=row.get(columns.text),
        question=row.get(str(columns.text_pair)),
        answers=answers,
        row=row,
        malformed=malformed,
    )


def _cells(text: Any, start: Any) -> list[tuple[Any, Any]]:
    """Read one answer of a row, or lists of several with their starts.

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
    """Read a number out of a cell of CSV; what is none is said where it is used."""
    if is_missing(start):
        return None
    written = cell_text(start)
    return int(written) if written.removeprefix("-").isdecimal() else start
