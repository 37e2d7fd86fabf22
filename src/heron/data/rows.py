"""One row of a table to one `Example`: the format, the label, the id, the joined columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from heron.base.errors import DataError, Problem, nearest
from heron.base.tables import Table, cell_text, is_missing, table_stem
from heron.config.data import DataConfig
from heron.data.examples import Example, Span
from heron.data.labels import LabelError, LabelReader
from heron.data.markers import MarkerError, event_markers, parse_marked
from heron.languages import get_language
from heron.languages.unicode import normalise
from heron.tasks.nli.phrases import Phrases

Labels = Literal["required", "optional", "ignored"]
SIDE = "data.columns.side"

# From a value of the joined column to what `join.take` names.
Joined = Mapping[str, Mapping[str, Any]]

# What a row's format yields: the text, perhaps a second one, the spans.
_Texts = tuple[str, str | None, tuple[Span, ...]]


@dataclass(frozen=True, slots=True)
class Rows:
    """What one file holds.

    Args:
        examples: the usable rows, in file order.
        problems: the others, by line, in file order.
        unlabelled: number of rows left out under `data.unlabelled=drop`, by what their label cell
            holds (an empty one as "").
        dropped: reason and label of each question that `data.qa` left out.
        guids: ids of all rows that could be read, used or not, in file order; of a part of a file
            (`read_chunks`) also those before it.
        has_ids: whether the ids are the file's own, not `<file stem>:<line>`.
    """

    examples: list[Example]
    problems: list[Problem]
    unlabelled: Mapping[str, int] = field(default_factory=dict)
    dropped: Sequence[tuple[str, str]] = ()
    guids: Sequence[str] = ()
    has_ids: bool = False


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
    reader = RowReader(table, config, "required", config.columns.label, joined, texts=False)
    return reader.read_all()


class RowReader:
    """Turns the rows of one table into examples and remembers what was wrong.

    Args:
        table: the rows.
        config: the data set.
        labels: whether each row needs a label.
        label_column: which column holds it.
        joined: what a second table adds, or None.
        phrases: what to remove from second texts, or None.
        texts: whether texts are read; without, they are empty.
    """

    def __init__(
        self,
        table: Table,
        config: DataConfig,
        labels: Labels,
        label_column: str,
        joined: Joined | None = None,
        phrases: Phrases | None = None,
        texts: bool = True,
    ):
        self.table, self.config, self.labels = table, config, labels
        self.joined, self.phrases, self.texts = joined, phrases, texts
        self.language = get_language(config.language)
        self.markers = event_markers(config)
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
        text, text_pair, spans = self._texts(row, line) if self.texts else ("", None, ())
        group = named.pop("group")
        side = {"file": self.table.path.name, "line": line}
        side |= {column: row.get(column) for column in columns.side} | named
        if columns.truth is not None:
            side["truth"] = self._truth(row.get(columns.truth), line)
        if len(self.problems) > found:
            return None
        group = "" if is_missing(group) else str(group)
        return Example(guid, text, text_pair, spans, label, group=group, side=side)

    def _texts(self, row: Mapping[str, Any], line: int) -> _Texts:
        columns = self.config.columns
        text = self._text(columns.text, row[columns.text], line)
        if columns.text_pair is None:
            return self._marked(text, line)
        text_pair = self._text(columns.text_pair, row[columns.text_pair], line)
        if text_pair and self.phrases:
            text_pair = self.phrases.remove(text_pair)
            if not text_pair:
                what = f"'{columns.text_pair}' is nothing but linking phrases"
                self._problem(line, what, "remove the row, or data.phrases.remove=none")
        if self.config.normalize_case == "lower":
            return text.lower(), text_pair.lower(), ()
        if self.config.normalize_case == "capitalize":
            return text, text_pair.capitalize(), ()
        return text, text_pair, ()

    def _text(self, column: str, value: Any, line: int) -> str:
        """Normalise one text; an empty one, and a problem, where there is none."""
        if is_missing(value) or not isinstance(value, str):
            what = "is empty" if is_missing(value) else f"is no text: {value!r}"
            self._problem(line, f"'{column}' {what}", "one text in each row")
            return ""
        text = normalise(value, self.language, self.config.unicode).strip()
        if not text:
            self._problem(
                line, f"'{column}' holds invisible characters only", "one text, or no row"
            )
        return text

    def _marked(self, text: str, line: int) -> _Texts:
        if not text:
            return "", None, ()
        try:
            plain, spans = parse_marked(text, self.markers)
        except MarkerError as error:
            start_1, end_1, start_2, end_2 = self.markers
            shown = f"{start_1} … {end_1} … {start_2} … {end_2}"
            fix = f"mark two events: {shown}; see data.language and data.markers"
            self._problem(line, f"{error}: '{_shorten(text)}'", fix)
            return "", None, ()
        return plain, None, spans

    def _label(self, value: Any, line: int) -> str | None:
        try:
            label = self.label_reader.read(value)
        except LabelError as error:
            self._problem(line, error.what, error.fix)
            return None
        if label is None and self.labels == "required" and self.config.unlabelled == "refuse":
            name, allowed = self.label_reader.column, ", ".join(self.config.label_order)
            what = "is empty" if is_missing(value) else f"is '{value}', which is no gold label"
            fix = f"allowed: {allowed}; data.unlabelled=drop leaves such rows out"
            self._problem(line, f"'{name}' {what}", fix)
        return label

    def _truth(self, value: Any, line: int) -> str | None:
        try:
            return self.truth_reader.read(value)
        except LabelError as error:
            self._problem(line, error.what, error.fix)
            return None

    def _guid(self, value: Any, line: int) -> str:
        name = self.config.columns.guid
        if value is None and name not in self.table.columns:
            value = f"{table_stem(self.table.path)}:{line}"
        if is_missing(value):
            self._problem(line, f"'{name}' is empty", "one id in each row, or no such column")
            return ""
        guid = cell_text(value)
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


def _shorten(text: str, width: int = 60) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"
