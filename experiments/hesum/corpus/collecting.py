"""From pages to a data set: the paper's filters, with counts, and seeded splits.

Source: HeSum, section 3.1 and appendix A: pages without text and those not in Hebrew, and articles
with summaries of fewer than 10 tokens, were left out. The limitations say "10 or fewer", which is
`min_summary_tokens=11`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heron.base.cells import Table
from heron.base.files import fingerprint
from heron.base.tables import write_table
from heron.data.config import SPLITS
from heron.data.overrides import write_config
from heron.languages import get_language
from heron.languages.words import folded_words, words
from heron.tasks.summarization.reader import other_script

from .extraction import Extracted

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
class Filters:
    """Thresholds for leaving out articles."""

    language: str = "he"
    other_script: float = 0.3  # largest share of letters outside the language's alphabet
    min_summary_tokens: int = 10  # minimum words of a summary


@dataclass(frozen=True, slots=True)
class Article:
    """A kept article."""

    host: str
    found: Extracted

    @property
    def id(self) -> str:
        """An id made from the address, or without one from the text."""
        return fingerprint(self.found.url or self.found.body)[:16]

    def row(self) -> tuple[str, ...]:
        """Lay out `COLUMNS`."""
        one = self.found
        return self.id, one.url, self.host, one.title, one.date, one.body, one.summary


@dataclass(frozen=True, slots=True)
class Collected:
    """The articles, and the reason for each left-out page."""

    articles: list[Article]
    left_out: list[tuple[str, str]]  # address or file, reason


def collect(pages: Iterable[tuple[str, str, Extracted]], filters: Filters) -> Collected:
    """Filter pages.

    Args:
        pages: name for messages, host, and extracted texts.
        filters: the thresholds.

    Deviates: a summary shared by several articles is a site's slogan, so all of them are left out;
    the paper does not mention it.
    """
    alphabet = get_language(filters.language).alphabet
    left_out: list[tuple[str, str]] = []
    kept: dict[str, tuple[str, Article]] = {}  # by the article's words
    for name, host, found in pages:
        key = fingerprint(folded_words(found.body))
        reason = _reason(found, filters, alphabet)
        if not reason and key in kept:
            reason = COPY
        if reason:
            left_out.append((name, reason))
        else:
            kept[key] = (name, Article(host, found))
    over = Counter(tuple(folded_words(one.found.summary)) for _, one in kept.values())
    articles = []
    for name, one in kept.values():
        if over[tuple(folded_words(one.found.summary))] > 1:
            left_out.append((name, SHARED))
        else:
            articles.append(one)
    return Collected(articles, left_out)


def _reason(found: Extracted, filters: Filters, alphabet: str) -> str:
    if not words(found.body):
        return NO_TEXT
    if not words(found.summary):
        return NO_SUMMARY
    if other_script(found.body, alphabet) > filters.other_script:
        return OTHER_SCRIPT
    return SHORT if len(words(found.summary)) < filters.min_summary_tokens else ""


def divide(
    articles: Sequence[Article], shares: Sequence[float], seed: int
) -> dict[str, list[Article]]:
    """Divide articles into splits by a hash of seed and id, in exact shares up to rounding."""
    ordered = sorted(articles, key=lambda one: fingerprint(seed, one.id))
    ends = [round(len(ordered) * sum(shares[: n + 1]) / sum(shares)) for n in range(len(shares))]
    parts = zip(SPLITS, [0, *ends[:-1]], ends, strict=True)
    return {name: ordered[start:end] for name, start, end in parts if end > start}


def write_data_set(
    out: Path, name: str, language: str, found: Collected, splits: Mapping[str, Sequence[Article]]
) -> list[Path]:
    """Write all articles, left-out pages, the splits, and the data set's YAML."""
    _write(out / "articles.jsonl", found.articles)
    columns = {"page": [page for page, _ in found.left_out]}
    write_table(out / "left_out.csv", {**columns, "reason": [why for _, why in found.left_out]})
    paths, files = [out / "articles.jsonl", out / "left_out.csv"], {}
    for split, articles in splits.items():
        path = out / f"{split}.jsonl"
        _write(path, articles)
        paths.append(path)
        files[split] = path, len(articles)
    return [*paths, write_config(out, name, files, _settings(name, language))]


def _write(path: Path, articles: Sequence[Article]) -> None:
    rows = [one.row() for one in articles]
    write_table(path, {name: [row[n] for row in rows] for n, name in enumerate(COLUMNS)})


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


def filter_table(found: Collected, repeated: int) -> Table:
    """Count pages and left-out pages, in the order of the checks."""
    counts = Counter(reason for _, reason in found.left_out)
    left = len(found.articles) + len(found.left_out)
    rows = [("pages", left, left)]
    for reason in REASONS:
        left -= counts[reason]
        rows.append((reason, counts[reason], left))
    note = f"Left out, in this order; {repeated} lines of articles repeated title or subheading."
    return Table("Articles", ("filter", "pages", "left"), tuple(rows), note)


def read_all(pages: Iterator[tuple[str, str, Extracted]]) -> tuple[list[Any], int]:
    """Collect pages, and count the lines that repeated their title or subheading."""
    found = list(pages)
    return found, sum(one.repeated for _, _, one in found)
