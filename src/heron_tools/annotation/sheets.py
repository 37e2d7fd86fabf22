"""Sheets on which people label or rate rows of a data set, and their answers.

A sheet is CSV: texts that look like formulas begin with an apostrophe. It shows no gold class;
the key, which is not for raters, has them.

Legend: R raters.
"""

from __future__ import annotations

import csv
import re
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from heron.base.cells import escape_formula
from heron.base.errors import ConfigError, DataError, Problem, raise_all
from heron.base.files import atomic_open, read_json, write_json
from heron.base.tables import FileTable, cell_text, is_missing, read_table, table_stem, write_table
from heron.data.examples import Example

LABEL = "label"  # the question for the class of a row
_SCALE = re.compile(r"(?P<name>\w+):(?P<low>\d+)-(?P<high>\d+)")
_CHOICE = re.compile(r"(?P<name>\w+):(?P<words>\w+(?:/\w+)+)")
TEXTS = ("text", "text_pair")
COLUMNS = ("guid", "rater", *TEXTS)  # columns of sheets and answers, besides the questions

# Accepted marks in sheets.
_YES = frozenset(("x", "v", "1", "y", "yes", "true", "✓", "כן", "da"))
_NO = frozenset(("0", "n", "no", "false", "-", "לא", "nu"))


@dataclass(frozen=True, slots=True)
class StudyKey:
    """A study's questions, rows and raters; `key.json`."""

    task: str
    data: str
    split: str
    questions: Mapping[str, Sequence[str]]  # allowed answers, by column
    gold: Mapping[str, str]  # class of each row, by guid; empty without classes
    raters: Sequence[str]
    per_row: int
    scales: Sequence[str]  # the questions with numeric answers


def parse_questions(
    ask: Sequence[str], classes: Sequence[str], shown: Collection[str] = ()
) -> dict[str, list[str]]:
    """Read questions: `label`, a scale `fluency:1-5`, or words `valid:yes/no`.

    Args:
        ask: the questions.
        classes: of the data set; empty without any.
        shown: further columns of the sheet.

    Returns:
        The allowed answers by question.

    Raises:
        ConfigError: another form; `label` for a data set without classes; a question that is
            asked twice, or named like another column of sheets or answers, or `label` as the
            name of a scale or choice.
    """
    questions = {}
    for question in ask:
        name = question.partition(":")[0]
        is_reserved = name in COLUMNS or name in shown or name == LABEL != question
        if is_reserved or name in questions:
            raise ConfigError(f"ask={question}: the sheets already have a column '{name}'")

        ratings = range(0)
        scale = _SCALE.fullmatch(question)
        if scale:
            ratings = range(int(scale["low"]), int(scale["high"]) + 1)

        choice = _CHOICE.fullmatch(question)
        if question == LABEL and classes:
            questions[LABEL] = list(classes)
        elif len(ratings) > 1:
            questions[name] = list(map(str, ratings))
        elif choice:
            questions[name] = choice["words"].split("/")
        else:
            labels = f"{LABEL} ({', '.join(classes)}), " if classes else ""
            raise ConfigError(f"ask={question}: expected {labels}name:1-5 or name:yes/no")

    return questions


def scales_of(ask: Sequence[str]) -> list[str]:
    """List the names of the questions that are scales, such as `fluency` of `fluency:1-5`."""
    matches = [_SCALE.fullmatch(question) for question in ask]
    return [scale["name"] for scale in matches if scale]


def draw_rows(examples: Sequence[Example], rows: int, by_label: bool, seed: int) -> list[Example]:
    """Draw rows without replacement; the order of the file has no effect.

    Args:
        examples: the rows to draw from.
        rows: how many to draw; all if there are fewer.
        by_label: whether to keep the shares of the classes.
        seed: the same seed draws the same rows.

    Returns:
        The drawn rows, shuffled.
    """
    rows = min(rows, len(examples))
    groups = defaultdict(list)
    for example in sorted(examples, key=lambda example: example.guid):
        label = str(example.label) if by_label else ""
        groups[label].append(example)

    sizes = {}
    remainders = []
    for label, group in groups.items():
        exact = rows * len(group) / len(examples)
        sizes[label] = int(exact)
        remainders.append((sizes[label] - exact, label))

    # Rows left by rounding go to the classes with the largest remainders.
    left = rows - sum(sizes.values())
    for _, label in sorted(remainders)[:left]:
        sizes[label] += 1

    random = np.random.default_rng(seed)
    drawn = []
    for label, group in groups.items():
        shuffled = random.permutation(len(group))
        drawn += [group[row] for row in shuffled[: sizes[label]]]

    return [drawn[row] for row in random.permutation(len(drawn))]


def assign_raters(
    rows: int, raters: int, per_row: int, random: np.random.Generator
) -> list[list[int]]:
    """Assign each row to `per_row` raters.

    Loads differ by at most one row. Of equally loaded raters, those who share fewest rows are
    chosen: all pairs should share some, to measure agreement.

    Args:
        rows: number of rows.
        raters: number of raters.
        per_row: number of raters of a row.
        random: breaks ties.

    Returns:
        Each row's raters (from 0), ascending.
    """
    loads = np.zeros(raters, np.int64)
    shared_RR = np.zeros((raters, raters), np.int64)
    teams: list[list[int]] = []
    for _ in range(rows):
        team: list[int] = []
        for _ in range(per_row):
            order = random.permutation(raters).tolist()
            free = [rater for rater in order if rater not in team]
            team.append(min(free, key=lambda rater: (loads[rater], shared_RR[rater, team].sum())))

        loads[team] += 1
        shared_RR[np.ix_(team, team)] += 1
        teams.append(sorted(team))

    return teams


def write_sheets(
    drawn: Sequence[Example],
    key: StudyKey,
    out: Path,
    shown: Mapping[str, Sequence[str]],
    seed: int,
) -> list[Path]:
    """Write a sheet for each rater, each row in `per_row` of them, and the key.

    Args:
        drawn: the rows.
        key: the questions and raters.
        out: a folder without a key.
        shown: further columns that raters see, a text for each row, such as the original of a
            translation, or a summary.
        seed: decides who gets which row.

    Returns:
        The paths of the sheets, in the order of the raters, and that of the key.

    Raises:
        ConfigError: `out` has a key already: sheets may be with people.
    """
    key_path = out / "key.json"
    if key_path.exists():
        raise ConfigError(f"{key_path} exists: sheets may be with people; choose another out=DIR")

    columns: dict[str, Sequence[str]] = {"guid": [example.guid for example in drawn]}
    for name in TEXTS:
        texts = [getattr(example, name) for example in drawn]
        if any(text is not None for text in texts):
            columns[name] = [text or "" for text in texts]

    columns.update(shown)

    random = np.random.default_rng([seed, 1])  # independent of draw_rows
    teams = assign_raters(len(drawn), len(key.raters), key.per_row, random)
    paths = []
    for number, rater in enumerate(key.raters):
        rows = [row for row, team in enumerate(teams) if number in team]
        sheet: dict[str, list[str]] = {}
        for name, column in columns.items():
            sheet[name] = [column[row] for row in rows]

        for question in key.questions:
            sheet[question] = [""] * len(rows)

        path = out / f"{rater}.csv"
        write_for_people(path, sheet)
        paths.append(path)

    write_json(key_path, asdict(key))
    return [*paths, key_path]


def read_key(path: Path) -> StudyKey:
    """Read `key.json`.

    Raises:
        DataError: another file.
    """
    try:
        return StudyKey(**read_json(path))
    except (ValueError, TypeError) as error:
        fix = "the key.json that `heron annotate draw` wrote beside the sheets"
        raise DataError(str(path), "is no key.json", fix) from error


@dataclass(frozen=True, slots=True)
class RaterAnswers:
    """The answers of all raters."""

    rows: Sequence[tuple[str, str, Mapping[str, str]]]  # guid, rater, answers by question
    unfinished: Mapping[str, int]  # rows without all answers, by rater


def read_answers(paths: Sequence[Path], key: StudyKey) -> RaterAnswers:
    """Read filled sheets; a file is named after its rater.

    Raises:
        DataError: a sheet of an unknown rater, a second sheet of a rater, answers that are not
            allowed, rows that are not in the key, missing columns; all of them, by file and
            line.
    """
    rows = []
    unfinished = {}
    problems = []
    for path in paths:
        rater = table_stem(path)
        problem = ""
        if rater in unfinished:
            problem = f"a second sheet of '{rater}'"
        elif rater not in key.raters:
            problem = f"nobody in the study is called '{rater}'"

        if problem:
            names = ", ".join(f"{name}.csv" for name in key.raters)
            problems.append(Problem(str(path), problem, f"one sheet of each, named {names}"))
            continue

        table = read_from_people(path)
        table.require("guid", *key.questions)
        problems += table.duplicates("guid")

        unfinished[rater] = 0
        for index, row in enumerate(table.rows):
            guid = cell_text(row["guid"])
            if key.gold and guid not in key.gold:
                problems.append(Problem(table.where(index), f"no row '{guid}'", "rows of the key"))
                continue

            answers, wrong = _read_row(table, index, key.questions)
            problems += wrong
            if len(answers) == len(key.questions):
                rows.append((guid, rater, answers))
            elif not wrong:
                unfinished[rater] += 1

    raise_all(problems)
    return RaterAnswers(rows, unfinished)


def _read_row(
    table: FileTable, index: int, questions: Mapping[str, Sequence[str]]
) -> tuple[dict[str, str], list[Problem]]:
    """Read the answers of a row, ignoring case.

    Returns:
        The answers by question, without questions that have none; answers that are not allowed.
    """
    answers = {}
    problems = []
    for question, allowed in questions.items():
        cell = cell_text(table.rows[index][question]).strip()
        matches = [answer for answer in allowed if answer.lower() == cell.lower()]
        if matches:
            answers[question] = matches[0]
        elif cell:
            problem = f"{question} '{cell}'"
            problems.append(Problem(table.where(index), problem, ", ".join(allowed)))

    return answers, problems


def read_mark(name: str, text: str) -> bool | None:
    """Read a mark in a sheet, such as x or 1.

    Args:
        name: of the column.
        text: of the cell.

    Returns:
        Whether the mark means yes; None for an empty cell.

    Raises:
        ValueError: the text is no known mark.
    """
    word = text.strip().casefold()
    if not word:
        return None

    if word not in _YES | _NO:
        raise ValueError(f"{name}={text}: no mark", "x or 1 for yes, 0 or nothing for no")
    return word in _YES


def write_for_people(path: Path, columns: Mapping[str, Sequence[Any]]) -> None:
    """Write columns of equal length as a table that people fill in.

    CSV is written for spreadsheet programs: texts that look like formulas begin with an apostrophe.
    """
    if path.suffix != ".csv":
        write_table(path, columns)
        return

    with atomic_open(path) as file:
        file.write("\ufeff")  # byte order mark: spreadsheet programs need it to read UTF-8
        writer = csv.writer(file, lineterminator="\n", quoting=csv.QUOTE_ALL)
        writer.writerow(map(escape_formula, columns))
        for row in zip(*columns.values(), strict=True):
            writer.writerow(map(escape_formula, row))


def read_from_people(path: Path) -> FileTable:
    """Read a table that people have filled in, whatever spreadsheet program wrote it.

    Raises:
        DataError: it cannot be read, or has no rows; names file and line.
    """
    return filled_rows(read_table(path, own=True))


def filled_rows(table: FileTable) -> FileTable:
    """Drop empty rows, which spreadsheet programs write after the last row.

    Raises:
        DataError: no row is left.
    """
    rows = []
    lines = []
    for row, line in zip(table.rows, table.lines, strict=True):
        if not all(map(is_missing, row.values())):
            rows.append(row)
            lines.append(line)

    if not rows:
        raise DataError(str(table.path), "has no rows", "at least one is needed")

    return replace(table, rows=rows, lines=lines)
