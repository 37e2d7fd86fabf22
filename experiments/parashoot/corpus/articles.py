"""Draws paragraphs of articles: two long ones per article, whole articles per split.

Draws sort by a hash of seed and title, so they do not depend on the order of the input, and a dump
need not fit in memory.

Source: ParaShoot, section 2.1, and Table 1 for the sizes of splits.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from heron.base.errors import ConfigError, DataError, Problem, raise_all
from heron.base.files import fingerprint
from heron.base.tables import is_missing, read_chunks
from heron.config.constraints import Seed
from heron.data.config import SPLITS

_AT_ONCE = 1000  # articles
_EMPTY_LINE = re.compile(r"\n\s*\n")

# File and line, title and paragraphs of each article, or what is wrong with it.
Articles = Iterator[tuple[str, str, list[str]] | Problem]


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph for annotators' questions."""

    id: str  # `<article>-<number of the paragraph>`, stable for title and text
    title: str  # of its article
    text: str  # white space normalised to single blanks
    split: str


@dataclass
class SampleArticlesOptions:
    """Options of `heron build parashoot sample`; the numbers are the paper's."""

    source: Path = field(metadata={"option": "from"})  # a table of articles, or a folder of texts
    out: Path  # a folder without `tasks.json`
    size: int | None = None  # number of articles to draw; default: all suitable ones
    min_paragraphs: int = 2  # minimum number of suitable paragraphs per article
    min_characters: int = 500  # minimum of a suitable paragraph
    paragraphs: int = 2  # drawn from each article
    weights: list[int] = field(default_factory=lambda: [295, 33, 165])  # ratio of the splits
    language: str = "he"  # of the texts and of annotators' instructions
    seed: Seed = 0  # of all draws


@dataclass(frozen=True, slots=True)
class Sampled:
    """The drawn paragraphs, and the numbers of articles read and suitable."""

    paragraphs: list[Paragraph]
    read: int
    suitable: int


def draw_paragraphs(options: SampleArticlesOptions) -> Sampled:
    """Draw articles, paragraphs of each, and a split for each article.

    Args:
        source: a table with `title` and `paragraphs` or `text`, or a folder of .txt files.
        options: suitability, and numbers to draw.

    Raises:
        ConfigError: impossible options.
        DataError: unusable rows (all at once), or too few suitable articles.
    """
    _check(options)
    size = options.size
    suitable: list[tuple[str, str, list[str]]] = []  # hash, title, suitable paragraphs
    read_count = suitable_count = 0
    for title, paragraphs in read_articles(options.source):
        read_count += 1
        long = [text for text in paragraphs if len(text) >= options.min_characters]
        if len(long) < options.min_paragraphs:
            continue

        suitable_count += 1
        suitable.append((fingerprint(options.seed, title), title, long))
        # Only the articles with the smallest hashes are drawn: of a dump, no more are kept.
        if size and len(suitable) >= 2 * size + _AT_ONCE:
            suitable = sorted(suitable)[:size]

    wanted = size or 1
    if suitable_count < wanted:
        problem = (
            f"{suitable_count} of {read_count} articles have {options.min_paragraphs} paragraphs "
            f"of {options.min_characters} characters or more, {wanted} are wanted"
        )
        raise DataError(str(options.source), problem, "size=, min_characters= or min_paragraphs=")

    articles = sorted(suitable)[:size]
    splits = _splits(len(articles), options.weights)
    drawn: list[Paragraph] = []
    for (_, title, long), split in zip(articles, splits, strict=True):
        drawn += _draw(title, long, split, options)
    return Sampled(drawn, read_count, suitable_count)


def _check(options: SampleArticlesOptions) -> None:
    """Refuse impossible numbers; raises ConfigError."""
    weights = options.weights
    size = options.size
    paragraphs = options.paragraphs
    most = options.min_paragraphs
    if len(weights) != len(SPLITS) or min(weights) < 0 or not sum(weights):
        shown = ",".join(map(str, weights))
        raise ConfigError(
            f"weights={shown}: a number for each of train, validation and test, such as 295,33,165"
        )
    if not 1 <= paragraphs <= most:
        raise ConfigError(f"paragraphs={paragraphs}: from 1 to min_paragraphs={most}")
    if size is not None and size < 1:
        raise ConfigError(f"size={size}: expected 1 article or more")


def _draw(
    title: str, long: Sequence[str], split: str, options: SampleArticlesOptions
) -> list[Paragraph]:
    """Draw paragraphs of an article, in its order.

    Args:
        title: of the article.
        long: its suitable paragraphs.
        split: of the article.
        options: with the number of paragraphs and the seed.
    """
    numbers = sorted(range(len(long)), key=lambda number: fingerprint(options.seed, title, number))
    article = fingerprint(title)[:8]
    paragraphs = []
    for number in sorted(numbers[: options.paragraphs]):
        text = long[number]
        paragraph = fingerprint(text)[:6]
        paragraphs.append(Paragraph(f"{article}-{paragraph}", title, text, split))
    return paragraphs


def _splits(count: int, weights: Sequence[int]) -> list[str]:
    """Assign splits to `count` articles, in proportion to the weights up to rounding."""
    splits: list[str] = []
    for index, split in enumerate(SPLITS):
        until = sum(weights[: index + 1])
        end = round(count * until / sum(weights))
        splits += [split] * (end - len(splits))
    return splits


def read_articles(source: Path) -> Iterator[tuple[str, list[str]]]:
    """Read titles and paragraphs, with white space normalised to single blanks.

    Args:
        source: a table with `title` and `paragraphs` or `text`, or a folder of .txt files.

    Raises:
        DataError: missing files, unusable rows, or a repeated title.
    """
    titles: dict[str, str] = {}  # where each was read
    problems: list[Problem] = []
    for article in _folder(source) if source.is_dir() else _table(source):
        if isinstance(article, Problem):
            problems.append(article)
            continue

        where, title, paragraphs = article
        first = titles.setdefault(title, where)
        if first != where:
            fix = "each article once; its paragraphs may be in a list"
            problems.append(Problem(where, f"'{title}' is already in {first}", fix))
            continue
        cleaned = [" ".join(text.split()) for text in paragraphs]
        yield title, list(filter(None, cleaned))

    raise_all(problems)
    if not titles:
        raise DataError(str(source), "no article", "a table, or a folder of .txt files")


def _folder(folder: Path) -> Articles:
    """Read .txt files, whose paragraphs are divided by empty lines."""
    for path in sorted(folder.glob("*.txt")):
        try:
            text = path.read_text(encoding="utf-8-sig")
        except UnicodeDecodeError as error:
            problem = f"is not UTF-8 at byte {error.start}"
            yield Problem(str(path), problem, "save it as UTF-8")
            continue
        yield str(path), path.stem, _EMPTY_LINE.split(text)


def _table(path: Path) -> Articles:
    """Read the rows of a table, some at a time.

    A text is divided into paragraphs at empty lines; a list holds them already.
    """
    for table in read_chunks(path, _AT_ONCE):
        yield from table.problems
        if not table.rows:
            continue

        column = table.find(("paragraphs", "text")) or "paragraphs"
        table.require("title", column)
        for index, row in enumerate(table.rows):
            where = table.where(index)
            title = row["title"]
            value = row[column]
            if not isinstance(title, str) or is_missing(title):
                yield Problem(where, "no title", "each article needs one")
            elif isinstance(value, str):
                yield where, title.strip(), _EMPTY_LINE.split(value)
            elif isinstance(value, list) and all(isinstance(text, str) for text in value):
                yield where, title.strip(), value
            else:
                fix = 'paragraphs is a list ["...", "..."], text a text'
                yield Problem(where, f"'{column}' is {value!r:.40}", fix)
