"""Draws paragraphs of articles: two long ones per article, whole articles per split.

Draws sort by a hash of seed and title, so they do not depend on the order of the input, and a dump
need not fit in memory.

Source: ParaShoot, section 2.1, and Table 1 for the sizes of splits.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heron.base.errors import ConfigError, DataError, Problem
from heron.base.files import fingerprint
from heron.base.tables import is_missing, read_chunks
from heron.data.config import SPLITS

_AT_ONCE = 1000  # articles
_EMPTY_LINE = re.compile(r"\n\s*\n")


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph for annotators' questions."""

    id: str  # `<article>-<number of the paragraph>`, stable for title and text
    title: str  # of its article
    text: str  # white space normalised to single blanks
    split: str


@dataclass(frozen=True, slots=True)
class Rules:
    """Rules for drawing articles and paragraphs; the defaults are the paper's."""

    size: int | None = None  # number of articles; None: all suitable ones
    min_paragraphs: int = 2  # minimum number of suitable paragraphs per article
    min_characters: int = 500  # minimum of a suitable paragraph
    paragraphs: int = 2  # drawn from each article
    weights: tuple[int, ...] = (295, 33, 165)  # articles in train, validation and test
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Sampled:
    """The drawn paragraphs, and the numbers of articles read and suitable."""

    paragraphs: list[Paragraph]
    read: int
    suitable: int


def draw_paragraphs(source: Path, rules: Rules) -> Sampled:
    """Draw articles, paragraphs of each, and a split for each article.

    Args:
        source: a table with `title` and `paragraphs` or `text`, or a folder of .txt files.
        rules: suitability, and numbers to draw.

    Raises:
        ConfigError: impossible rules.
        DataError: unusable rows (all at once), or too few suitable articles.
    """
    _check(rules)
    kept: list[tuple[str, str, list[str]]] = []  # hash, title, suitable paragraphs
    read = suitable = 0
    for title, paragraphs in read_articles(source):
        read += 1
        long = [text for text in paragraphs if len(text) >= rules.min_characters]
        if len(long) < rules.min_paragraphs:
            continue
        suitable += 1
        kept.append((_order(rules.seed, title), title, long))
        if rules.size and len(kept) >= 2 * rules.size + _AT_ONCE:
            kept = sorted(kept)[: rules.size]
    if suitable < (rules.size or 1):
        what = f"{suitable} of {read} articles have {rules.min_paragraphs} paragraphs of "
        what += f"{rules.min_characters} characters or more, {rules.size or 1} are wanted"
        raise DataError(str(source), what, "size=, min_characters= or min_paragraphs=")
    chosen = sorted(kept)[: rules.size]
    splits = _splits(len(chosen), rules.weights)
    found = [
        paragraph
        for (_, title, long), split in zip(chosen, splits, strict=True)
        for paragraph in _draw(title, long, split, rules)
    ]
    return Sampled(found, read, suitable)


def _check(rules: Rules) -> None:
    if len(rules.weights) != len(SPLITS) or min(rules.weights) < 0 or not sum(rules.weights):
        raise ConfigError(
            f"weights={','.join(map(str, rules.weights))}: a number for each of train, validation "
            "and test, such as 295,33,165"
        )
    if not 1 <= rules.paragraphs <= rules.min_paragraphs:
        raise ConfigError(
            f"paragraphs={rules.paragraphs}: from 1 to min_paragraphs={rules.min_paragraphs}"
        )
    if rules.size is not None and rules.size < 1:
        raise ConfigError(f"size={rules.size}: expected 1 article or more")


def _draw(title: str, long: Sequence[str], split: str, rules: Rules) -> Iterator[Paragraph]:
    """Draw paragraphs of an article, in its order."""
    numbers = sorted(range(len(long)), key=lambda n: _order(rules.seed, title, n))
    for number in sorted(numbers[: rules.paragraphs]):
        own = f"{fingerprint(title)[:8]}-{fingerprint(long[number])[:6]}"
        yield Paragraph(own, title, long[number], split)


def _order(*parts: Any) -> str:
    return fingerprint(*parts)


def _splits(count: int, weights: Sequence[int]) -> list[str]:
    """Assign splits to `count` articles, in proportion to the weights up to rounding."""
    ends = [round(count * sum(weights[: n + 1]) / sum(weights)) for n in range(len(weights))]
    starts = [0, *ends[:-1]]
    parts = zip(SPLITS, starts, ends, strict=True)
    return [name for name, start, end in parts for _ in range(start, end)]


def read_articles(source: Path) -> Iterator[tuple[str, list[str]]]:
    """Read titles and paragraphs, with white space normalised to single blanks.

    Raises:
        DataError: missing files, unusable rows, or a repeated title.
    """
    titles: dict[str, str] = {}
    problems: list[Problem] = []
    for where, title, paragraphs in _folder(source) if source.is_dir() else _table(source):
        if isinstance(paragraphs, Problem):
            problems.append(paragraphs)
            continue
        if (first := titles.setdefault(title, where)) != where:
            fix = "each article once; its paragraphs may be in a list"
            problems.append(Problem(where, f"'{title}' is already in {first}", fix))
            continue
        cleaned = [" ".join(text.split()) for text in paragraphs]
        yield title, [text for text in cleaned if text]
    if problems:
        raise DataError(problems)
    if not titles:
        raise DataError(str(source), "no article", "a table, or a folder of .txt files")


_Read = Iterator[tuple[str, str, "list[str] | Problem"]]  # place, title, paragraphs


def _folder(folder: Path) -> _Read:
    for path in sorted(folder.glob("*.txt")):
        try:
            yield str(path), path.stem, _EMPTY_LINE.split(path.read_text(encoding="utf-8-sig"))
        except UnicodeDecodeError as error:
            what = f"is not UTF-8 at byte {error.start}"
            yield str(path), path.stem, Problem(str(path), what, "save it as UTF-8")


def _table(path: Path) -> _Read:
    for table in read_chunks(path, _AT_ONCE):
        for problem in table.problems:
            yield problem.where, "", problem
        if not table.rows:
            continue
        column = table.find(("paragraphs", "text"))
        table.require("title", column or "paragraphs")
        for index, row in enumerate(table.rows):
            where, title, value = table.where(index), row["title"], row[str(column)]
            if not isinstance(title, str) or is_missing(title):
                yield where, "", Problem(where, "no title", "each article needs one")
            elif isinstance(value, str):
                yield where, title.strip(), _EMPTY_LINE.split(value)
            elif isinstance(value, list) and all(isinstance(text, str) for text in value):
                yield where, title.strip(), value
            else:
                fix = 'paragraphs is a list ["...", "..."], text a text'
                yield where, "", Problem(where, f"'{column}' is {value!r:.40}", fix)
