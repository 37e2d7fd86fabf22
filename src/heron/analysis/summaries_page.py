"""Every article of a split with its gold summary and what systems wrote: one HTML file that needs
no network and no library.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from heron.analysis.summarized import SummarizedSplit
from heron.base.cells import SYNTHETIC
from heron.base.pages import clean_text, cut_text, escape_json, fit_length, render
from heron.languages.words import folded_words, word_places

MEGABYTES = 48  # of all articles together; larger pages open slowly
_DIGITS = 4
_EVERY = 10_000_000  # characters: no article is cut for its own length


def summaries_page(
    title: str, split: SummarizedSplit, synthetic: bool = False, megabytes: float = MEGABYTES
) -> str:
    """Build the page.

    Args:
        title: names the run and the split.
        split: its summaries.
        synthetic: whether the texts are generated; the page then says so.
        megabytes: what all articles together may take; longer ones are cut, and the page says so.

    Returns:
        HTML; the same summaries give the same text.
    """
    longest = fit_length(split.articles, int(megabytes * 1e6), _EVERY)
    content = payload(split, longest)
    return render(
        "summaries.html.j2",
        title=title,
        synthetic=SYNTHETIC if synthetic else "",
        total=len(split.guids),
        longest=longest,
        data=Markup(escape_json(content)),
    )


def payload(split: SummarizedSplit, longest: int | None = None) -> dict[str, Any]:
    """Turn summaries into JSON's own types.

    Args:
        split: the summaries.
        longest: articles are cut at so many characters; None: not at all.

    Returns:
        `language`, `direction`, `scores` (names), `systems` (`name`, `copied`, `means`), `rows`:
        `guid`, `group`, `article`, `gold`, and `texts` in the systems' order, each with the places
        of its `novel` words (those that the article lacks, in characters) and its `scores`.
    """
    scores = list(split.run.scores)
    rows = []
    for number, (guid, article) in enumerate(zip(split.guids, split.articles, strict=True)):
        known = set(folded_words(article))
        group = split.groups[number]
        texts = [
            None
            if (text := system.texts[number]) is None
            else {
                **_text(text, known),
                "scores": [round(float(system.scores[name][number]), _DIGITS) for name in scores],
            }
            for system in split.systems
        ]
        rows.append(
            {
                "guid": clean_text(guid),
                "group": "" if group == guid else clean_text(group),
                "article": clean_text(cut_text(article, longest)),
                "gold": _text(split.golds[number], known),
                "texts": texts,
            }
        )
    return {
        "language": split.language.code,
        "direction": split.language.direction,
        "scores": scores,
        "systems": [{"name": clean_text(one.name), "copied": one.copied} for one in split.systems],
        "rows": rows,
    }


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
