"""Relation rows: windows of two sentences with two marked events, labelled from the world.

Source: TRC (Hebrew temporal relations): two-sentence windows that slide by one sentence, every
pair of verb events in a window, event 1 first in the text, markers around the verb's token.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations, pairwise

from chronicle.plot import Story
from chronicle.telling import Mention, Told
from chronicle.world import relation

MARKERS = {
    "he": (("[א1]", "[/א1]"), ("[א2]", "[/א2]")),
    "ro": (("[E1]", "[/E1]"), ("[E2]", "[/E2]")),
    "en": (("[E1]", "[/E1]"), ("[E2]", "[/E2]")),
}


@dataclass(frozen=True, slots=True)
class Pair:
    """One row before label noise: marked text and true label."""

    window: int
    number: int
    text: str
    label: str


def pairs(story: Story, told: list[Told], language: str) -> Iterator[Pair]:
    """Yield every pair of events in every window of a story, in text order."""
    for window, (one, two) in enumerate(pairwise(told)):
        shift = len(one.text) + 1
        text = f"{one.text} {two.text}"
        moved = [Mention(m.event, m.start + shift, m.end + shift) for m in two.mentions]
        for number, (first, second) in enumerate(combinations([*one.mentions, *moved], 2)):
            label = relation(story.events[first.event], story.events[second.event])
            yield Pair(window, number, mark(text, first, second, language), label)


def mark(text: str, first: Mention, second: Mention, language: str) -> str:
    """Put the language's markers around two mentions, one space away from the words."""
    (open1, close1), (open2, close2) = MARKERS[language]
    return (
        f"{text[: first.start]}{open1} {text[first.start : first.end]} {close1}"
        f"{text[first.end : second.start]}{open2} {text[second.start : second.end]} {close2}"
        f"{text[second.end :]}"
    )
