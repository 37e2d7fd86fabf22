"""Words: whole where people write them whole, in every script."""

import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heron.languages.words import TOKENIZERS, folded_words, words
from heron_tools.morphology.analyses import with_marks
from heron_tools.morphology.backends import words_and_marks


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Într-un oraș, s-a oprit.", ["Într-un", "oraș", "s-a", "oprit"]),
        ('מנכ"ל צה״ל אמר: "לא"', ['מנכ"ל', "צה״ל", "אמר", "לא"]),
        ("בית־ספר בית-ספר צ'ק ג׳ירפה", ["בית־ספר", "בית-ספר", "צ'ק", "ג׳ירפה"]),
        ("don't (stop), it’s 1.000 or 3,5%.", ["don't", "stop", "it’s", "1.000", "or", "3,5"]),
        ("un 'citat' – apoi „altul”...", ["un", "citat", "apoi", "altul"]),
        ("a_b x--y 12.", ["a", "b", "x", "y", "12"]),
        (" .,- ", []),
        ("", []),
    ],
)
def test_a_word_keeps_what_is_written_inside_it_and_nothing_around_it(text, expected):
    assert words(text) == expected


def test_points_do_not_cut_a_hebrew_word():
    assert words("בְּרֵאשִׁית בָּרָא") == ["בְּרֵאשִׁית", "בָּרָא"]


def test_decomposed_letters_stay_in_one_word():
    text = unicodedata.normalize("NFD", "țară și școală")
    assert [unicodedata.normalize("NFC", word) for word in words(text)] == ["țară", "și", "școală"]


def test_folded_words_are_the_words_without_capitals():
    assert folded_words("Orașul ORAȘUL orașul") == ["orașul"] * 3


@given(st.text())
def test_words_are_in_the_text_in_order_and_hold_a_letter_or_a_digit_or_a_mark(text):
    place = 0
    for word in words(text):
        place = text.index(word, place) + len(word)
        assert any(unicodedata.category(c)[0] in "LNM" for c in word)


@given(st.text())
def test_no_letter_is_lost(text):
    kept = sum(c.isalpha() for word in words(text) for c in word)
    assert kept == sum(c.isalpha() for c in text)


def test_whitespace_words_are_what_stands_between_spaces():
    assert TOKENIZERS["whitespace"]("Da, s-a dus.") == ["Da,", "s-a", "dus."]


def test_a_long_text_takes_no_more_than_its_length_asks_for():
    start = time.perf_counter()
    words("-'a" * 100_000 + "-" * 100_000)
    assert time.perf_counter() - start < 1


@given(text=st.text())
def test_words_and_marks_are_all_of_a_text_but_white_space(text):
    found, marks = words_and_marks(text)
    assert found == folded_words(text)
    assert "".join(with_marks(found, tuple(marks))) == "".join(text.casefold().split())
