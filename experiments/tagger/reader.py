"""Sentences of words with tags: CoNLL and BMES files, and tables with lists of both."""

from collections.abc import Mapping
from itertools import groupby
from pathlib import Path

from heron.base.errors import DataError
from heron.base.tables import SUFFIXES, Table, read_bytes, read_table, table_format
from heron.data.config import Columns, DataConfig
from heron.data.examples import Example
from heron.data.rows import Format, Labels, Reader, Rows, TableReader
from heron.languages.unicode import normalise

OUTSIDE = "O"


def is_lines(path: Path) -> bool:
    """Tell whether a file has one word per line."""
    return table_format(path) not in SUFFIXES


def open_sentences(config: DataConfig, files: Mapping[str, Path]) -> Reader:
    """Make a reader; `data.columns.text` and `.label` name the lists of words and of tags."""

    def read(source: Path | Table, labels: Labels, label: str, keys: Mapping[str, str]) -> Rows:
        if isinstance(source, Path) and is_lines(source):
            source = lines_table(source, config.columns)
        if isinstance(source, Path):
            source = read_table(source, "report", quoting=config.quoting)
        source.require(config.columns.text)
        return SentenceReader(source, config, labels).read_all()

    return read


def lines_table(path: Path, columns: Columns) -> Table:
    """Read a file with one word per line and, after the line's last blank, its tag."""
    try:
        lines = enumerate(read_bytes(path).decode("utf-8-sig").split("\n"), 1)
    except UnicodeDecodeError as error:
        raise DataError(str(path), f"cannot be read: {error}") from error
    table = Table(path, (columns.text, columns.label), [], [], [])
    for has_words, group in groupby(lines, lambda line: bool(line[1].strip())):
        numbers, rows = zip(*group, strict=True)
        if has_words:
            cells = [[*row.rsplit(None, 1), ""][:2] for row in rows]
            words, tags = ([*filter(None, each)] for each in zip(*cells, strict=True))
            table.rows.append({columns.text: words, columns.label: tags})
            table.lines.append(numbers[0])
    return table


class SentenceReader(TableReader):
    """Sentences as examples: words in `text` and tags in `target`, joined by spaces."""

    def read(self, index: int) -> Example | None:
        """See `TableReader.read`; blanks inside a word become no-break spaces."""
        row, line, columns = self.table.rows[index], self.table.lines[index], self.config.columns
        found, guid = len(self.problems), self.guid(row.get(columns.guid), line)
        words, tags = (
            cell.split() if isinstance(cell, str) else list(cell or [])
            for cell in (row[columns.text], row.get(columns.label))
        )
        tags = [] if self.labels == "ignored" else tags
        if not words or (tags and len(tags) != len(words)):
            self.problem(line, f"{len(words)} words, {len(tags)} tags", "a tag for each word")
        if unknown := sorted({*tags} - {*self.config.label_order}):
            self.problem(line, f"unknown tags {', '.join(unknown)}", "data.label_order lists them")
        if len(self.problems) > found:
            return None
        if not tags and self.labels == "required":
            self.unlabelled[""] += 1
            return None
        spelt = (normalise(word, self.language, self.config.unicode).split() for word in words)
        text = " ".join("\u00a0".join(s or w.split()) for s, w in zip(spelt, words, strict=True))
        first = next((tag for tag in tags if tag != OUTSIDE), OUTSIDE)
        gold = {"label": first, "target": " ".join(tags)} if tags else {}
        return self.example(index, guid, text, {}, row.get(columns.group or ""), **gold)


TAGGED_WORDS = Format(open_sentences, is_whole=is_lines)
