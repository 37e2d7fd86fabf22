"""Sentences of words with tags: CoNLL and BMES files, and tables with lists of both."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from heron.base.errors import DataError
from heron.base.tables import SUFFIXES, FileTable, read_bytes, read_table, table_format
from heron.data.config import Columns, DataConfig
from heron.data.examples import Example
from heron.data.rows import Format, Labels, Reader, Rows, TableReader
from heron.languages.unicode import normalise

OUTSIDE = "O"
_DOCUMENT = "-DOCSTART-"


def is_lines(path: Path) -> bool:
    """Tell whether a file has one word per line."""
    return table_format(path) not in SUFFIXES


def open_sentences(config: DataConfig, files: Mapping[str, Path]) -> Reader:
    """Make a reader; `data.columns.text` and `.label` name the lists of words and of tags."""

    def read(source: Path | FileTable, labels: Labels, label: str, keys: Mapping[str, str]) -> Rows:
        if isinstance(source, Path) and is_lines(source):
            source = lines_table(source, config.columns)
        if isinstance(source, Path):
            source = read_table(source, "report", quoting=config.quoting)
        source.require(config.columns.text)
        return SentenceReader(source, config, labels).read_all()

    return read


def lines_table(path: Path, columns: Columns) -> FileTable:
    """Read a file with one word per line and, after the line's last blank, its tag.

    Sentences are separated by empty lines. In a file whose lines all have three columns or more, as
    those of CoNLL 2002 and 2003 have, words are the first column, and tags the last one.

    Returns:
        A row for each sentence, with the number of its first line.
    """
    try:
        lines = read_bytes(path).decode("utf-8-sig").split("\n")
    except UnicodeDecodeError as error:
        raise DataError(str(path), f"cannot be read: {error}") from error

    counts = {len(_cells(line)) for line in lines if not _is_boundary(line)}
    has_columns = len(counts) == 1 and min(counts) > 2
    table = FileTable(path, (columns.text, columns.label), [], [], [])
    in_sentence = False
    for number, line in enumerate(lines, 1):
        if _is_boundary(line):
            in_sentence = False
            continue

        if not in_sentence:
            words: list[str] = []
            tags: list[str] = []
            row = {columns.text: words, columns.label: tags}
            table.rows.append(row)
            table.lines.append(number)
            in_sentence = True

        word, *tag = line.rsplit(None, 1)
        if has_columns:
            word = _cells(line)[0]
        words.append(word)
        tags += tag  # none on a line of one word, which the reader reports
    return table


def _is_boundary(line: str) -> bool:
    """Tell whether a line separates sentences: it is empty, or begins a document."""
    return not line.strip() or line.startswith(_DOCUMENT)


def _cells(line: str) -> list[str]:
    """Split a line at tabs or, without any, at blanks."""
    return re.split("\t" if "\t" in line else " +", line.strip())


class SentenceReader(TableReader):
    """Sentences as examples: words in `text` and tags in `target`, joined by spaces."""

    def read(self, index: int) -> Example | None:
        """See `TableReader.read`."""
        row = self.table.rows[index]
        line = self.table.lines[index]
        columns = self.config.columns
        guid = self.guid(row.get(columns.guid), line)

        words = split_cell(row[columns.text])
        tags = []
        if self.labels != "ignored":
            tags = split_cell(row.get(columns.label))

        problems_before = len(self.problems)
        if not words or (tags and len(tags) != len(words)):
            counts = f"{len(words)} words, {len(tags)} tags"
            self.problem(line, counts, "a tag for each word")

        unknown = set(tags).difference(self.config.label_order)
        if unknown:
            names = ", ".join(sorted(unknown))
            self.problem(line, f"unknown tags {names}", "data.label_order lists them")

        if len(self.problems) > problems_before:
            return None

        if not tags and self.labels == "required":
            self.unlabelled[""] += 1
            return None

        text = " ".join(self.spell(word) for word in words)
        group = row.get(columns.group or "")
        gold = {}
        if tags:
            gold["label"] = first_entity_tag(tags)
            gold["target"] = " ".join(tags)
        return self.example(index, guid, text, {}, group, **gold)

    def spell(self, word: str) -> str:
        """Normalise a word; blanks inside it become no-break spaces."""
        pieces = normalise(word, self.language, self.config.unicode).split()
        return "\u00a0".join(pieces or word.split())


def first_entity_tag(tags: Sequence[str]) -> str:
    """Return the tag of the first word in an entity, which is the label of a sentence."""
    for tag in tags:
        if tag != OUTSIDE:
            return tag
    return OUTSIDE


def split_cell(cell: object) -> list[str]:
    """List the words, or the tags, of a cell: a list, or a text with blanks."""
    if isinstance(cell, str):
        return cell.split()
    return list(cell or [])  # type: ignore[call-overload]


TAGGED_WORDS = Format(open_sentences, is_whole=is_lines)
