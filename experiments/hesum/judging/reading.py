"""Read filled forms; unusable answers are reported by file and line or item, and left out."""

from __future__ import annotations

import glob
import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from heron.base.errors import ConfigError, DataError, Problem, nearest
from heron.base.files import parse_json
from heron.base.tables import is_missing, read_table, text_or_empty
from heron_tools.annotation.sheets import read_mark

from .form import ANSWERS, csv_columns
from .study import NO_ERROR, RATINGS, Study
from .systems import read_number

_SUFFIXES = (".json", ".csv", ".tsv")


@dataclass(frozen=True, slots=True)
class SummaryRating:
    """A rater's answers on one summary.

    Args:
        rater: `r1`, ...
        item: the summary's, on this rater's form.
        where: file and line, or file and item.
        ratings: 1 to 5, by criterion.
        errors: ticked kinds of errors.
        none: whether "no error" is ticked and no kind of error is.
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
            raise ConfigError(
                f"forms={word}: no such file, nor a folder with .json, .csv or .tsv files"
            )
        forms.update(dict.fromkeys(sorted(files)))

    return [form for form in forms if form.resolve() != key.resolve()]


def read_forms(paths: Sequence[Path], study: Study) -> tuple[list[SummaryRating], list[Problem]]:
    """Read filled forms, as saved by the HTML form or as CSV.

    Returns:
        Answers that are not blank, in the forms' order, and problems. Equal answers of two files
        count once; contradicting ratings of two files are left out.
    """
    reader = _FormReader(study)
    for path in paths:
        reader.read(path)

    answers = []
    for rater, items in study.items.items():
        for item in items:
            answer = reader.answers.get((rater, item))
            if answer is not None and not answer.is_blank:
                answers.append(answer)
    return answers, reader.problems


class _FormReader:
    """Reads the forms of a study one after the other, and joins their answers.

    Attributes:
        answers: the usable answers of all files, by rater and item.
        problems: the cells and files that cannot be used.
    """

    def __init__(self, study: Study) -> None:
        self.study = study
        self.criteria = [question.name for question in study.criteria]
        self.kinds = [question.name for question in study.errors]
        self.answers: dict[tuple[str, str], SummaryRating] = {}
        self.problems: list[Problem] = []
        # Criteria whose ratings differ between two files, by rater and item: they do not count,
        # even if a third file repeats one of the ratings.
        self.contradicted: dict[tuple[str, str], set[str]] = defaultdict(set)

    def read(self, path: Path) -> None:
        """Read a form of either kind."""
        answers = self._from_json(path) if path.suffix == ".json" else self._from_csv(path)
        for answer in answers:
            key = (answer.rater, answer.item)
            if key in self.answers:
                answer = self._merge(self.answers[key], answer)
            self.answers[key] = answer

    def _report(self, where: object, problem: str, fix: str = "") -> None:
        self.problems.append(Problem(str(where), problem, fix))

    def _merge(self, first: SummaryRating, second: SummaryRating) -> SummaryRating:
        """Join two files' answers on one summary, without the ratings that differ."""
        contradicted = self.contradicted[first.rater, first.item]
        ratings = {**second.ratings, **first.ratings}

        for name, value in second.ratings.items():
            earlier = ratings[name]
            if value != earlier:
                contradicted.add(name)
                problem = f"{name}={value}, but {earlier} in {first.where}"
                fix = "neither is counted: read the newer file alone"
                self._report(second.where, problem, fix)

        for name in contradicted:
            ratings.pop(name, None)

        errors = first.errors | second.errors
        no_error = (first.none or second.none) and not errors

        comment = first.comment or second.comment
        if second.comment and second.comment != comment:
            comment += f"\n{second.comment}"
        return replace(first, ratings=ratings, errors=errors, none=no_error, comment=comment)

    def _from_json(self, path: Path) -> Iterator[SummaryRating]:
        """Read a file that the HTML form has saved."""
        try:
            content = parse_json(path.read_text(encoding="utf-8-sig"))
        except (OSError, ValueError) as error:
            self._report(path, f"cannot be read: {error}")
            return

        if not isinstance(content, dict) or content.get("kind") != ANSWERS:
            self._report(path, "is no file that a form has saved")
            return

        rater = str(content.get("rater"))
        if not self._check_origin(path, content.get("study"), rater):
            return

        answers = content.get("answers")
        if not isinstance(answers, list):
            self._report(path, "holds no list of answers")
            return

        for number, cells in enumerate(answers, 1):
            item = cells.get("item") if isinstance(cells, dict) else None
            if not isinstance(item, str):
                self._report(f"{path}: answer {number}", "has no item")
            elif item not in self.study.items[rater]:
                self._report(f"{path}: item {item}", f"not on the form of {rater}")
            else:
                blank = SummaryRating(rater, item, f"{path}: item {item}")
                yield self._json_answer(cells, blank)

    def _json_answer(self, cells: Mapping[str, Any], blank: SummaryRating) -> SummaryRating:
        """Fill a blank answer with the usable cells of a JSON object."""
        where = blank.where
        rating_cells = cells.get("ratings") or {}
        error_names = cells.get("errors") or []
        if not isinstance(rating_cells, dict) or not isinstance(error_names, list):
            self._report(where, "its ratings or its errors are malformed")
            rating_cells = {}
            error_names = []

        ratings = {}
        for name, cell in rating_cells.items():
            if name not in self.criteria:
                self._report(where, f"unknown criterion {name}.{nearest(name, self.criteria)}")
                continue
            rating = self._rating(name, cell, where)
            if rating is not None:
                ratings[name] = rating

        errors = set()
        for name in error_names:
            if name in self.kinds:
                errors.add(name)
            else:
                self._report(where, f"unknown kind of error {name}")

        no_error = cells.get("none") is True and not errors
        comment = str(cells.get("comment") or "").strip()
        return replace(
            blank, ratings=ratings, errors=frozenset(errors), none=no_error, comment=comment
        )

    def _from_csv(self, path: Path) -> Iterator[SummaryRating]:
        """Read a filled CSV form."""
        table = read_table(path, bad_rows="report", own=True)
        self.problems += table.problems
        if not table.rows:
            return

        needed = ("study", "rater", "item")
        try:
            table.require(*needed)
        except DataError:
            self._report(path, "is no form", f"a CSV form has the columns {', '.join(needed)}")
            return

        columns = csv_columns(self.study)
        for name in columns:
            if name not in table.columns and name not in ("article", "summary"):
                self._report(path, f"no column {name}", "its answers are missing")
        for name in table.columns:
            if name not in columns and not all(map(is_missing, table.values(name))):
                self._report(path, f"unknown column {name}.{nearest(name, columns)}")

        for index, row in enumerate(table.rows):
            answer = self._csv_answer(row, table.where(index))
            if answer is not None:
                yield answer

    def _csv_answer(self, row: Mapping[str, Any], line: str) -> SummaryRating | None:
        """Read the usable cells of a row; None for an empty row, and for one that is reported."""
        cells = {name: text_or_empty(cell) for name, cell in row.items()}
        if not any(cells.values()):
            return None

        rater = cells["rater"]
        item = cells["item"]
        if not self._check_origin(line, cells["study"], rater):
            return None

        where = f"{line} (item {item})"
        if item not in self.study.items[rater]:
            self._report(where, f"not on the form of {rater}")
            return None

        ratings = {}
        for name in self.criteria:
            rating = self._rating(name, cells.get(name, ""), where)
            if rating is not None:
                ratings[name] = rating

        ticked = set()
        for name in (*self.kinds, NO_ERROR):
            try:
                is_ticked = read_mark(name, cells.get(name, ""))
            except ValueError as error:
                self._report(where, *error.args)
                continue
            if is_ticked:
                ticked.add(name)

        errors = frozenset(ticked - {NO_ERROR})
        no_error = NO_ERROR in ticked
        if no_error and errors:
            no_error = False
            names = ", ".join(sorted(errors))
            self._report(where, f"{NO_ERROR} and {names}", "the errors are counted")

        comment = cells.get("comment", "")
        return SummaryRating(rater, item, where, ratings, errors, no_error, comment)

    def _check_origin(self, where: object, study_id: Any, rater: str) -> bool:
        """Report a form of another study or rater; tell whether it may be read."""
        study = self.study
        if study_id != study.id:
            self._report(where, f"belongs to study {study_id}, the key to study {study.id}")
            return False
        if rater not in study.items:
            self._report(where, f"unknown rater {rater}", f"raters: {', '.join(study.items)}")
            return False
        return True

    def _rating(self, name: str, cell: Any, where: str) -> int | None:
        """Read a rating; None for an empty cell, and for one that is reported."""
        value = read_number(cell)
        if value is not None and math.isnan(value):
            return None
        if value is None or value not in RATINGS:
            fix = f"a whole number from {min(RATINGS)} to {max(RATINGS)}, or nothing"
            self._report(where, f"{name}={cell}: not a rating", fix)
            return None
        return int(value)
