"""Sheets to judge gold answers, and the statistics of the marks.

Source: ParaShoot, section 3.1 and Table 2.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from heron.base.cells import Cell, Table
from heron.base.errors import ConfigError, DataError, Problem
from heron.base.tables import cell_text
from heron.data.examples import Example
from heron.metrics.span import item_scores
from heron_tools.annotation.sheets import read_from_people, read_mark, write_for_people
from heron_tools.statistics.rates import group_ids, group_mean, share

from .ceiling import Measured

MINIMAL, TOO_LONG, TOO_SHORT, WRONG = SIZES = ("minimal", "too long", "too short", "wrong")
_GIVEN = ("guid", "article", "question", "context", "answer")
_MARKS = ("correct", "minimal", "too_long", "too_short")
_CORRECTED = "corrected_answer"
COLUMNS = (*_GIVEN, *_MARKS, _CORRECTED)


@dataclass(frozen=True, slots=True)
class Judged:
    """One judged answer.

    Args:
        guid: the question's.
        group: its article, or its context.
        answer: as annotated.
        size: `minimal`, `too long`, `too short`, or `wrong` (no marked size).
        correct: whether it answers the question.
        corrected: the minimal answer, if it was written.
    """

    guid: str
    group: str
    answer: str
    size: str
    correct: bool
    corrected: str | None

    @property
    def ratio(self) -> float | None:
        """Words of the longer of answer and correction, divided by the shorter's words."""
        if self.corrected is None or self.size not in (TOO_LONG, TOO_SHORT):
            return None
        lengths = sorted((len(self.answer.split()), len(self.corrected.split())))
        return lengths[1] / lengths[0]


def write_sheet(path: Path, examples: Sequence[Example], sample: int, seed: int) -> int:
    """Draw answered questions and write the sheet, in file order.

    Args:
        path: a new CSV file.
        examples: a split.
        sample: number of questions, drawn without replacement.
        seed: determines the drawn guids, independent of file order.

    Returns:
        Number of answered questions.

    Raises:
        ConfigError: the file exists or is not CSV, or there are too few questions.
    """
    if path.suffix != ".csv":
        raise ConfigError(f"sheet={path}: a sheet is a .csv file")
    if path.exists():
        fix = f"`heron analyze sheet={path}` scores it; give a new sheet another name"
        raise ConfigError(f"sheet={path}: this file exists already. {fix}")
    answered = {example.guid: example for example in examples if example.spans}
    if not 1 <= sample <= len(answered):
        raise ConfigError(f"sample={sample}: from 1 to {len(answered)}, the answered questions")
    drawn = np.random.default_rng(seed).choice(sorted(answered), sample, replace=False).tolist()
    chosen = set(drawn)
    rows = [_given(example) for guid, example in answered.items() if guid in chosen]
    columns = dict(zip(_GIVEN, map(list, zip(*rows, strict=True)), strict=True))
    empty = [""] * len(rows)
    write_for_people(path, columns | dict.fromkeys((*_MARKS, _CORRECTED), empty))
    return len(answered)


def _given(example: Example) -> tuple[str, ...]:
    start, end = example.spans[0]
    article = "" if example.group == example.text else example.group
    answer = example.text[start:end]
    return example.guid, article, example.text_pair or "", example.text, answer


def read_sheet(path: Path) -> tuple[list[Judged], int]:
    """Read a filled sheet.

    Returns:
        The judged answers, and the number of unjudged rows.

    Raises:
        DataError: unreadable or contradictory marks; names all lines.
    """
    table = read_from_people(path)
    table.require("guid", "context", "answer", *_MARKS, _CORRECTED)
    problems = list(table.duplicates("guid"))
    judged: list[Judged] = []
    empty = 0
    for index, row in enumerate(table.rows):
        where = f"{table.where(index)} ({cell_text(row['guid'])})"
        try:
            one = _judge(row)
        except ValueError as error:
            problems.append(Problem(where, *error.args))
            continue
        if one is None:
            empty += 1
        else:
            judged.append(one)
    if problems:
        raise DataError(problems)
    if not judged:
        fix = f"write x or 1 into {', '.join(_MARKS)}"
        raise DataError(str(path), "no answer is judged yet", fix)
    return judged, empty


def _judge(row: Mapping[str, Any]) -> Judged | None:
    """Read one row; None if it is empty.

    Raises:
        ValueError: the problem and its fix.
    """
    correct, *sizes = [read_mark(name, cell_text(row[name])) for name in _MARKS]
    corrected = cell_text(row[_CORRECTED]).strip() or None
    marked = [name for name, mark in zip(SIZES, sizes, strict=False) if mark]
    if correct is None and not any(mark is not None for mark in sizes) and corrected is None:
        return None
    if len(marked) > 1:
        raise ValueError(f"marked {' and '.join(marked)}", "one size for each answer")
    if not marked and correct is not False:
        raise ValueError(
            "no size is marked",
            f"mark one of {', '.join(_MARKS[1:])}, or correct=no for a wrong one",
        )
    size = marked[0] if marked else WRONG
    answer = cell_text(row["answer"])
    if corrected is not None:
        _check_correction(corrected, answer, cell_text(row["context"]), size)
    group = cell_text(row.get("article") or "") or cell_text(row["context"])
    return Judged(cell_text(row["guid"]), group, answer, size, correct is not False, corrected)


def _check_correction(corrected: str, answer: str, context: str, size: str) -> None:
    if corrected not in context:
        raise ValueError(f"{_CORRECTED} '{corrected}' is not in the context", "copy it from there")
    short, long = len(corrected.split()), len(answer.split())
    if size == MINIMAL and corrected != answer.strip():
        raise ValueError(f"minimal, yet corrected to '{corrected}'", "too_long or too_short?")
    # A correction may remove half a word (a prefix), but must not have more words.
    if size == TOO_LONG and (short > long or len(corrected) >= len(answer)):
        raise ValueError(f"too long, yet corrected to '{corrected}'", "a shorter one is expected")
    if size == TOO_SHORT and (short < long or len(corrected) <= len(answer)):
        raise ValueError(f"too short, yet corrected to '{corrected}'", "a longer one is expected")


def quality_table(judged: Sequence[Judged], empty: int) -> Table:
    """Count the sizes (ParaShoot's Table 2), with 95 % intervals by article."""
    groups = group_ids([one.group for one in judged])
    rows: list[tuple[Cell, ...]] = []
    for size in SIZES:
        hits = [one.size == size for one in judged]
        if size != WRONG or any(hits):
            rows.append((size, sum(hits), share(hits, groups)))
    right = [one.correct for one in judged]
    rows.append(("answers the question", sum(right), share(right, groups)))
    note = f"{len(judged)} answers are judged, {empty} not yet. [low, high]: 95 %, by article."
    return Table("Quality of the gold answers", ("answer span", "n", "share"), tuple(rows), note)


def measure_ceiling(judged: Sequence[Judged], seed: int = 0) -> Measured:
    """Compute the scores of a perfect system against these gold answers.

    Args:
        judged: the sheet.
        seed: of the resampled articles, for the interval.
    """
    minimal = sum(one.size == MINIMAL for one in judged) / len(judged)
    ratios = [ratio for one in judged if (ratio := one.ratio) is not None]
    mean = float(np.mean(ratios)) if ratios else None
    if any(one.corrected is None for one in judged if one.size in (TOO_LONG, TOO_SHORT)):
        return Measured(minimal, mean, None)
    # A wrong answer without a correction shares no word with the right one.
    best = [one.corrected or ("" if one.size == WRONG else one.answer) for one in judged]
    f1 = item_scores(best, [[one.answer] for one in judged], no_answer=False)["f1"]
    return Measured(minimal, mean, group_mean(f1, [one.group for one in judged], seed))
