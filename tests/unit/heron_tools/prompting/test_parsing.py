"""What a model wrote becomes a class by listed rules, or is invalid; nothing is guessed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heron_tools.prompting.parsing import RULES, parse_class, parse_text

LETTERS = {"contradiction": "ס", "entailment": "מ", "neutral": "נ"}
WORDS = {"contradiction": "contradiction", "entailment": "entailment", "neutral": "neutral"}
NEGATED = {"yes": "true", "no": "not true"}


@pytest.mark.parametrize(
    ("text", "label", "rule"),
    [
        ("מ", "entailment", "exact"),
        (" מ\n", "entailment", "exact"),
        ("מ.", "entailment", "signs or case"),
        ("(נ)", "neutral", "signs or case"),
        ("\u200fס\u200f", "contradiction", "signs or case"),
        ("entailment", "entailment", "class name"),
        ("תשובה: ס", "contradiction", "repeated lead"),
        ("תשובה: ס\nהמשפט סותר", "contradiction", "first line"),
        ("נ\nכי לא נאמר דבר", "neutral", "first line"),
        ("מ, כי כך נאמר", "entailment", "beginning"),
        ("", None, "invalid"),
        ("לא יודע", None, "invalid"),
        ("x", None, "invalid"),
        ("מס", None, "invalid"),
        ("מ או ס", None, "invalid"),
        ("מ\nתשובה: ס", None, "invalid"),
        ("תשובה: מ\nתשובה: ס", None, "invalid"),
        ("התשובה היא מ", None, "invalid"),
        ("מהטקסט", None, "invalid"),
    ],
)
def test_letters(text, label, rule):
    assert parse_class(text, LETTERS, "תשובה:") == (label, rule)


@pytest.mark.parametrize(
    ("text", "label", "rule"),
    [
        ("Entailment", "entailment", "signs or case"),
        ("**neutral**", "neutral", "signs or case"),
        ("Answer: Neutral.", "neutral", "repeated lead"),
        ("neutral: nothing is said", "neutral", "beginning"),
        ("entailment is impossible", None, "invalid"),
        ("not entailment", None, "invalid"),
        ("neutral, not entailment", None, "invalid"),
    ],
)
def test_words(text, label, rule):
    assert parse_class(text, WORDS, "Answer:") == (label, rule)


def test_an_answer_inside_another_is_read_as_the_longer_one():
    assert parse_class("not true", NEGATED).label == "no"
    assert parse_class("Not true, I think", NEGATED).label == "no"
    assert parse_class("true", NEGATED).label == "yes"


@given(st.text(max_size=30))
def test_a_text_without_any_answer_is_invalid(text):
    if not any(name in text.casefold() for name in WORDS):
        assert parse_class(text, WORDS, "Answer:") == (None, "invalid")


@given(st.sampled_from(sorted(WORDS)), st.sampled_from(["", " ", "\n", '"', "."]))
def test_every_answer_is_read_whatever_stands_around_it(name, sign):
    found = parse_class(f"{sign}{name.upper()}{sign}", WORDS, "Answer:")
    assert found.label == name
    assert found.rule in (*RULES, "exact")


def test_letters_of_old_romanian_fonts_are_read_as_todays():
    answers = {"contradiction": "contradicție", "neutral": "neşters"}
    assert parse_class("contradicţie", answers).label == "contradiction"
    assert parse_class("Neșters.", answers) == ("neutral", "signs or case")
    assert parse_class("Neşters", {"neşters": "x", "b": "y"}) == ("neşters", "class name")


def test_names_of_classes_that_differ_in_signs_only_are_not_guessed():
    assert parse_class("-1", {"-1": "worse", "1": "better"}) == (None, "invalid")


def test_answers_that_differ_in_case_only_keep_their_case():
    answers = {"small": "a", "large": "A"}
    assert parse_class("A", answers).label == "large"
    assert parse_class("a.", answers).label == "small"
    assert parse_class("A.", answers).label == "large"
    assert parse_class("A, because it is big", answers) == ("large", "beginning")
    assert parse_class("a: it is small", answers) == ("small", "beginning")
    assert parse_class("A\nnot small", answers) == ("large", "first line")
    assert parse_class("A\nor a", answers) == (None, "invalid")


def test_answers_that_differ_in_signs_only_are_read_as_written_and_not_guessed():
    answers = {"worse": "-1", "equal": "0", "better": "1"}
    assert [parse_class(text, answers).label for text in ("-1", "0.", "1")] == list(answers)
    assert parse_class("-1.", answers) == (None, "invalid")
    answers = {"no": "-", "yes": "+"}
    assert parse_class("-", answers, "Answer:").label == "no"
    assert parse_class("I do not know", answers, "Answer:") == (None, "invalid")


def test_free_texts_are_taken_as_they_are():
    assert parse_text(" Haifa \n", "Answer:", "no answer") == ("Haifa", "exact")
    assert parse_text("Answer: Haifa", "Answer:", "no answer") == ("Haifa", "repeated lead")
    assert parse_text("no answer", "Answer:", "no answer") == ("", "exact")
    assert parse_text("Answer: no answer", "Answer:", "no answer").label == ""
    assert parse_text("  ", "Answer:", "no answer") == (None, "invalid")
