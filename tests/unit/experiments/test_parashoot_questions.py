"""Sizes, question words and lengths of a question answering data set."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heron.data.examples import Example, Span
from heron_forks.parashoot.questions import (
    ALL,
    length_counts,
    length_table,
    lengths_figure,
    question_statistics,
    size_table,
    word_tables,
)

SPLITS = {
    "train": [
        Example(
            "a", "ctx one", "מתי נסע דוד?", (Span(0, 3),), side={"answers": ["ctx"]}, group="x"
        ),
        Example(
            "b", "ctx one", "על מה סופר?", (Span(0, 7),), side={"answers": ["ctx one"]}, group="x"
        ),
        Example("c", "ctx two", "ספר", (), side={"answers": []}, group="x"),
    ],
    "test": [
        Example(
            "d",
            "ctx three",
            "באיזו שנה נסע דוד אל העיר הגדולה תל אביב?",
            (Span(0, 3),),
            side={"answers": ["ctx", "ctx three"]},
            group="y",
        )
    ],
}


def test_articles_paragraphs_and_questions_are_counted_by_split_and_over_all():
    rows = size_table(question_statistics(SPLITS, "he")).rows
    assert list(rows) == [("train", 1, 2, 3, 1), ("test", 1, 1, 1, 0), (ALL, 2, 3, 4, 1)]


def test_one_split_alone_is_not_repeated_as_all():
    assert list(question_statistics({"test": SPLITS["test"]}, "he")) == ["test"]


def test_questions_of_more_than_seven_words_are_complex():
    described = question_statistics(SPLITS, "he")
    assert described["test"].complex == 1.0
    assert described[ALL].complex == 0.25
    rows = {(row[0], row[1]): row for row in length_table(described).rows}
    assert rows["test", "answers"][2:6] == (2, 1.5, 1.5, 2)


@pytest.mark.parametrize(("words", "share"), [(7, 0.0), (8, 1.0)])
def test_complex_begins_at_eight_words(words, share):
    examples = [Example("q", "c", " ".join(["מה"] * words), (Span(0, 1),))]
    assert question_statistics({"test": examples}, "he")["test"].complex == share


def test_question_words_by_the_first_word_and_behind_a_preposition():
    first, near = word_tables(question_statistics(SPLITS, "he"))
    counts = [{row[0]: row[-2] for row in table.rows if row[-2]} for table in (first, near)]
    assert counts[0] == {"when": 1, "which": 1, "other": 2}
    assert counts[1] == {"what": 1, "when": 1, "which": 1, "other": 1}


@given(st.lists(st.text(alphabet="מי תהאך?", max_size=40), min_size=1, max_size=20))
def test_shares_of_question_words_sum_to_one_and_lengths_lose_no_question(questions):
    examples = [Example(str(n), "c", text, (Span(0, 1),)) for n, text in enumerate(questions)]
    described = question_statistics({"test": examples}, "he")
    for table in word_tables(described):
        assert sum(row[-1] for row in table.rows) == pytest.approx(1.0)
    columns = length_counts(described)
    assert sum(columns["n"]) == len(questions)
    stored = dict(zip(columns["words"], columns["n"], strict=True))
    assert stored == Counter(len(text.split()) for text in questions)


@pytest.mark.usefixtures("drawn_figures")
def test_lengths_are_drawn_even_where_nothing_was_answered():
    described = question_statistics({"test": SPLITS["train"][2:]}, "he")
    assert lengths_figure(described["test"], "title").startswith(b"\x89PNG")
