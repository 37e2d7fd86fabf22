"""Scores of answers by slice: question word, lengths, overlap with the gold answer.

Legend: N questions, M of them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from heron.base.cells import Cell, Table
from heron.base.errors import DataError, Problem
from heron.base.plots import BLUE, GREEN
from heron.base.tables import is_missing
from heron.data.examples import Example, Prediction, Span
from heron.languages import get_language
from heron.languages.language import Language
from heron.metrics.rates import RESAMPLES, group_ids, group_means, share
from heron.metrics.span import item_scores, language_profile
from heron.metrics.span_classes import (
    ANSWER_LENGTHS,
    CLUSTERS,
    MISSED,
    OTHER,
    OVERLAPS,
    QUESTION_LENGTHS,
    UNANSWERABLE,
    bucket_names,
    length_buckets,
    overlap_classes,
    question_clusters,
)
from heron.tasks.analysis import Drawn, Outcome, RunAnalysis
from heron.tasks.qa.statistics import NOT_FOR_QUESTIONS
from heron.tasks.slices import Rows, class_slices

Floats = npt.NDArray[np.float64]

REACH = 3  # words from a question's beginning, among which its question word is looked for
NO_ANSWER = "(no answer)"
CLASSES = (*OVERLAPS, MISSED, UNANSWERABLE)


@dataclass(frozen=True, slots=True)
class Answered:
    """One question with its gold answers and the one given.

    Args:
        example: the question; its spans are the gold answers' places.
        golds: gold answers as the data set spells them; none where there is no answer.
        text: the answer given; empty for "no answer".
        place: where it stands in the context; None for "no answer".
        probability: of the answer, among all spans; None for "no answer".
        n_best: the best candidates: `text`, `start`, `end`, `probability`.
    """

    example: Example
    golds: tuple[str, ...]
    text: str
    place: Span | None
    probability: float | None
    n_best: tuple[Mapping[str, Any], ...]


def read_answered(row: Prediction, example: Example) -> Answered:
    """Read an answer from its stored row."""
    cells = row.cells
    given = not is_missing(cells["start"])
    return Answered(
        example,
        tuple(json.loads(cells["golds"])),
        str(cells["prediction"] or ""),
        Span(int(cells["start"]), int(cells["end"])) if given else None,
        cells["probability"] if given else None,
        tuple(json.loads(cells["n_best"])),
    )


class AnswerAnalysis(RunAnalysis):
    """Scores of answers by slice, and a page of all answers; see `RunAnalysis`.

    Source: ParaShoot, Tables 3 and 5 and Figure 2 name the classes; its own analysis has no scores
    by class.
    """

    unused: ClassVar = {
        NOT_FOR_QUESTIONS: ("types", "bins", "words", "morphology", "published", "texts")
    }
    golds: ClassVar = {"texts": True, "empty": True}
    columns = ("golds", "start", "end", "probability", "n_best")
    nothing = "none of its answers has a gold answer to compare with"
    counted = "questions"
    heading = "Scores"
    headline = "F1"
    drawn = (
        Drawn("f1", "F1", "D", BLUE, -0.14),
        Drawn("exact_match", "exact match", "o", GREEN, 0.14),
    )
    note = f"[low, high]: 95 %, bootstrap of whole articles ({RESAMPLES:,} resamples)."

    @cached_property
    def answers(self) -> list[Answered]:
        """N answers beside their questions.

        Raises:
            DataError: they are of other data; names the guids.
        """
        found = [read_answered(*pair) for pair in zip(self.rows, self.examples, strict=True)]
        check_places(found, self.split.data.name)
        return found

    @cached_property
    def language(self) -> Language:
        """The data set's language."""
        return get_language(self.split.data.language)

    @cached_property
    def scores(self) -> dict[str, Floats]:
        """Each answer's scores by the standard rules and by those of its language."""
        return score_answers(self.answers, self.language, len(self.split.data.label_order) > 1)

    @cached_property
    def groups(self) -> list[str]:
        """N names of articles (contexts, where the data set names none): what intervals draw."""
        return [row.example.group or row.example.text for row in self.answers]

    def analyses(self) -> dict[str, Callable[[], Outcome]]:
        """Name what answers can be sliced by; see `RunAnalysis`."""
        return {
            "question_word": self.by_question_word,
            "answer_length": self.by_answer_length,
            "question_length": self.by_question_length,
            "overlap_class": self.by_overlap_class,
            "answers": self.page,
        }

    def measure(self, rows_M: Rows) -> dict[str, Cell]:
        """Count questions and average their scores.

        Those of answerable questions alone are the standard ones of all slices but one.
        """
        values = {
            name: score_N[rows_M]
            for name, score_N in self.scores.items()
            if not name.startswith("answerable_")
        }
        groups = [self.groups[row] for row in rows_M]
        size: dict[str, Cell] = {"n": len(rows_M), "share": len(rows_M) / len(self.rows)}
        return size | group_means(values, groups, self.options.seed)

    def run(self, by: str) -> Outcome:
        """Do one analysis, and say how intervals are drawn."""
        found = super().run(by)
        facts = {"resamples": RESAMPLES, "seed": self.options.seed, "intervals": "articles"}
        return replace(found, facts=facts | {**found.facts})

    def by_question_word(self) -> Outcome:
        """Slice by question word."""
        found = self.sliced("question word", class_slices(self.question_words, (*CLUSTERS, OTHER)))
        return replace(found, facts={"reach": REACH})

    def by_answer_length(self) -> Outcome:
        """Slice by the number of words of the first gold answer."""
        golds = [row.golds[0] if row.golds else "" for row in self.answers]
        buckets = length_buckets(golds, ANSWER_LENGTHS)
        names = [name if gold else NO_ANSWER for name, gold in zip(buckets, golds, strict=True)]
        parts = class_slices(names, (*bucket_names(ANSWER_LENGTHS), NO_ANSWER))
        return self.sliced("words of the gold answer", parts)

    def by_question_length(self) -> Outcome:
        """Slice by the number of words of the question."""
        names = length_buckets(self.questions, QUESTION_LENGTHS)
        return self.sliced(
            "words of the question", class_slices(names, bucket_names(QUESTION_LENGTHS))
        )

    def by_overlap_class(self) -> Outcome:
        """Slice by how answers lie to the gold answers, and count these classes."""
        parts = class_slices(self.classes, CLASSES)
        found = self.sliced("overlap of the answer with the gold answer", parts)
        return replace(found, tables=(overlap_table(self.classes, self.groups), *found.tables))

    def page(self) -> Outcome:
        """Show every answer marked in its context, beside the gold answer."""
        from heron.tasks.qa.page import answers_page

        name = self.split.name
        file = "answers.html" if name == "test" else f"{name}-answers.html"
        return Outcome(files={file: answers_page(self)})

    @property
    def questions(self) -> list[str]:
        """N questions."""
        return [row.example.text_pair or "" for row in self.answers]

    @cached_property
    def question_words(self) -> list[str]:
        """N clusters of question words."""
        return question_clusters(self.questions, self.language, reach=REACH)

    @cached_property
    def classes(self) -> list[str]:
        """How each answer lies to the gold answer."""
        spans = [row.example.spans for row in self.answers]
        return overlap_classes([row.place for row in self.answers], spans)


def score_answers(
    rows: Sequence[Answered], language: Language, no_answer: bool
) -> dict[str, Floats]:
    """Score answers, float64 `[N]` each; see `heron.metrics.span.item_scores`."""
    texts, golds = [row.text for row in rows], [row.golds for row in rows]
    return item_scores(texts, golds, [language_profile(language)], no_answer=no_answer)


def check_places(rows: Sequence[Answered], data: str) -> None:
    """Refuse answers that do not stand in the context where they say that they do.

    Raises:
        DataError: names their guids.
    """
    fix = f"are these the texts of {data} that the run was scored on?"
    problems = []
    for row in rows:
        here = "" if row.place is None else row.example.text[slice(*row.place)]
        if here != row.text:
            what = f"answered '{row.text:.40}', but its context reads '{here:.40}' there"
            problems.append(Problem(row.example.guid, what, fix))
    if problems:
        raise DataError(problems)


def overlap_table(classes: Sequence[str], groups: Sequence[str]) -> Table:
    """Count the overlap classes, over all answers and among those that are not equal.

    Args:
        classes: of N answers.
        groups: N names of articles.

    Source: ParaShoot, Table 5.
    Deviates: over all questions of the split instead of 50, with intervals; equality is that of
    places, where exact match also lets punctuation differ.
    """
    names = np.asarray(classes, dtype=object)
    groups_N = group_ids(groups)
    wrong_N = names != "equal"
    rows: list[tuple[Cell, ...]] = []
    for name in CLASSES:
        hits_N = names == name
        if name in (MISSED, UNANSWERABLE) and not hits_N.any():
            continue
        errors = None if name == "equal" else share(hits_N[wrong_N], groups_N[wrong_N])
        said = OVERLAPS.get(name, "")
        rows.append((name, said, int(hits_N.sum()), share(hits_N, groups_N), errors))
    columns = ("class", "in the paper", "n", "share", "share of errors")
    note = "Annotation: the gold answer. By characters. [low, high]: 95 %, by article."
    return Table("Answers by overlap", columns, tuple(rows), note)
