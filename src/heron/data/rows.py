"""From the rows of a table to `Example`s: formats, labels, ids, texts, joined columns.

A task lists the formats of its data (`Task.formats`); a format makes the reader of its files.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from heron.base.errors import ConfigError, Fix, Problem, nearest, raise_all
from heron.base.tables import Table, cell_text, is_missing, number_text, read_table, table_stem
from heron.base.terminal import say
from heron.data import TASKS
from heron.data.config import JOIN, DataConfig, JoinConfig
from heron.data.examples import Example, Span
from heron.languages import get_language
from heron.languages.unicode import normalise

# Whether each row needs a label, may have one, or is read without.
Labels = Literal["required", "optional", "ignored"]

SIDE = "data.columns.side"
_MOST_CLASSES = 1000  # distinct labels of a table where `data.label_order` is empty

# From a value of the joined column to the columns that `join.take` names.
Joined = Mapping[str, Mapping[str, Any]]

# Other names of these columns, for tables without the name that `data.columns` gives.
SYNONYMS = {
    "text": ("comment", "sentence", "content", "review", "tweet", "document", "body"),
    "premise": ("sentence1", "text1", "text_a", "context"),
    "hypothesis": ("sentence2", "text2", "text_b", "claim"),
    "label": ("gold_label", "labels", "class", "category", "sentiment", "target"),
    "context": ("paragraph", "passage", "text"),
    "article": ("text", "document", "source", "content", "body"),
    "summary": ("highlights", "abstract", "target", "headline"),
}

# What a format reads from a row: the text, the second text or None, the spans.
Texts = tuple[str, str | None, tuple[Span, ...]]


@dataclass(frozen=True, slots=True)
class Rows:
    """The content of one file."""

    examples: list[Example]  # the usable rows, in file order
    problems: list[Problem]  # why other rows are unusable, in file order
    # Number of rows left out under `data.unlabelled=drop`, by the content of their label cell.
    unlabelled: Mapping[str, int] = field(default_factory=dict)
    dropped: Sequence[tuple[str, str]] = ()  # reason and label of rows that the task leaves out
    # Ids of all rows that could be read, used or not, in file order; for a part of a file
    # (`read_chunks`), also the ids of the parts before it.
    guids: Sequence[str] = ()
    has_ids: bool = False  # whether the ids are the file's own, not `<file stem>:<line>`
    columns: Sequence[str] = ()  # of the file


# Reads a file of a data set, or rows of it, given whether each row needs a label, the column with
# the label, and the required columns with the configuration key that names each. Raises a DataError
# where there are no rows, or columns are missing.
Reader = Callable[[Path | Table, Labels, str, Mapping[str, str]], Rows]


@dataclass(frozen=True, slots=True)
class Format:
    """One data format: makes a reader, given the data set's files by name."""

    open: Callable[[DataConfig, Mapping[str, Path]], Reader]
    # Tells whether a file must be read as a whole, not some rows at a time.
    is_whole: Callable[[Path], bool] = lambda path: False
    # Writes the texts of `data.texts` to one file; gets the files by name, `paths.data` and the
    # cache. None for formats that read none.
    collect: Callable[[DataConfig, Mapping[str, Path], Path, Path], Path] | None = None


def own_table(source: Path | Table, config: DataConfig) -> Table:
    """Read a table, unless it has been read; columns get the names in `data.columns`.

    Names in other case, and `SYNONYMS`, are accepted if one column fits; it is said once.
    """
    quoting = config.quoting
    table = source if isinstance(source, Table) else read_table(source, "report", quoting=quoting)
    used, of_classes = config.columns, TASKS[config.task].has_classes
    others = (used.label,) if of_classes else (used.answer, used.answer_start, used.target)
    wanted = (used.text, used.text_pair, *others)
    free = [name for name in table.columns if name not in wanted]
    renamed = {}
    for column in filter(None, wanted):
        known = (column, *SYNONYMS.get(column, ()))
        found = [name for name in free if name.strip().casefold() in known]
        if column not in table.columns and len(found) == 1 and found[0] not in renamed:
            renamed[found[0]] = column
    if not renamed:
        return table
    said = ", ".join(f"{name} is {column}" for name, column in renamed.items())
    say(f"{table.path}: {said} (data.columns changes that)", about=f"columns {said}")
    rows = [{renamed.get(name, name): cell for name, cell in row.items()} for row in table.rows]
    columns = tuple(renamed.get(name, name) for name in table.columns)
    return replace(table, columns=columns, rows=rows)


def classes_in(path: Path, config: DataConfig) -> list[str]:
    """List the classes in a table's label column: numbers by size, others alphabetically.

    Raises:
        ConfigError: more than 1,000 classes: the column is no label.
    """
    from heron.base.tables import read_chunks

    found: dict[str, None] = {}
    for chunk in read_chunks(path, 10_000, config.quoting):
        table = own_table(chunk, config)
        table.require(keys={config.columns.label: "data.columns.label"})
        cells = (cell for cell in table.values(config.columns.label) if not is_missing(cell))
        found |= dict.fromkeys(cell_text(cell) for cell in cells)
        if len(found) > _MOST_CLASSES:
            raise ConfigError(
                f"{path}: '{config.columns.label}' has more than {_MOST_CLASSES} values: name the "
                "column of classes with data.columns.label=NAME"
            )
    classes = [each for each in found if each not in config.no_label]
    numbers = all(re.fullmatch(r"-?\d+", each) for each in classes)
    return sorted(classes, key=int if numbers else str)


def find_format(config: DataConfig) -> Format:
    """Find the format of a data set."""
    found: Format = TASKS[config.task].formats[config.format]
    return found


class LabelError(Exception):
    """A value that is not a class; its arguments say what is wrong, and how to fix it."""


class LabelReader:
    """Reads the cells of one label column by the data set's classes, aliases and `no_label`."""

    def __init__(self, config: DataConfig, column: str):
        self.column = column
        self.classes = config.label_order
        self.no_label = set(map(cell_text, config.no_label))
        known = {**config.label_aliases, **{name: name for name in config.label_order}}
        named = {cell_text(name): label for name, label in known.items()}
        self.exact = {name.removesuffix(".0"): label for name, label in named.items()} | named
        folded: dict[str, set[str]] = {}
        for name, label in self.exact.items():
            folded.setdefault(name.casefold(), set()).add(label)
        # Names that mean two classes if case is ignored are left out.
        self.folded = {name: min(labels) for name, labels in folded.items() if len(labels) == 1}

    def read(self, value: Any) -> str | None:
        """Find the class of a cell; None where the cell means that there is no gold label.

        A LabelError where it is neither a class name nor an alias.
        """
        if is_missing(value) or (text := cell_text(value)) in self.no_label:
            return None
        for name in (text, text.removesuffix(".0")):  # 1.0 of a spreadsheet is 1
            if found := self.exact.get(name) or self.folded.get(name.casefold()):
                return found
        name = f'"{text}"' if text.isdecimal() else "NAME"
        fix = (
            f"data.label_aliases={{{name}: CLASS}} maps labels of a file to classes",
            "data.columns.label=NAME names the label column",
        )
        raise LabelError(f"unknown {self.column} '{text}'.{nearest(text, self.exact, True)}", fix)


def read_labels(table: Table, config: DataConfig, joined: Joined | None = None) -> Rows:
    """Read ids, labels and groups of a table that may hold no texts; texts are empty."""
    label, no_texts = config.columns.label, ("", None, ())
    return RowReader(table, config, "required", label, lambda *_: no_texts, joined).read_all()


class TableReader(ABC):
    """Turns the rows of one table into examples and collects problems."""

    def __init__(self, table: Table, config: DataConfig, labels: Labels):
        self.table, self.config, self.labels = table, config, labels
        self.language = get_language(config.language)
        self.problems: list[Problem] = []
        self.unlabelled: Counter[str] = Counter()  # rows left out, by content of their label cell
        self.dropped: list[tuple[str, str]] = []  # reason and label of other rows left out
        self.lines: dict[str, int] = {} if table.ids is None else table.ids  # line of each guid

    @abstractmethod
    def read(self, index: int) -> Example | None:
        """Read one row; None when it cannot be used, with at least one more problem or count."""

    @property
    def has_ids(self) -> bool:
        """Whether the file has ids."""
        return self.config.columns.guid in self.table.columns

    def read_all(self) -> Rows:
        """Read every row; problems of the table are included, by line."""
        examples = [one for index in range(len(self.table)) if (one := self.read(index))]
        problems = sorted([*self.table.problems, *self.problems], key=lambda each: each.number)
        return Rows(
            examples,
            problems,
            self.unlabelled,
            self.dropped,
            guids=list(self.lines),
            has_ids=self.has_ids,
            columns=self.table.columns,
        )

    def guid(self, value: Any, line: int) -> str:
        """Read an id, which is unique in a file; without ids it is `<file stem>:<line>`."""
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

    def example(
        self, index: int, guid: str, text: str, side: Mapping[str, Any], group: Any, **fields: Any
    ) -> Example:
        """Make a row's example; `side` also gets its file, line and `data.columns.side`."""
        row, line, columns = self.table.rows[index], self.table.lines[index], self.config.columns
        usual = {"file": self.table.path.name, "line": line}
        usual |= {column: row.get(column) for column in columns.side}
        group = "" if is_missing(group) else cell_text(group)
        return Example(guid, text, group=group, side={**usual, **side}, **fields)

    def problem(self, line: int, what: str, fix: Fix) -> None:
        """Record what is wrong with a row, and how to fix it."""
        self.problems.append(Problem(f"{self.table.path}:{line}", what, fix))


class RowReader(TableReader):
    """Reads rows with a label and what `texts` reads, perhaps joined to a second table."""

    def __init__(
        self,
        table: Table,
        config: DataConfig,
        labels: Labels,
        label_column: str,
        texts: TextReader,
        joined: Joined | None = None,
    ):
        super().__init__(table, config, labels)
        self.joined, self.texts = joined, texts
        self.label_reader = LabelReader(config, label_column)
        self.truth_reader = LabelReader(config, config.columns.truth or label_column)

    @property
    def has_ids(self) -> bool:
        """Whether the file, or the joined one, has ids."""
        take = self.config.join.take if self.config.join and self.joined is not None else ()
        return super().has_ids or "guid" in take

    def read(self, index: int) -> Example | None:
        """Read one row, see `TableReader.read`."""
        row, line, columns = self.table.rows[index], self.table.lines[index], self.config.columns
        value = row.get(self.label_reader.column)
        found = len(self.problems)
        label = None if self.labels == "ignored" else self._label(value, line)
        joined = self._joined(row, line)
        named = {"guid": row.get(columns.guid), "group": row.get(columns.group or ""), **joined}
        guid = self.guid(named.pop("guid"), line)
        if self.labels == "required" and label is None and len(self.problems) == found:
            self.unlabelled["" if is_missing(value) else cell_text(value)] += 1
            return None
        text, text_pair, spans = self.texts(self, row, line)
        group = named.pop("group")
        if columns.truth is not None:
            named["truth"] = self._class(self.truth_reader, row.get(columns.truth), line)
        if len(self.problems) > found:
            return None
        texts = {"text_pair": text_pair, "spans": spans, "label": label}
        return self.example(index, guid, text, named, group, **texts)

    def text(self, row: Mapping[str, Any], line: int, column: str) -> str:
        """Normalise one text; a missing text is a problem, and returned empty."""
        value = number_text(row[column])
        if is_missing(value) or not isinstance(value, str):
            what = "is empty" if is_missing(value) else f"is not text: {value!r}"
            self.problem(line, f"'{column}' {what}", "one text in each row")
            return ""
        text = normalise(value, self.language, self.config.unicode).strip()
        if not text:
            self.problem(line, f"'{column}' holds invisible characters only", "one text, or no row")
        return text

    def _class(self, reader: LabelReader, value: Any, line: int) -> str | None:
        try:
            return reader.read(value)
        except LabelError as error:
            self.problem(line, *error.args)
            return None

    def _label(self, value: Any, line: int) -> str | None:
        found = len(self.problems)
        label = self._class(self.label_reader, value, line)
        refuses = self.labels == "required" and self.config.unlabelled == "refuse"
        if label is None and refuses and len(self.problems) == found:
            name, allowed = self.label_reader.column, ", ".join(self.config.label_order)
            what = "is empty" if is_missing(value) else f"is '{value}', which is no gold label"
            fix = (f"allowed: {allowed}", "data.unlabelled=drop leaves such rows out")
            self.problem(line, f"'{name}' {what}", fix)
        return label

    def _joined(self, row: Mapping[str, Any], line: int) -> Mapping[str, Any]:
        join = self.config.join
        if self.joined is None or join is None:
            return {}
        if row[join.key] not in self.joined:
            name = Path(self.config.files[JOIN].path).name
            self.problem(line, f"no row of {name} has this {join.key}", "see data.join")
            return {}
        return self.joined[row[join.key]]


# Reads the texts of one row, given the reader, the row and its line.
TextReader = Callable[[RowReader, Mapping[str, Any], int], Texts]


def open_table(
    texts: TextReader, config: DataConfig, files: Mapping[str, Path], *columns: str
) -> Reader:
    """Make a reader of tables with one labelled example in each row; `files` may have `join`.

    `columns` are required besides those that `data.columns` names.
    """
    joined = read_join(files[JOIN], config.join) if config.join and JOIN in files else None

    def read(
        source: Path | Table, labels: Labels, label_column: str, keys: Mapping[str, str]
    ) -> Rows:
        table = own_table(source, config)
        table.require(*columns, keys=keys)
        return RowReader(table, config, labels, label_column, texts, joined).read_all()

    return read


def read_join(path: Path, join: JoinConfig) -> Joined:
    """Read a second table, each row under the value of its key, which must not repeat."""
    table = read_table(path)
    table.require(join.key, *join.take.values())
    raise_all(table.duplicates(join.key))
    return {
        row[join.key]: {name: row[column] for name, column in join.take.items()}
        for row in table.rows
    }
