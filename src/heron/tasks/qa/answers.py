"""Pure functions to check, find, map and trim the span of an answer in its context."""

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import accumulate

from heron.data.examples import Span


def stands_at(context: str, answer: str, start: int) -> bool:
    """Tell whether `answer` is in `context` at character `start`."""
    return start >= 0 and context.startswith(answer, start)


def nearest_place(context: str, answer: str, start: int) -> Span | None:
    """Find where `answer` stands nearest to `start`, else where it does with other white space.

    Of two places at the same distance, the earlier one; None if there is none.
    """
    for pattern in (re.escape(answer), r"\s+".join(map(re.escape, answer.split()))):
        places = [Span(*found.span(1)) for found in re.finditer(f"(?=({pattern}))", context)]
        if places:
            return min(places, key=lambda place: abs(place.start - start))
    return None


def map_span(text: str, span: Span, normalise: Callable[[str], str]) -> Span:
    """Convert a span of `text` to a span of `normalise(text)`; empty if nothing of it is left.

    A border between characters that become one (a letter and its diacritic) moves outwards.
    """
    whole = normalise(text)
    if whole is text or whole == text:
        return span
    start, end = span
    while start > 0 and normalise(text[:start]) + normalise(text[start:]) != whole:
        start -= 1
    while end < len(text) and normalise(text[:end]) + normalise(text[end:]) != whole:
        end += 1
    return Span(len(normalise(text[:start])), len(normalise(text[:end])))


def spans_as_given(text: str, spans: Sequence[Span], normalise: Callable[[str], str]) -> list[Span]:
    """Convert spans of `normalise(text)`, none of them empty, to spans of `text`.

    Borders never part a letter from its marks. Of the characters that normalisation strips, those
    that belong to a letter of the span (niqqud) are inside, others (direction marks) outside.
    """
    whole = normalise(text)
    if whole is text or whole == text:
        return list(spans)
    normalise = cache(normalise)  # most parts of a text are alike
    letters = list(_letters(text, normalise))
    ends = list(accumulate(len(normalise(text[start:end])) for start, end in letters))
    found = []
    for span in spans:
        start, _ = letters[bisect_right(ends, span.start)]
        _, end = letters[bisect_left(ends, span.end)]
        answer = normalise(text[start:end])
        while not is_mark(text[end - 1]) and normalise(text[start : end - 1]) == answer:
            end -= 1
        while not is_mark(text[start]) and normalise(text[start + 1 : end]) == answer:
            start += 1
        found.append(Span(start, end))
    return found


def _letters(text: str, normalise: Callable[[str], str]) -> Iterator[tuple[int, int]]:
    """Cut a text into parts `(start, end)` that normalisation never joins.

    A part is a letter with its marks, with stripped characters after it, and with the vowel and the
    last consonant of a Korean syllable.
    """
    start = 0
    for place, character in enumerate(text):
        joins = is_mark(character) or "\u1160" <= character <= "\u11ff"
        if place > start and not joins and normalise(character):
            yield start, place
            start = place
    if start < len(text):
        yield start, len(text)


def is_mark(character: str) -> bool:
    """Tell whether a character belongs to the letter before it."""
    return unicodedata.category(character).startswith("M")


def trim(text: str, span: Span) -> Span:
    """Remove white space at both ends of a span; empty if it has nothing else."""
    answer = text[span.start : span.end]
    start = span.start + len(answer) - len(answer.lstrip())
    return Span(start, max(start, span.start + len(answer.rstrip())))
