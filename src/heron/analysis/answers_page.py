"""Every question of a split with the gold and the given answer marked in its context: one HTML
file that needs no network and no library.

Source: ParaShoot, Figures 3 and A.1.
"""

from __future__ import annotations

from typing import Any

from markupsafe import Markup

from heron.analysis.answered import Answered, AnsweredSplit
from heron.analysis.span_breakdown import answer_classes, question_words
from heron.base.cells import SYNTHETIC
from heron.base.pages import clean_text, escape_json, render
from heron.languages import get_language
from heron.languages.questions import CLUSTERS, OTHER
from heron.metrics.span_classes import MISSED, OVERLAPS, UNANSWERABLE

_SHOWN = ("exact_match", "f1")


def answers_page(title: str, split: AnsweredSplit, synthetic: bool = False) -> str:
    """Build the page.

    Args:
        title: names the run and the split.
        split: its answers.
        synthetic: whether the texts are generated; the page then says so.

    Returns:
        HTML; the same answers give the same text.
    """
    content = payload(split)
    return render(
        "answers.html.j2",
        title=title,
        synthetic=SYNTHETIC if synthetic else "",
        total=len(split.rows),
        scores=content["scores"],
        data=Markup(escape_json(content)),
    )


def payload(split: AnsweredSplit) -> dict[str, Any]:
    """Turn answers into JSON's own types; each context is stored once, offsets count characters."""
    language = get_language(split.language)
    classes, words = answer_classes(split), question_words(split)
    contexts: dict[str, int] = {}
    names = [
        name for name in split.scores if name in _SHOWN or name.startswith(f"{language.code}_")
    ]
    rows = []
    for number, row in enumerate(split.rows):
        context = contexts.setdefault(row.example.text, len(contexts))
        scores = [round(float(split.scores[name][number]), 4) for name in names]
        kinds = {"class": classes[number], "word": words[number]}
        rows.append({**_row(row), "context": context, **kinds, "scores": scores})
    return {
        "language": language.code,
        "direction": language.direction,
        "scores": names,
        "classes": [name for name in (*OVERLAPS, MISSED, UNANSWERABLE) if name in set(classes)],
        "words": [name for name in (*CLUSTERS, OTHER) if name in set(words)],
        "contexts": [clean_text(context) for context in contexts],
        "rows": rows,
    }


def _row(row: Answered) -> dict[str, Any]:
    example = row.example
    # Their texts are in the context already.
    best = [[one["start"], one["end"], round(one["probability"], 4)] for one in row.n_best]
    return {
        "guid": clean_text(example.guid),
        "group": "" if example.group == example.text else clean_text(example.group),
        "question": clean_text(example.text_pair or ""),
        "golds": [list(span) for span in example.spans],
        "given": None if row.place is None else list(row.place),
        "probability": None if row.probability is None else round(row.probability, 4),
        "best": best,
    }
