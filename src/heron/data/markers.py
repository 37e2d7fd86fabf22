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
    markers = config.markers or get_language(config.language).event_markers
    return Markers(*markers)


class MarkedText(NamedTuple):
    """A text with markers; character spans of events 1 and 2, and of their opening markers."""

    text: str
    spans: tuple[Span, Span]
    openings: tuple[Span, Span]


class MarkerError(ValueError):
    """Markers that do not enclose exactly two separate mentions."""


def parse_marked(text: str, markers: Markers) -> tuple[str, tuple[Span, Span]]:
    """Separate a text from its markers.

    Args:
        text: with four markers.
        markers: the strings to look for; event 2 may come before event 1.

    Returns:
        The text without its markers, and the spans of event 1 and event 2, all stripped.

    Raises:
        MarkerError: anything but two separate mentions, neither of them empty.
    """
    plain = ""
    offsets: dict[str, int] = {}  # by marker, where it stood in `plain`
    cursor = 0
    for marker, span in _locate(text, markers):
        begin, end = span
        if marker in (markers.start_1, markers.start_2):
            if text.startswith(" ", end):
                end += 1
        elif text[:begin].endswith(" "):
            begin -= 1
        plain += text[cursor:begin]
        offsets[marker] = len(plain)
        cursor = end
    plain += text[cursor:]

    event_1 = _trim(plain, offsets[markers.start_1], offsets[markers.end_1])
    event_2 = _trim(plain, offsets[markers.start_2], offsets[markers.end_2])
    for number, event in enumerate((event_1, event_2), start=1):
        if event.start == event.end:
            raise MarkerError(f"event {number} is empty: nothing stands between its markers")

    indent = len(plain) - len(plain.lstrip())
    return plain.strip(), (_shifted(event_1, -indent), _shifted(event_2, -indent))


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
    _check_mentions(spans, len(plain))
    text = ""
    cursor = 0
    events = {}
    openings = {}
    for event in sorted((0, 1), key=lambda event: spans[event]):
        start, end = spans[event]
        mention = plain[start:end]
        opening, closing = markers[2 * event : 2 * event + 2]

        text += plain[cursor:start]
        openings[event] = _span_at(len(text), opening)
        text += opening + " "
        events[event] = _span_at(len(text), mention)
        text += mention + " " + closing
        cursor = end
    text += plain[cursor:]
    return MarkedText(text, (events[0], events[1]), (openings[0], openings[1]))


def _check_mentions(spans: Sequence[Span], length: int) -> None:
    """Raise a MarkerError unless the spans are two separate mentions in a text of `length`."""
    borders = [border for span in sorted(spans) for border in span]
    if len(spans) == 2 and 0 <= borders[0] < borders[1] <= borders[2] < borders[3] <= length:
        return
    characters = " and ".join(f"{start} to {end}" for start, end in spans)
    raise MarkerError(
        f"events at characters {characters} of a text of {length}; two separate mentions are needed"
    )


def _locate(text: str, markers: Markers) -> list[tuple[str, Span]]:
    """Find the four markers, in the order of the text.

    Raises:
        MarkerError: they do not enclose two separate mentions.
    """
    # The longest first: a marker may begin with another one's text.
    longest_first = sorted(markers, key=len, reverse=True)
    pattern = "|".join(re.escape(marker) for marker in longest_first)
    matches = [(match.group(), Span(*match.span())) for match in re.finditer(pattern, text)]

    order = tuple(marker for marker, _ in matches)
    if order not in (markers, markers[2:] + markers[:2]):
        present = " ".join(order) or "missing"
        allowed = " ".join(markers)
        raise MarkerError(
            f"the text's markers are {present}; once each, around two separate events: {allowed}"
        )
    return matches


def _trim(text: str, start: int, end: int) -> Span:
    """Leave out the white space at both ends of a stretch."""
    mention = text[start:end]
    indent = len(mention) - len(mention.lstrip())
    return Span(start + indent, max(start + indent, start + len(mention.rstrip())))


def _span_at(start: int, text: str) -> Span:
    return Span(start, start + len(text))


def _shifted(span: Span, by: int) -> Span:
    return Span(span.start + by, span.end + by)
