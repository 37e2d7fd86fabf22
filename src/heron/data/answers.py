"""Where an answer stands in its context: checked, searched, mapped and trimmed. Pure functions."""

from __future__ import annotations

from collections.abc import Callable

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


def trim(text: str, span: Span) -> Span:
    """Move both borders of a span inwards over white space; empty where it holds nothing else."""
    answer = text[span.start : span.end]
    start = span.start + len(answer) - len(answer.lstrip())
    return Span(start, max(start, span.start + len(answer.rstrip())))
