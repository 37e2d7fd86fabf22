"""Unicode variants: what is unified, what is kept, and that doing it twice changes nothing."""

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from heron.languages import LANGUAGES, get_language
from heron.languages.english import ENGLISH
from heron.languages.hebrew import HEBREW
from heron.languages.romanian import ROMANIAN
from heron.languages.unicode import UnicodeOptions, around_difference, coarsest, normalise, speller

KEEP_ALL = UnicodeOptions(nfc=False, bidi="keep", cedilla="keep")

# Letters, marks and controls that interact: plain text from hypothesis would rarely meet them.
tricky = st.text(
    st.one_of(
        st.sampled_from("אבגשםs tŞşţșţ\u0327\u0326\u0301\u05b8\u05c1\u05be״׳-'\"\u200f\u202b"),
        st.sampled_from(["\ufb2a", "\u0592", "\u05bf", "\u2066", "é", "a"]),
        st.characters(exclude_categories=["Cs"]),
    )
)
options = st.builds(
    UnicodeOptions,
    nfc=st.booleans(),
    bidi=st.sampled_from(["strip", "keep"]),
    niqqud=st.sampled_from(["strip", "keep"]),
    punctuation=st.sampled_from(["unify", "keep"]),
    cedilla=st.sampled_from(["comma", "keep"]),
)
languages = st.sampled_from(list(map(get_language, LANGUAGES)))


@given(tricky, languages, options)
@example("s\u200f\u0327", ROMANIAN, UnicodeOptions())  # stripping makes a cedilla letter
@example("\ufb2a", HEBREW, UnicodeOptions(niqqud="strip"))  # composing brings out a point
def test_normalising_twice_changes_nothing_more(text, language, options):
    once = normalise(text, language, options)
    assert normalise(once, language, options) == once


@given(tricky, languages)
def test_nfc_alone_is_what_unicodedata_does(text, language):
    only_nfc = UnicodeOptions(nfc=True, bidi="keep", cedilla="keep")
    assert normalise(text, language, only_nfc) == unicodedata.normalize("NFC", text)


@given(tricky, languages, options)
def test_no_letter_is_lost(text, language, options):
    def letters(value: str) -> list[str]:
        decomposed = unicodedata.normalize("NFD", value)
        return [c for c in decomposed if unicodedata.category(c).startswith("L")]

    assert letters(normalise(text, language, options)) == letters(text)


@pytest.mark.parametrize(
    ("option", "value", "before", "after"),
    [
        ("nfc", True, "a\u0306", "ă"),
        ("bidi", "strip", "\u200fשלום\u202c", "שלום"),
        ("niqqud", "strip", "שָׁלוֹם", "שלום"),
        ("punctuation", "unify", "בית־ספר צה״ל ג׳", "בית-ספר צה\"ל ג'"),
        ("cedilla", "comma", "şi ţară ŞŢ", "și țară ȘȚ"),
    ],
)
def test_each_switch_does_its_part_and_no_other(option, value, before, after):
    settings = {"nfc": False, "bidi": "keep", "cedilla": "keep", option: value}
    assert normalise(before, ROMANIAN, UnicodeOptions(**settings)) == after
    assert normalise(before, ROMANIAN, KEEP_ALL) == before


def test_stripping_niqqud_keeps_hebrew_punctuation():
    text = "בית־ספר׃ ׀ ׆"
    assert normalise(text, HEBREW, UnicodeOptions(niqqud="strip")) == text


def test_cedilla_letters_stay_outside_romanian():
    assert normalise("Şükrü", ENGLISH, UnicodeOptions()) == "Şükrü"
    assert normalise("Şükrü", ROMANIAN, UnicodeOptions()) == "Șükrü"


@pytest.mark.parametrize("text", ["plain ascii", "שלום עולם", "și țară"])
def test_clean_text_is_returned_as_the_same_object(text):
    assert normalise(text, ROMANIAN, UnicodeOptions()) is text


@pytest.mark.parametrize(
    "language", list(map(get_language, LANGUAGES)), ids=lambda language: language.code
)
def test_every_language_spells_with_canonical_letters_of_its_own(language):
    assert len(set(language.alphabet)) == len(language.alphabet)
    assert normalise(language.alphabet, language, UnicodeOptions()) == language.alphabet
    assert all(unicodedata.category(letter).startswith("L") for letter in language.alphabet)
    assert language.direction in ("rtl", "ltr")
    assert len(set(language.event_markers)) == 4


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
