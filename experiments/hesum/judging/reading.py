"""Read filled forms; unusable answers are reported by file and line or item, and left out."""

from __future__ import annotations

import glob
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
        errors: ticked kinds.
        none: whether "no error" is ticked.
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
    """Find forms by path, glob or folder; the key is left out.

    Raises:
        ConfigError: a path or pattern matches no form.
    """
    found: list[Path] = []
    for word in words:
        path = Path(word).expanduser()
        if path.is_dir():
            files = [one for one in path.iterdir() if one.suffix in _SUFFIXES]
        elif path.is_file():
            files = [path]
        else:
            files = [one for one in map(Path, glob.glob(str(path))) if one.is_file()]
        if not files:
            raise ConfigError(f"forms={word}: no such file, nor a folder with .json or .csv files")
        found += sorted(files)
    return list(dict.fromkeys(one for one in found if one.resolve() != key.resolve()))


def read_forms(paths: Sequence[Path], study: Study) -> tuple[list[Answer], list[Problem]]:
    """Read filled forms, as saved by the HTML form or as CSV.

    Returns:
        Answers that are not blank, in the forms' order, and problems. Equal answers of two files
        count once; contradicting ratings of two files are left out.
    """
    problems: list[Problem] = []
    merged: dict[tuple[str, str], Answer] = {}
    dropped: set[tuple[str, str, str]] = set()
    for path in paths:
        rows = _from_json if path.suffix == ".json" else _from_csv
        for answer in rows(path, study, problems):
            place = answer.rater, answer.item
            known = merged.get(place)
            merged[place] = _merge(known, answer, problems, dropped) if known else answer
    order = [(rater, item) for rater, items in study.items.items() for item in items]
    answers = [merged[place] for place in order if place in merged]
    return [one for one in answers if not one.is_blank], problems


def _merge(
    first: Answer, second: Answer, problems: list[Problem], dropped: set[tuple[str, str, str]]
) -> Answer:
    ratings = {**second.ratings, **first.ratings}
    for name, value in second.ratings.items():
        if first.ratings.get(name, value) != value:
            what = f"{name}={value}, but {first.ratings[name]} in {first.where}"
            problems.append(Problem(second.where, what, "leave the older file out; neither counts"))
            dropped.add((first.rater, first.item, name))
        if (first.rater, first.item, name) in dropped:
            del ratings[name]
    errors = first.errors | second.errors
    comments = dict.fromkeys(text for text in (first.comment, second.comment) if text)
    none = (first.none or second.none) and not errors
    comment = "\n".join(comments)
    return replace(first, ratings=ratings, errors=errors, none=none, comment=comment)


def _from_json(path: Path, study: Study, problems: list[Problem]) -> Iterator[Answer]:
    try:
        content = parse_json(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError) as error:
        problems.append(Problem(str(path), f"cannot be read: {error}"))
        return
    if not isinstance(content, dict) or content.get("kind") != ANSWERS:
        problems.append(Problem(str(path), "is no file that a form has saved"))
        return
    rater, answers = content.get("rater"), content.get("answers")
    if not _is_ours(str(path), study, content.get("study"), rater, problems):
        return
    if not isinstance(answers, list):
        problems.append(Problem(str(path), "holds no list of answers"))
        return
    for place, given in enumerate(answers, 1):
        item = given.get("item") if isinstance(given, dict) else None
        where = f"{path}: " + (f"item {item}" if isinstance(item, str) else f"answer {place}")
        if not isinstance(item, str) or item not in study.items[str(rater)]:
            problems.append(Problem(where, f"not on the form of {rater}"))
        else:
            yield _json_answer(given, Answer(str(rater), item, where), study, problems)


def _json_answer(
    given: Mapping[str, Any], answer: Answer, study: Study, problems: list[Problem]
) -> Answer:
    ratings, errors = given.get("ratings") or {}, given.get("errors") or []
    if not isinstance(ratings, dict) or not isinstance(errors, list):
        problems.append(Problem(answer.where, "its ratings or its errors are malformed"))
        ratings, errors = {}, []
    used = {}
    for name, value in ratings.items():
        if name not in (known := [one.name for one in study.criteria]):
            problems.append(Problem(answer.where, f"no criterion {name}.{nearest(name, known)}"))
        elif (rating := _rating(name, value, answer.where, problems)) is not None:
            used[name] = rating
    kinds = {one.name for one in study.errors}
    ticked = frozenset(name for name in errors if isinstance(name, str) and name in kinds)
    for name in errors:
        if not isinstance(name, str) or name not in kinds:
            problems.append(Problem(answer.where, f"no kind of error {name}"))
    comment = str(given.get("comment") or "").strip()
    none = given.get("none") is True and not ticked
    return replace(answer, ratings=used, errors=ticked, none=none, comment=comment)


def _from_csv(path: Path, study: Study, problems: list[Problem]) -> Iterator[Answer]:
    table = read_table(path, bad_rows="report", own=True)
    problems += table.problems
    if not table.rows:
        return
    needed = ("study", "rater", "item")
    try:
        table.require(*needed)
    except DataError:
        fix = f"a CSV form has the columns {', '.join(needed)}"
        problems.append(Problem(str(path), "is no form", fix))
        return
    columns = csv_columns(study)
    for name in columns:
        if name not in table.columns and name not in ("article", "summary"):
            problems.append(Problem(str(path), f"no column {name}", "its answers are missing"))
    for name in table.columns:
        if name not in columns and any(not is_missing(value) for value in table.values(name)):
            problems.append(Problem(str(path), f"unknown column {name}.{nearest(name, columns)}"))
    for index, row in enumerate(table.rows):
        yield from _csv_row(row, table.where(index), study, problems)


def _csv_row(
    row: Mapping[str, Any], where: str, study: Study, problems: list[Problem]
) -> Iterator[Answer]:
    text = {name: "" if is_missing(value) else cell_text(value) for name, value in row.items()}
    if not any(text.values()) or not _is_ours(where, study, text["study"], text["rater"], problems):
        return
    rater, item = text["rater"], text["item"]
    where = f"{where} (item {item})"
    if item not in study.items[rater]:
        problems.append(Problem(where, f"not on the form of {rater}"))
        return
    ratings = {}
    for one in study.criteria:
        rating = _rating(one.name, text.get(one.name, ""), where, problems)
        if rating is not None:
            ratings[one.name] = rating
    ticked = set()
    for name in [*(one.name for one in study.errors), NO_ERROR]:
        try:
            if read_mark(name, text.get(name, "")):
                ticked.add(name)
        except ValueError as error:
            problems.append(Problem(where, *error.args))
    errors = frozenset(ticked - {NO_ERROR})
    if errors and NO_ERROR in ticked:
        problems.append(
            Problem(where, f"{NO_ERROR} and {', '.join(sorted(errors))}", "errors count")
        )
    none = NO_ERROR in ticked and not errors
    yield Answer(rater, item, where, ratings, errors, none, text.get("comment", ""))


def _is_ours(where: str, study: Study, found: Any, rater: Any, problems: list[Problem]) -> bool:
    if found != study.id:
        problems.append(Problem(where, f"of study {found}, and the key is of {study.id}"))
    elif not isinstance(rater, str) or rater not in study.items:
        problems.append(Problem(where, f"of rater {rater}", f"raters: {', '.join(study.items)}"))
    else:
        return True
    return False


def _rating(name: str, cell: Any, where: str, problems: list[Problem]) -> int | None:
    value = read_number(cell)
    if value is not None and value != value:
        return None
    if value is None or value not in RATINGS:
        fix = f"a whole number from {min(RATINGS)} to {max(RATINGS)}, or nothing"
        problems.append(Problem(where, f"{name}={cell}: no rating", fix))
        return None
    return int(value)
