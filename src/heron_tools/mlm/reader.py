"""Raw texts, one per row, from tables, text files and treebanks."""

from collections.abc import Mapping
from pathlib import Path

from heron.base.errors import Problem
from heron.base.registry import on_demand
from heron.base.tables import (
    FileTable,
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
        source: Path | FileTable, labels: Labels, label_column: str, keys: Mapping[str, str]
    ) -> Rows:
        table = source if isinstance(source, FileTable) else text_table(source, config)
        needed = {column: SIDE for column, key in keys.items() if key == SIDE}
        table.require(keys={**needed, columns.text: "data.columns.text"})
        return TextReader(table, config, labels).read_all()

    return read


class TextReader(TableReader):
    """Turns the rows of one table of texts into examples, and collects problems."""

    def __init__(self, table: FileTable, config: DataConfig, labels: Labels):
        super().__init__(table, config, labels)
        self.known: set[str] = set()

    def read(self, index: int) -> Example | None:
        """See `TableReader.read`."""
        row = self.table.rows[index]
        line = self.table.lines[index]
        columns = self.config.columns
        problems_before = len(self.problems)
        guid = self.guid(row.get(columns.guid), line)
        reason = row.get(LEFT_OUT)
        if reason:
            self.dropped.append((reason, TEXT))
            return None

        value = number_text(row[columns.text])
        text = ""
        if isinstance(value, str):
            text = normalise(value, self.language, self.config.unicode).strip()
        if not text:
            problem = f"'{columns.text}' is no text with visible characters: {value!r:.60}"
            self.problem(line, problem, "one text in each row")
        if len(self.problems) > problems_before:
            return None

        if self.labels == "required" and text in self.known:
            self.dropped.append((COPY, TEXT))
            return None
        self.known.add(text)
        group = row.get(columns.group or "")
        return self.example(index, guid, text, {}, group, label=TEXT)


def text_table(path: Path, config: DataConfig) -> FileTable:
    """Read a file, also compressed (.gz), as a table with a column of texts.

    Each non-blank line of a .txt file is a text, and each sentence of a CoNLL-U file (its
    `# text`). Other files are read as tables with their own columns.

    Raises:
        DataError: the file cannot be read, or is of another type.
    """
    kind = table_format(path)
    column = config.columns.text
    if kind not in _SUFFIXES:
        return read_table(path, bad_rows="report", quoting=config.quoting)

    texts: dict[int, str] = {}  # by line
    if kind == ".conllu":
        from heron_tools.morphology.conllu import read_conllu

        for sentence in read_conllu(path):
            number = int(sentence.where.rpartition(":")[2])
            texts[number] = sentence.text
    else:
        with opened(path) as file:
            for number, line in enumerate(open_text(file, "\n"), 1):
                if line.strip():
                    texts[number] = line.rstrip("\n")

    problems = []
    for number, text in texts.items():
        if problem := undecodable(text):
            problems.append(Problem(f"{path}:{number}", problem))
    if not texts:
        problems.append(Problem(str(path), "has no texts", "at least one is needed"))
    rows = [{column: text} for text in texts.values()]
    return FileTable(path, (column,), rows, list(texts), problems)


TEXTS = Format(
    open_texts,
    is_whole=lambda path: table_format(path) in _SUFFIXES,
    collect=on_demand("heron_tools.mlm.collecting:collect"),  # it needs this module
)
