"""Telling a story in a language: the part that Hebrew, Romanian and English share.

A language is a `Teller` with word lists, templates per sentence pattern, and its own morphology.
Templates name clauses by number and tense, `{0} after {1:perfect}`. A clause is realised when its
slot is reached, so first and later mentions of a person follow the order of the text.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import ClassVar

from chronicle import world
from chronicle.plot import LATER, Link, Sentence, Story
from chronicle.world import Entity, Event

_MARK = 0xE000  # private-use characters; one, plus the event's index, goes before each verb
_MARKED = re.compile("[\ue000-\ue0ff]")
_EDGES = ".,;:!?\"'()“”„«»"
TimeWords = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Mention:
    """The position of an event in a sentence: the verb's token with prefixes, without punctuation.

    Args:
        event: index into the story's events.
        start: first character of the token in the sentence.
        end: one past its last character.
    """

    event: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Told:
    """A sentence in a language, with its event mentions in text order."""

    text: str
    mentions: tuple[Mention, ...]


class Teller(ABC):
    """Tells one story sentence by sentence; subclasses are languages.

    Args:
        story: what to tell.
        rng: chooses among equivalent wordings.
    """

    templates: ClassVar[Mapping[str, tuple[str, ...]]]
    statements: ClassVar[Mapping[str, tuple[str, ...]]]
    link_phrases: ClassVar[Mapping[str, tuple[str, ...]]]
    when_words: ClassVar[TimeWords]
    gap_words: ClassVar[Mapping[int, tuple[str, ...]]]
    day_words: ClassVar[Mapping[int, str]]
    manner_words: ClassVar[Sequence[str]]
    comma_after_opening: ClassVar[bool] = True
    has_past_perfect: ClassVar[bool] = True

    def __init__(self, story: Story, rng: Random):
        self.story = story
        self.rng = rng
        self.known: set[Entity] = set()
        self.index = 0  # of the event whose clause is being told
        self.opened = False
        self.head_tense = "past"

    @abstractmethod
    def subject(self, entity: Entity) -> str:
        """Name an entity as a subject."""

    @abstractmethod
    def predicate(self, event: Event, tense: str, mark: str) -> tuple[str, str]:
        """Inflect the verb; returns (verb group with `mark` before the verb, its complements)."""

    @abstractmethod
    def date(self, day: int, month: int) -> str:
        """Word a calendar date as an adverbial."""

    def tag(self, part: str, index: int, text: str) -> str:
        """Mark words that a question may ask for; here nothing is marked (see `Pointing`).

        Args:
            part: `subject`, `place`, `count`, `date`, `clock` or `clause`.
            index: of the event in the story.
            text: the words.
        """
        return text

    def tell(self) -> list[Told]:
        """Tell the whole story, one `Told` per sentence."""
        return [self.sentence(sentence) for sentence in self.story.sentences]

    def sentence(self, plan: Sentence, lead: str = "") -> Told:
        """Choose a template for the plan and fill it; `lead` is put before the sentence."""
        earlier = plan.link.kind in ("days", "hours") and plan.link.direction < 0
        when = self.when(plan)
        template = self.rng.choice(self.templates[plan.pattern])
        self.opened = bool(when) and "{when}" not in template
        perfect = earlier and self.has_past_perfect and self.rng.random() < 0.3
        self.head_tense = "perfect" if perfect else "past"
        gap = self.rng.choice(self.gap_words[plan.gap]) if plan.gap else ""
        events = [self.story.events[index] for index in plan.events]
        opening = ""
        if self.opened:
            comma = self.comma_after_opening or "," in when or not template.startswith("{0")
            opening = f"{when}, " if comma else f"{when} "
        body = template.format(
            *(_Clause(self, index) for index in plan.events),
            who=_Subject(self, plan.events[0]),
            gap=gap,
            when=when,
            manner=self.rng.choice(self.manner_words),
            time0=self.tag("clock", plan.events[0], world.clock(events[0].start)),
            time1=self.tag("clock", plan.events[-1], world.clock(events[-1].start)),
        )
        return _locate(self.polish(f"{lead}{opening}{body}"))

    def state(self, form: str, date: tuple[int, int] | None = None, lead: str = "") -> str:
        """State the story's events in one sentence, without using its plan.

        Args:
            form: key into `statements`; the slots of its templates are all events of the story.
            date: day and month, for forms that name one.
            lead: what to put before the sentence.
        """
        self.opened, self.head_tense = False, "past"
        events = self.story.events
        body = self.rng.choice(self.statements[form]).format(
            *(_Clause(self, index) for index in range(len(events))),
            who=_Subject(self, 0),
            when=self.date(*date) if date else "",
        )
        return _locate(self.polish(f"{lead}{body}")).text

    def when(self, plan: Sentence) -> str:
        """Word the sentence's link and date; empty where neither is needed."""
        words = self.link_words(plan.link)
        if not plan.dated:
            return words
        self.index = plan.events[0]
        head = self.story.events[self.index]
        date = self.date(*world.calendar(self.story.year, head.start))
        return f"{words}, {date}" if words else date

    def link_words(self, link: Link) -> str:
        """Word the link alone."""
        if link.kind in ("start", "date"):
            return ""
        direction = "later" if link.direction == LATER else "earlier"
        key = "same" if link.kind == "same" else f"{link.kind}_{direction}"
        amount = ""
        if link.kind == "days":
            amount = self.day_words[link.amount]
        elif link.kind == "hours":
            amount = self.rng.choice(self.gap_words[link.amount])
        return self.rng.choice(self.when_words[key]).format(amount=amount)

    def clause(self, index: int, spec: str) -> str:
        """Realise one event's clause.

        Args:
            index: of the event in the story.
            spec: `tense`, `tense.vs` (verb before subject) or `tense.bare` (no subject); an empty
                tense is the head's own; `.sv` (or nothing) is subject before verb.
        """
        tense, _, order = spec.partition(".")
        event = self.story.events[index]
        self.index = index
        subject = ""
        if order != "bare":
            subject = self.tag("subject", index, self.subject(event.subject))
        tense = tense or self.head_tense
        verb, complements = self.predicate(event, tense, chr(_MARK + index))
        words = (verb, subject, complements) if order == "vs" else (subject, verb, complements)
        return self.tag("clause", index, " ".join(word for word in words if word))

    def polish(self, text: str) -> str:
        """Close the sentence: single spaces, no space before punctuation, a capital first."""
        text = re.sub(r" (?=[,;.”])", "", " ".join(text.split()))
        # Also at the start of direct speech; quotes and a mark may precede the letter.
        return re.sub(r"(^|: )\W*\w", lambda start: start[0].upper(), text) + "."


@dataclass(frozen=True, slots=True)
class _Clause:
    """An event that a template's slot realises through its format spec."""

    teller: Teller
    index: int

    def __format__(self, spec: str) -> str:
        return self.teller.clause(self.index, spec)


@dataclass(frozen=True, slots=True)
class _Subject:
    teller: Teller
    index: int

    def __format__(self, spec: str) -> str:
        entity = self.teller.story.events[self.index].subject
        return self.teller.tag("subject", self.index, self.teller.subject(entity))


def _locate(marked: str) -> Told:
    """Remove the marks and keep the positions of the marked words."""
    words: list[str] = []
    mentions: list[Mention] = []
    offset = 0
    for word in marked.split(" "):
        plain = _MARKED.sub("", word)
        for mark in _MARKED.findall(word):
            start = offset + len(plain) - len(plain.lstrip(_EDGES))
            end = offset + len(plain.rstrip(_EDGES))
            mentions.append(Mention(ord(mark) - _MARK, start, end))
        words.append(plain)
        offset += len(plain) + 1
    return Told(" ".join(words), tuple(mentions))
