"""Scores of answers by slice (question word, lengths, overlap), and the page of all answers.

Legend: N questions.
Source: classes of ParaShoot's Tables 3 and 5 and Figure 2; the paper has no scores by class.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from heron.base.cells import Cell, Table
from heron.base.errors import ConfigError, Problem, raise_all
from heron.base.tables import is_missing
from heron.data.examples import Example, Span
from heron.metrics.span import item_scores, language_profile
from heron.reports.figures import BLUE, GREEN
from heron.reports.pages import clean_text
from heron.tasks.qa.answers import spans_as_given
from heron.tasks.qa.reader import given_context, normaliser
from heron_tools.analysis.slicing import (
    Column,
    Floats,
    Slicer,
    Split,
    cards_page,
    mean_scores,
    page_name,
    texts_facts,
    with_columns,
)
from heron_tools.statistics.options import say_unused
from heron_tools.statistics.outcome import Drawn, Outcome
from heron_tools.statistics.rates import group_ids, share

from . import answer_kinds as kinds
from .question_words import CLUSTERS, OTHER, question_clusters

TEMPLATES = Path(__file__).parent / "templates"
REACH = 3  # how many first words are searched for the question word
NO_ANSWER = "(no answer)"
CLASSES = (*kinds.OVERLAPS, kinds.MISSED, kinds.UNANSWERABLE)
QUESTION_WORDS = (*CLUSTERS, OTHER)
DRAWN = (
    Drawn("f1", "F1", "D", BLUE, -0.14),
    Drawn("exact_match", "exact match", "o", GREEN, 0.14),
)


def slice_answers(split: Split) -> Slicer:
    """Build the slicer of a run of question answering.

    It adds the columns `place` (the predicted span in the context; None for "no answer" and for a
    text that is not in the context), `question`, `question_word` and `overlap_class`.
    """
    say_unused(
        split.options, ("types", "bins", "words", "morphology", "published", "texts", "beside")
    )
    split.frame.require("golds", "start", "end", "probability", "n_best")
    if not len(split.frame):
        raise ConfigError(f"split={split.name}: none of its answers has a gold answer")
    split = as_given(split)
    examples, ends = split.examples, zip(split.frame["start"], split.frame["end"], strict=True)
    places = [None if is_missing(one) else Span(int(one), int(other)) for one, other in ends]
    _check_texts(split, places)
    texts, questions = split.frame["prediction"], [example.text_pair or "" for example in examples]
    # An answer that is not in the context counts as disjoint.
    found = [Span(-1, -1) if t and p is None else p for p, t in zip(places, texts, strict=True)]
    split = with_columns(
        split,
        place=places,
        question=questions,
        question_word=question_clusters(questions, split.language, reach=REACH),
        overlap_class=kinds.overlap_classes(found, [example.spans for example in examples]),
    )
    return Slicer(
        split,
        [example.group or example.text for example in examples],
        score=scores_of,
        measure=mean_scores,
        by={
            "question_word": by_question_word,
            "answer_length": by_answer_length,
            "question_length": by_question_length,
            "overlap_class": by_overlap_class,
            "answers": page,
        },
        heading="Scores",
        headline="F1",
        drawn=DRAWN,
        counted="questions",
        facts=texts_facts(split.options),
    )


def as_given(split: Split) -> Split:
    """Restore the examples' contexts and gold spans as they are in the file."""
    change, examples = normaliser(split.data), []
    for example in split.examples:
        given = given_context(example)
        spans = tuple(spans_as_given(given, example.spans, change))
        group = given if example.group == example.text else example.group
        examples.append(replace(example, text=given, spans=spans, group=group))
    return replace(split, find=lambda guids: examples)


def _check_texts(split: Split, places: Sequence[Span | None]) -> None:
    """Refuse predictions of other data than the examples."""
    problems = []
    fix = f"are these the texts of {split.data.name} that the run was scored on?"
    texts = split.frame["prediction"]
    for place, example, text in zip(places, split.examples, texts, strict=True):
        here = text if place is None else example.text[slice(*place)]
        if here != text:
            what = f"answered '{text:.40}', but its context reads '{here:.40}' there"
            problems.append(Problem(example.guid, what, fix))
    raise_all(problems)


def scores_of(split: Split) -> Mapping[str, Floats]:
    """Score N answers by the standard rules, and by those of the language.

    `answerable_` scores are left out: they differ from the standard ones in one slice only.
    """
    texts, profiles = split.frame["prediction"], [language_profile(split.language)]
    no_answer = len(split.data.label_order) > 1
    found = item_scores(texts, split.frame["golds"], profiles, no_answer=no_answer)
    return {name: one for name, one in found.items() if not name.startswith("answerable_")}


def by_question_word(slicer: Slicer) -> Outcome:
    """Slice by question word."""
    words = slicer.split.frame["question_word"]
    found = slicer.slice(Column("question word", words, QUESTION_WORDS))
    return replace(found, facts={**found.facts, "reach": REACH})


def by_answer_length(slicer: Slicer) -> Column:
    """Slice by the number of words of the first gold answer."""
    golds = [golds[0] if golds else "" for golds in slicer.split.frame["golds"]]
    buckets = kinds.length_buckets(golds, kinds.ANSWER_LENGTHS)
    names = [name if gold else NO_ANSWER for name, gold in zip(buckets, golds, strict=True)]
    order = (*kinds.bucket_names(kinds.ANSWER_LENGTHS), NO_ANSWER)
    return Column("words of the gold answer", names, order)


def by_question_length(slicer: Slicer) -> Column:
    """Slice by the number of words of the question."""
    names = kinds.length_buckets(slicer.split.frame["question"], kinds.QUESTION_LENGTHS)
    return Column("words of the question", names, kinds.bucket_names(kinds.QUESTION_LENGTHS))


def by_overlap_class(slicer: Slicer) -> Outcome:
    """Slice by the overlap of answers with gold answers, and count these classes."""
    classes = slicer.split.frame["overlap_class"]
    found = slicer.slice(Column("overlap of the answer with the gold answer", classes, CLASSES))
    return replace(found, tables=(overlap_table(classes, slicer.groups), *found.tables))


def page(slicer: Slicer) -> Outcome:
    """Write the page of all answers."""
    split, total = slicer.split, len(slicer.split.frame)
    content = payload(slicer)
    html = cards_page(
        TEMPLATES / "answers.html.j2", slicer.title, split.data.synthetic, content, total=total
    )
    return Outcome(files={page_name(split, "answers"): html})


def payload(slicer: Slicer) -> dict[str, Any]:
    """Lay out the answers for the page, in JSON's types.

    Each context is stored once; offsets count characters.

    Source: ParaShoot, Figures 3 and A.1.
    """
    frame, language = slicer.split.frame, slicer.split.language
    contexts: dict[str, int] = {}
    own = f"{language.code}_"
    names = [n for n in slicer.scores if n in ("exact_match", "f1") or n.startswith(own)]
    rows = [_card(slicer, row, contexts, names) for row in range(len(frame))]
    return {
        "language": language.code,
        "direction": language.direction,
        "scores": names,
        "classes": [name for name in CLASSES if name in frame["overlap_class"]],
        "words": [name for name in QUESTION_WORDS if name in frame["question_word"]],
        "contexts": [clean_text(context) for context in contexts],
        "rows": rows,
    }


def _card(
    slicer: Slicer, row: int, contexts: dict[str, int], names: Sequence[str]
) -> dict[str, Any]:
    example: Example = slicer.split.examples[row]
    cells = {name: column[row] for name, column in slicer.split.frame.columns.items()}
    place, probability = cells["place"], cells["probability"]
    given = place is not None and probability is not None
    # The page reads the candidates' texts from the context.
    best = json.loads(cells["n_best"])
    return {
        "guid": clean_text(example.guid),
        "group": clean_text("" if example.group == example.text else example.group),
        "question": clean_text(cells["question"]),
        "golds": [list(span) for span in example.spans],
        "given": None if place is None else list(place),
        "probability": round(probability, 4) if given else None,
        "written": None if given else clean_text(cells["prediction"]),
        "best": [[b["start"], b["end"], round(b["probability"], 4)] for b in best],
        "context": contexts.setdefault(example.text, len(contexts)),
        "class": cells["overlap_class"],
        "word": cells["question_word"],
        "scores": [round(float(slicer.scores[name][row]), 4) for name in names],
    }


def overlap_table(classes: Sequence[str], groups: Sequence[str]) -> Table:
    """Count the overlap classes of N answers: their shares of all answers and of errors.

    Source: ParaShoot, Table 5.
    Deviates: counts all questions of the split instead of 50, with intervals; `equal` compares
    offsets, while exact match compares texts without punctuation.
    """
    names = np.asarray(classes, dtype=object)
    groups_N = group_ids(groups)
    wrong_N = names != "equal"
    rows: list[tuple[Cell, ...]] = []
    for name in CLASSES:
        hits_N = names == name
        if name in (kinds.MISSED, kinds.UNANSWERABLE) and not hits_N.any():
            continue
        errors = None if name == "equal" else share(hits_N[wrong_N], groups_N[wrong_N])
        printed = kinds.OVERLAPS.get(name, "")
        rows.append((name, printed, int(hits_N.sum()), share(hits_N, groups_N), errors))
    columns = ("class", "in the paper", "n", "share", "share of errors")
    note = "Annotation: gold answer, compared by characters. [low, high]: 95 %, articles resampled."
    return Table("Answers by overlap", columns, tuple(rows), note)
