"""Events that a premise does not tell, with the premise's own people and things."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from chronicle import world
from chronicle.plot import EARLIER, LATER
from chronicle.premise import Premise, entities_of, named
from chronicle.world import AGENTS, Entity, Event, Frame


class Casting:
    """Draws events and entities that one premise does not have.

    Args:
        premise: its people and things are preferred.
        rng: of the plan; the same in all languages.
    """

    def __init__(self, premise: Premise, rng: Random):
        self.premise = premise
        self.rng = rng
        self.named = {named(fact.event) for fact in premise.facts}
        used = {name for name, _ in self.named}
        # Long premises use every verb; then only the pair of verb and object is new.
        self.frames = [one for one in world.FRAMES if one.name not in used] or world.FRAMES

    def untold(self, agent: bool, placed: bool) -> Event:
        """Draw an event that is not in the premise; its `start` is a placeholder.

        Args:
            agent: its subject is a person or an organisation.
            placed: it has a town.
        """
        while True:
            frame = self.rng.choice(self.frames)
            kinds = [kind for kind in frame.subjects if not agent or kind in AGENTS]
            if not kinds or (placed and not takes_place(frame)):
                continue
            subject = self.someone(self.rng.choice(kinds))
            thing = self.someone(frame.object, subject) if frame.object else None
            event = Event(frame, subject, thing, self.somewhere() if placed else None, 0)
            if named(event) not in self.named:
                return event

    def by_another(self, event: Event) -> Event:
        """Return the event with another subject of the same kind."""
        other = self.someone(event.subject.kind, *entities_of(event))
        return replace(event, subject=other)

    def moved(self, event: Event) -> Event:
        """Return the event in another town."""
        return replace(event, place=self.somewhere(*entities_of(event)))

    def near(self, event: Event) -> tuple[int, int]:
        """Draw another day near the event's day."""
        days = self.rng.choice([EARLIER, LATER]) * self.rng.randint(2, 17)
        # The year is not the story's; a leap day shifts it by one at most.
        return world.calendar(2023, event.start + days * world.DAY)

    def someone(self, kind: str, *but: Entity) -> Entity:
        """Choose an entity of a kind: of the premise, else of its stories, else any."""
        for cast in (self.premise.cast, self.premise.reserve):
            if free := [entity for entity in cast.get(kind, ()) if entity not in but]:
                return self.rng.choice(free)
        while (stranger := self._stranger(kind)) in but:
            pass
        return stranger

    def somewhere(self, *but: Entity) -> int:
        """Choose a town."""
        return self.someone(world.PLACE, *but).word

    def _stranger(self, kind: str) -> Entity:
        if kind == world.PERSON:
            name, role = map(self.rng.randrange, (world.NAMES_PER_GENDER, world.ROLES))
            return Entity(kind, name, self.rng.choice("mf"), role)
        sizes = {world.ORGANISATION: world.ORGANISATIONS, world.PLACE: world.PLACES, **world.NOUNS}
        return Entity(kind, self.rng.randrange(sizes[kind]))


def takes_place(frame: Frame) -> bool:
    """Tell whether events of this frame can have a town."""
    return frame.object not in (world.PLACE, world.PERSON, world.REPORT)
