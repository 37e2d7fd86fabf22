"""What a careless copy keeps, what counts as a word, which texts an example has."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heron.data.examples import Example, Span
from heron_tools.audit.texts import fields, loose, numbered, words


@given(st.text())
def test_a_loose_copy_of_a_loose_copy_is_the_same(text):
    assert loose(loose(text)) == loose(text)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("It's  late.", "it s LATE"),
        ("“Casa” e mare…", "casa e mare"),
        ("שָׁלוֹם", "שלום"),
        ("a\u0306", "ă"),  # decomposed and composed
    ],
)
def test_case_punctuation_spaces_and_points_make_no_difference(one, other):
    assert loose(one) == loose(other)


def test_letters_with_diacritics_stay_letters_of_their_own():
    assert loose("țară") != loose("tara")


@pytest.mark.parametrize(
    ("one", "other"), [("वह आता है", "वह आती है"), ("ដី", "ដូ"), ("กิน", "กัน"), ("กิน", "กุน"), ("க", "கா")]
)
def test_words_with_other_vowel_signs_are_other_words(one, other):
    assert loose(one) != loose(other)


def test_words_keep_what_is_inside_them():
    assert words('Don’t! într-un, צה"ל.') == ["don't", "într-un", 'צה"ל']


def test_points_do_not_cut_words_into_letters():
    assert words("שָׁלוֹם לָעוֹלָם") == ["שָׁלוֹם", "לָעוֹלָם"]


def test_a_pair_has_premise_and_hypothesis():
    assert fields(Example("g", "p", "h")) == {"hypothesis": "h", "premise": "p"}


def test_an_event_pair_has_its_events_what_stands_between_them_and_its_window():
    example = Example("g", "he ate and slept", spans=(Span(11, 16), Span(3, 6)))
    assert fields(example) == {
        "events": "slept … ate",
        "between": " and ",
        "window": "he ate and slept",
    }


def test_each_text_is_normalised_once_and_rows_that_are_alike_have_one_number():
    train, seen = [Example("1", "A b.", "c"), Example("2", "a  B", "!"), Example("3", "c")], []
    splits = {"train": train, "test": [Example("4", "a b", "C!")]}
    texts, rows = numbered(splits, lambda text: seen.append(text) or loose(text))
    assert (len(seen), texts) == (7, ["", "a b", "c"])
    assert rows["train"].tolist() == [[1, 2], [1, 0], [2, -1]]
    assert rows["test"].tolist() == [[1, 2]]
