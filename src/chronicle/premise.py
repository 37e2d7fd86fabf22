"""Premises: stretches of told sentences, and what a careful reader knows from them."""

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

# How a text tells an event: it happened; it did not; it may have; someone says so; it happened
# nobody knows when.
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
        lasting: told as under way; it starts before, and may go on after, what it is told with.
        date: day and month when the premise gives them away, else None.
        worked_out: the date is not named but follows from a named one.
        linked: introduced people that the sentence mentions by a short form only.
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
    """Consecutive sentences of one story or several, and their facts in text order.

    Args:
        text: the sentences, told in a language.
        facts: all events that it tells.
        cast: entities that it mentions, by kind.
        reserve: entities that only the rest of its stories mentions, by kind.
    """

    text: str
    facts: tuple[Fact, ...]
    cast: Cast
    reserve: Cast

    def known(self, *said: str) -> list[Fact]:
        """Facts told in one of these ways that a verb and its object single out."""
        names = Counter(named(fact.event) for fact in self.facts)
        return [fact for fact in self.facts if fact.said in said and names[named(fact.event)] == 1]

    def ordered(self) -> Iterator[tuple[Fact, Fact]]:
        """Yield pairs of facts whose order the text settles, in text order.

        Only neighbouring sentences settle every pair (see `plot.settles`).
        """
        for one, two in combinations([f for f in self.known(TOLD) if not f.lasting], 2):
            if one.story == two.story and two.sentence - one.sentence <= 1:
                yield one, two


def named(event: Event) -> tuple[str, Entity | None]:
    """Name an event by its verb and its object, however many they are."""
    return event.frame.name, event.object and replace(event.object, count=1)


def premises(
    stories: Sequence[Story], teller: type[Teller], plan: Random, wording: Random, least: int,
    most: int,
) -> Iterator[Premise]:  # fmt: skip
    """Cut stories, one after the other, into premises of `least` to `most` sentences.

    Args:
        stories: to tell; too few sentences at the end are left out.
        teller: the language.
        plan: draws the lengths, alike in all languages.
        wording: chooses among equivalent wordings.
        least: fewest sentences of a premise.
        most: most sentences of a premise.
    """
    for places in stretches(stories, plan, least, most):
        texts, facts = told(stories, places, teller, wording)
        used = dict.fromkeys(story for story, _ in places)
        yield gather(" ".join(texts), facts, [stories[number] for number in used])


def stretches(stories: Sequence[Story], plan: Random, least: int, most: int) -> Iterator[Places]:
    """Draw which sentences make up each premise; see `premises`."""
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
        Their texts, and what they tell: one fact for each event of each sentence, in the order of
        the plans.
    """
    texts: list[str] = []
    facts: list[Fact] = []
    used = dict.fromkeys(story for story, _ in places)
    for number in used:
        story = stories[number]
        plans = opened([story.sentences[index] for one, index in places if one == number])
        # A teller of its own: people are introduced again in each premise.
        telling = teller(story, wording)
        facts += facts_of(story, plans, number, first=len(texts))
        texts += [telling.sentence(sentence).text for sentence in plans]
    return texts, facts


def gather(text: str, facts: Sequence[Fact], stories: Sequence[Story]) -> Premise:
    """Put a premise together from its text and facts, and the stories that it is of."""
    told = cast_of([fact.event for fact in facts])
    everyone = cast_of([event for story in stories for event in story.events])
    reserve = {
        kind: [entity for entity in entities if entity not in told.get(kind, ())]
        for kind, entities in everyone.items()
    }
    return Premise(text, tuple(facts), told, reserve)


def opened(plans: Sequence[Sentence]) -> list[Sentence]:
    """Let a stretch begin without a reference to the sentence before it."""
    return [replace(plans[0], link=Link("start")), *plans[1:]]


def cast_of(events: Sequence[Event]) -> dict[str, list[Entity]]:
    """Collect who and what takes part in events, by kind, each once."""
    cast: defaultdict[str, dict[Entity, None]] = defaultdict(dict)
    for event in events:
        for entity in entities_of(event):
            cast[entity.kind].setdefault(entity)
    return {kind: list(entities) for kind, entities in cast.items()}


def entities_of(event: Event) -> list[Entity]:
    """Name an event's subject, object and town; things as one, however many they are."""
    entities = [event.subject]
    if event.object:
        entities.append(replace(event.object, count=1))
    if event.place is not None:
        entities.append(Entity(world.PLACE, event.place))
    return entities


def facts_of(
    story: Story, plans: Sequence[Sentence], number: int = 0, first: int = 0
) -> Iterator[Fact]:
    """Yield what some consecutive sentences tell, in the order of the plan.

    Args:
        story: theirs.
        plans: the sentences.
        number: of the story in the premise.
        first: sentence of the premise that is the first of `plans`.
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
                said = REPORTED  # that someone spoke says nothing without what was said
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
    """Tell of which sentences the day is named, or can be counted from a neighbour's."""
    known = [plan.dated for plan in plans]
    counted = [plan.link.kind in ("days", "hours", "same") for plan in plans]
    for index in range(1, len(plans)):
        known[index] |= counted[index] and known[index - 1]
    for index in reversed(range(1, len(plans))):
        known[index - 1] |= counted[index] and known[index]
    return known
