"""Where an answer stands in its context: checked, searched, mapped and trimmed. Pure functions."""

from __future__ import annotations

import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate

from heron.data.examples import Span


def stands_at(context: str, answer: str, start: int) -> bool:
    """Tell whether `context` reads `answer` from character `start` on."""
    return start >= 0 and context.startswith(answer, start)


def nearest_place(context: str, answer: str, start: int) -> int | None:
    """Find where in `context` the `answer` stands nearest to `start`.

    Returns:
        Its first character there, of two that are as near the earlier one; None where it stands
        nowhere.
    """
    start = min(max(start, 0), len(context))
    before = context.rfind(answer, 0, start + len(answer))
    after = context.find(answer, start)
    if before < 0 or after < 0:
        return max(before, after) if max(before, after) >= 0 else None
    return before if start - before <= after - start else after


def map_span(text: str, span: Span, normalise: Callable[[str], str]) -> Span:
    """Count a span of `text` in `normalise(text)` instead.

    A border that falls between characters which become one (a letter and its diacritic) moves
    outwards, so that the span holds the whole character.

    Args:
        text: the text as it was shipped.
        span: in characters of `text`.
        normalise: see `heron.languages.unicode.normalise`.

    Returns:
        The span in characters of the normalised text; empty where nothing is left of it.
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
    """Count spans of `normalise(text)` in `text` instead: the way back from `map_span`.

    Borders lie between whole characters of `text`, each with its marks. Marks that normalisation
    strips are inside where they belong to a letter of the span (niqqud), and outside where they
    stand beside it (direction marks).

    Args:
        text: the text as it was given.
        spans: not empty ones, in characters of `normalise(text)`.
        normalise: see `heron.languages.unicode.normalise`.

    Returns:
        The same spans in characters of `text`.
    """
    whole = normalise(text)
    if whole is text or whole == text:
        return list(spans)
    letters = list(_letters(text, normalise))
    ends = list(accumulate(len(normalise(text[start:end])) for start, end in letters))
    found = []
    for span in spans:
        start, _ = letters[bisect_right(ends, span.start)]
        _, end = letters[bisect_left(ends, span.end)]
        answer = normalise(text[start:end])
        while not _is_mark(text[end - 1]) and normalise(text[start : end - 1]) == answer:
            end -= 1
        while not _is_mark(text[start]) and normalise(text[start + 1 : end]) == answer:
            start += 1
        found.append(Span(start, end))
    return found


def _letters(text: str, normalise: Callable[[str], str]) -> Iterator[tuple[int, int]]:
    """Cut a text where normalisation never joins what stands on both sides: `(start, end)`.

    Behind a character may stand its marks, what is stripped and hides more of them, and the vowel
    and the last consonant of a Korean syllable.
    """
    start = 0
    for place, character in enumerate(text):
        joins = _is_mark(character) or "\u1160" <= character <= "\u11ff"
        if place > start and not joins and normalise(character):
            yield start, place
            start = place
    if start < len(text):
        yield start, len(text)


def _is_mark(character: str) -> bool:
    return unicodedata.category(character).startswith("M")


def trim(text: str, span: Span) -> Span:
    """Move both borders of a span inwards over white space; empty where it holds nothing else."""
    answer = text[span.start : span.end]
    start = span.start + len(answer) - len(answer.lstrip())
    return Span(start, max(start, span.start + len(answer.rstrip())))
