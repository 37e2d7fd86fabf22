"""Summaries of a story: its most active entity, course, places, causes; abstractive.

Each sentence of a summary needs the whole article; no single sentence of the article says it. A
summary tells events as nouns ("the signing of the agreement"), an article as verbs.

Source: HeSum, summaries of a few sentences whose bigrams are mostly not the article's.
"""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random

from chronicle import world
from chronicle.asking import Asker
from chronicle.casting import takes_place
from chronicle.plot import Story
from chronicle.pointing import unmark
from chronicle.premise import REPORTED, TOLD, UNDATED, Fact, Premise, facts_of, gather
from chronicle.vocabulary import words
from chronicle.world import AGENTS, DAY, REPORT, Entity, Event


class Summariser(Asker):
    """Words the sentences of a summary; subclasses are languages."""

    @abstractmethod
    def noun(self, event: Event, named: bool) -> str:
        """Tell an event as a noun; `has_noun` must hold for it.

        Args:
            event: what happened.
            named: name the subject too.
        """

    @abstractmethod
    def centre(self, who: Entity, acts: int, examples: Sequence[Event]) -> str:
        """Say who acts most often, how often, and name some of the actions."""

    @abstractmethod
    def course(self, first: Event, last: Event) -> str:
        """Say how the story began and ended."""

    @abstractmethod
    def towns(self, towns: Sequence[int]) -> str:
        """Say in how many towns things happened, and name them."""

    @abstractmethod
    def reason(self, effect: Event, cause: Event) -> str:
        """Say that one event followed from another."""


@dataclass(frozen=True, slots=True)
class Summary:
    """An article in one language, and its summary."""

    article: str
    summary: str


def summarise(
    story: Story, teller: type[Summariser], plan: Random, wording: Random
) -> Summary | None:
    """Tell a story, and summarize it in one to three sentences.

    Args:
        story: what to tell.
        teller: the language.
        plan: chooses the summary's content; the same in all languages.
        wording: chooses among equivalent wordings.

    Returns:
        None where the story allows too few such sentences, or none that can begin a summary.
    """
    told = [sentence.text for sentence in teller(story, wording).tell()]
    article = unmark(" ".join(told))[0]
    digest = Digest(gather(article, list(facts_of(story, story.sentences)), [story]), story)
    points = {name: point for name, find in POINTS.items() if (point := find(digest, plan))}
    leads = [name for name in LEADS if name in points]
    number = plan.randint(1, 3)
    if not leads or len(points) < number:
        return None
    lead = plan.choice(leads)
    chosen = {lead, *plan.sample([name for name in points if name != lead], number - 1)}
    sentences = [_say(points[name], teller, wording) for name in points if name in chosen]
    return Summary(article, " ".join(sentences))


Point = Callable[[Summariser], str]


def _say(point: Point, teller: type[Summariser], wording: Random) -> str:
    """Word a sentence; each introduces its people in full."""
    speaker = teller(Story(0, (), ()), wording)
    return unmark(speaker.polish(point(speaker)))[0]


class Digest:
    """The content of summaries of one story.

    Args:
        premise: the whole article.
        story: the article's story.
    """

    def __init__(self, premise: Premise, story: Story):
        self.premise = premise
        self.story = story
        # A reported event is not known to have happened; that it was reported is.
        self.acts = [
            fact
            for fact in premise.facts
            if fact.said in (TOLD, UNDATED)
            or (fact.said == REPORTED and fact.event.frame.object == REPORT)
        ]

    def centre(self, plan: Random) -> Point | None:
        """Find the most active person or organisation, and two or three of its actions."""
        counts = Counter(
            fact.event.subject for fact in self.acts if fact.event.subject.kind in AGENTS
        )
        [(who, most), *others] = counts.most_common(2)
        if most < 3 or (others and others[0][1] == most):
            return None
        theirs = [
            fact.event
            for fact in self._nouns()
            if fact.event.subject == who and fact.event.object and takes_place(fact.event.frame)
        ]
        if len(theirs) < 2:
            return None
        examples = plan.sample(theirs, min(len(theirs), plan.randint(2, 3)))
        return lambda teller: teller.centre(who, most, examples)

    def course(self, plan: Random) -> Point | None:
        """Find the first and last event, at least a day before and after all others."""
        facts = sorted(
            (fact for fact in self.acts if fact.said != UNDATED),
            key=lambda fact: fact.event.start,
        )
        first, last = facts[0], facts[-1]
        if first == last or not {first, last} <= set(self._nouns()):
            return None
        alone = all(
            (fact.event.start // DAY > first.event.start // DAY or fact.sentence == first.sentence)
            and (
                fact.event.start // DAY < last.event.start // DAY or fact.sentence == last.sentence
            )
            for fact in facts
        )
        # A sentence tells the order of its events, except where two start at once.
        starts = Counter(fact.event.start for fact in facts)
        alone = alone and starts[first.event.start] == starts[last.event.start] == 1
        return (lambda teller: teller.course(first.event, last.event)) if alone else None

    def towns(self, plan: Random) -> Point | None:
        """List the towns of events, and the towns that people went to or left."""
        named = [
            event.object.word if event.object and event.object.kind == world.PLACE else event.place
            for event in (fact.event for fact in self.acts)
        ]
        towns = list(dict.fromkeys(word for word in named if word is not None))
        return (lambda teller: teller.towns(towns)) if len(towns) > 1 else None

    def reason(self, plan: Random) -> Point | None:
        """Choose an event whose cause is told."""
        nouns = {fact.event for fact in self._nouns()}
        effects = [
            (event, self.story.events[event.cause])
            for event in nouns_in_order(self.story.events, nouns)
            if event.cause is not None and self.story.events[event.cause] in nouns
        ]
        if not effects:
            return None
        effect, cause = plan.choice(effects)
        return lambda teller: teller.reason(effect, cause)

    def _nouns(self) -> list[Fact]:
        """Facts that every language can tell as a noun, and that the noun identifies."""
        return [fact for fact in self.premise.known(TOLD) if has_noun(fact.event)]


def nouns_in_order(events: Sequence[Event], chosen: set[Event]) -> list[Event]:
    """List the chosen events in their order."""
    return [event for event in events if event in chosen]


def placeless(event: Event) -> Event:
    """Return the event without its town."""
    return replace(event, place=None) if takes_place(event.frame) else event


def has_noun(event: Event) -> bool:
    """Tell whether every language can tell the event as a noun."""
    name, by_group = event.frame.name, event.subject.kind == world.ORGANISATION
    return name not in NOUNLESS and not (by_group and name in NOUNLESS_OF_GROUPS)


# Verbs that lack an equivalent noun in some language, and verbs whose noun needs the genitive of
# the subject, which Romanian organisations lack here.
NOUNLESS = frozenset(
    words("lose praise thank congratulate interview phone warn reopen protest vote")
)
NOUNLESS_OF_GROUPS = frozenset({"attend", "meet", "argue"})
POINTS: Mapping[str, Callable[[Digest, Random], Point | None]] = {
    "centre": Digest.centre,
    "course": Digest.course,
    "reason": Digest.reason,
    "towns": Digest.towns,
}
LEADS = ("centre", "course")  # each summary has one of them
