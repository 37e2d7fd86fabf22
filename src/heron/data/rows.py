"""One row of a table to one `Example`: texts, label, id, joined columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from heron.base.errors import DataError, Fix, Problem, nearest
from heron.base.tables import Table, as_table, cell_text, is_missing, read_table, table_stem
from heron.config.data import DataConfig, JoinConfig
from heron.data.examples import Example, Span
from heron.data.formats import JOIN, Labels, Reader, Rows
from heron.data.labels import LabelError, LabelReader
from heron.languages import get_language
from heron.languages.unicode import normalise

# From a value of the joined column to what `join.take` names.
Joined = Mapping[str, Mapping[str, Any]]

# What a row's format yields: the text, perhaps a second one, the spans.
Texts = tuple[str, str | None, tuple[Span, ...]]


def require_columns(table: Table, keys: Mapping[str, str]) -> None:
    """Check that a table has rows, and the columns that are needed.

    Args:
        table: what was read.
        keys: the configuration's key for each column, such as `data.columns.text`.

    Raises:
        DataError: every column that is missing, with the nearest there is and the key to name it.
    """
    table.require()
    if missing := [column for column in keys if column not in table.columns]:
        raise DataError(
            [
                Problem(
                    str(table.path),
                    f"no column '{column}'.{nearest(column, table.columns)}",
                    f"{keys[column]}=NAME says which column it is",
                )
                for column in missing
            ]
        )


def read_labels(table: Table, config: DataConfig, joined: Joined | None = None) -> Rows:
    """Read ids, labels and groups of a table that may hold no texts; they are empty.

    Args:
        table: the rows.
        config: names of the columns, classes, and what becomes of rows without a gold label.
        joined: what a second table adds, or None.
    """
    label_column = config.columns.label
    return RowReader(table, config, "required", label_column, _no_texts, joined).read_all()


class RowReader:
    """Turns the rows of one table into examples and remembers what was wrong.

    Args:
        table: the rows.
        config: the data set.
        labels: whether each row needs a label.
        label_column: which column holds it.
        texts: reads the texts of a row; it gets this reader, for `text` and `problem`.
        joined: what a second table adds, or None.
    """

    def __init__(
        self,
        table: Table,
        config: DataConfig,
        labels: Labels,
        label_column: str,
        texts: TextReader,
        joined: Joined | None = None,
    ):
        self.table, self.config, self.labels = table, config, labels
        self.joined, self.texts = joined, texts
        self.language = get_language(config.language)
        self.label_reader = LabelReader(config, label_column)
        self.truth_reader = LabelReader(config, config.columns.truth or label_column)
        self.problems: list[Problem] = []
        self.unlabelled: Counter[str] = Counter()  # rows left out, by what their label cell holds
        self.lines: dict[str, int] = {} if table.ids is None else table.ids  # of each guid

    def read_all(self) -> Rows:
        """Read every row; problems are those of the table as well, by line."""
        examples = [one for index in range(len(self.table)) if (one := self.read(index))]
        problems = sorted([*self.table.problems, *self.problems], key=lambda each: each.number)
        take = self.config.join.take if self.config.join and self.joined is not None else ()
        has_ids = self.config.columns.guid in self.table.columns or "guid" in take
        return Rows(examples, problems, self.unlabelled, guids=list(self.lines), has_ids=has_ids)

    def read(self, index: int) -> Example | None:
        """Read one row; None when it cannot be used, with at least one more problem or count."""
        row, line, columns = self.table.rows[index], self.table.lines[index], self.config.columns
        value = row.get(self.label_reader.column)
        found = len(self.problems)
        label = None if self.labels == "ignored" else self._label(value, line)
        joined = self._joined(row, line)
        named = {"guid": row.get(columns.guid), "group": row.get(columns.group or ""), **joined}
        guid = self._guid(named.pop("guid"), line)
        if self.labels == "required" and label is None and len(self.problems) == found:
            self.unlabelled["" if is_missing(value) else cell_text(value)] += 1
            return None
        text, text_pair, spans = self.texts(self, row, line)
        group = named.pop("group")
        side = {"file": self.table.path.name, "line": line}
        side |= {column: row.get(column) for column in columns.side} | named
        if columns.truth is not None:
            side["truth"] = self._truth(row.get(columns.truth), line)
        if len(self.problems) > found:
            return None
        group = "" if is_missing(group) else str(group)
        return Example(guid, text, text_pair, spans, label, group=group, side=side)

    def text(self, row: Mapping[str, Any], line: int, column: str) -> str:
        """Normalise one text; an empty one, and a problem, where there is none."""
        value = row[column]
        if is_missing(value) or not isinstance(value, str):
            what = "is empty" if is_missing(value) else f"is no text: {value!r}"
            self.problem(line, f"'{column}' {what}", "one text in each row")
            return ""
        text = normalise(value, self.language, self.config.unicode).strip()
        if not text:
            self.problem(line, f"'{column}' holds invisible characters only", "one text, or no row")
        return text

    def _label(self, value: Any, line: int) -> str | None:
        try:
            label = self.label_reader.read(value)
        except LabelError as error:
            self.problem(line, error.what, error.fix)
            return None
        if label is None and self.labels == "required" and self.config.unlabelled == "refuse":
            name, allowed = self.label_reader.column, ", ".join(self.config.label_order)
            what = "is empty" if is_missing(value) else f"is '{value}', which is no gold label"
            fix = (f"allowed: {allowed}", "data.unlabelled=drop leaves such rows out")
            self.problem(line, f"'{name}' {what}", fix)
        return label

    def _truth(self, value: Any, line: int) -> str | None:
        try:
            return self.truth_reader.read(value)
        except LabelError as error:
            self.problem(line, error.what, error.fix)
            return None

    def _guid(self, value: Any, line: int) -> str:
        name = self.config.columns.guid
        if value is None and name not in self.table.columns:
            value = f"{table_stem(self.table.path)}:{line}"
        if is_missing(value):
            self.problem(line, f"'{name}' is empty", "one id in each row, or no such column")
            return ""
        guid = cell_text(value)
        if guid in self.lines:
            what = f"{name} '{guid}' is already on line {self.lines[guid]}"
            self.problem(line, what, "each id once in a file")
        self.lines.setdefault(guid, line)
        return guid

    def _joined(self, row: Mapping[str, Any], line: int) -> Mapping[str, Any]:
        join = self.config.join
        if self.joined is None or join is None:
            return {}
        if row[join.key] not in self.joined:
            name = Path(join.file.path).name
            self.problem(line, f"no row of {name} has this {join.key}", "see data.join")
            return {}
        return self.joined[row[join.key]]

    def problem(self, line: int, what: str, fix: Fix) -> None:
        """Remember what is wrong with a row, and how to fix it."""
        self.problems.append(Problem(f"{self.table.path}:{line}", what, fix))


# Reads the texts of one row, given the reader, the row and its line.
TextReader = Callable[[RowReader, Mapping[str, Any], int], Texts]


def open_table(texts: TextReader, config: DataConfig, files: Mapping[str, Path]) -> Reader:
    """Make a reader of tables with one labelled example in each row.

    Args:
        texts: reads the texts of a row.
        config: the data set.
        files: `join`, where the data set joins a second table.

    Raises:
        DataError: the second table cannot be read.
    """
    joined = read_join(files[JOIN], config.join) if config.join and JOIN in files else None

    def read(
        source: Path | Table, labels: Labels, label_column: str, keys: Mapping[str, str]
    ) -> Rows:
        table = as_table(source)
        require_columns(table, keys)
        return RowReader(table, config, labels, label_column, texts, joined).read_all()

    return read


def read_join(path: Path, join: JoinConfig) -> Joined:
    """Read a second table, row by row under the value of its key.

    Raises:
        DataError: a column that is missing, or a value of the key that is there twice.
    """
    table = read_table(path)
    table.require(join.key, *join.take.values())
    if repeated := table.duplicates(join.key):
        raise DataError(repeated)
    return {
        row[join.key]: {name: row[column] for name, column in join.take.items()}
        for row in table.rows
    }


def _no_texts(reader: RowReader, row: Mapping[str, Any], line: int) -> Texts:
    return "", None, ()
