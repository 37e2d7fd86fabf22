"""The plot: draws a story's cast and events, and the plan of each sentence.

Within a sentence events lie minutes to hours apart, between sentences hours or days. A link of
hours is drawn only where it orders every pair of events of the two sentences, so a careful reader
can recover each label from the window alone.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, product
from random import Random

from chronicle import world
from chronicle.world import DAY, Entity, Event, Frame

SHIFTS = (1, 2, 3, 4, 5, 7, 14)  # days between sentences, for each of which a phrase exists
GAPS = (10, 30, 60, 120, 180)  # minutes between events of one sentence
OWN_AXIS = None
EARLIER, SAME, LATER = -1, 0, 1
_MORNING, _EVENING = 9 * 60, 19 * 60


@dataclass(frozen=True, slots=True)
class Pattern:
    """How a sentence combines clauses; the first clause's event is the sentence's head.

    Args:
        weight: how often it is drawn, relative to the others.
        sides: for each further clause, where its event starts relative to the head (`EARLIER`,
            `SAME`, `LATER`), or `OWN_AXIS` when it has no order.
        frames: kinds of frame per clause: `any`, `report` or `durative`.
        shared: the clauses have one subject, a person.
        timed: the pattern itself gives the head's time; only days or dates can be added.
        drifts: its last clause is at another time, so "an hour later" would be ambiguous after
            it; only days or dates follow.
    """

    weight: float
    sides: tuple[int | None, ...] = ()
    frames: tuple[str, ...] = ("any", "any", "any")
    shared: bool = False
    timed: bool = False
    drifts: bool = False


_REPORTED = ("report", "any", "any")
_UNDER_WAY = ("any", "durative")

PATTERNS = {
    "single": Pattern(6.0),
    "after": Pattern(1.8, (EARLIER,)),
    "before": Pattern(1.8, (LATER,)),
    "same": Pattern(1.6, (SAME,), timed=True),
    "from_moment": Pattern(0.8, (SAME,), _UNDER_WAY, timed=True),
    "then": Pattern(0.8, (LATER,), drifts=True),
    "earlier": Pattern(0.7, (EARLIER,), drifts=True),
    "then_also": Pattern(0.8, (LATER,), shared=True, drifts=True),
    "earlier_also": Pattern(0.6, (EARLIER,), shared=True, drifts=True),
    "who_had": Pattern(0.6, (EARLIER,), shared=True),
    "who_would": Pattern(0.5, (LATER,), shared=True),
    "because": Pattern(0.7, (EARLIER,)),
    "until": Pattern(0.6, (EARLIER,), _UNDER_WAY, timed=True),
    "under_way": Pattern(0.7, (EARLIER,), _UNDER_WAY, timed=True),
    "clock_later": Pattern(0.5, (LATER,), timed=True, drifts=True),
    "clock_earlier": Pattern(0.5, (EARLIER,), timed=True, drifts=True),
    "said_past": Pattern(0.8, (EARLIER,), _REPORTED),
    "said_future": Pattern(0.8, (LATER,), _REPORTED),
    "said_maybe": Pattern(1.0, (OWN_AXIS,), _REPORTED),
    "said_if": Pattern(0.3, (OWN_AXIS, OWN_AXIS), _REPORTED),
    "denied": Pattern(0.9, (OWN_AXIS,)),
    "undated": Pattern(0.6, (OWN_AXIS,), drifts=True),
}
_WEIGHTS = {name: pattern.weight for name, pattern in PATTERNS.items()}

# Links between the heads of neighbouring sentences: (kind, direction), and how often.
_LINKS = (
    ("days", LATER),
    ("days", EARLIER),
    ("date", LATER),
    ("date", EARLIER),
    ("hours", LATER),
    ("hours", EARLIER),
    ("same", SAME),
)
_LINK_WEIGHTS = (3.2, 2.3, 1.5, 1.1, 2.2, 1.0, 3.1)


@dataclass(frozen=True, slots=True)
class Link:
    """The time of a sentence's head.

    Args:
        kind: `start` (first sentence), `days`, `date`, `hours` or `same`, relative to the head of
            the sentence before.
        direction: `EARLIER`, `SAME` or `LATER` than that head.
        amount: days for `days`, minutes for `hours`.
    """

    kind: str
    direction: int = SAME
    amount: int = 0


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence's plan.

    Args:
        pattern: key into `PATTERNS`.
        events: indices into the story's events, the head first.
        link: the time of the head.
        dated: the text names the head's calendar date.
        gap: minutes between head and second event if the pattern names them, else 0.
    """

    pattern: str
    events: tuple[int, ...]
    link: Link
    dated: bool
    gap: int


@dataclass(frozen=True, slots=True)
class Story:
    """A document before it is told in a language; the same in all languages."""

    year: int
    events: tuple[Event, ...]
    sentences: tuple[Sentence, ...]


def draw_story(
    rng: Random, more: Mapping[str, float] | None = None, counted: float = 0.25,
    sentences: tuple[int, int] = (4, 7),
) -> Story:  # fmt: skip
    """Draw a story; equal generators give equal stories.

    Args:
        rng: draws everything.
        more: weights of patterns that replace the usual ones.
        counted: share of documents with a count above 1.
        sentences: minimum and maximum number of sentences.
    """
    return _Plotter(rng, {**_WEIGHTS, **(more or {})}, counted).story(sentences)


def settles(before: Sequence[int | None], direction: int, after: Sequence[int | None]) -> bool:
    """Tell whether a link of hours orders every pair of events of two sentences.

    Args:
        before: sides of the earlier sentence's events (see `Pattern.sides`, without the head's).
        direction: of the later sentence's head relative to the earlier one's.
        after: sides of the later sentence's events.

    Returns:
        True if no pair's order depends on the number of hours.
    """
    pairs = product((SAME, *before), (SAME, *after))
    return not any(
        {EARLIER, LATER} <= {-one, direction, other}
        for one, other in pairs
        if one is not OWN_AXIS and other is not OWN_AXIS
    )


class _Plotter:
    def __init__(self, rng: Random, weights: Mapping[str, float], counted: float):
        self.rng = rng
        self.weights = weights
        self.counted = counted
        self.cast = self.draw_cast()
        self.events: list[Event] = []
        self.used: deque[Frame] = deque(maxlen=8)
        self.busy: set[Entity] = set()
        self.axes = 0

    def draw_cast(self) -> dict[str, list[Entity]]:
        """Draw few entities per kind, so a story keeps its people and its subject."""
        roles = self.rng.sample(range(world.ROLES), 5)
        names = self.rng.sample(range(world.NAMES_PER_GENDER), 5)
        people = [
            Entity(world.PERSON, name, self.rng.choice("mf"), role)
            for name, role in zip(names, roles, strict=True)
        ]
        cast = {
            world.PERSON: people,
            world.ORGANISATION: self.draw(world.ORGANISATION, world.ORGANISATIONS, 3),
            world.PLACE: self.draw(world.PLACE, world.PLACES, 3),
        }
        for kind, size in world.NOUNS.items():
            cast[kind] = self.draw(kind, size, 3)
        return cast

    def draw(self, kind: str, size: int, number: int) -> list[Entity]:
        return [Entity(kind, word) for word in self.rng.sample(range(size), number)]

    def story(self, lengths: tuple[int, int]) -> Story:
        length = self.rng.randint(*lengths)
        names = self.rng.choices(list(self.weights), list(self.weights.values()), k=length)
        links = [Link("start")]
        for before, after in pairwise(names):
            links.append(self.link(PATTERNS[before], PATTERNS[after], links[-1]))
        head = self.rng.randint(125, 235) * DAY + self.time_of_day()
        sentences: list[Sentence] = []
        for number, (name, link) in enumerate(zip(names, links, strict=True)):
            link, head = self.place(link, head)
            following = links[number + 1].kind if number + 1 < length else ""
            dated = "date" in (link.kind, following) or (
                link.kind == "start" and self.rng.random() < 0.4
            )
            sentences.append(self.sentence(name, link, dated, head))
        return Story(self.rng.randint(1995, 2024), tuple(self.events), tuple(sentences))

    def link(self, before: Pattern, after: Pattern, previous: Link) -> Link:
        """Draw a link that suits both sentences; a date needs a dated sentence before it."""
        while True:
            [(kind, direction)] = self.rng.choices(_LINKS, _LINK_WEIGHTS)
            if kind == "days":
                return Link(kind, direction)
            if kind == "date":
                suits = previous.kind not in ("hours", "same")
            else:
                vague = before.drifts or after.timed
                suits = not vague and settles(before.sides, direction, after.sides)
            if suits:
                return Link(kind, direction)

    def place(self, link: Link, head: int) -> tuple[Link, int]:
        """Choose the link's amount; a link of hours that would leave the day becomes days."""
        if link.kind == "hours":
            amount = self.rng.choice(GAPS[2:])
            moved = head + link.direction * amount
            if _MORNING <= moved % DAY <= _EVENING and moved // DAY == head // DAY:
                return Link("hours", link.direction, amount), moved
            link = Link("days", link.direction)
        if link.kind in ("days", "date"):
            days = self.rng.choice(SHIFTS) if link.kind == "days" else self.rng.randint(1, 17)
            start = (head // DAY + link.direction * days) * DAY + self.time_of_day()
            return Link(link.kind, link.direction, days), start
        return link, head

    def time_of_day(self) -> int:
        return self.rng.randrange(_MORNING, _EVENING + 1, 10)

    def sentence(self, name: str, link: Link, dated: bool, head: int) -> Sentence:
        pattern = PATTERNS[name]
        first = len(self.events)
        gap = self.rng.choice(GAPS) if {EARLIER, LATER} & set(pattern.sides) else 0
        subject = self.rng.choice(self.cast[world.PERSON]) if pattern.shared else None
        self.busy = set()
        self.events.append(self.event(pattern.frames[0], head, 0, subject))
        if OWN_AXIS in pattern.sides:
            self.axes += 1
        for number, side in enumerate(pattern.sides, start=1):
            axis = self.axes if side is OWN_AXIS else 0
            # Clauses on one hypothetical axis follow each other: first the condition.
            start = head + (number * 60 if side is OWN_AXIS else side * gap)
            self.events.append(self.event(pattern.frames[number], start, axis, subject))
        if name == "because":
            self.explain(first)
        return Sentence(name, tuple(range(first, len(self.events))), link, dated, gap)

    def explain(self, first: int) -> None:
        self.events[first] = replace(self.events[first], cause=first + 1)

    def event(self, kind: str, start: int, axis: int, subject: Entity | None) -> Event:
        frame = self.frame(kind, subject)
        if subject is None:
            subject = self.someone(self.rng.choice(frame.subjects))
        self.busy.add(subject)
        thing = self.someone(frame.object) if frame.object in self.cast else None
        if thing and thing.kind == world.DOCUMENT and self.rng.random() < self.counted:
            thing = replace(thing, count=self.rng.randint(2, 9))
        place = None
        if frame.object not in (world.PLACE, world.PERSON, world.REPORT):
            place = self.someone(world.PLACE).word if self.rng.random() < 0.3 else None
        return Event(frame, subject, thing, place, start, axis)

    def frame(self, kind: str, subject: Entity | None) -> Frame:
        """Draw a frame that the story's last events have not used."""
        frames = world.REPORTS if kind == "report" else world.FRAMES
        while True:
            frame = self.rng.choice(frames)
            fits = subject is None or subject.kind in frame.subjects
            if fits and frame not in self.used and (kind != "durative" or frame.durative):
                self.used.append(frame)
                return frame

    def someone(self, kind: str) -> Entity:
        """Choose from the cast; no entity twice in a sentence while others are left."""
        free = [one for one in self.cast[kind] if one not in self.busy]
        entity = self.rng.choice(free or self.cast[kind])
        self.busy.add(entity)
        return entity
