"""Questions about a passage: who, when, where, how many, why; some without an answer.

A question identifies its event by verb and object (or by verb and subject). So where the passage
holds several candidates of the answer's type, only the event decides. No question takes an event as
a fact that the passage tells twice, denies or reports.

Source: ParaShoot and SQuAD, extractive questions; SQuAD 2.0, questions without an answer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from random import Random

from chronicle import world
from chronicle.casting import Casting, takes_place
from chronicle.passage import Answer, Passage
from chronicle.premise import DENIED, TOLD, UNDATED, Fact
from chronicle.world import AGENTS, DOCUMENT, Entity, Event

WHO, WHEN, WHERE, HOW_MANY, WHY = KINDS = ("who", "when", "where", "how_many", "why")
# The kind of answer by form; `town` is the town that somebody goes to or leaves.
KIND_OF = {
    "who": WHO, "date": WHEN, "clock": WHEN, "place": WHERE, "town": WHERE, "how_many": HOW_MANY,
    "why": WHY,
}  # fmt: skip
_PART_OF = {"date": "date", "clock": "clock", "place": "place", "town": "place"}
# The frames of each pair have nearly the same meaning.
_ALIKE = ({"open", "reopen"}, {"close", "shut"})


@dataclass(frozen=True, slots=True)
class Question:
    """A question before it is told in a language.

    Args:
        form: key of `KIND_OF`.
        event: its event.
        answer: position of the answer in the passage; None without an answer.
        candidates: number of different answers of this type in the passage.
        doer: the subject must be named.
    """

    form: str
    event: Event
    answer: Answer | None
    candidates: int
    doer: bool = False

    @property
    def kind(self) -> str:
        """The question word's class: who, when, where, how_many or why."""
        return KIND_OF[self.form]


class Questions:
    """Draws questions about one passage.

    Args:
        passage: what they are about.
        rng: of the plan; the same in all languages.
    """

    def __init__(self, passage: Passage, rng: Random):
        self.passage = passage
        self.rng = rng
        self.drawn = Casting(passage.premise, rng)
        facts = passage.premise.facts
        self.does = Counter((fact.event.frame.name, fact.event.subject) for fact in facts)
        self.things = Counter(_thing(fact.event) for fact in facts)

    def answered(self) -> list[Question]:
        """List every question that the passage answers, in text order."""
        known = self.passage.premise.known(TOLD, UNDATED)
        facts = [fact for fact in known if not fact.lasting and self.single(fact.event)]
        return [
            Question(form, fact.event, answer, self.candidates(form))
            for fact in facts
            for form, find in _ANSWERS.items()
            if (answer := find(self, fact))
        ]

    def unanswered(self, kind: str) -> Question | None:
        """Draw a question about an event that did not happen, with candidates of its type."""
        forms = [form for form in KIND_OF if KIND_OF[form] == kind and self.candidates(form)]
        if not forms:
            return None
        form = self.rng.choice(forms)
        for way in self.rng.sample(_WAYS, len(_WAYS)):
            if event := way(self, form):
                if form == "how_many" and event.object:
                    event = replace(event, object=replace(event.object, count=2))
                # Only where somebody else did it does the answer depend on the subject; elsewhere
                # a named subject must not reveal that there is no answer.
                doer = way is Questions.by_another
                return Question(form, event, None, self.candidates(form), doer)
        return None

    def denied(self, form: str) -> Event | None:
        """Choose an event that the passage denies."""
        facts = self.passage.premise.known(DENIED)
        return self._one_of([fact.event for fact in facts if self.single(fact.event)], form)

    def by_another(self, form: str) -> Event | None:
        """Give an event another subject; only for questions that name the subject."""
        if form == "who":
            return None
        facts = self.passage.premise.known(TOLD)
        events = [fact.event for fact in facts if fact.event.subject.kind in AGENTS]
        event = self._one_of([event for event in events if self.single(event)], form)
        other = event and self.drawn.by_another(event)
        return other if other and self.does[other.frame.name, other.subject] == 0 else None

    def untold(self, form: str) -> Event | None:
        """Draw an event that the passage does not mention."""
        for _ in range(20):
            event = self.drawn.untold(agent=True, placed=False)
            fits = self.does[event.frame.name, event.subject] == 0 and _suits(event, form)
            if fits and self.single(event, times=0):
                return event
        return None

    def candidates(self, form: str) -> int:
        """Count the different answers of a type in the passage."""
        if form == "who":
            return sum(len(self.passage.premise.cast.get(kind, ())) for kind in AGENTS)
        if form == "why":
            return sum(self.passage.why(fact) is not None for fact in self.passage.premise.facts)
        if form == "how_many":
            # Numbers, not words: Hebrew has two words for each.
            things = [fact.event.object for fact in self.passage.premise.facts]
            return len({thing.count for thing in things if thing} - {1})
        return len(self.passage.all(_PART_OF[form]))

    def single(self, event: Event, times: int = 1) -> bool:
        """Tell whether no other event has nearly the same meaning and the same object."""
        name, thing = _thing(event)
        alike = {other for names in _ALIKE if name in names for other in names} | {name}
        return sum(self.things[other, thing] for other in alike) == times

    def who(self, fact: Fact) -> Answer | None:
        """Find the answer to: who did it?"""
        return self.passage.doer(fact) if fact.event.subject.kind in AGENTS else None

    def date(self, fact: Fact) -> Answer | None:
        """Find the answer to: on what day?"""
        return self.passage.day(fact) if fact.said == TOLD else None

    def clock(self, fact: Fact) -> Answer | None:
        """Find the answer to: at what time of day?"""
        return self.passage.find("clock", fact)

    def where(self, fact: Fact) -> Answer | None:
        """Find the answer to: in what town did it happen?"""
        return None if fact.event.place is None else self.passage.find("place", fact)

    def town(self, fact: Fact) -> Answer | None:
        """Find the answer to: where did someone go? Verb and subject must identify the event."""
        event = fact.event
        if not _suits(event, "town") or self.does[event.frame.name, event.subject] > 1:
            return None
        return self.passage.find("place", fact)

    def how_many(self, fact: Fact) -> Answer | None:
        """Find the answer to: how many of them?"""
        return self.passage.find("count", fact)

    def why(self, fact: Fact) -> Answer | None:
        """Find the answer to: for what reason?"""
        return self.passage.why(fact)

    def _one_of(self, events: list[Event], form: str) -> Event | None:
        fitting = [event for event in events if _suits(event, form)]
        return self.rng.choice(fitting) if fitting else None


def _thing(event: Event) -> tuple[str, Entity | None]:
    """Identify an event by its verb and its object; without one, by a subject that is a thing."""
    alone = event.subject if event.subject.kind not in AGENTS else None
    return event.frame.name, replace(event.object, count=1) if event.object else alone


def _suits(event: Event, form: str) -> bool:
    """Tell whether this form of question suits an event, with or without an answer."""
    to_town = event.frame.object == world.PLACE
    if form == "who":
        return event.subject.kind in AGENTS
    if form == "how_many":
        return bool(event.object and event.object.kind == DOCUMENT)
    if form == "town":
        return to_town
    return takes_place(event.frame) if form == "place" else event.frame.object != world.REPORT


_ANSWERS: Mapping[str, Callable[[Questions, Fact], Answer | None]] = {
    "who": Questions.who,
    "date": Questions.date,
    "clock": Questions.clock,
    "place": Questions.where,
    "town": Questions.town,
    "how_many": Questions.how_many,
    "why": Questions.why,
}
_WAYS: tuple[Callable[[Questions, str], Event | None], ...] = (
    Questions.denied,
    Questions.by_another,
    Questions.untold,
)


def by_kind(questions: list[Question]) -> Iterator[tuple[str, list[Question]]]:
    """Sort questions by kind, in the order of `KINDS`."""
    for kind in KINDS:
        if found := [question for question in questions if question.kind == kind]:
            yield kind, found
