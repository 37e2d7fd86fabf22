"""Positions of answers in a text: marks are put in while telling, then taken out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from chronicle.telling import Teller

PARTS = ("subject", "place", "count", "date", "clock", "clause")
# Private-use characters beyond those that mark verbs: part * 256 + event, once to open, once to
# close. They nest, because a clause holds its subject.
_OPEN, _CLOSE, _EVENTS = 0xF0000, 0xF8000, 256
_MARK = re.compile("[\U000f0000-\U000fffff]")


class Pointing(Teller):
    """Mixin for a language's teller: marks subjects, towns, counts, times and clauses."""

    def tag(self, part: str, index: int, text: str) -> str:
        """Put marks around the words of one part of one event."""
        code = PARTS.index(part) * _EVENTS + index
        return f"{chr(_OPEN + code)}{text}{chr(_CLOSE + code)}"


@dataclass(frozen=True, slots=True)
class Part:
    """The position of one part of an event.

    Args:
        part: one of `PARTS`.
        event: index into the story's events.
        start: first character.
        end: one past the last character.
    """

    part: str
    event: int
    start: int
    end: int


def unmark(text: str) -> tuple[str, list[Part]]:
    """Remove the marks and return the positions of the marked words, ordered by their ends."""
    plain = _MARK.sub("", text)
    return plain, list(_parts(text))


def _parts(text: str) -> Iterator[Part]:
    starts: dict[int, int] = {}
    for removed, mark in enumerate(_MARK.finditer(text)):
        code, offset = ord(mark[0]), mark.start() - removed
        if code < _CLOSE:
            starts[code - _OPEN] = offset
            continue
        part, event = divmod(code - _CLOSE, _EVENTS)
        yield Part(PARTS[part], event, starts.pop(code - _CLOSE), offset)
