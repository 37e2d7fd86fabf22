"""Sheets to judge gold answers, and the statistics of the marks.

Source: ParaShoot, section 3.1 and Table 2.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from heron.base.cells import Row, Table
from heron.base.errors import ConfigError, DataError, Problem, raise_all
from heron.base.tables import cell_text, text_or_empty
from heron.data.examples import Example
from heron.metrics.span import item_scores
from heron_tools.annotation.sheets import read_from_people, read_mark, write_for_people
from heron_tools.statistics.rates import group_ids, group_mean, share

from .ceiling import Measured

MINIMAL, TOO_LONG, TOO_SHORT, WRONG = SIZES = ("minimal", "too long", "too short", "wrong")
_SHOWN = ("guid", "article", "question", "context", "answer")
_MARKS = ("correct", "minimal", "too_long", "too_short")
_CORRECTED = "corrected_answer"
# Of a correction, by the marked size.
_EXPECTED = {
    MINIMAL: "too_long or too_short?",
    TOO_LONG: "a shorter one is expected",
    TOO_SHORT: "a longer one is expected",
}
COLUMNS = (*_SHOWN, *_MARKS, _CORRECTED)


@dataclass(frozen=True, slots=True)
class JudgedAnswer:
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
        """Words of the longer of answer and correction, divided by the shorter's words.

        None without a correction, and for an answer that is minimal or wrong.
        """
        if self.corrected is None or self.size not in (TOO_LONG, TOO_SHORT):
            return None
        shorter, longer = sorted((len(self.answer.split()), len(self.corrected.split())))
        return longer / shorter


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
    random = np.random.default_rng(seed)
    drawn = set(random.choice(sorted(answered), sample, replace=False).tolist())

    rows = [_shown_cells(example) for guid, example in answered.items() if guid in drawn]
    columns = dict.fromkeys(COLUMNS, [""] * len(rows))
    for index, name in enumerate(_SHOWN):
        columns[name] = [row[index] for row in rows]
    write_for_people(path, columns)
    return len(answered)


def _shown_cells(example: Example) -> tuple[str, ...]:
    """Lay out the columns `_SHOWN`."""
    start, end = example.spans[0]
    answer = example.text[start:end]
    article = "" if example.group == example.text else example.group
    return example.guid, article, example.text_pair or "", example.text, answer


def read_sheet(path: Path) -> tuple[list[JudgedAnswer], int]:
    """Read a filled sheet.

    Returns:
        The judged answers, and the number of unjudged rows.

    Raises:
        DataError: unreadable or contradictory marks; names all lines.
    """
    table = read_from_people(path)
    table.require("guid", "context", "answer", *_MARKS, _CORRECTED)

    problems = table.duplicates("guid")
    judged: list[JudgedAnswer] = []
    empty = 0
    for index, row in enumerate(table.rows):
        try:
            answer = _judged_answer(row)
        except ValueError as error:
            where = f"{table.where(index)} ({cell_text(row['guid'])})"
            problems.append(Problem(where, *error.args))
            continue
        if answer is None:
            empty += 1
        else:
            judged.append(answer)

    raise_all(problems)
    if not judged:
        fix = f"write x or 1 into {', '.join(_MARKS)}"
        raise DataError(str(path), "no answer is judged yet", fix)
    return judged, empty


def _judged_answer(row: Mapping[str, Any]) -> JudgedAnswer | None:
    """Read one row of a sheet.

    Returns:
        The judged answer; None for a row without a mark or a correction.

    Raises:
        ValueError: the problem and its fix.
    """
    cells = {name: text_or_empty(cell) for name, cell in row.items()}
    correct, minimal, too_long, too_short = [read_mark(name, cells[name]) for name in _MARKS]
    marks = {MINIMAL: minimal, TOO_LONG: too_long, TOO_SHORT: too_short}

    corrected = cells[_CORRECTED] or None
    if correct is None and corrected is None and set(marks.values()) == {None}:
        return None

    sizes = [size for size, mark in marks.items() if mark]
    if len(sizes) > 1:
        raise ValueError(f"marked {' and '.join(sizes)}", "one size for each answer")
    if not sizes and correct is not False:
        names = ", ".join(_MARKS[1:])
        fix = f"mark one of {names}, or correct=no for a wrong one"
        raise ValueError("no size is marked", fix)

    size = sizes[0] if sizes else WRONG
    answer = cells["answer"]
    context = cells["context"]
    if corrected is not None:
        _check_correction(corrected, answer, context, size)

    group = cells.get("article") or context
    is_correct = correct is not False
    return JudgedAnswer(cells["guid"], group, answer, size, is_correct, corrected)


def _check_correction(corrected: str, answer: str, context: str, size: str) -> None:
    """Check that a correction is in the context, and differs from the answer as the size says.

    Raises:
        ValueError: the problem and its fix.
    """
    if corrected not in context:
        raise ValueError(f"{_CORRECTED} '{corrected}' is not in the context", "copy it from there")

    # A correction may remove half a word (a prefix), but must not have more words.
    more_words = len(corrected.split()) - len(answer.split())
    more_characters = len(corrected) - len(answer)
    fits = True
    if size == MINIMAL:
        fits = corrected == answer.strip()
    elif size == TOO_LONG:
        fits = more_words <= 0 and more_characters < 0
    elif size == TOO_SHORT:
        fits = more_words >= 0 and more_characters > 0

    if not fits:
        raise ValueError(f"{size}, yet corrected to '{corrected}'", _EXPECTED[size])


def quality_table(judged: Sequence[JudgedAnswer], empty: int) -> Table:
    """Count the sizes (ParaShoot's Table 2), with 95 % intervals by article.

    Args:
        judged: the sheet.
        empty: number of answers that are not judged yet.
    """
    groups = group_ids([answer.group for answer in judged])
    rows: list[Row] = []
    for size in SIZES:
        hits = [answer.size == size for answer in judged]
        if size != WRONG or any(hits):
            rows.append((size, sum(hits), share(hits, groups)))

    correct = [answer.correct for answer in judged]
    rows.append(("answers the question", sum(correct), share(correct, groups)))
    note = f"{len(judged)} answers are judged, {empty} not yet. [low, high]: 95 %, by article."
    return Table("Quality of the gold answers", ("answer span", "n", "share"), rows, note)


def measure_ceiling(judged: Sequence[JudgedAnswer], seed: int = 0) -> Measured:
    """Compute the scores of a perfect system against these gold answers.

    Args:
        judged: the sheet.
        seed: of the resampled articles, for the interval.
    """
    sizes = [answer.size for answer in judged]
    minimal = sizes.count(MINIMAL) / len(judged)
    ratios = [answer.ratio for answer in judged if answer.ratio is not None]
    mean = float(np.mean(ratios)) if ratios else None

    best: list[str] = []  # the answers of a perfect system
    for answer in judged:
        if answer.corrected is not None:
            best.append(answer.corrected)
        elif answer.size in (TOO_LONG, TOO_SHORT):
            return Measured(minimal, mean, None)
        else:
            # A wrong answer without a correction shares no word with the right one.
            best.append("" if answer.size == WRONG else answer.answer)

    golds = [[answer.answer] for answer in judged]
    f1_N = item_scores(best, golds, no_answer=False)["f1"]
    groups = [answer.group for answer in judged]
    return Measured(minimal, mean, group_mean(f1_N, groups, seed))
