"""What `heron analyze run=DIR by=...` can slice the answers of a question answering run by.

Legend: N questions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from heron.analysis.answered import RESAMPLES, AnsweredSplit
from heron.analysis.rates import group_ids, share
from heron.analysis.score_slices import ScoreBreakdown, score_slice, score_table, side_values
from heron.analysis.slices import category_slices
from heron.base.cells import Cell, Table
from heron.languages import get_language
from heron.languages.questions import CLUSTERS, OTHER
from heron.metrics.span_classes import (
    ANSWER_LENGTHS,
    MISSED,
    OVERLAPS,
    QUESTION_LENGTHS,
    UNANSWERABLE,
    bucket_names,
    length_buckets,
    overlap_classes,
    question_clusters,
)

BY = ("question_word", "answer_length", "question_length", "overlap_class")
REACH = 3  # words from a question's beginning, among which its question word is looked for
NO_ANSWER = "(no answer)"
_TITLES = {
    "question_word": "question word",
    "answer_length": "words of the gold answer",
    "question_length": "words of the question",
    "overlap_class": "overlap of the answer with the gold answer",
}

Names = Callable[[AnsweredSplit], list[str]]


def span_breakdown(by: str, split: AnsweredSplit, seed: int = 0) -> ScoreBreakdown:
    """Slice a split's answers.

    Args:
        by: one of `BY`, or a column in `Example.side`.
        split: the answers.
        seed: of the draws behind the scores' intervals.

    Raises:
        ConfigError: neither.

    Source: ParaShoot, Tables 3 and 5 and Figure 2 name the classes; its own analysis has no scores
    by class.
    """
    title = _TITLES.get(by, by)
    # Those of answerable questions alone are the standard ones of all slices but one.
    scores = {n: score_N for n, score_N in split.scores.items() if not n.startswith("answerable_")}
    slices = tuple(
        score_slice(name, rows_M, scores, split.groups, seed) for name, rows_M in _parts(by, split)
    )
    everything = score_slice("(all)", np.arange(len(split.rows)), scores, split.groups, seed)
    tables = [score_table(f"Scores by {title}", slices, everything)]
    facts: dict[str, Any] = {"resamples": RESAMPLES, "seed": seed, "intervals": "articles"}
    if by == "overlap_class":
        tables.insert(0, overlap_table(split))
    if by == "question_word":
        facts["reach"] = REACH
    return ScoreBreakdown(by, title, slices, tuple(tables), facts)


def question_words(split: AnsweredSplit) -> list[str]:
    """Name each question's cluster."""
    questions = [row.example.text_pair or "" for row in split.rows]
    return question_clusters(questions, get_language(split.language), reach=REACH)


def answer_classes(split: AnsweredSplit) -> list[str]:
    """Name how each answer lies to the gold answer."""
    places = [row.place for row in split.rows]
    return overlap_classes(places, [row.example.spans for row in split.rows])


def overlap_table(split: AnsweredSplit) -> Table:
    """Count the overlap classes, over all answers and among those that are not equal.

    Source: ParaShoot, Table 5.
    Deviates: over all questions of the split instead of 50, with intervals; equality is that of
    places, where exact match also lets punctuation differ.
    """
    names = np.asarray(answer_classes(split), dtype=object)
    groups_N = group_ids(split.groups)
    wrong_N = names != "equal"
    rows: list[tuple[Cell, ...]] = []
    for name in (*OVERLAPS, MISSED, UNANSWERABLE):
        hits_N = names == name
        if name in (MISSED, UNANSWERABLE) and not hits_N.any():
            continue
        errors = None if name == "equal" else share(hits_N[wrong_N], groups_N[wrong_N])
        said = OVERLAPS.get(name, "")
        rows.append((name, said, int(hits_N.sum()), share(hits_N, groups_N), errors))
    columns = ("class", "in the paper", "n", "share", "share of errors")
    note = "Annotation: the gold answer. By characters. [low, high]: 95 %, by article."
    return Table("Answers by overlap", columns, tuple(rows), note)


def _parts(by: str, split: AnsweredSplit) -> list[tuple[str, npt.NDArray[np.int64]]]:
    named: dict[str, tuple[Names, Sequence[str]]] = {
        "question_word": (question_words, (*CLUSTERS, OTHER)),
        "answer_length": (_answer_lengths, (*bucket_names(ANSWER_LENGTHS), NO_ANSWER)),
        "question_length": (_question_lengths, bucket_names(QUESTION_LENGTHS)),
        "overlap_class": (answer_classes, (*OVERLAPS, MISSED, UNANSWERABLE)),
    }
    if by not in named:
        sides = [row.example.side for row in split.rows]
        return category_slices(side_values(sides, by, [*BY, "answers"]))
    classify, order = named[by]
    names = np.asarray(classify(split), dtype=object)
    parts = [(name, np.flatnonzero(names == name)) for name in order]
    return [(name, rows_M) for name, rows_M in parts if len(rows_M)]


def _answer_lengths(split: AnsweredSplit) -> list[str]:
    golds = [row.golds[0] if row.golds else "" for row in split.rows]
    buckets = length_buckets(golds, ANSWER_LENGTHS)
    return [name if gold else NO_ANSWER for name, gold in zip(buckets, golds, strict=True)]


def _question_lengths(split: AnsweredSplit) -> list[str]:
    return length_buckets([row.example.text_pair or "" for row in split.rows], QUESTION_LENGTHS)
