"""From pages to a data set: the paper's filters, with counts, and seeded splits.

Source: HeSum, section 3.1 and appendix A: pages without text and those not in Hebrew, and articles
with summaries of fewer than 10 tokens, were left out. The limitations say "10 or fewer", which is
`min_summary_tokens=11`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heron.base.cells import Table
from heron.base.files import fingerprint
from heron.base.tables import as_columns, write_table
from heron.data.config import SPLITS
from heron.data.overrides import write_config
from heron.languages import get_language
from heron.languages.words import folded_words, words
from heron.tasks.summarization.reader import other_script

from .extraction import Extracted
from .options import BuildHesumOptions

# Reasons to leave a page out, in the order of the checks.
NO_TEXT, NO_SUMMARY, OTHER_SCRIPT, SHORT, COPY, SHARED = REASONS = (
    "no text",
    "no subheading",
    "other script",
    "short summary",
    "copy of an article",
    "summary of several articles",
)
COLUMNS = ("id", "url", "site", "title", "date", "article", "summary")


@dataclass(frozen=True, slots=True)
class Article:
    """A kept article."""

    host: str
    texts: Extracted

    @property
    def id(self) -> str:
        """An id made from the address, or without one from the text."""
        return fingerprint(self.texts.url or self.texts.body)[:16]

    def row(self) -> tuple[str, ...]:
        """Lay out `COLUMNS`."""
        texts = self.texts
        return (self.id, texts.url, self.host, texts.title, texts.date, texts.body, texts.summary)


@dataclass(frozen=True, slots=True)
class Collected:
    """The articles, and the reason for each left-out page."""

    articles: list[Article]
    left_out: list[tuple[str, str]]  # address or file, reason


def collect(pages: Iterable[tuple[str, str, Extracted]], options: BuildHesumOptions) -> Collected:
    """Filter pages.

    Args:
        pages: name for messages, host, and extracted texts.
        options: with the language and the thresholds.

    Deviates: a summary shared by several articles is a site's slogan, so all of them are left out;
    the paper does not mention it.
    """
    alphabet = get_language(options.language).alphabet
    left_out: list[tuple[str, str]] = []
    kept: dict[str, tuple[str, Article]] = {}  # name and article, by the article's words
    for name, host, texts in pages:
        key = fingerprint(folded_words(texts.body))
        reason = _reason(texts, options, alphabet)
        if not reason and key in kept:
            reason = COPY
        if reason:
            left_out.append((name, reason))
        else:
            kept[key] = (name, Article(host, texts))

    summaries = Counter(_summary_words(article) for _, article in kept.values())
    articles = []
    for name, article in kept.values():
        if summaries[_summary_words(article)] > 1:
            left_out.append((name, SHARED))
        else:
            articles.append(article)
    return Collected(articles, left_out)


def _summary_words(article: Article) -> tuple[str, ...]:
    return tuple(folded_words(article.texts.summary))


def _reason(texts: Extracted, options: BuildHesumOptions, alphabet: str) -> str:
    """Find the first reason to leave a page out, in the order of `REASONS`.

    Args:
        texts: of the page.
        options: with the thresholds.
        alphabet: letters of the articles' language.

    Returns:
        The reason; empty if the page is kept.
    """
    if not words(texts.body):
        return NO_TEXT
    if not words(texts.summary):
        return NO_SUMMARY
    if other_script(texts.body, alphabet) > options.other_script:
        return OTHER_SCRIPT
    if len(words(texts.summary)) < options.min_summary_tokens:
        return SHORT
    return ""


def divide(
    articles: Sequence[Article], shares: Sequence[float], seed: int
) -> dict[str, list[Article]]:
    """Divide articles into splits by a hash of seed and id.

    Args:
        articles: in any order.
        shares: of train, validation and test; their sum may be any number.
        seed: of the hash.

    Returns:
        Articles by split, without empty splits; exact shares up to rounding.
    """
    ordered = sorted(articles, key=lambda article: fingerprint(seed, article.id))
    splits = {}
    start = 0
    for index, split in enumerate(SPLITS):
        until = sum(shares[: index + 1])
        end = round(len(ordered) * until / sum(shares))
        if end > start:
            splits[split] = ordered[start:end]
        start = end
    return splits


def write_data_set(
    options: BuildHesumOptions, collected: Collected, splits: Mapping[str, Sequence[Article]]
) -> list[Path]:
    """Write a data set.

    Args:
        options: with its folder, name and language.
        collected: all articles, and the pages left out.
        splits: the articles of each split.

    Returns:
        `articles.jsonl`, `left_out.csv`, the file of each split, and the data set's YAML.
    """
    out = options.out
    name = options.name
    all_articles = out / "articles.jsonl"
    _write(all_articles, collected.articles)

    left_out = out / "left_out.csv"
    pages = [page for page, _ in collected.left_out]
    reasons = [reason for _, reason in collected.left_out]
    write_table(left_out, {"page": pages, "reason": reasons})

    paths = [all_articles, left_out]
    files = {}
    for split, articles in splits.items():
        path = out / f"{split}.jsonl"
        _write(path, articles)
        paths.append(path)
        files[split] = (path, len(articles))
    paths.append(write_config(out, name, files, _settings(name, options.language)))
    return paths


def _write(path: Path, articles: Sequence[Article]) -> None:
    """Write articles as a table, a row for each."""
    rows = [article.row() for article in articles]
    write_table(path, as_columns(COLUMNS, rows))


def _settings(name: str, language: str) -> dict[str, Any]:
    return {
        "title": f"{name}, articles and their subheadings",
        "language": language,
        "task": "summarization",
        "format": "article_table",
        "licence": "the articles are their publishers'",
        "citation": "made by heron build hesum",
        "label_order": ["summary"],
        "columns": {"text": "article", "target": "summary", "guid": "id", "side": ["site"]},
    }


def filter_table(collected: Collected, repeated: int) -> Table:
    """Count pages and left-out pages, in the order of the checks.

    Args:
        collected: articles and left-out pages.
        repeated: lines of all pages that repeated title or subheading.
    """
    counts = Counter(reason for _, reason in collected.left_out)
    left = len(collected.articles) + len(collected.left_out)
    rows = [("pages", left, left)]
    for reason in REASONS:
        left -= counts[reason]
        rows.append((reason, counts[reason], left))
    note = f"Left out, in this order; {repeated} lines of articles repeated title or subheading."
    return Table("Articles", ("filter", "pages", "left"), rows, note)
