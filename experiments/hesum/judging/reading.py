"""Read filled forms; unusable answers are reported by file and line or item, and left out."""

from __future__ import annotations

import glob
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from heron.base.errors import ConfigError, DataError, Problem, nearest
from heron.base.files import parse_json
from heron.base.tables import cell_text, is_missing, read_table
from heron_tools.annotation.sheets import read_mark

from .form import ANSWERS, csv_columns
from .study import NO_ERROR, RATINGS, Study
from .systems import read_number

_SUFFIXES = (".json", ".csv", ".tsv")


@dataclass(frozen=True, slots=True)
class Answer:
    """A rater's answers on one summary.

    Args:
        rater: `r1`, ...
        item: the summary's, on this rater's form.
        where: file and line, or file and item.
        ratings: 1 to 5, by criterion.
        errors: ticked kinds of errors.
        none: whether "no error" is ticked, and no kind of error.
        comment: free text.
    """

    rater: str
    item: str
    where: str
    ratings: Mapping[str, int] = field(default_factory=dict)
    errors: frozenset[str] = frozenset()
    none: bool = False
    comment: str = ""

    @property
    def is_blank(self) -> bool:
        """Whether the answer is empty."""
        return not (self.ratings or self.errors or self.none or self.comment)


def find_forms(words: Sequence[str], key: Path) -> list[Path]:
    """Find forms.

    Args:
        words: paths, globs, or folders with .json, .csv and .tsv files.
        key: the study's key, which may lie among the forms and is left out.

    Raises:
        ConfigError: a path or pattern matches no form.
    """
    forms: dict[Path, None] = {}  # an ordered set
    for word in words:
        path = Path(word).expanduser()
        if path.is_dir():
            files = [file for file in path.iterdir() if file.suffix in _SUFFIXES]
        elif path.is_file():
            files = [path]
        else:
            matches = map(Path, glob.glob(str(path)))
            files = [file for file in matches if file.is_file()]

        if not files:
            raise ConfigError(f"forms={word}: no such file, nor a folder with .json or .csv files")
        forms.update(dict.fromkeys(sorted(files)))

    return [form for form in forms if form.resolve() != key.resolve()]


def read_forms(paths: Sequence[Path], study: Study) -> tuple[list[Answer], list[Problem]]:
    """Read filled forms, as saved by the HTML form or as CSV.

    Returns:
        Answers that are not blank, in the forms' order, and problems. Equal answers of two files
        count once; contradicting ratings of two files are left out.
    """
    problems: list[Problem] = []
    merged: dict[tuple[str, str], Answer] = {}  # by rater and item
    contradicted: set[tuple[str, str, str]] = set()  # rater, item and criterion
    for path in paths:
        read = _from_json if path.suffix == ".json" else _from_csv
        for answer in read(path, study, problems):
            key = (answer.rater, answer.item)
            if key in merged:
                answer = _merge(merged[key], answer, problems, contradicted)
            merged[key] = answer

    answers = []
    for rater, items in study.items.items():
        for item in items:
            merged_answer = merged.get((rater, item))
            if merged_answer is not None and not merged_answer.is_blank:
                answers.append(merged_answer)
    return answers, problems


def _merge(
    first: Answer, second: Answer, problems: list[Problem], contradicted: set[tuple[str, str, str]]
) -> Answer:
    """Join two files' answers on one summary, without the ratings that differ."""
    ratings = {**second.ratings, **first.ratings}
    for name, value in second.ratings.items():
        key = (first.rater, first.item, name)
        earlier = first.ratings.get(name, value)
        if earlier != value:
            what = f"{name}={value}, but {earlier} in {first.where}"
            problems.append(Problem(second.where, what, "leave the older file out; neither counts"))
            contradicted.add(key)
        if key in contradicted:
            del ratings[name]

    errors = first.errors | second.errors
    no_error = (first.none or second.none) and not errors
    comments = dict.fromkeys([first.comment, second.comment])
    comment = "\n".join(filter(None, comments))
    return replace(first, ratings=ratings, errors=errors, none=no_error, comment=comment)


def _from_json(path: Path, study: Study, problems: list[Problem]) -> Iterator[Answer]:
    """Read a file that the HTML form has saved."""
    where = str(path)
    try:
        content = parse_json(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError) as error:
        problems.append(Problem(where, f"cannot be read: {error}"))
        return
    if not isinstance(content, dict) or content.get("kind") != ANSWERS:
        problems.append(Problem(where, "is no file that a form has saved"))
        return

    rater = content.get("rater")
    if not _is_of_study(where, study, content.get("study"), rater, problems):
        return
    assert isinstance(rater, str)

    answers = content.get("answers")
    if not isinstance(answers, list):
        problems.append(Problem(where, "holds no list of answers"))
        return
    for number, cells in enumerate(answers, 1):
        item = cells.get("item") if isinstance(cells, dict) else None
        if not isinstance(item, str):
            problems.append(Problem(f"{path}: answer {number}", f"not on the form of {rater}"))
        elif item not in study.items[rater]:
            problems.append(Problem(f"{path}: item {item}", f"not on the form of {rater}"))
        else:
            blank = Answer(rater, item, f"{path}: item {item}")
            yield _json_answer(cells, blank, study, problems)


def _json_answer(
    cells: Mapping[str, Any], blank: Answer, study: Study, problems: list[Problem]
) -> Answer:
    """Fill a blank answer with the usable cells of a JSON object."""
    where = blank.where
    rating_cells = cells.get("ratings") or {}
    error_names = cells.get("errors") or []
    if not isinstance(rating_cells, dict) or not isinstance(error_names, list):
        problems.append(Problem(where, "its ratings or its errors are malformed"))
        rating_cells, error_names = {}, []

    criteria = [question.name for question in study.criteria]
    ratings = {}
    for name, cell in rating_cells.items():
        if name not in criteria:
            problems.append(Problem(where, f"no criterion {name}.{nearest(name, criteria)}"))
            continue
        rating = _rating(name, cell, where, problems)
        if rating is not None:
            ratings[name] = rating

    kinds = [question.name for question in study.errors]
    errors = set()
    for name in error_names:
        if name in kinds:
            errors.add(name)
        else:
            problems.append(Problem(where, f"no kind of error {name}"))

    no_error = cells.get("none") is True and not errors
    comment = str(cells.get("comment") or "").strip()
    return Answer(blank.rater, blank.item, where, ratings, frozenset(errors), no_error, comment)


def _from_csv(path: Path, study: Study, problems: list[Problem]) -> Iterator[Answer]:
    """Read a filled CSV form."""
    where = str(path)
    table = read_table(path, bad_rows="report", own=True)
    problems += table.problems
    if not table.rows:
        return

    needed = ("study", "rater", "item")
    try:
        table.require(*needed)
    except DataError:
        fix = f"a CSV form has the columns {', '.join(needed)}"
        problems.append(Problem(where, "is no form", fix))
        return

    columns = csv_columns(study)
    for name in columns:
        if name not in table.columns and name not in ("article", "summary"):
            problems.append(Problem(where, f"no column {name}", "its answers are missing"))
    for name in table.columns:
        if name not in columns and not all(map(is_missing, table.values(name))):
            problems.append(Problem(where, f"unknown column {name}.{nearest(name, columns)}"))

    for index, row in enumerate(table.rows):
        answer = _csv_answer(row, table.where(index), study, problems)
        if answer is not None:
            yield answer


def _csv_answer(
    row: Mapping[str, Any], line: str, study: Study, problems: list[Problem]
) -> Answer | None:
    """Read the usable cells of a row; None for an empty row, or of another form."""
    cells = {name: "" if is_missing(cell) else cell_text(cell) for name, cell in row.items()}
    if not any(cells.values()):
        return None

    rater, item = cells["rater"], cells["item"]
    if not _is_of_study(line, study, cells["study"], rater, problems):
        return None
    where = f"{line} (item {item})"
    if item not in study.items[rater]:
        problems.append(Problem(where, f"not on the form of {rater}"))
        return None

    ratings = {}
    for question in study.criteria:
        name = question.name
        rating = _rating(name, cells.get(name, ""), where, problems)
        if rating is not None:
            ratings[name] = rating

    errors = set()
    for name in (*[question.name for question in study.errors], NO_ERROR):
        try:
            is_ticked = read_mark(name, cells.get(name, ""))
        except ValueError as error:
            problems.append(Problem(where, *error.args))
            continue
        if is_ticked:
            errors.add(name)

    no_error = errors == {NO_ERROR}
    if NO_ERROR in errors and not no_error:
        errors.remove(NO_ERROR)
        names = ", ".join(sorted(errors))
        problems.append(Problem(where, f"{NO_ERROR} and {names}", "errors count"))
    comment = cells.get("comment", "")
    return Answer(rater, item, where, ratings, frozenset(errors), no_error, comment)


def _is_of_study(
    where: str, study: Study, study_id: Any, rater: Any, problems: list[Problem]
) -> bool:
    """Tell whether a form is of the study and of one of its raters."""
    if study_id != study.id:
        problems.append(Problem(where, f"of study {study_id}, and the key is of {study.id}"))
        return False
    if not isinstance(rater, str) or rater not in study.items:
        problems.append(Problem(where, f"of rater {rater}", f"raters: {', '.join(study.items)}"))
        return False
    return True


def _rating(name: str, cell: Any, where: str, problems: list[Problem]) -> int | None:
    """Read a rating; None for an empty cell, and for one that is reported."""
    value = read_number(cell)
    if value is not None and math.isnan(value):
        return None
    if value is None or value not in RATINGS:
        fix = f"a whole number from {min(RATINGS)} to {max(RATINGS)}, or nothing"
        problems.append(Problem(where, f"{name}={cell}: no rating", fix))
        return None
    return int(value)
