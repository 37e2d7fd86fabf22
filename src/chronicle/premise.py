"""Premises: consecutive sentences of stories, and the facts that a careful reader learns."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from random import Random

from chronicle import world
from chronicle.plot import PATTERNS, Link, Sentence, Story
from chronicle.telling import Teller
from chronicle.world import Entity, Event

# How a text tells an event: it happened; it did not; it may have; somebody says so; it happened at
# an unknown time.
TOLD, DENIED, MAYBE, REPORTED, UNDATED = "told", "denied", "maybe", "reported", "undated"
_SAID = {
    "said_past": REPORTED,
    "said_future": REPORTED,
    "said_maybe": MAYBE,
    "said_if": MAYBE,
    "denied": DENIED,
    "undated": UNDATED,
}
Cast = Mapping[str, Sequence[Entity]]
Places = Sequence[tuple[int, int]]  # (story, sentence of it), consecutive


@dataclass(frozen=True, slots=True)
class Fact:
    """An event as the premise tells it.

    Args:
        event: what happens.
        said: `told`, `denied`, `maybe`, `reported` or `undated`.
        story: which of the premise's stories tells it.
        sentence: which sentence of the premise tells it.
        lasting: told as under way; it starts before the event beside it and may end after it.
        date: day and month if they follow from the premise, else None.
        worked_out: the date is not named, but follows from a named one.
        linked: people introduced before whom the sentence mentions by a short form only.
    """

    event: Event
    said: str
    story: int
    sentence: int
    lasting: bool
    date: tuple[int, int] | None
    worked_out: bool
    linked: bool


@dataclass(frozen=True, slots=True)
class Premise:
    """Consecutive sentences of one or more stories, and their facts in text order.

    Args:
        text: the sentences.
        facts: all events of the text.
        cast: entities in the text, by kind.
        reserve: entities that occur only in the rest of its stories, by kind.
    """

    text: str
    facts: tuple[Fact, ...]
    cast: Cast
    reserve: Cast

    def known(self, *said: str) -> list[Fact]:
        """Facts told in one of these ways that verb and object identify."""
        names = Counter(named(fact.event) for fact in self.facts)
        return [fact for fact in self.facts if fact.said in said and names[named(fact.event)] == 1]

    def ordered(self) -> Iterator[tuple[Fact, Fact]]:
        """Yield pairs of facts whose order follows from the text, in text order.

        Only neighbouring sentences order every pair (see `plot.settles`).
        """
        for one, two in combinations([f for f in self.known(TOLD) if not f.lasting], 2):
            if one.story == two.story and two.sentence - one.sentence <= 1:
                yield one, two


def named(event: Event) -> tuple[str, Entity | None]:
    """Identify an event by its verb and object, ignoring the object's count."""
    return event.frame.name, event.object and replace(event.object, count=1)


def premises(
    stories: Sequence[Story], teller: type[Teller], plan: Random, wording: Random, least: int,
    most: int,
) -> Iterator[Premise]:  # fmt: skip
    """Cut stories, one after the other, into premises of `least` to `most` sentences.

    Args:
        stories: to tell; sentences at the end that are too few for a premise are left out.
        teller: the language.
        plan: draws the lengths; the same in all languages.
        wording: chooses among equivalent wordings.
        least: minimum of sentences in a premise.
        most: maximum of sentences in a premise.
    """
    for places in stretches(stories, plan, least, most):
        texts, facts = told(stories, places, teller, wording)
        used = dict.fromkeys(story for story, _ in places)
        yield gather(" ".join(texts), facts, [stories[number] for number in used])


def stretches(stories: Sequence[Story], plan: Random, least: int, most: int) -> Iterator[Places]:
    """Draw the sentences of each premise; see `premises`."""
    places = [
        (number, index)
        for number, story in enumerate(stories)
        for index in range(len(story.sentences))
    ]
    start = 0
    while len(places) - start >= least:
        length = plan.randint(least, min(most, len(places) - start))
        yield places[start : start + length]
        start += length


def told(
    stories: Sequence[Story], places: Places, teller: type[Teller], wording: Random
) -> tuple[list[str], list[Fact]]:
    """Tell some consecutive sentences.

    Returns:
        Their texts, and their facts: one for each event of each sentence, in the order of
        the plans.
    """
    texts: list[str] = []
    facts: list[Fact] = []
    used = dict.fromkeys(story for story, _ in places)
    for number in used:
        story = stories[number]
        plans = opened([story.sentences[index] for one, index in places if one == number])
        # A new teller introduces its people again in each premise.
        telling = teller(story, wording)
        facts += facts_of(story, plans, number, first=len(texts))
        texts += [telling.sentence(sentence).text for sentence in plans]
    return texts, facts


def gather(text: str, facts: Sequence[Fact], stories: Sequence[Story]) -> Premise:
    """Make a premise from its text, its facts and their stories."""
    told = cast_of([fact.event for fact in facts])
    everyone = cast_of([event for story in stories for event in story.events])
    reserve = {
        kind: [entity for entity in entities if entity not in told.get(kind, ())]
        for kind, entities in everyone.items()
    }
    return Premise(text, tuple(facts), told, reserve)


def opened(plans: Sequence[Sentence]) -> list[Sentence]:
    """Remove the first sentence's reference to the sentence before it."""
    return [replace(plans[0], link=Link("start")), *plans[1:]]


def cast_of(events: Sequence[Event]) -> dict[str, list[Entity]]:
    """Collect the entities of events by kind, each once."""
    cast: defaultdict[str, dict[Entity, None]] = defaultdict(dict)
    for event in events:
        for entity in entities_of(event):
            cast[entity.kind].setdefault(entity)
    return {kind: list(entities) for kind, entities in cast.items()}


def entities_of(event: Event) -> list[Entity]:
    """List an event's subject, object (with count 1) and town."""
    entities = [event.subject]
    if event.object:
        entities.append(replace(event.object, count=1))
    if event.place is not None:
        entities.append(Entity(world.PLACE, event.place))
    return entities


def facts_of(
    story: Story, plans: Sequence[Sentence], number: int = 0, first: int = 0
) -> Iterator[Fact]:
    """Yield the facts of some consecutive sentences, in the order of the plan.

    Args:
        story: the story of the sentences.
        plans: the sentences.
        number: the story's number in the premise.
        first: number in the premise of the first of `plans`.
    """
    known = _dates(plans)
    met: set[Entity] = set()
    for index, plan in enumerate(plans):
        pattern = PATTERNS[plan.pattern]
        before = frozenset(met)
        for slot, place in enumerate(plan.events):
            event = story.events[place]
            people = {one for one in entities_of(event) if one.kind == world.PERSON}
            met |= people
            said = _SAID.get(plan.pattern, TOLD) if slot else TOLD
            date = world.calendar(story.year, event.start)
            if plan.pattern.startswith("said") and not slot:
                said = REPORTED  # a reporting verb says nothing without its content
            yield Fact(
                event,
                said,
                number,
                first + index,
                pattern.frames[slot] == "durative",
                date if known[index] and said == TOLD else None,
                not plan.dated,
                bool(people & before),
            )


def _dates(plans: Sequence[Sentence]) -> list[bool]:
    """Find the day of each sentence where it is named or follows from a neighbour's."""
    known = [plan.dated for plan in plans]
    counted = [plan.link.kind in ("days", "hours", "same") for plan in plans]
    for index in range(1, len(plans)):
        known[index] |= counted[index] and known[index - 1]
    for index in reversed(range(1, len(plans))):
        known[index - 1] |= counted[index] and known[index]
    return known
