"""Chronicle's questions: answers follow from the world, stand where they are said to, and are hard.

The oracle is the events: what a question asks for is worded from them anew and compared with the
characters of the context.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from random import Random
from statistics import fmean
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chronicle import (
    english_words,
    hebrew_words,
    romanian_words,
    world,
)
from chronicle.answering import ASKERS, COUNTED, MORE
from chronicle.passage import Passage, passages
from chronicle.plot import draw_story
from chronicle.pointing import unmark
from chronicle.premise import TOLD, UNDATED, Fact, named
from chronicle.questions import KINDS, Question, Questions
from chronicle_rows import LANGUAGES, Row, Rows, in_languages

WORDS: dict[str, ModuleType] = {"he": hebrew_words, "ro": romanian_words, "en": english_words}
COLUMNS = [
    "guid", "document", "context", "question", "answer", "answer_start", "kind", "candidates",
]  # fmt: skip
SEEDS = st.integers(0, 10**6)


@pytest.fixture(scope="module")
def corpora(tmp_path_factory):
    return in_languages(tmp_path_factory, task="qa", size=400, unanswerable=0.2)


def all_rows(corpus: Rows) -> list[Row]:
    return [row for split in corpus.values() for row in split]


def drawn(seed: int, language: str = "he", sentences: tuple[int, int] = (4, 8)) -> list[Passage]:
    stories = [draw_story(Random(f"{seed}/{number}"), MORE, COUNTED) for number in range(2)]
    asker = ASKERS[language]
    return list(passages(stories, asker, Random(seed), Random(seed), sentences))


def answered(seed: int, language: str = "he") -> Iterator[tuple[Passage, Question]]:
    for passage in drawn(seed, language):
        for question in Questions(passage, Random(seed)).answered():
            yield passage, question


def fact_of(passage: Passage, question: Question) -> Fact:
    """The one fact that the question is about; verb and thing, or verb and doer, name it."""
    [fact] = [fact for fact in passage.premise.facts if fact.event == question.event]
    return fact


def expected(language: str, passage: Passage, question: Question) -> set[str]:
    """Word what the question asks for from its event alone."""
    words, event = WORDS[language], question.event
    if question.form == "who":
        subject = event.subject
        if subject.kind == world.ORGANISATION:
            return {words.ORGANISATIONS[subject.word][0]}
        name, role = words.NAMES[subject.gender][subject.word], words.ROLES[subject.role]
        role = role if language == "en" else role["mf".index(subject.gender)]
        return {name, role, f"the {role}", f"{role} {name}"}
    if question.form in ("place", "town"):
        word = event.place if question.form == "place" else event.object and event.object.word
        assert word is not None
        return {words.PLACES[word]}
    if question.form == "clock":
        return {world.clock(event.start)}
    if question.form == "date":
        # The year is the story's, which a passage does not keep; its facts carry the day.
        day, month = fact_of(passage, question).date or (0, 0)
        of = " ב" if language == "he" else " "
        return {f"{day}{of}{words.MONTHS[month - 1]}"}
    assert event.object is not None
    if language == "he":
        gender = words.NOUNS[world.DOCUMENT][event.object.word][1]
        return {words.NUMBERS[gender][event.object.count - 2]}
    return {words.NUMBERS[event.object.count]}


def test_rows_hold_the_promised_columns_and_exact_offsets(corpora):
    for corpus in corpora.values():
        for row in all_rows(corpus):
            assert list(row) == COLUMNS
            assert row["guid"].startswith(row["document"] + ".")
            assert row["kind"] in KINDS
            if row["answer"] is None:
                assert row["answer_start"] is None
                continue
            start = row["answer_start"]
            assert row["context"][start : start + len(row["answer"])] == row["answer"]
            assert row["answer"] == row["answer"].strip(" .,;:\"'“”„")
            assert row["answer"]


@given(SEEDS, st.sampled_from(LANGUAGES))
def test_the_answer_is_what_the_event_says(seed, language):
    for passage, question in answered(seed, language):
        assert question.answer
        said = passage.text(question.answer)
        if question.form != "why":
            wanted = {word.lower() for word in expected(language, passage, question)}
            assert said.lower() in wanted, question
            continue
        fact = fact_of(passage, question)
        [cause] = [
            other for other in passage.premise.facts
            if other.sentence == fact.sentence and other is not fact
        ]  # fmt: skip
        assert passage.indices[cause] == question.event.cause
        # The clause tells the cause's doer and nothing of the effect.
        start, end = passage.doer(cause) or question.answer
        assert question.answer[0] <= start < end <= question.answer[1]
        effect = passage.find("subject", fact)
        assert effect
        assert effect[1] <= question.answer[0] or effect[0] >= question.answer[1]


@given(SEEDS)
def test_a_question_names_one_event_that_happened(seed):
    for passage, question in answered(seed):
        fact = fact_of(passage, question)
        assert fact.said in (TOLD, UNDATED)
        alike = [one for one in passage.premise.facts if named(one.event) == named(fact.event)]
        assert alike == [fact]
        if question.form == "date":
            assert fact.said == TOLD
        if question.form == "town":
            doers = [
                (one.event.frame, one.event.subject)
                for one in passage.premise.facts
            ]  # fmt: skip
            assert doers.count((fact.event.frame, fact.event.subject)) == 1


@given(SEEDS, st.sampled_from(KINDS))
def test_a_question_without_an_answer_asks_about_what_did_not_happen(seed, kind):
    for passage in drawn(seed):
        question = Questions(passage, Random(seed)).unanswered(kind)
        if question is None:
            continue
        assert question.kind == kind
        assert question.answer is None
        assert question.candidates > 0
        for fact in passage.premise.facts:
            if fact.said in (TOLD, UNDATED) and named(fact.event) == named(question.event):
                assert question.doer  # else the question is about what the other one did
                assert fact.event.subject != question.event.subject


@pytest.mark.parametrize("language", LANGUAGES)
def test_shared_words_do_not_tell_whether_there_is_an_answer(corpora, language):
    shares: dict[bool, list[float]] = {True: [], False: []}
    for row in all_rows(corpora[language]):
        context = set(re.findall(r"\w+", row["context"].lower()))
        words = re.findall(r"\w+", row["question"].lower())
        shares[row["answer"] is None].append(fmean(word in context for word in words))
    assert abs(fmean(shares[True]) - fmean(shares[False])) < 0.1


def test_kinds_are_equally_frequent_and_the_share_without_an_answer_is_exact(corpora):
    rows = corpora["he"]["train"]
    assert sum(row["answer"] is None for row in rows) == pytest.approx(0.2 * len(rows), abs=1)
    for missing in (False, True):
        kinds = Counter(row["kind"] for row in rows if (row["answer"] is None) == missing)
        assert set(kinds) == set(KINDS)
        assert max(kinds.values()) - min(kinds.values()) <= 2 * len(KINDS)


def test_marks_nest_and_leave_no_trace():
    text, parts = unmark("\U000f0501a \U000f0001b\U000f8001 c\U000f8501.")
    assert text == "a b c."
    assert [(one.part, one.event, text[one.start : one.end]) for one in parts] == [
        ("subject", 1, "b"),
        ("clause", 1, "a b c"),
    ]
