"""Claims about chronicle's premises: each label follows from the world, and from the text alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chronicle import world
from chronicle.claims import CONTRADICTION, ENTAILMENT, NEUTRAL, THREE, Claim, Claims
from chronicle.plot import Link, Sentence, Story, draw_story
from chronicle.premise import DENIED, MAYBE, TOLD, UNDATED, Fact, Premise, facts_of
from chronicle.premise import premises as premises_of
from chronicle.settings import TELLERS
from chronicle.world import Entity, Event

SEEDS = st.integers(0, 10**6)
FRAMES = {frame.name: frame for frame in (*world.FRAMES, *world.REPORTS)}
WOMAN, MAN = Entity(world.PERSON, 10, "f", role=0), Entity(world.PERSON, 0, "m", role=1)
REPORT, TOWN = Entity(world.DOCUMENT, 1), 3
NOON = 150 * world.DAY + 12 * 60
SIGNED = Event(FRAMES["sign"], WOMAN, REPORT, TOWN, NOON)
RESIGNED = Event(FRAMES["resign"], MAN, None, None, NOON - 60)


def premises(seed: int, stories: int = 1, sentences: tuple[int, int] = (2, 4)) -> list[Premise]:
    stories_drawn = [draw_story(Random(f"{seed}/{number}")) for number in range(stories)]
    return list(premises_of(stories_drawn, TELLERS["en"], Random(seed), Random(seed), *sentences))


def claims_of_each_class(seed: int, stories: int = 1) -> Iterator[tuple[Premise, dict[str, Claim]]]:
    """Yield a premise with a claim of each of the three classes, by class."""
    for premise in premises(seed, stories, (2, 4) if stories == 1 else (8, 12)):
        for claim_of in Claims(premise, Random(seed)).threes(number=9):
            yield premise, claim_of


def is_same(event: Event, other: Event, place: bool = True) -> bool:
    """Tell whether verb, doer and thing are the same, and the town if `place`."""
    parts = (event.frame, event.subject, event.object)
    same_parts = parts == (other.frame, other.subject, other.object)
    return same_parts and (not place or event.place == other.place)


def fact_about(premise: Premise, event: Event, *said: str) -> Fact | None:
    """Find the fact that tells this event in one of these ways; there is at most one."""
    facts = [fact for fact in premise.facts if is_same(fact.event, event) and fact.said in said]
    assert len(facts) < 2
    return facts[0] if facts else None


def holds(premise: Premise, claim: Claim) -> bool | None:
    """Judge a claim from the facts alone; None where they leave it open."""
    facts = [fact_about(premise, event, TOLD, UNDATED) for event in claim.events]
    first = claim.events[0]
    told_events = [fact.event for fact in premise.facts if fact.said in (TOLD, UNDATED)]
    if claim.form in ("fact", "negated"):
        elsewhere = [
            event
            for event in told_events
            if is_same(event, first, place=False)
            and None not in (event.place, first.place)
            and event.place != first.place
        ]
        if facts[0]:
            return claim.form == "fact"
        if elsewhere or fact_about(premise, first, DENIED):
            return claim.form == "negated"
        return None
    if claim.form == "who":
        for event in told_events:
            if is_same(replace(event, subject=first.subject), first):
                return event.subject == first.subject
        return None
    if None in facts or any(fact.said != TOLD for fact in facts if fact):
        return None
    if claim.form == "when":
        assert facts[0]
        return claim.date == facts[0].date if facts[0].date else None
    fact, other = (fact for fact in facts if fact)
    if claim.form == "order":
        return fact.event.start > other.event.start
    if claim.form == "together":
        return fact.event.start == other.event.start
    # A sentence that tells a cause tells its effect and nothing else.
    if fact.sentence != other.sentence or fact.event.cause == other.event.cause:
        return None
    return fact.event.cause is not None


@given(SEEDS)
def test_the_text_entails_excludes_or_leaves_open_as_the_label_says(seed):
    for premise, claim_of in claims_of_each_class(seed):
        assert holds(premise, claim_of[ENTAILMENT]) is True, claim_of
        assert holds(premise, claim_of[CONTRADICTION]) is False, claim_of
        assert holds(premise, claim_of[NEUTRAL]) is None, claim_of


@settings(max_examples=15, deadline=None)
@given(SEEDS)
def test_labels_hold_in_premises_of_several_stories(seed):
    for premise, claim_of in claims_of_each_class(seed, stories=3):
        verdicts = [holds(premise, claim_of[label]) for label in THREE]
        assert verdicts == [False, True, None], claim_of


@given(SEEDS)
def test_only_neighbouring_sentences_order_their_events(seed):
    for premise in premises(seed, stories=2, sentences=(5, 9)):
        for first, second in premise.ordered():
            assert first.story == second.story
            assert 0 <= second.sentence - first.sentence <= 1
            assert not first.lasting
            assert not second.lasting


@given(SEEDS)
def test_an_event_that_the_text_leaves_open_has_people_and_things_of_the_premise(seed):
    for premise in premises(seed):
        cast = {entity for entities in premise.cast.values() for entity in entities}
        for agent in (True, False):
            event = Claims(premise, Random(seed)).drawn.untold(agent, placed=False)
            same_kind = premise.cast.get(event.subject.kind, ())
            assert event.subject in cast or not same_kind or set(same_kind) == {event.object}
            assert event.object != event.subject
            assert all(event.frame != fact.event.frame for fact in premise.facts)


def sentence(event: int, link: Link, dated: bool, pattern: str = "single") -> Sentence:
    return Sentence(pattern, (event,), link, dated, 0)


@pytest.mark.parametrize(
    ("kinds", "dated", "known"),
    [
        (("start", "days", "same"), (True, False, False), (True, True, True)),
        (("start", "days", "days"), (False, False, True), (True, True, True)),
        (("start", "hours", "date"), (False, False, True), (False, False, True)),
        (("start", "days", "days"), (False, False, False), (False, False, False)),
    ],
)
def test_a_day_is_known_where_it_is_named_or_counted_from_a_named_one(kinds, dated, known):
    events = tuple(replace(SIGNED, start=NOON + day * world.DAY) for day in range(3))
    plans = [sentence(i, Link(kinds[i], 1, 1), dated[i]) for i in range(3)]
    facts = list(facts_of(Story(2023, events, tuple(plans)), plans))
    assert [fact.date is not None for fact in facts] == list(known)
    assert [fact.worked_out for fact in facts] == [not is_dated for is_dated in dated]
    assert facts[2].date in (None, world.calendar(2023, events[2].start))


def fact(event: Event = SIGNED, **changes: object) -> Fact:
    plain = Fact(event, TOLD, 0, 0, False, (31, 5), False, False)
    return replace(plain, **changes)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("claim", "kinds"),
    [
        (Claim("who", (SIGNED,), (fact(),)), []),
        (Claim("who", (SIGNED,), (fact(linked=True),)), ["coreferential"]),
        (Claim("fact", (SIGNED,), (fact(said=MAYBE),)), ["logical"]),
        (Claim("negated", (SIGNED,), (fact(said=DENIED),)), ["logical"]),
        (Claim("when", (SIGNED,), (fact(),), (31, 5)), ["temporal"]),
        (Claim("when", (SIGNED,), (fact(worked_out=True),), (1, 6)), ["temporal", "analytical"]),
        (
            Claim("order", (SIGNED, RESIGNED), (fact(), fact(RESIGNED, sentence=1))),
            ["temporal", "analytical"],
        ),
        (Claim("why", (SIGNED, RESIGNED), (fact(), fact(RESIGNED))), ["logical"]),
        (Claim("who", (SIGNED,)), []),
    ],
)
def test_a_claim_lists_the_kinds_of_reasoning_that_it_needs(claim, kinds):
    assert claim.reasoning() == kinds
