"""Raw texts, one per row, from tables, text files and treebanks."""

from collections.abc import Mapping
from pathlib import Path

from heron.base.errors import Problem
from heron.base.registry import on_demand
from heron.base.tables import (
    Table,
    is_missing,
    number_text,
    open_text,
    opened,
    read_table,
    table_format,
    undecodable,
)
from heron.data.config import DataConfig
from heron.data.examples import Example
from heron.data.rows import SIDE, Format, Labels, Reader, Rows, TableReader
from heron.languages.unicode import normalise
from heron_tools.mlm.task import TEXT

LEFT_OUT = "heron: left out"  # column of collected texts: a left-out row's reason
COPY = "copies"
_SUFFIXES = (".txt", ".conllu")


def open_texts(config: DataConfig, files: Mapping[str, Path]) -> Reader:
    """Make a reader of texts; in training, duplicates are left out and counted."""
    columns = config.columns

    def read(
        source: Path | Table, labels: Labels, label_column: str, keys: Mapping[str, str]
    ) -> Rows:
        table = source if isinstance(source, Table) else text_table(source, config)
        needed = {column: SIDE for column, key in keys.items() if key == SIDE}
        table.require(keys={**needed, columns.text: "data.columns.text"})
        return TextReader(table, config, labels).read_all()

    return read


class TextReader(TableReader):
    """Turns the rows of one table of texts into examples, and collects problems."""

    def __init__(self, table: Table, config: DataConfig, labels: Labels):
        super().__init__(table, config, labels)
        self.known: set[str] = set()

    def read(self, index: int) -> Example | None:
        """See `TableReader.read`."""
        row, line, columns = self.table.rows[index], self.table.lines[index], self.config.columns
        found, guid = len(self.problems), self.guid(row.get(columns.guid), line)
        if reason := row.get(LEFT_OUT):
            self.dropped.append((reason, TEXT))
            return None
        value = number_text(row[columns.text])
        text = (
            "" if is_missing(value) else normalise(str(value), self.language, self.config.unicode)
        )
        if not (text := text.strip()) or not isinstance(value, str):
            what = f"'{columns.text}' is no text with visible characters: {value!r:.60}"
            self.problem(line, what, "one text in each row")
        if len(self.problems) > found:
            return None
        if self.labels == "required" and text in self.known:
            self.dropped.append((COPY, TEXT))
            return None
        self.known.add(text)
        return self.example(index, guid, text, {}, row.get(columns.group or ""), label=TEXT)


def text_table(path: Path, config: DataConfig) -> Table:
    """Read a file, also compressed (.gz), as a table with a column of texts.

    Each non-blank line of a .txt file is a text, and each sentence of a CoNLL-U file (its
    `# text`). Other files are read as tables with their own columns.

    Raises:
        DataError: the file cannot be read, or is of another type.
    """
    kind, column = table_format(path), config.columns.text
    if kind not in _SUFFIXES:
        return read_table(path, bad_rows="report", quoting=config.quoting)
    if kind == ".conllu":
        from heron_tools.morphology.conllu import read_conllu

        found = [(int(s.where.rpartition(":")[2]), s.text) for s in read_conllu(path)]
    else:
        with opened(path) as file:
            lines = enumerate(open_text(file, "\n"), 1)
            found = [(n, line.rstrip("\n")) for n, line in lines if line.strip()]
    problems = [Problem(f"{path}:{n}", bad) for n, text in found if (bad := undecodable(text))]
    if not found:
        problems = [Problem(str(path), "has no texts", "at least one is needed")]
    rows = [{column: text} for _, text in found]
    return Table(path, (column,), rows, [number for number, _ in found], problems)


TEXTS = Format(
    open_texts,
    is_whole=lambda path: table_format(path) in _SUFFIXES,
    collect=on_demand("heron_tools.mlm.collecting:collect"),  # it needs this module
)
