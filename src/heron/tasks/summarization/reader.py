"""From a table of articles to `Example`s: the article is `text`, its summary `target`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from heron.base.errors import Fix, Problem
from heron.base.tables import Table, as_table, cell_text, is_missing, table_stem
from heron.config.data import DataConfig
from heron.data.examples import Example
from heron.data.rows import SIDE, Format, Labels, Reader, Rows, require_columns
from heron.languages import get_language
from heron.languages.unicode import normalise
from heron.languages.words import words
from heron.tasks.summarization.task import SUMMARY

EMPTY, OTHER_SCRIPT, SHORT = "empty", "other script", "short summary"
# Key in `Example.side` of article and summary before normalisation, if `data.unicode` changes them.
GIVEN = "texts as given"


def open_articles(config: DataConfig, files: Mapping[str, Path]) -> Reader:
    """Make a reader of tables of articles."""

    def read(
        source: Path | Table, labels: Labels, label_column: str, keys: Mapping[str, str]
    ) -> Rows:
        side = [column for column in keys if keys[column] == SIDE]
        return read_articles(source, config, labels, side)

    return read


def read_articles(
    source: Path | Table, config: DataConfig, labels: Labels, side: Sequence[str] = ()
) -> Rows:
    """Read one table of articles.

    Args:
        source: .csv, .tsv, .jsonl, .json or .parquet; or its rows.
        config: the data set.
        labels: `optional`: a row without a summary is unlabelled.
        side: columns of `data.columns.side`, which are needed.

    Raises:
        DataError: no rows, or missing columns.
    """
    table = as_table(source)
    columns = config.columns
    keys = {**dict.fromkeys(side, SIDE), columns.text: "data.columns.text"}
    if labels == "required":
        keys[columns.target] = "data.columns.target"
    require_columns(table, keys)
    reader = ArticleReader(table, config, labels)
    examples = [example for index in range(len(table)) if (example := reader.read(index))]
    problems = [*table.problems, *reader.problems]
    has_ids = columns.guid in table.columns
    return Rows(examples, problems, reader.unlabelled, reader.dropped, list(reader.lines), has_ids)


def as_given(example: Example) -> tuple[str, str | None]:
    """Return an article and its summary before normalisation, as ROUGE compares them."""
    given: tuple[str, str | None] = example.side.get(GIVEN, (example.text, example.target))
    return given


def other_script(text: str, alphabet: Container[str]) -> float:
    """Compute the fraction of a text's letters outside a lower-case alphabet; 1 without letters."""
    letters = [letter for letter in text.lower() if letter.isalpha()]
    return sum(letter not in alphabet for letter in letters) / len(letters) if letters else 1.0


class ArticleReader:
    """Turns the rows of one table into examples, and collects problems; see `read_articles`."""

    def __init__(self, table: Table, config: DataConfig, labels: Labels):
        self.table, self.config, self.labels = table, config, labels
        self.problems: list[Problem] = []
        self.unlabelled: Counter[str] = Counter()
        self.dropped: list[tuple[str, str]] = []  # reason and label of rows left out
        self.lines: dict[str, int] = {} if table.ids is None else table.ids  # of each guid
        language = get_language(config.language)
        self.alphabet = frozenset(language.alphabet)
        self.normalise = partial(normalise, language=language, options=config.unicode)

    def read(self, index: int) -> Example | None:
        """Read one row; None where it is not used, with at least one more problem or count."""
        row, line, columns = self.table.rows[index], self.table.lines[index], self.config.columns
        found, left_out = len(self.problems), len(self.dropped)
        guid = self._guid(row, line)
        text = self._text(row[columns.text], columns.text, line)
        target = self._target(row, line)
        if len(self.problems) > found or len(self.dropped) > left_out:
            del self.dropped[left_out + 1 :]  # count a row with two empty texts once
            return None
        if target is None and self.labels == "required":
            self.unlabelled[""] += 1
            return None
        if reason := self._reason(text, target):
            self.dropped.append((reason, SUMMARY))
            return None
        group = row.get(columns.group or "")
        given = row[columns.text].strip(), target and row[columns.target].strip()
        changed = {GIVEN: given} if given != (text, target) else {}
        return Example(
            guid,
            text,
            label=None if target is None else SUMMARY,
            target=target,
            group="" if is_missing(group) else str(group),
            side={
                "file": self.table.path.name,
                "line": line,
                **{column: row.get(column) for column in columns.side},
                **changed,
            },
        )

    def _target(self, row: Mapping[str, Any], line: int) -> str | None:
        """Read the summary; None where it is missing and not needed."""
        name = self.config.columns.target
        if self.labels == "ignored" or name not in row:
            return None
        value = row[name]
        if is_missing(value) and (self.labels == "optional" or self.config.unlabelled == "drop"):
            return None
        return self._text(value, name, line)

    def _text(self, value: Any, column: str, line: int) -> str:
        """Normalise one text; a missing one is empty, with one more problem or count."""
        if not is_missing(value) and not isinstance(value, str):
            self._problem(line, f"'{column}' is no text: {value!r:.60}", "one text in each row")
            return ""
        text = "" if is_missing(value) else self.normalise(value).strip()
        if text:
            return text
        if self.config.summaries.empty == "drop" and self.labels != "ignored":
            self.dropped.append((EMPTY, SUMMARY))
        else:
            fix = ("one article and one summary a row", "data.summaries.empty=drop leaves it out")
            self._problem(line, f"'{column}' is empty", fix)
        return ""

    def _reason(self, text: str, target: str | None) -> str:
        """Return the reason why a row is left out; empty where it is used, as in prediction."""
        options = self.config.summaries
        if self.labels == "ignored":
            return ""
        limit = options.other_script
        if limit is not None and other_script(text, self.alphabet) > limit:
            return OTHER_SCRIPT
        least = options.min_summary_tokens
        return SHORT if least and target is not None and len(words(target)) < least else ""

    def _guid(self, row: Mapping[str, Any], line: int) -> str:
        name = self.config.columns.guid
        value = row.get(name)
        if name not in self.table.columns:
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

    def _problem(self, line: int, what: str, fix: Fix) -> None:
        self.problems.append(Problem(f"{self.table.path}:{line}", what, fix))


ARTICLE_TABLE = Format(open_articles)
