"""Every question of a split with the gold and the given answer marked in its context: one HTML
file that needs no network and no library.

Source: ParaShoot, Figures 3 and A.1.
"""

from __future__ import annotations

from typing import Any

from heron.base.pages import cards_page, clean_text
from heron.metrics.span_classes import CLUSTERS, OTHER
from heron.tasks.qa.slices import CLASSES, AnswerAnalysis, Answered

_SHOWN = ("exact_match", "f1")


def answers_page(found: AnswerAnalysis) -> str:
    """Build the page; the same answers give the same text."""
    content, synthetic = payload(found), found.split.data.synthetic
    total = len(found.answers)
    return cards_page("answers.html.j2", found.title, synthetic, content, total=total)


def payload(found: AnswerAnalysis) -> dict[str, Any]:
    """Turn answers into JSON's own types; each context is stored once, offsets count characters."""
    language = found.language
    classes, words = found.classes, found.question_words
    contexts: dict[str, int] = {}
    own = f"{language.code}_"
    names = [name for name in found.scores if name in _SHOWN or name.startswith(own)]
    rows = []
    for number, row in enumerate(found.answers):
        context = contexts.setdefault(row.example.text, len(contexts))
        scores = [round(float(found.scores[name][number]), 4) for name in names]
        kinds = {"class": classes[number], "word": words[number]}
        rows.append({**_row(row), "context": context, **kinds, "scores": scores})
    return {
        "language": language.code,
        "direction": language.direction,
        "scores": names,
        "classes": [name for name in CLASSES if name in set(classes)],
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
