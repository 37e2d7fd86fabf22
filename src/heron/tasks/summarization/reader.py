"""From a table of articles to `Example`s: the article is `text`, its summary `target`."""

from collections.abc import Container, Mapping
from pathlib import Path
from typing import Any

from heron.base.tables import FileTable, is_missing, number_text
from heron.data.config import DataConfig
from heron.data.examples import Example
from heron.data.rows import SIDE, Format, Labels, Reader, Rows, TableReader, own_table
from heron.languages.unicode import normalise
from heron.languages.words import words

SUMMARY = "summary"  # `Example.label` of each row with a summary
EMPTY = "empty"
OTHER_SCRIPT = "other script"
SHORT = "short summary"
# Key in `Example.side` of article and summary before normalisation, if `data.unicode` changes them.
GIVEN = "texts as given"


def open_articles(config: DataConfig, files: Mapping[str, Path]) -> Reader:
    """Make a reader of tables of articles.

    With labels `optional` or `ignored`, the column of summaries may be missing; `ignored` does not
    read it.

    Args:
        config: the data set.
        files: not used.
    """
    columns = config.columns

    def read(
        source: Path | FileTable, labels: Labels, label_column: str, keys: Mapping[str, str]
    ) -> Rows:
        table = own_table(source, config)
        needed = {column: SIDE for column, key in keys.items() if key == SIDE}
        needed[columns.text] = "data.columns.text"
        if labels == "required":
            needed[columns.target] = "data.columns.target"
        table.require(keys=needed)
        return ArticleReader(table, config, labels).read_all()

    return read


def as_given(example: Example) -> tuple[str, str | None]:
    """Return an article and its summary before normalisation, as ROUGE compares them."""
    return example.side.get(GIVEN, (example.text, example.target))


def other_script(text: str, alphabet: Container[str]) -> float:
    """Compute the fraction of a text's letters outside a lower-case alphabet; 1 without letters.

    Args:
        text: in any case.
        alphabet: the lower-case letters of the data set's language.
    """
    letters = [letter for letter in text.lower() if letter.isalpha()]
    if not letters:
        return 1.0
    outside = sum(letter not in alphabet for letter in letters)
    return outside / len(letters)


class ArticleReader(TableReader):
    """Turns the rows of one table of articles into examples, and collects problems."""

    def read(self, index: int) -> Example | None:
        """Read one row; None where it has a problem or is left out; see `TableReader.read`."""
        row = self.table.rows[index]
        line = self.table.lines[index]
        columns = self.config.columns

        problems_before = len(self.problems)
        dropped_before = len(self.dropped)
        guid = self.guid(row.get(columns.guid), line)
        text = self._text(row[columns.text], columns.text, line)
        target = self._target(row, line)

        if len(self.problems) > problems_before or len(self.dropped) > dropped_before:
            del self.dropped[dropped_before + 1 :]  # count a row with two empty texts once
            return None

        if target is None and self.labels == "required":
            self.unlabelled[""] += 1
            return None

        reason = self._reason(text, target)
        if reason:
            self.dropped.append((reason, SUMMARY))
            return None

        text_given = number_text(row[columns.text]).strip()
        target_given = None
        label = None
        if target is not None:
            target_given = number_text(row[columns.target]).strip()
            label = SUMMARY

        side = {}
        if (text_given, target_given) != (text, target):
            side[GIVEN] = (text_given, target_given)

        group = row.get(columns.group or "")
        return self.example(index, guid, text, side, group, label=label, target=target)

    def _target(self, row: Mapping[str, Any], line: int) -> str | None:
        """Read the summary.

        None where labels are `ignored`, where there is no such column, or where a missing summary
        is allowed (labels `optional`, or `data.unlabelled=drop`).

        Args:
            row: the cells by column.
            line: its number, for messages.
        """
        name = self.config.columns.target
        if self.labels == "ignored" or name not in row:
            return None
        value = row[name]
        if is_missing(value) and (self.labels == "optional" or self.config.unlabelled == "drop"):
            return None
        return self._text(value, name, line)

    def _text(self, value: Any, column: str, line: int) -> str:
        """Normalise one text.

        A cell without text gives "" and a problem; under `data.summaries.empty=drop`, an empty one
        gives "" and an entry in `dropped`.

        Args:
            value: the cell.
            column: its name, for messages.
            line: its number, for messages.
        """
        value = number_text(value)
        if not is_missing(value) and not isinstance(value, str):
            self.problem(line, f"'{column}' is no text: {value!r:.60}", "one text in each row")
            return ""
        if not is_missing(value):
            text = normalise(value, self.language, self.config.unicode).strip()
            if text:
                return text
        if self.config.summaries.empty == "drop" and self.labels != "ignored":
            self.dropped.append((EMPTY, SUMMARY))
        else:
            fix = ("one article and one summary a row", "data.summaries.empty=drop leaves it out")
            self.problem(line, f"'{column}' is empty", fix)
        return ""

    def _reason(self, text: str, target: str | None) -> str:
        """Return the reason why a row is left out; empty where it is used.

        Where labels are `ignored` (prediction), every row is used.

        Args:
            text: the normalised article.
            target: the normalised summary; None where it is missing.
        """
        if self.labels == "ignored":
            return ""
        limit = self.config.summaries.other_script
        if limit is not None and other_script(text, self.language.alphabet) > limit:
            return OTHER_SCRIPT
        fewest = self.config.summaries.min_summary_tokens
        if fewest and target is not None and len(words(target)) < fewest:
            return SHORT
        return ""


ARTICLE_TABLE = Format(open_articles)
