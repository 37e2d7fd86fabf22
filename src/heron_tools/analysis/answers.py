"""Scores of answers by slice (question word, lengths, overlap), and the page of all answers.

Legend: N questions.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from heron.base.cells import Cell, Table
from heron.base.errors import DataError, Problem
from heron.base.pages import clean_text
from heron.base.plots import BLUE, GREEN
from heron.base.tables import is_missing
from heron.data.examples import Example, Span
from heron.metrics import span_classes as kinds
from heron.metrics.span import item_scores, language_profile
from heron.tasks.qa.answers import spans_as_given
from heron.tasks.qa.reader import given_context, normaliser
from heron_tools.analysis.base import Drawn, Floats, Outcome, TextAnalysis, cards_page
from heron_tools.analysis.rates import group_ids, share
from heron_tools.analysis.slices import class_slices

REACH = 3  # the question word is looked for among so many words
NO_ANSWER = "(no answer)"
CLASSES = (*kinds.OVERLAPS, kinds.MISSED, kinds.UNANSWERABLE)


class AnswerAnalysis(TextAnalysis):
    """Scores of answers by slice, and a page of all answers; see `TextAnalysis`.

    Source: ParaShoot, Tables 3 and 5 and Figure 2 name the classes; the paper has no scores by
    class.
    """

    unused = ("types", "bins", "words", "morphology", "published", "texts")
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
    page_name = "answers"

    @cached_property
    def texts(self) -> list[str]:
        """N predicted answers; empty for "no answer"."""
        return list(self.frame["prediction"])

    @cached_property
    def answers(self) -> list[list[str]]:
        """N lists of gold answers as the data set spells them; empty for "no answer"."""
        return [list(golds) for golds in self.frame["golds"]]

    @cached_property
    def examples(self) -> list[Example]:
        """See `TextAnalysis`: contexts and gold spans as the file has them."""
        change, examples = normaliser(self.split.data), self.split.join(self.frame["guid"])
        for number, example in enumerate(examples):
            given = given_context(example)
            spans = tuple(spans_as_given(given, example.spans, change))
            group = given if example.group == example.text else example.group
            examples[number] = replace(example, text=given, spans=spans, group=group)
        return examples

    @property
    def _stored(self) -> list[Span | None]:
        ends = zip(self.frame["start"], self.frame["end"], strict=True)
        return [None if is_missing(one) else Span(int(one), int(other)) for one, other in ends]

    @cached_property
    def places(self) -> list[Span | None]:
        """N spans of answers in their contexts; refused if of other data.

        None for "no answer", and for an answer that a language model wrote and the context has not.
        """
        places, problems = [], []
        fix = f"are these the texts of {self.split.data.name} that the run was scored on?"
        for place, example, text in zip(self._stored, self.examples, self.texts, strict=True):
            places.append(place)
            here = text if place is None else example.text[slice(*place)]
            if here != text:
                what = f"answered '{text:.40}', but its context reads '{here:.40}' there"
                problems.append(Problem(example.guid, what, fix))
        if problems:
            raise DataError(problems)
        return places

    @cached_property
    def scores(self) -> dict[str, Floats]:
        """See `TextAnalysis`: by the standard rules, and by those of the language.

        Scores of answerable questions alone are left out: they are the standard ones in all slices
        but one.
        """
        _ = self.places  # answers to other data are refused first
        no_answer = len(self.split.data.label_order) > 1
        profiles = [language_profile(self.language)]
        found = item_scores(self.texts, self.answers, profiles, no_answer=no_answer)
        return {name: one for name, one in found.items() if not name.startswith("answerable_")}

    @cached_property
    def groups(self) -> list[str]:
        """See `TextAnalysis`: articles, or contexts where the data set names no articles."""
        return [example.group or example.text for example in self.examples]

    @cached_property
    def questions(self) -> list[str]:
        """N questions."""
        return [example.text_pair or "" for example in self.examples]

    @cached_property
    def question_words(self) -> list[str]:
        """N clusters of question words."""
        return kinds.question_clusters(self.questions, self.language, reach=REACH)

    @cached_property
    def classes(self) -> list[str]:
        """How each answer overlaps the gold answer; one that the context has not is disjoint."""
        both = zip(self.places, self.texts, strict=True)
        places = [Span(-1, -1) if text and place is None else place for place, text in both]
        return kinds.overlap_classes(places, [example.spans for example in self.examples])

    def analyses(self) -> dict[str, Callable[[], Outcome]]:
        """See `RunAnalysis`."""
        return {
            "question_word": self.by_question_word,
            "answer_length": self.by_answer_length,
            "question_length": self.by_question_length,
            "overlap_class": self.by_overlap_class,
            "answers": self.page,
        }

    def by_question_word(self) -> Outcome:
        """Slice by question word."""
        parts = class_slices(self.question_words, (*kinds.CLUSTERS, kinds.OTHER))
        found = self.sliced("question word", parts)
        return replace(found, facts={**found.facts, "reach": REACH})

    def by_answer_length(self) -> Outcome:
        """Slice by the number of words of the first gold answer."""
        golds = [answers[0] if answers else "" for answers in self.answers]
        buckets = kinds.length_buckets(golds, kinds.ANSWER_LENGTHS)
        names = [name if gold else NO_ANSWER for name, gold in zip(buckets, golds, strict=True)]
        order = (*kinds.bucket_names(kinds.ANSWER_LENGTHS), NO_ANSWER)
        return self.sliced("words of the gold answer", class_slices(names, order))

    def by_question_length(self) -> Outcome:
        """Slice by the number of words of the question."""
        names = kinds.length_buckets(self.questions, kinds.QUESTION_LENGTHS)
        parts = class_slices(names, kinds.bucket_names(kinds.QUESTION_LENGTHS))
        return self.sliced("words of the question", parts)

    def by_overlap_class(self) -> Outcome:
        """Slice by how answers overlap the gold answers, and count these classes."""
        parts = class_slices(self.classes, CLASSES)
        found = self.sliced("overlap of the answer with the gold answer", parts)
        return replace(found, tables=(overlap_table(self.classes, self.groups), *found.tables))

    def build_page(self) -> str:
        """See `TextAnalysis`."""
        content, synthetic = self.payload(), self.split.data.synthetic
        return cards_page("answers.html.j2", self.title, synthetic, content, total=len(self.frame))

    def payload(self) -> dict[str, Any]:
        """Lay out the answers for the page, in JSON's types.

        Each context is stored once; offsets count characters.

        Source: ParaShoot, Figures 3 and A.1.
        """
        language, classes, words = self.language, self.classes, self.question_words
        contexts: dict[str, int] = {}
        own = f"{language.code}_"
        names = [n for n in self.scores if n in ("exact_match", "f1") or n.startswith(own)]
        rows = []
        for number, example in enumerate(self.examples):
            place, probability = self.places[number], self.frame["probability"][number]
            given = place is not None and probability is not None
            # The page cuts the candidates' texts out of the context.
            best = json.loads(self.frame["n_best"][number])
            group = "" if example.group == example.text else example.group
            rows.append(
                {
                    "guid": clean_text(example.guid),
                    "group": clean_text(group),
                    "question": clean_text(self.questions[number]),
                    "golds": [list(span) for span in example.spans],
                    "given": None if place is None else list(place),
                    "probability": round(probability, 4) if given else None,
                    "written": None if given else clean_text(self.texts[number]),
                    "best": [[b["start"], b["end"], round(b["probability"], 4)] for b in best],
                    "context": contexts.setdefault(example.text, len(contexts)),
                    "class": classes[number],
                    "word": words[number],
                    "scores": [round(float(self.scores[name][number]), 4) for name in names],
                }
            )
        return {
            "language": language.code,
            "direction": language.direction,
            "scores": names,
            "classes": [name for name in CLASSES if name in set(classes)],
            "words": [name for name in (*kinds.CLUSTERS, kinds.OTHER) if name in set(words)],
            "contexts": [clean_text(context) for context in contexts],
            "rows": rows,
        }


def overlap_table(classes: Sequence[str], groups: Sequence[str]) -> Table:
    """Count the overlap classes of N answers, over all and among those that are not equal.

    Source: ParaShoot, Table 5.
    Deviates: counts all questions of the split instead of 50, with intervals; `equal` compares
    places, while exact match also ignores punctuation.
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
    note = "Annotation: the gold answer. By characters. [low, high]: 95 %, by article."
    return Table("Answers by overlap", columns, tuple(rows), note)
