"""An answer's place survives a wrong offset, blanks at its ends and Unicode normalisation."""

import unicodedata
from functools import partial

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from heron.data.examples import Span
from heron.data.offsets import stands_at
from heron.languages.hebrew import HEBREW
from heron.languages.romanian import ROMANIAN
from heron.languages.unicode import UnicodeOptions, normalise
from heron.tasks.qa.answers import map_span, nearest_place, spans_as_given, trim

# Niqqud in both orders, a decomposed letter, a cedilla letter, direction marks, emoji with joiner.
PIECES = [
    *"אבגש, .",
    "שָׁ",
    "ש\u05c1\u05b8",
    "e\u0302",
    "ă",
    "ş",
    "\u200f",
    "\u202b",
    "👩\u200d🔬",
    "\u0301",
]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=25).map("".join)
OPTIONS = st.builds(
    UnicodeOptions,
    nfc=st.booleans(),
    bidi=st.sampled_from(["strip", "keep"]),
    niqqud=st.sampled_from(["strip", "keep"]),
    punctuation=st.sampled_from(["unify", "keep"]),
)


def cut(draw_text, a, b):
    """Make a span out of a text and two numbers."""
    assume(draw_text)
    first, last = sorted((a % len(draw_text), b % len(draw_text)))
    return Span(first, last + 1)


@given(TEXTS, st.integers(0, 99), st.integers(0, 99), OPTIONS, st.sampled_from([HEBREW, ROMANIAN]))
def test_a_mapped_span_holds_the_normalised_answer_or_whole_characters_around_it(
    text, a, b, options, language
):
    change = partial(normalise, language=language, options=options)
    span = cut(text, a, b)
    mapped = map_span(text, span, change)
    found, answer = change(text)[mapped.start : mapped.end], change(text[span.start : span.end])
    before, after = change(text[: span.start]), change(text[span.end :])
    if before + answer + after == change(text):
        assert found == answer
    else:  # a border between a letter and its mark: the whole character is the answer
        inside = unicodedata.normalize("NFD", answer)
        assert set(inside) - set(unicodedata.normalize("NFD", found)) == set()
        assert change(found) == found


def test_a_span_of_nothing_but_marks_that_are_stripped_is_empty():
    change = partial(normalise, language=HEBREW, options=UnicodeOptions())
    span = map_span("א\u200fב", Span(1, 2), change)
    assert span.start == span.end


@given(TEXTS, st.integers(0, 99), st.integers(0, 99), st.integers(-5, 120))
def test_the_nearest_place_is_the_nearest_of_all_places(text, a, b, start):
    span = cut(text, a, b)
    answer = text[span.start : span.end]
    places = [place for place in range(len(text)) if stands_at(text, answer, place)]
    clamped = min(max(start, 0), len(text))
    expected = min(places, key=lambda place: (abs(place - clamped), place))
    assert nearest_place(text, answer, start) == (expected, expected + len(answer))


def test_an_answer_that_stands_nowhere_has_no_place():
    assert nearest_place("abc", "d", 1) is None
    assert not stands_at("abc", "c", -1)


@pytest.mark.parametrize(
    ("span", "expected"),
    [((0, 6), (1, 4)), ((1, 4), (1, 4)), ((0, 1), (1, 1)), ((2, 6), (2, 4)), ((0, 3), (1, 3))],
)
def test_trimming_moves_both_ends_inwards_over_white_space(span, expected):
    assert trim(" abc\n\t", Span(*span)) == expected


@pytest.mark.parametrize(
    ("span", "expected"), [((0, 1), "ê"), ((1, 3), "ên"), ((2, 4), "nă"), ((3, 4), "ă")]
)
def test_a_border_between_a_letter_and_its_mark_moves_outwards(span, expected):
    change = partial(normalise, language=ROMANIAN, options=UnicodeOptions())
    text = "e\u0302na\u0306"
    mapped = map_span(text, Span(*span), change)
    assert change(text)[mapped.start : mapped.end] == expected


@given(TEXTS, st.integers(0, 99), st.integers(0, 99), OPTIONS, st.sampled_from([HEBREW, ROMANIAN]))
@example("\u200f\u0301", 0, 0, UnicodeOptions(nfc=False), HEBREW)  # a mark with no letter
def test_a_span_of_the_normalised_text_is_cut_out_of_the_text_that_was_given(
    text, a, b, options, language
):
    change = partial(normalise, language=language, options=options)
    whole = change(text)
    span = cut(whole, a, b)
    (there,) = spans_as_given(text, [span], change)
    before, found, after = text[: there.start], text[slice(*there)], text[there.end :]
    assert change(before) + change(found) + change(after) == whole, "no letter is cut in two"
    start = len(change(before))
    assert start <= span.start
    assert span.end <= start + len(change(found))
    # Letter and marks stay together, so that no more than a letter's marks can be too much.
    assert all(unicodedata.combining(c) for c in whole[span.end : start + len(change(found))])
    marks = set(DIRECTION) if options.bidi == "strip" else set()
    assert not {found[0], found[-1]} & marks


DIRECTION = "\u200f\u202b"


@pytest.mark.parametrize(
    ("given", "answer", "options"),
    [
        ("\u200fרותי \u202bהגיעה\u202c לחיפה\u200f.", "הגיעה", {}),
        ("\u200fרותי הגיעה ל\u200fחיפה\u200f.", "ל\u200fחיפה", {}),
        ("רוּתִי הִגִּיעָה לְחֵיפָה", "הִגִּיעָה", {"niqqud": "strip"}),
        ("רוּתִי הִגִּיעָה\u200f לְחֵיפָה", "הִגִּיעָה", {"niqqud": "strip"}),
        ("a\u0306 a\u0306n a\u0306", "a\u0306n", {}),
        ("לְךָ בָּא", "לְךָ", {"niqqud": "strip"}),
        ("שׁלום ש\u05c1לום", "ש\u05c1לום", {}),
        ("\u1112\u1161\u11ab a\u0306", "a\u0306", {}),
    ],
)
def test_an_answer_of_the_normalised_text_is_found_again_in_the_text_that_was_given(
    given, answer, options
):
    change = partial(normalise, language=HEBREW, options=UnicodeOptions(**options))
    start = change(given).rindex(change(answer))
    (span,) = spans_as_given(given, [Span(start, start + len(change(answer)))], change)
    assert given[slice(*span)] == answer
