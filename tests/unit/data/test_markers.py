"""Markers come out and go in again without a trace, and every bad arrangement has its message."""

import itertools
import re

from hypothesis import given
from hypothesis import strategies as st

from heron.data.examples import Span
from heron.data.markers import Markers, mark, parse_marked
from heron.languages.hebrew import HEBREW

HE = Markers(*HEBREW.event_markers)
EN = Markers("[E1]", "[/E1]", "[E2]", "[/E2]")


@st.composite
def plain_with_spans(draw):
    words = draw(st.lists(st.text("אבגabc'\",-.", min_size=1), min_size=2, max_size=12))
    text = " ".join(words)
    first = draw(st.integers(0, len(words) - 2))
    second = draw(st.integers(first + 1, len(words) - 1))
    starts = [len(" ".join([*words[:i], ""])) for i in (first, second)]
    spans = [
        Span(start, start + len(words[i])) for start, i in zip(starts, (first, second), strict=True)
    ]
    return text, tuple(spans if draw(st.booleans()) else spans[::-1])


@given(plain_with_spans())
def test_parsing_undoes_marking(case):
    text, spans = case
    assert parse_marked(mark(text, spans, HE).text, HE) == (text, spans)


@given(plain_with_spans(), st.sampled_from(["", " ", "\n"]))
def test_marking_undoes_parsing_up_to_outer_white_space(case, outer):
    marked = mark(*case, HE).text
    plain, spans = parse_marked(outer + marked + outer, HE)
    assert mark(plain, spans, HE).text == marked


@given(plain_with_spans())
def test_marked_positions_point_at_mentions_and_opening_markers(case):
    text, spans = case
    marked = mark(text, spans, HE)
    assert [marked.text[s.start : s.end] for s in marked.spans] == [
        text[s.start : s.end] for s in spans
    ]
    assert [marked.text[s.start : s.end] for s in marked.openings] == [HE.start_1, HE.start_2]


def test_all_pairs_of_one_window_share_its_plain_text():
    window = "one two three four"
    words = [Span(match.start(), match.end()) for match in re.finditer(r"\w+", window)]
    for pair in itertools.permutations(words, 2):
        assert parse_marked(mark(window, pair, EN).text, EN) == (window, pair)


def test_hebrew_example_loses_markers_and_their_spaces_only():
    marked = " הצעד [א1] הוגש [/א1] אחרי [א2] שנדון [/א2] בוועדה."
    plain, (first, second) = parse_marked(marked, HE)
    assert plain == "הצעד הוגש אחרי שנדון בוועדה."
    assert plain[first.start : first.end] == "הוגש"
    assert plain[second.start : second.end] == "שנדון"


def test_event_two_may_come_first():
    plain, (first, second) = parse_marked("[E2] left [/E2] , then [E1] slept [/E1]", EN)
    assert (plain[first.start : first.end], plain[second.start : second.end]) == ("slept", "left")


def test_mention_of_several_words_keeps_its_inner_space():
    plain, (first, _) = parse_marked("they [E1] set off [/E1] and [E2] sang [/E2]", EN)
    assert plain[first.start : first.end] == "set off"


def test_white_space_at_the_edge_of_a_mention_is_not_part_of_it():
    plain, (first, _) = parse_marked("a [E1]  b  [/E1] c [E2] d [/E2]", EN)
    assert plain[first.start : first.end] == "b"


def test_markers_without_spaces_are_understood():
    plain, spans = parse_marked("he [E1]ran[/E1], [E2]fell[/E2].", EN)
    assert plain == "he ran, fell."
    assert [plain[s.start : s.end] for s in spans] == ["ran", "fell"]
