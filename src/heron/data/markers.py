"""Event markers in text: `… [א1] הוגשו [/א1] …` to plain text with character spans, and back.

A marker includes one space: an opening marker the one after it, a closing marker the one before it.
Without them, all event pairs of one window have the same text.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from heron.data.config import DataConfig
from heron.data.examples import Example, Span
from heron.languages import get_language


class Markers(NamedTuple):
    """The four marker strings, in the order of the tokenizer's added tokens."""

    start_1: str
    end_1: str
    start_2: str
    end_2: str


def event_markers(config: DataConfig) -> Markers:
    """Get a data set's markers: the configured ones, else its language's."""
    return Markers(*(config.markers or get_language(config.language).event_markers))


class MarkedText(NamedTuple):
    """A text with markers; character spans of events 1 and 2, and of their opening markers."""

    text: str
    spans: tuple[Span, Span]
    openings: tuple[Span, Span]


class MarkerError(ValueError):
    """Markers that do not enclose exactly two separate mentions."""


def parse_marked(text: str, markers: Markers) -> tuple[str, tuple[Span, Span]]:
    """Return the text without its markers, and the spans of event 1 and event 2, all stripped.

    Event 2 may come before event 1.

    Raises:
        MarkerError: anything but two separate mentions, neither of them empty.
    """
    plain, offsets, cursor = "", {}, 0
    for marker, span in sorted(_locate(text, markers).items(), key=lambda item: item[1]):
        opens = marker in (markers.start_1, markers.start_2)
        space_before = not opens and text[: span.start].endswith(" ")
        space_after = opens and text.startswith(" ", span.end)
        plain += text[cursor : span.start - space_before]
        offsets[marker] = len(plain)
        cursor = span.end + space_after
    plain += text[cursor:]
    indent = len(plain) - len(plain.lstrip())
    start_1, end_1, start_2, end_2 = (offsets[marker] for marker in markers)
    spans = _trim(plain, Span(start_1, end_1)), _trim(plain, Span(start_2, end_2))
    for number, span in enumerate(spans, start=1):
        if span.start == span.end:
            raise MarkerError(f"event {number} is empty: nothing stands between its markers")
    first, second = (Span(span.start - indent, span.end - indent) for span in spans)
    return plain.strip(), (first, second)


def with_markers(example: Example, config: DataConfig) -> str:
    """Return the text of an example of a task with classes, with markers around its events."""
    if not example.spans:
        return example.text
    return mark(example.text, example.spans, event_markers(config)).text


def mark(plain: str, spans: Sequence[Span], markers: Sequence[str]) -> MarkedText:
    """Put markers around event 1 and event 2 of `plain`; the inverse of `parse_marked`.

    Args:
        plain: the text.
        spans: of the events in it.
        markers: in the order of `Markers`; equal ones cannot be parsed again.
    """
    ends = [end for span in sorted(spans) for end in span]
    if len(spans) != 2 or not 0 <= ends[0] < ends[1] <= ends[2] < ends[3] <= len(plain):
        where = " and ".join(f"{start} to {end}" for start, end in spans)
        what = f"events at characters {where} of a text of {len(plain)}"
        raise MarkerError(f"{what}; two separate mentions are needed")
    text, cursor = "", 0
    marked, openings = {}, {}
    for event in sorted((0, 1), key=lambda event: spans[event]):
        opening, closing = markers[2 * event : 2 * event + 2]
        mention = plain[spans[event].start : spans[event].end]
        text += plain[cursor : spans[event].start]
        openings[event] = Span(len(text), len(text) + len(opening))
        text += opening + " "
        marked[event] = Span(len(text), len(text) + len(mention))
        text += mention + " " + closing
        cursor = spans[event].end
    text += plain[cursor:]
    return MarkedText(text, (marked[0], marked[1]), (openings[0], openings[1]))


def _locate(text: str, markers: Markers) -> dict[str, Span]:
    """Find each marker; refuse every arrangement but two separate mentions."""
    # The longest first: a marker may begin with another one's text.
    longest_first = sorted(markers, key=len, reverse=True)
    matches = list(re.finditer("|".join(map(re.escape, longest_first)), text))
    found = tuple(match.group() for match in matches)
    if found not in (markers, markers[2:] + markers[:2]):
        what = f"the text's markers are {' '.join(found) or 'missing'}"
        raise MarkerError(f"{what}; once each, around two separate events: {' '.join(markers)}")
    return {match.group(): Span(*match.span()) for match in matches}


def _trim(text: str, span: Span) -> Span:
    mention = text[span.start : span.end]
    start = span.start + len(mention) - len(mention.lstrip())
    return Span(start, max(start, span.start + len(mention.rstrip())))
