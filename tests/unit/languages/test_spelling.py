"""Texts of different files: the same where a reading makes them the same, and otherwise not."""

from hypothesis import given
from hypothesis import strategies as st
from tests.unit.languages.test_unicode import languages, options, tricky

from heron.languages.spelling import around_difference, coarsest, speller
from heron.languages.unicode import UnicodeOptions, normalise

# Two spellings each of one text: how a file may have it, and how it is read.
POINTS = "\u05e9\u05c1\u05b8", "\u05e9\u05b8\u05c1"  # in another order
MARKS = "\u200fהכנסת\u200e ", "הכנסת"
CEDILLA = "\u015fcoala", "\u0219coala"


words = st.text("אב ", max_size=99)


@given(tricky, languages, options, options)
def test_what_two_readings_have_made_of_a_text_is_the_same_to_the_coarser_of_both(
    text, language, one, other
):
    both = coarsest([one, other])
    expected = normalise(text, language, both)
    assert normalise(normalise(text, language, one), language, both) == expected


@given(options)
def test_the_coarsest_of_one_reading_is_that_reading(reading):
    assert coarsest([reading]) == reading
    assert coarsest([reading, reading]) == reading


def test_without_a_reading_the_coarsest_is_the_default():
    assert coarsest([]) == UnicodeOptions()


def test_texts_are_spelt_as_data_is_read():
    for given_text, read in (POINTS, MARKS):
        assert speller("he")(given_text) == read == speller("he")(read)
    assert speller("ro")(CEDILLA[0]) == CEDILLA[1]
    assert speller("he")(CEDILLA[0]) == speller(None)(CEDILLA[0]) == CEDILLA[0]
    assert speller("he", UnicodeOptions(bidi="keep"))(MARKS[0]) == MARKS[0].strip()


@given(st.integers(0, 200), words, words)
def test_long_texts_are_cut_to_where_they_differ(length, one, other):
    same = "כן לא " * (length // 6)
    shown = around_difference(same + one, same + other)
    for text, whole in zip(shown, (same + one, same + other), strict=True):
        assert len(text) <= 80
        assert text in whole
    assert (shown[0] == shown[1]) <= (one == other or one[60:] != other[60:])
