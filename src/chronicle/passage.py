"""Passages: premises with the positions of all words that a question can ask for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from chronicle.plot import Story
from chronicle.pointing import Part, Pointing, unmark
from chronicle.premise import Fact, Places, Premise, gather, stretches, told

Answer = tuple[int, int]  # first character, one past the last


@dataclass(frozen=True, slots=True)
class Passage:
    """A premise with the positions of its subjects, towns, counts, times and causes.

    Args:
        premise: text and facts.
        indices: for each fact, the index of its event in the story.
        parts: for each sentence, its marked parts; offsets count in the whole text.
        days: for each sentence, the number of its head's day, which sentences share only
            where the text says so.
    """

    premise: Premise
    indices: Mapping[Fact, int]
    parts: Sequence[Sequence[Part]]
    days: Sequence[int]

    def text(self, answer: Answer) -> str:
        """Return the words at a position."""
        return self.premise.text[slice(*answer)]

    def find(self, part: str, fact: Fact) -> Answer | None:
        """Find a part of a fact in the fact's own sentence."""
        return self.place(part, fact.sentence, self.indices[fact])

    def place(self, part: str, sentence: int, event: int) -> Answer | None:
        """Find a part of an event in a sentence; None if it is not there."""
        for one in self.parts[sentence]:
            if (one.part, one.event) == (part, event):
                return one.start, one.end
        return None

    def doer(self, fact: Fact) -> Answer | None:
        """Find who did it; two verbs may share their subject."""
        if found := self.find("subject", fact):
            return found
        for other in self.premise.facts:
            same = other.sentence == fact.sentence and other.event.subject == fact.event.subject
            if same and (found := self.find("subject", other)):
                return found
        return None

    def day(self, fact: Fact) -> Answer | None:
        """Find the date of a fact: in its sentence, else in the nearest one of the same day."""
        day = self.days[fact.sentence]
        near = sorted(
            (sentence for sentence, one in enumerate(self.days) if one == day),
            key=lambda sentence: abs(sentence - fact.sentence),
        )
        dates = (one for place in near for one in self.parts[place] if one.part == "date")
        return next(((one.start, one.end) for one in dates), None)

    def why(self, fact: Fact) -> Answer | None:
        """Find the clause that tells its cause."""
        cause = fact.event.cause
        return None if cause is None else self.place("clause", fact.sentence, cause)

    def all(self, part: str) -> list[str]:
        """List the distinct words of all parts of a kind, in text order."""
        found = (self.text((one.start, one.end)) for row in self.parts for one in row
                 if one.part == part)  # fmt: skip
        return list(dict.fromkeys(found))


def passages(
    stories: Sequence[Story], teller: type[Pointing], plan: Random, wording: Random,
    sentences: tuple[int, int],
) -> Iterator[Passage]:  # fmt: skip
    """Cut stories, one after the other, into passages; see `premises`."""
    for places in stretches(stories, plan, *sentences):
        marked, facts = told(stories, places, teller, wording)
        texts, parts = _unmarked(marked)
        used = dict.fromkeys(story for story, _ in places)
        premise = gather(" ".join(texts), facts, [stories[number] for number in used])
        plans = [stories[story].sentences[index] for story, index in places]
        events = [event for one in plans for event in one.events]
        indices = dict(zip(facts, events, strict=True))
        yield Passage(premise, indices, parts, list(_days(stories, places)))


def _unmarked(sentences: Sequence[str]) -> tuple[list[str], list[list[Part]]]:
    texts: list[str] = []
    rows: list[list[Part]] = []
    offset = 0
    for marked in sentences:
        text, parts = unmark(marked)
        rows.append([Part(p.part, p.event, p.start + offset, p.end + offset) for p in parts])
        texts.append(text)
        offset += len(text) + 1
    return texts, rows


def _days(stories: Sequence[Story], places: Places) -> Iterator[int]:
    """Number the days; only "at that very moment" guarantees the same day."""
    day, before = 0, -1
    for story, index in places:
        plan = stories[story].sentences[index]
        if story != before or plan.link.kind != "same":
            day += 1
        before = story
        yield day
