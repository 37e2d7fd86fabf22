"""From files to `Example`s: `load` for training, `read_rows` for anyone's own file.

Every row is checked before anything is used, and everything wrong is reported at once.
"""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from heron.data.config import SPLITS, TRAIN, VALIDATION, Columns, DataConfig, JoinConfig
from heron.data.examples import Example, Span
from heron.data.markers import MarkerError, parse_marked
from heron.data.sources import JOIN, locate
from heron.data.splits import carve, sample
from heron.data.tables import Table, is_missing, read_table
from heron.errors import ConfigError, DataError, Problem, nearest
from heron.languages import get_language
from heron.languages.unicode import normalise

Labels = Literal["required", "optional", "ignored"]


@dataclass(frozen=True, slots=True)
class Rows:
    """What one file holds.

    Args:
        examples: the usable rows, in file order.
        problems: the others, by line, in file order.
    """

    examples: list[Example]
    problems: list[Problem]


def load(config: DataConfig, data_dir: Path, cache_dir: Path) -> dict[str, list[Example]]:
    """Read all splits of a data set, downloading or generating what is absent.

    Args:
        config: the data set.
        data_dir: `paths.data`, where its files are looked up first.
        cache_dir: `paths.cache`, for downloads and generated corpora.

    Returns:
        `train`, `validation` and `test`, as far as the data set has them. Without a validation
        file, `validation` is carved out of train; test is never touched.

    Raises:
        ConfigError: the configuration names no classes or no files.
        DataError: every missing file, or every problem in every file.
    """
    if not config.label_order:
        raise ConfigError("data.label_order is empty: list the classes, data.label_order=[A, B]")
    paths = locate(config, data_dir, cache_dir)
    joined = _read_join(paths[JOIN], config.join) if config.join else None
    splits: dict[str, list[Example]] = {}
    problems: list[Problem] = []
    for split in SPLITS:
        if split in paths:
            rows = _read(paths[split], config, "required", _shipped_columns(config), joined)
            splits[split] = rows.examples
            problems += rows.problems or _check_counts(split, paths[split], rows.examples, config)
    if problems:
        raise DataError(problems)
    if VALIDATION not in splits and TRAIN in splits and config.validation.fraction > 0:
        splits[TRAIN], splits[VALIDATION] = carve(splits[TRAIN], config.validation)
    if TRAIN in splits:
        splits[TRAIN] = sample(splits[TRAIN], config.sample)
    return {split: splits[split] for split in SPLITS if split in splits}


def read_rows(
    path: Path,
    config: DataConfig,
    labels: Labels = "optional",
    bad_rows: Literal["raise", "report"] = "raise",
) -> Rows:
    """Read a file of the user's own, in the form of the data set `config`.

    Only the text column must be there; guid, label and group are read where they exist.

    Args:
        path: .csv, .tsv, .jsonl, .json or .parquet.
        config: column names, markers, classes and Unicode options.
        labels: `required`, `optional` (an empty cell is an unlabelled row) or `ignored`.
        bad_rows: `report` returns the good rows and the problems, `raise` stops at any problem.

    Raises:
        DataError: nothing in the file can be used, or with `raise` anything cannot.
    """
    columns = config.columns
    required = [columns.text, columns.label] if labels == "required" else [columns.text]
    rows = _read(path, config, labels, required)
    if rows.problems and (bad_rows == "raise" or not rows.examples):
        raise DataError(rows.problems)
    return rows


# From a value of the joined column to what `join.take` names.
_Joined = Mapping[str, Mapping[str, Any]]


def _read(
    path: Path,
    config: DataConfig,
    labels: Labels,
    required: Sequence[str],
    joined: _Joined | None = None,
) -> Rows:
    table = read_table(path, bad_rows="report")
    table.require()
    if missing := [column for column in required if column not in table.columns]:
        fix = "data.columns says which column holds what"
        raise DataError(
            [
                Problem(str(path), f"no column '{column}'.{nearest(column, table.columns)}", fix)
                for column in missing
            ]
        )
    reader = _RowReader(table, config, labels, joined)
    examples = [example for index in range(len(table)) if (example := reader.read(index))]
    return Rows(examples, sorted([*table.problems, *reader.problems], key=_line))


def _shipped_columns(config: DataConfig) -> list[str]:
    """Name the columns that a data set's own files must have."""
    columns = config.columns
    own_guid = columns.guid != Columns().guid and not config.join  # the default name may be absent
    return [
        columns.text,
        columns.label,
        *([columns.guid] if own_guid else []),
        *([columns.group] if columns.group else []),
        *columns.side,
        *([config.join.key] if config.join else []),
    ]


class _RowReader:
    """Turns the rows of one table into examples and remembers what was wrong."""

    def __init__(self, table: Table, config: DataConfig, labels: Labels, joined: _Joined | None):
        self.table, self.config, self.labels, self.joined = table, config, labels, joined
        self.language = get_language(config.language)
        self.markers = config.event_markers()
        self.problems: list[Problem] = []
        self.lines: dict[str, int] = {}  # of each guid

    def read(self, index: int) -> Example | None:
        """Read one row; None, and at least one more problem, when it cannot be used."""
        row, line, columns = self.table.rows[index], self.table.lines[index], self.config.columns
        found = len(self.problems)
        joined = self._joined(row, line)
        text, spans = self._text(row[columns.text], line)
        label = None if self.labels == "ignored" else self._label(row.get(columns.label), line)
        named = {"guid": row.get(columns.guid), "group": row.get(columns.group or ""), **joined}
        guid = self._guid(named.pop("guid"), line)
        group = named.pop("group")
        side = {"file": self.table.path.name, "line": line}
        side |= {column: row.get(column) for column in columns.side} | named
        if len(self.problems) > found:
            return None
        group = "" if is_missing(group) else str(group)
        return Example(guid, text, spans=spans, label=label, group=group, side=side)

    def _text(self, value: Any, line: int) -> tuple[str, tuple[Span, ...]]:
        if is_missing(value) or not isinstance(value, str):
            what = "is empty" if is_missing(value) else f"is no text: {value!r}"
            self._problem(line, f"'{self.config.columns.text}' {what}", "one text in each row")
            return "", ()
        try:
            return parse_marked(normalise(value, self.language, self.config.unicode), self.markers)
        except MarkerError as error:
            start_1, end_1, start_2, end_2 = self.markers
            shown = f"{start_1} … {end_1} … {start_2} … {end_2}"
            fix = f"mark two events: {shown}; see data.language and data.markers"
            self._problem(line, f"{error}: '{_shorten(value)}'", fix)
            return "", ()

    def _label(self, value: Any, line: int) -> str | None:
        name, allowed = self.config.columns.label, self.config.label_order
        if is_missing(value):
            if self.labels == "required":
                self._problem(line, f"'{name}' is empty", f"allowed: {', '.join(allowed)}")
            return None
        if str(value) not in allowed:
            fix = f"allowed: {', '.join(allowed)}; see data.label_order and data.columns.label"
            close = difflib.get_close_matches(str(value), allowed, n=1)
            hint = f". Did you mean '{close[0]}'?" if close else ""
            self._problem(line, f"unknown {name} '{value}'{hint}", fix)
        return str(value)

    def _guid(self, value: Any, line: int) -> str:
        name = self.config.columns.guid
        if value is None and name not in self.table.columns:
            return f"{self.table.path.stem}:{line}"
        if is_missing(value):
            self._problem(line, f"'{name}' is empty", "one id in each row, or no such column")
            return ""
        guid = str(value)
        if guid in self.lines:
            what = f"{name} '{guid}' is already on line {self.lines[guid]}"
            self._problem(line, what, "each id once in a file")
        self.lines.setdefault(guid, line)
        return guid

    def _joined(self, row: Mapping[str, Any], line: int) -> Mapping[str, Any]:
        join = self.config.join
        if self.joined is None or join is None:
            return {}
        if row[join.key] not in self.joined:
            name = Path(join.file.path).name
            self._problem(line, f"no row of {name} has this {join.key}", "see data.join")
            return {}
        return self.joined[row[join.key]]

    def _problem(self, line: int, what: str, fix: str) -> None:
        self.problems.append(Problem(f"{self.table.path}:{line}", what, fix))


def _read_join(path: Path, join: JoinConfig) -> _Joined:
    table = read_table(path)
    table.require(join.key, *join.take.values())
    if repeated := table.duplicates(join.key):
        raise DataError(repeated)
    return {
        row[join.key]: {name: row[column] for name, column in join.take.items()}
        for row in table.rows
    }


def _check_counts(
    split: str, path: Path, examples: Sequence[Example], config: DataConfig
) -> list[Problem]:
    """Compare the number of rows, in all and per class, with the pinned ones."""
    if not config.verify:
        return []
    found = Counter(str(example.label) for example in examples)
    expected = dict(config.counts.get(split, {}))
    problems = [
        f"{found[label]} rows of class {label}, expected {count}"
        for label, count in {**dict.fromkeys(found, 0), **expected}.items()
        if expected and found[label] != count
    ]
    rows = config.files[split].rows if split in config.files else None
    if rows not in (None, len(examples)):
        problems.insert(0, f"{len(examples)} rows, expected {rows}")
    fix = "another revision? data.verify=false accepts it"
    return [Problem(str(path), problem, fix) for problem in problems]


def _line(problem: Problem) -> int:
    number = problem.where.rpartition(":")[2]
    return int(number) if number.isdigit() else 0


def _shorten(text: str, width: int = 60) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"
