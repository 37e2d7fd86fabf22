"""From the rows of a table to `Example`s: formats, labels, ids, texts, joined columns.

A task lists the formats of its data (`Task.formats`); a format makes the reader of its files.
"""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from heron.base.errors import ConfigError, Fix, Problem, nearest, raise_all
from heron.base.tables import (
    FileTable,
    NotTextError,
    cell_text,
    is_missing,
    number_text,
    read_table,
    table_stem,
    text_or_empty,
)
from heron.base.terminal import say
from heron.data import TASKS
from heron.data.annotation_tools import REGIONS, plain_table
from heron.data.config import JOIN, DataConfig, JoinConfig
from heron.data.examples import Example, Span
from heron.languages import get_language
from heron.languages.unicode import normalise

# Whether each row needs a label, may have one, or is read without.
Labels = Literal["required", "optional", "ignored"]

SIDE = "data.columns.side"
ONE_LABEL = "one label in each row: leave out rows with several, or repeat them with one each"
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
    # The cells of each example's row by the file's own names; empty unless `with_cells` adds them.
    cells: Sequence[Mapping[str, Any]] = ()

    def part(self, start: int, size: int) -> Rows:
        """Return some of the examples; the first part has the problems and counts of all."""
        examples = self.examples[start : start + size]
        cells = self.cells[start : start + size]
        if start:
            return Rows(examples, [], cells=cells)
        return replace(self, examples=examples, cells=cells)


def with_cells(rows: Rows, table: FileTable) -> Rows:
    """Add the cells of the table's row to each example that was read from it."""
    by_line = dict(zip(table.lines, table.rows, strict=True))
    absent = dict.fromkeys(table.columns)
    cells = [absent | by_line[example.side["line"]] for example in rows.examples]
    return replace(rows, cells=cells)


# Reads a file of a data set, or rows of it, given whether each row needs a label, the column with
# the label, and the required columns with the configuration key that names each. Raises a DataError
# where there are no rows, or columns are missing.
Reader = Callable[[Path | FileTable, Labels, str, Mapping[str, str]], Rows]


@dataclass(frozen=True, slots=True)
class Format:
    """One data format: makes a reader, given the data set's files by name."""

    open: Callable[[DataConfig, Mapping[str, Path]], Reader]
    # Tells whether a file must be read as a whole, not some rows at a time.
    is_whole: Callable[[Path], bool] = lambda path: False
    # Writes the texts of `data.texts` to one file; gets the files by name, `paths.data` and the
    # cache. None for formats that read none.
    collect: Callable[[DataConfig, Mapping[str, Path], Path, Path], Path] | None = None


def own_table(source: Path | FileTable, config: DataConfig) -> FileTable:
    """Read a table, unless it has been read; columns get the names in `data.columns`.

    An export of an annotation tool becomes a table, in which a single further column is the label.

    Names in other case, and `SYNONYMS`, are accepted if exactly one column of the table fits; the
    user is told once.

    Args:
        source: a file, or rows of it as `plain_table` makes them.
        config: of the data set.
    """
    table = source
    if not isinstance(table, FileTable):
        table = plain_table(read_table(table, "report", quoting=config.quoting))

    used = config.columns
    wanted = [used.text, used.text_pair]
    if TASKS[config.task].has_classes:
        wanted.append(used.label)
    else:
        wanted += [used.answer, used.answer_start, used.target]

    free = [name for name in table.columns if name not in wanted]
    new_names: dict[str, str] = {}
    for column in wanted:
        if not column or column in table.columns:
            continue
        synonyms = (column, *SYNONYMS.get(column, ()))
        candidates = [name for name in free if name.strip().casefold() in synonyms]
        if not candidates and column == used.label and REGIONS in table.columns:
            candidates = [name for name in free if name not in (REGIONS, "id", *new_names)]
        if len(candidates) == 1:
            new_names.setdefault(candidates[0], column)
    if not new_names:
        return table

    renamings = ", ".join(f"{name} is {column}" for name, column in new_names.items())
    say(f"{table.path}: {renamings} (data.columns changes that)", about=f"columns {renamings}")
    columns = tuple(new_names.get(name, name) for name in table.columns)
    rows = []
    for row in table.rows:
        rows.append({new_names.get(name, name): cell for name, cell in row.items()})
    return replace(table, columns=columns, rows=rows)


def classes_in(
    path: Path, config: DataConfig, aliases: Mapping[Any, str]
) -> tuple[list[str], dict[str, str]]:
    """List the classes in a table's label column: numbers by size, others alphabetically.

    Labels that differ in case only, and 1.0 and 1, are one class, named as most of them; the user
    is told once.

    Args:
        path: the table.
        config: of the data set, without classes.
        aliases: class names by the labels of the file.

    Returns:
        The classes, and the class of each label that was merged.

    Raises:
        ConfigError: more than 1,000 classes: the column is no label.
        DataError: cells that hold several values.
    """
    counts = _count_labels(path, config)
    named = {cell_text(alias): name for alias, name in aliases.items()}
    are_numbers = all(re.fullmatch(r"-?\d+", label) for label in counts)
    labels = sorted(counts, key=int if are_numbers else str)
    names = [named.get(label, label) for label in labels]

    by_frequency = [label for label, _ in counts.most_common()]
    class_of = merge_cases([*named.values(), *by_frequency])
    classes = list(dict.fromkeys(class_of[name] for name in names))
    merged = {name: class_of[name] for name in names if name != class_of[name]}
    if merged:
        pairs = ", ".join(f"{name}: {label}" for name, label in merged.items())
        apart = ",".join(names)
        say(
            f"{path}: labels that differ in case only are one class, "
            f"'data.label_aliases={{{pairs}}}' (data.label_order=[{apart}] keeps them apart)"
        )
    return classes, merged


def _count_labels(path: Path, config: DataConfig) -> Counter[str]:
    """Count the values of a table's label column that are labels; raises as `classes_in`."""
    from heron.base.tables import read_chunks

    column = config.columns.label
    counts = Counter[str]()
    problems: list[Problem] = []
    for chunk in read_chunks(path, 10_000, config.quoting):
        table = own_table(plain_table(chunk), config)
        table.require(keys={column: "data.columns.label"})
        for index, cell in enumerate(table.values(column)):
            try:
                counts[text_or_empty(cell)] += 1
            except NotTextError as error:
                problems.append(table.problem(index, f"'{column}' {error}", ONE_LABEL))
        if len(counts) > _MOST_CLASSES:
            raise ConfigError(
                f"{path}: '{column}' has more than {_MOST_CLASSES} values: name the "
                "column of classes with data.columns.label=NAME"
            )

    raise_all(problems)
    for label in ("", *config.no_label):
        counts.pop(label, None)
    return counts


def merge_cases(labels: Iterable[str]) -> dict[str, str]:
    """Map labels that differ in case only, and 1.0 and 1, to the first of them."""
    first: dict[str, str] = {}
    return {label: first.setdefault(_folded(label), label) for label in labels}


def _folded(label: str) -> str:
    """Write a label without case, and 1.0 as 1."""
    return re.sub(r"^(-?\d+)\.0+$", r"\1", label.casefold())


def find_format(config: DataConfig) -> Format:
    """Find the format of a data set."""
    format: Format = TASKS[config.task].formats[config.format]
    return format


class LabelError(Exception):
    """A value that is not a class; its arguments say what is wrong, and how to fix it."""


def _without_case(classes: Mapping[str, str]) -> dict[str, str]:
    """Map names without case to classes; names that then mean two classes are left out."""
    several: defaultdict[str, set[str]] = defaultdict(set)
    for name, label in classes.items():
        several[name.casefold()].add(label)
    return {name: min(labels) for name, labels in several.items() if len(labels) == 1}


class LabelReader:
    """Reads the cells of one label column by the data set's classes, aliases and `no_label`."""

    def __init__(self, config: DataConfig, column: str):
        self.column = column
        self.classes = config.label_order
        self.no_label = {cell_text(name) for name in config.no_label}

        # Class names and aliases to classes; a spreadsheet's 1.0 is also found as 1.
        named = {cell_text(alias): label for alias, label in config.label_aliases.items()}
        named |= {cell_text(label): label for label in config.label_order}
        without_zero = {name.removesuffix(".0"): label for name, label in named.items()}
        self.exact = without_zero | named
        self.folded = _without_case(self.exact)

    def read(self, value: Any) -> str | None:
        """Find the class of a cell; None where the cell means that there is no gold label.

        Raises:
            LabelError: it is neither a class name nor an alias, or several.
        """
        if is_missing(value):
            return None
        try:
            text = cell_text(value)
        except NotTextError as error:
            raise LabelError(f"'{self.column}' {error}", ONE_LABEL) from error
        if text in self.no_label:
            return None

        for name in (text, text.removesuffix(".0")):  # 1.0 of a spreadsheet is 1
            label = self.exact.get(name) or self.folded.get(name.casefold())
            if label:
                return label

        shown = json.dumps(text, ensure_ascii=False)
        fix = (
            f"'data.label_aliases={{{shown}: CLASS}}' maps labels of a file to classes",
            "data.columns.label=NAME names the label column",
        )
        hint = nearest(text, self.exact, listed=True)
        raise LabelError(f"unknown {self.column} '{text}'.{hint}", fix)


def read_labels(table: FileTable, config: DataConfig, joined: Joined | None = None) -> Rows:
    """Read ids, labels and groups of a table that may hold no texts; texts are empty."""
    label = config.columns.label
    reader = RowReader(table, config, "required", label, lambda *_: ("", None, ()), joined)
    return reader.read_all()


class TableReader(ABC):
    """Turns the rows of one table into examples and collects problems."""

    def __init__(self, table: FileTable, config: DataConfig, labels: Labels):
        self.table = table
        self.config = config
        self.labels = labels
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
        examples = []
        for index, line in enumerate(self.table.lines):
            try:
                examples.append(self.read(index))
            except NotTextError as error:  # an id or a group
                self.problem(line, f"a cell {error}", "one value in each cell")
        problems = [*self.table.problems, *self.problems]
        return Rows(
            [example for example in examples if example is not None],
            sorted(problems, key=lambda problem: problem.number),
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
            stem = table_stem(self.table.path)
            value = f"{stem}:{line}"
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
        """Make a row's example.

        Args:
            index: of the row in the table.
            guid: its id.
            text: its first text.
            side: further values of `Example.side`, beside file, line and `data.columns.side`.
            group: a cell, which may be missing.
            fields: of the example.
        """
        row = self.table.rows[index]
        columns = self.config.columns
        origin = {"file": self.table.path.name, "line": self.table.lines[index]}
        kept = {column: row.get(column) for column in columns.side}
        whole_side = {**origin, **kept, **side}
        return Example(guid, text, group=text_or_empty(group), side=whole_side, **fields)

    def problem(self, line: int, what: str, fix: Fix) -> None:
        """Record what is wrong with a row, and how to fix it."""
        self.problems.append(Problem(f"{self.table.path}:{line}", what, fix))


class RowReader(TableReader):
    """Reads rows with a label and what `texts` reads, perhaps joined to a second table.

    Args:
        table: the rows.
        config: of the data set.
        labels: whether each row needs a label.
        label_column: the column with the label.
        texts: reads the texts of a row.
        joined: the second table, by the values of its key; None: there is none.
    """

    def __init__(
        self,
        table: FileTable,
        config: DataConfig,
        labels: Labels,
        label_column: str,
        texts: TextReader,
        joined: Joined | None = None,
    ):
        super().__init__(table, config, labels)
        self.joined = joined
        self.texts = texts
        self.label_reader = LabelReader(config, label_column)
        self.truth_reader = LabelReader(config, config.columns.truth or label_column)

    @property
    def has_ids(self) -> bool:
        """Whether the file, or the joined one, has ids."""
        join = self.config.join
        if join is not None and self.joined is not None and "guid" in join.take:
            return True
        return super().has_ids

    def read(self, index: int) -> Example | None:
        """Read one row, see `TableReader.read`."""
        row = self.table.rows[index]
        line = self.table.lines[index]
        columns = self.config.columns
        before = len(self.problems)

        label_cell = row.get(self.label_reader.column)
        label = None
        if self.labels != "ignored":
            label = self._label(label_cell, line)

        values = {"guid": row.get(columns.guid), "group": row.get(columns.group or "")}
        values |= self._joined(row, line)
        guid = self.guid(values.pop("guid"), line)
        group = values.pop("group")

        if self.labels == "required" and label is None and len(self.problems) == before:
            self.unlabelled[text_or_empty(label_cell)] += 1
            return None

        text, text_pair, spans = self.texts(self, row, line)
        if columns.truth is not None:
            values["truth"] = self._class(self.truth_reader, row.get(columns.truth), line)
        if len(self.problems) > before:
            return None

        return self.example(
            index, guid, text, values, group, text_pair=text_pair, spans=spans, label=label
        )

    def text(self, row: Mapping[str, Any], line: int, column: str) -> str:
        """Normalise one text; a missing text is a problem, and returned empty."""
        value = number_text(row[column])
        if is_missing(value):
            self.problem(line, f"'{column}' is empty", "one text in each row")
            return ""
        if not isinstance(value, str):
            self.problem(line, f"'{column}' is not text: {value!r}", "one text in each row")
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
        """Read the label; a missing one is a problem where labels are required."""
        before = len(self.problems)
        label = self._class(self.label_reader, value, line)
        is_unlabelled = label is None and len(self.problems) == before
        if is_unlabelled and self.labels == "required" and self.config.unlabelled == "refuse":
            allowed = ", ".join(self.config.label_order)
            what = "is empty" if is_missing(value) else f"is '{value}', which is no gold label"
            fix = (f"allowed: {allowed}", "data.unlabelled=drop leaves such rows out")
            self.problem(line, f"'{self.label_reader.column}' {what}", fix)
        return label

    def _joined(self, row: Mapping[str, Any], line: int) -> Mapping[str, Any]:
        """Look up the columns that the second table has for a row; a row without is a problem."""
        join = self.config.join
        if self.joined is None or join is None:
            return {}
        key = row[join.key]
        if key not in self.joined:
            name = Path(self.config.files[JOIN].path).name
            self.problem(line, f"no row of {name} has this {join.key}", "see data.join")
            return {}
        return self.joined[key]


# Reads the texts of one row, given the reader, the row and its line.
TextReader = Callable[[RowReader, Mapping[str, Any], int], Texts]


def open_table(
    texts: TextReader, config: DataConfig, files: Mapping[str, Path], *columns: str
) -> Reader:
    """Make a reader of tables with one labelled example in each row.

    Args:
        texts: reads the texts of a row.
        config: of the data set.
        files: the data set's files by name; `join` is read at once, if it is among them.
        columns: required besides those that `data.columns` names.
    """
    joined: Joined | None = None
    if config.join and JOIN in files:
        joined = read_join(files[JOIN], config.join)

    def read(
        source: Path | FileTable, labels: Labels, label_column: str, keys: Mapping[str, str]
    ) -> Rows:
        table = own_table(source, config)
        table.require(*columns, keys=keys)
        return RowReader(table, config, labels, label_column, texts, joined).read_all()

    return read


def read_join(path: Path, join: JoinConfig) -> Joined:
    """Read the second table of a join.

    Returns:
        The columns to take from each row, by the value of its key.

    Raises:
        DataError: a column is missing, or a key is repeated.
    """
    table = read_table(path)
    table.require(join.key, *join.take.values())
    raise_all(table.duplicates(join.key))
    joined = {}
    for row in table.rows:
        joined[row[join.key]] = {name: row[column] for name, column in join.take.items()}
    return joined
