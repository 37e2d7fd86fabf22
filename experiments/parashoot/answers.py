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

from heron.base.cells import Row, Table
from heron.base.errors import ConfigError, Problem, raise_all
from heron.base.tables import is_missing
from heron.data.examples import Example, Span
from heron.metrics.span import item_scores, language_profiles
from heron.reports.pages import clean_text
from heron.reports.styles import BLUE, GREEN
from heron.tasks.qa.answers import spans_as_given
from heron.tasks.qa.reader import given_context, normaliser
from heron_tools.analysis.slicing import (
    Floats,
    SliceColumn,
    Slicer,
    Split,
    cards_page,
    mean_scores,
    page_name,
    texts_facts,
    with_columns,
)
from heron_tools.statistics.options import say_unused
from heron_tools.statistics.outcome import AnalysisResult, Drawn
from heron_tools.statistics.rates import group_ids, share

from . import answer_kinds as kinds
from .question_words import CLUSTERS, OTHER, question_clusters

TEMPLATES = Path(__file__).parent / "templates"
REACH = 3  # how many first words are searched for the question word
NO_ANSWER = "(no answer)"
CLASSES = (*kinds.OVERLAPS, kinds.MISSED, kinds.INVENTED)
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
    options = split.options
    say_unused(options, ("types", "bins", "words", "morphology", "published", "texts", "beside"))
    split.frame.require("golds", "start", "end", "probability", "n_best")
    if not len(split.frame):
        raise ConfigError(f"split={split.name}: none of its answers has a gold answer")

    split = as_given(split)
    frame = split.frame
    examples = split.examples
    predicted: list[Span | None] = []
    for start, end in zip(frame["start"], frame["end"], strict=True):
        predicted.append(None if is_missing(start) else Span(int(start), int(end)))
    _check_texts(split, predicted)

    # An answer that is not in the context counts as disjoint.
    compared = list(predicted)
    for row, text in enumerate(frame["prediction"]):
        if text and predicted[row] is None:
            compared[row] = Span(-1, -1)

    questions = [example.text_pair or "" for example in examples]
    golds = [example.spans for example in examples]
    split = with_columns(
        split,
        place=predicted,
        question=questions,
        question_word=question_clusters(questions, split.language, reach=REACH),
        overlap_class=kinds.overlap_classes(compared, golds),
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
        figure_scores=DRAWN,
        row_word="questions",
        facts=texts_facts(options),
    )


def as_given(split: Split) -> Split:
    """Restore the examples' contexts and gold spans as they are in the file.

    Examples hold normalized texts, and the offsets of predictions count in the file's.
    """
    normalise = normaliser(split.data)
    examples = []
    for example in split.examples:
        context = given_context(example)
        spans = tuple(spans_as_given(context, example.spans, normalise))
        group = context if example.group == example.text else example.group
        examples.append(replace(example, text=context, spans=spans, group=group))
    return replace(split, find=lambda guids: examples)


def _check_texts(split: Split, predicted: Sequence[Span | None]) -> None:
    """Refuse predictions of other data than the examples."""
    fix = f"are these the texts of {split.data.name} that the run was scored on?"
    texts = split.frame["prediction"]
    problems = []
    for span, example, text in zip(predicted, split.examples, texts, strict=True):
        if span is None:
            continue
        here = example.text[slice(*span)]
        if here != text:
            problem = f"answered '{text:.40}', but its context reads '{here:.40}' there"
            problems.append(Problem(example.guid, problem, fix))
    raise_all(problems)


def scores_of(split: Split) -> Mapping[str, Floats]:
    """Score N answers by the standard rules, and by those of the language.

    `answerable_` scores are left out: they differ from the standard ones in one slice only.
    """
    frame = split.frame
    profiles = language_profiles(split.language)
    no_answer = len(split.data.label_order) > 1
    scores = item_scores(frame["prediction"], frame["golds"], profiles, no_answer=no_answer)
    return {name: f_N for name, f_N in scores.items() if not name.startswith("answerable_")}


def by_question_word(slicer: Slicer) -> AnalysisResult:
    """Slice by question word."""
    words = slicer.split.frame["question_word"]
    outcome = slicer.slice(SliceColumn("question word", words, QUESTION_WORDS))
    return replace(outcome, facts={**outcome.facts, "reach": REACH})


def by_answer_length(slicer: Slicer) -> SliceColumn:
    """Slice by the number of words of the first gold answer."""
    golds = [golds[0] if golds else "" for golds in slicer.split.frame["golds"]]
    names = kinds.length_buckets(golds, kinds.ANSWER_LENGTHS)
    for row, gold in enumerate(golds):
        if not gold:
            names[row] = NO_ANSWER
    order = (*kinds.bucket_names(kinds.ANSWER_LENGTHS), NO_ANSWER)
    return SliceColumn("words of the gold answer", names, order)


def by_question_length(slicer: Slicer) -> SliceColumn:
    """Slice by the number of words of the question."""
    names = kinds.length_buckets(slicer.split.frame["question"], kinds.QUESTION_LENGTHS)
    return SliceColumn("words of the question", names, kinds.bucket_names(kinds.QUESTION_LENGTHS))


def by_overlap_class(slicer: Slicer) -> AnalysisResult:
    """Slice by the overlap of answers with gold answers, and count these classes."""
    classes = slicer.split.frame["overlap_class"]
    column = SliceColumn("overlap of the answer with the gold answer", classes, CLASSES)
    outcome = slicer.slice(column)
    counts = overlap_table(classes, slicer.groups)
    return replace(outcome, tables=(counts, *outcome.tables))


def page(slicer: Slicer) -> AnalysisResult:
    """Write the page of all answers."""
    split = slicer.split
    html = cards_page(
        TEMPLATES / "answers.html.j2",
        slicer.title,
        split.data.synthetic,
        payload(slicer),
        total=len(split.frame),
    )
    return AnalysisResult(files={page_name(split, "answers"): html})


def payload(slicer: Slicer) -> dict[str, Any]:
    """Lay out the answers for the page, in JSON's types.

    Each context is stored once; offsets count characters.

    Source: ParaShoot, Figures 3 and A.1.
    """
    frame = slicer.split.frame
    language = slicer.split.language

    names = []
    for name in slicer.scores:
        if name in ("exact_match", "f1") or name.startswith(f"{language.code}_"):
            names.append(name)

    contexts: dict[str, int] = {}  # numbers of the contexts
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
    """Lay out an answer.

    Args:
        slicer: with all answers.
        row: the answer's.
        contexts: their numbers on the page; a new context is added.
        names: of the scores.
    """
    example: Example = slicer.split.examples[row]
    cells = {name: column[row] for name, column in slicer.split.frame.columns.items()}
    span = cells["place"]
    probability = cells["probability"]

    card: dict[str, Any] = {
        "guid": clean_text(example.guid),
        "group": clean_text("" if example.group == example.text else example.group),
        "question": clean_text(cells["question"]),
        "golds": [list(gold) for gold in example.spans],
        "given": None if span is None else list(span),
        "probability": None,
        "written": None,
        "best": [],
        "context": contexts.setdefault(example.text, len(contexts)),
        "class": cells["overlap_class"],
        "word": cells["question_word"],
        "scores": [round(float(slicer.scores[name][row]), 4) for name in names],
    }

    if span is None or probability is None:
        card["written"] = clean_text(cells["prediction"])
    else:
        card["probability"] = round(probability, 4)

    # The page reads the candidates' texts from the context.
    for answer in json.loads(cells["n_best"]):
        card["best"].append([answer["start"], answer["end"], round(answer["probability"], 4)])
    return card


def overlap_table(classes: Sequence[str], groups: Sequence[str]) -> Table:
    """Count the overlap classes of answers: their shares of all answers and of errors.

    Args:
        classes: of N answers.
        groups: N names of articles, which are resampled for the intervals.

    Source: ParaShoot, Table 5.
    Deviates: counts all questions of the split instead of 50, with intervals; `equal` compares
    offsets, while exact match compares texts without punctuation.
    """
    names_N = np.asarray(classes, dtype=object)
    groups_N = group_ids(groups)
    wrong_N = names_N != "equal"

    rows: list[Row] = []
    for name in CLASSES:
        hits_N = names_N == name
        count = int(hits_N.sum())
        if not count and name in (kinds.MISSED, kinds.INVENTED):
            continue
        of_errors = None
        if name != "equal":
            of_errors = share(hits_N[wrong_N], groups_N[wrong_N])
        printed = kinds.OVERLAPS.get(name, "")
        rows.append((name, printed, count, share(hits_N, groups_N), of_errors))

    columns = ("class", "in the paper", "n", "share", "share of errors")
    note = "Annotation: gold answer, compared by characters. [low, high]: 95 %, articles resampled."
    return Table("Answers by overlap", columns, rows, note)
