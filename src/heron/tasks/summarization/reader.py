"""From a table of articles to `Example`s: the article is `text`, its summary `target`."""

from collections.abc import Container, Mapping
from pathlib import Path
from typing import Any

from heron.base.tables import Table, is_missing, number_text
from heron.data.config import DataConfig
from heron.data.examples import Example
from heron.data.rows import SIDE, Format, Labels, Reader, Rows, TableReader, own_table
from heron.languages.unicode import normalise
from heron.languages.words import words

SUMMARY = "summary"  # the one class
EMPTY, OTHER_SCRIPT, SHORT = "empty", "other script", "short summary"
# Key in `Example.side` of article and summary before normalisation, if `data.unicode` changes them.
GIVEN = "texts as given"


def open_articles(config: DataConfig, files: Mapping[str, Path]) -> Reader:
    """Make a reader of tables of articles; with labels `optional`, rows may lack a summary."""
    columns = config.columns

    def read(
        source: Path | Table, labels: Labels, label_column: str, keys: Mapping[str, str]
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
    """Compute the fraction of a text's letters outside a lower-case alphabet; 1 without letters."""
    letters = [letter for letter in text.lower() if letter.isalpha()]
    return sum(letter not in alphabet for letter in letters) / len(letters) if letters else 1.0


class ArticleReader(TableReader):
    """Turns the rows of one table of articles into examples, and collects problems."""

    def read(self, index: int) -> Example | None:
        """See `TableReader.read`."""
        row, line, columns = self.table.rows[index], self.table.lines[index], self.config.columns
        found, left_out = len(self.problems), len(self.dropped)
        guid = self.guid(row.get(columns.guid), line)
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
        texts = number_text(row[columns.text]), number_text(row.get(columns.target))
        given = texts[0].strip(), target and texts[1].strip()
        changed = {GIVEN: given} if given != (text, target) else {}
        label, group = None if target is None else SUMMARY, row.get(columns.group or "")
        return self.example(index, guid, text, changed, group, label=label, target=target)

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
        """Return the reason why a row is left out; empty where it is used, as in prediction."""
        if self.labels == "ignored":
            return ""
        limit, least = self.config.summaries.other_script, self.config.summaries.min_summary_tokens
        if limit is not None and other_script(text, self.language.alphabet) > limit:
            return OTHER_SCRIPT
        return SHORT if least and target is not None and len(words(target)) < least else ""


ARTICLE_TABLE = Format(open_articles)
