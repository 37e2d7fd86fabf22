"""Every article of a split with its gold summary and what systems wrote: one HTML file that needs
no network and no library.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from heron.base.pages import cards_page, clean_text, cut_text, fit_length
from heron.languages.words import folded_words, word_places
from heron.tasks.summarization.slices import Summarizer, SummaryAnalysis

MEGABYTES = 48  # of all articles together; larger pages open slowly
_DIGITS = 4
_EVERY = 10_000_000  # characters: no article is cut for its own length


def summaries_page(found: SummaryAnalysis, megabytes: float = MEGABYTES) -> str:
    """Build the page; the same summaries give the same text.

    Args:
        found: the summaries.
        megabytes: what all articles together may take; longer ones are cut, and the page says so.
    """
    longest = fit_length(found.articles, int(megabytes * 1e6), _EVERY)
    content, synthetic = payload(found, longest), found.split.data.synthetic
    return cards_page(
        "summaries.html.j2",
        found.title,
        synthetic,
        content,
        total=len(found.rows),
        longest=longest,
    )


def payload(found: SummaryAnalysis, longest: int | None = None) -> dict[str, Any]:
    """Turn summaries into JSON's own types.

    Args:
        found: the summaries.
        longest: articles are cut at so many characters; None: not at all.

    Returns:
        `language`, `direction`, `scores` (names), `systems` (`name`, `copied`), `rows`: `guid`,
        `group`, `article`, `gold`, and `texts` in the systems' order, each with the places of its
        `novel` words (those that the article lacks, in characters) and its `scores`.
    """
    scores = list(found.systems[0].scores)
    return {
        "language": found.language.code,
        "direction": found.language.direction,
        "scores": scores,
        "systems": [{"name": clean_text(one.name), "copied": one.copied} for one in found.systems],
        "rows": [_row(found, number, scores, longest) for number in range(len(found.rows))],
    }


def _row(
    found: SummaryAnalysis, number: int, scores: Sequence[str], longest: int | None
) -> dict[str, Any]:
    row, article = found.rows[number], found.articles[number]
    known = set(folded_words(article))
    return {
        "guid": clean_text(row.guid),
        "group": "" if row.group == row.guid else clean_text(row.group),
        "article": clean_text(cut_text(article, longest)),
        "gold": _text(found.gold_texts[number], known),
        "texts": [_written(system, number, scores, known) for system in found.systems],
    }


def _written(
    system: Summarizer, number: int, scores: Sequence[str], known: set[str]
) -> dict[str, Any] | None:
    if (text := system.texts[number]) is None:
        return None
    values = [round(float(system.scores[name][number]), _DIGITS) for name in scores]
    return {**_text(text, known), "scores": values}


def _text(text: str, known: set[str]) -> dict[str, Any]:
    text = clean_text(text)
    return {"text": text, "novel": novel_places(text, known)}


def novel_places(summary: str, known: set[str] | Sequence[str]) -> list[list[int]]:
    """Find the words of a summary that its article lacks.

    Args:
        summary: the text.
        known: words of the article, without capitals.

    Returns:
        Where they begin and end, in characters; see `heron.languages.words`.
    """
    places = word_places(summary)
    return [[start, end] for start, end in places if summary[start:end].casefold() not in known]
