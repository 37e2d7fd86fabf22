"""Classes are exhaustive, exclusive, and those of ParaShoot's tables."""

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heron.data.examples import Span
from heron.languages import LANGUAGES, Language
from heron.languages.english import ENGLISH
from heron.languages.hebrew import HEBREW
from heron.languages.romanian import ROMANIAN
from heron_forks.parashoot.answer_kinds import (
    ANSWER_LENGTHS,
    INVENTED,
    MISSED,
    OVERLAPS,
    QUESTION_LENGTHS,
    bucket_names,
    length_buckets,
    overlap_classes,
)
from heron_forks.parashoot.question_words import CLUSTERS, OTHER, asks_yes_or_no, question_clusters

SPANS = st.tuples(st.integers(0, 12), st.integers(1, 6)).map(lambda s: Span(s[0], s[0] + s[1]))


@given(SPANS, SPANS)
def test_the_class_is_how_the_two_sets_of_characters_lie(prediction, gold):
    ours, theirs = set(range(*prediction)), set(range(*gold))
    expected = {
        "equal": ours == theirs,
        "inside": ours < theirs,
        "contains": ours > theirs,
        "overlaps": bool(ours & theirs and ours - theirs and theirs - ours),
        "disjoint": not ours & theirs,
    }
    assert list(expected) == list(OVERLAPS)
    assert overlap_classes([prediction], [[gold]]) == [k for k, true in expected.items() if true]


def test_of_several_golds_the_one_most_like_the_prediction_counts():
    golds = [(50, 60), (0, 30), (9, 14)]
    assert overlap_classes([(10, 14)], [golds]) == ["inside"]
    assert overlap_classes([(9, 16)], [golds]) == ["contains"]
    assert overlap_classes([(0, 30)], [golds]) == ["equal"]
    assert overlap_classes([(90, 91)], [golds]) == ["disjoint"]


def test_no_answer_is_right_missed_or_given_to_an_unanswerable_question():
    found = overlap_classes([None, None, (0, 3)], [[], [(0, 3)], []])
    assert found == ["equal", MISSED, INVENTED]


@pytest.mark.parametrize(
    ("language", "question", "cluster"),
    [
        (HEBREW, "מהו מניכאיזם?", "what"),
        (HEBREW, "מָה, לדעתך, קרה?", "what"),
        (HEBREW, "ובאיזו שנה נוסדה?", "which"),
        (HEBREW, "ממי למד?", "who"),
        (HEBREW, "ממתי פועל המוסד?", "when"),
        (HEBREW, "מהיכן הגיעו?", "where"),
        (HEBREW, "לאן נסע?", "where"),
        (HEBREW, "כיצד נבנה הגשר?", "how"),
        (HEBREW, "בכמה נמכר הבית?", "how_many"),
        (HEBREW, "למה נסגר המפעל?", "why"),
        (HEBREW, "על מה נכתב הספר?", "what"),
        (HEBREW, "בן כמה היה?", "how_many"),
        (HEBREW, "תארו את הגשר", OTHER),
        (ROMANIAN, "Ce este un pod?", "what"),
        (ROMANIAN, "De ce s-a închis?", "why"),
        (ROMANIAN, "În ce an a fost fondată?", "what"),
        (ROMANIAN, "Cărui oraș îi aparține?", "which"),
        (ROMANIAN, "Pe cine a învins?", "who"),
        (ROMANIAN, "Ca\u0302nd a plecat?", "when"),
        (ROMANIAN, "De unde vine?", "where"),
        (ROMANIAN, "Câţi ani avea?", "how_many"),
        (ROMANIAN, "Cum funcționează?", "how"),
        (ENGLISH, "How many bridges?", "how_many"),
        (ENGLISH, "How does it work?", "how"),
        (ENGLISH, "In what year?", "what"),
        (ENGLISH, "Who's there?", "who"),
        (ENGLISH, "Name a bridge.", OTHER),
        (ENGLISH, "", OTHER),
    ],
)
def test_inflected_and_prefixed_question_words_belong_to_their_cluster(language, question, cluster):
    assert question_clusters([question], language) == [cluster]


def test_with_a_reach_of_1_only_the_first_word_asks():
    questions = ["על מה נכתב?", "מה נכתב?", "באיזו עיר?"]
    assert question_clusters(questions, HEBREW, reach=1) == [OTHER, "what", "which"]


def test_a_marker_that_a_question_word_follows_asks_for_more_than_yes_or_no():
    for question, language, asks in (
        ("Oare s-a terminat războiul?", ROMANIAN, True),
        ("Oare unde s-a născut Mihai Eminescu?", ROMANIAN, False),
        ("Oare în ce an a murit?", ROMANIAN, False),
        ("Unde s-a născut?", ROMANIAN, False),
        ("האם מי שנולד בירושלים הוא ירושלמי?", HEBREW, True),
        ("", HEBREW, False),
    ):
        assert asks_yes_or_no(question, language) is asks, question


def test_a_language_without_question_words_has_no_clusters():
    assert question_clusters(["Quoi?", "Qui?"], None) == [OTHER, OTHER]
    assert question_clusters(["Quoi?"], Language("fr", "French", "ltr", "quoi")) == [OTHER]


@pytest.mark.parametrize("code", LANGUAGES)
def test_question_words_are_of_known_clusters(code):
    if asked := LANGUAGES[code].questions:
        assert {*asked.phrases.values()} <= {*CLUSTERS}


@given(st.lists(st.integers(0, 14), max_size=9))
def test_every_length_is_in_the_bucket_whose_name_says_so(lengths):
    for edges in (ANSWER_LENGTHS, QUESTION_LENGTHS, (2, 3)):
        found = length_buckets(["word " * length for length in lengths], edges)
        for length, name in zip(lengths, found, strict=True):
            low, _, high = name.replace(" or more", " to 99").partition(" to ")
            assert max(1, int(low)) <= max(1, length) <= int(high or low)


def test_buckets_are_named_in_order():
    assert bucket_names(ANSWER_LENGTHS) == ["1", "2 to 4", "5 to 8", "9 or more"]
    assert bucket_names(QUESTION_LENGTHS) == ["1 to 3", "4 to 7", "8 to 10", "11 or more"]


def read(name: str) -> dict:
    file = Path(os.environ.get("HERON_DATA", "nowhere")) / name
    if not file.is_file():
        pytest.skip(f"{name} is not here: HERON_DATA")
    return json.loads(file.read_text(encoding="utf-8"))


@pytest.mark.real
def test_question_words_agree_with_the_labels_of_heq():
    articles = read("heq/val v1.1.json")["data"]
    asked = [q for one in articles for part in one["paragraphs"] for q in part["qas"]]
    labelled = [(q["question"], q["WH Question"]) for q in asked if q["WH Question"]]
    questions, labels = zip(*labelled, strict=True)
    found = question_clusters(questions, HEBREW)
    expected = question_clusters(labels, HEBREW)
    assert OTHER not in expected
    agree = sum(one == other for one, other in zip(found, expected, strict=True))
    assert agree / len(found) > 0.99
