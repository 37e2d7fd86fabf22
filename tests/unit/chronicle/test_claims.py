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
from chronicle.premise import premises as cut
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
    drawn = [draw_story(Random(f"{seed}/{number}")) for number in range(stories)]
    return list(cut(drawn, TELLERS["en"], Random(seed), Random(seed), *sentences))


def threes(seed: int, stories: int = 1) -> Iterator[tuple[Premise, dict[str, Claim]]]:
    for premise in premises(seed, stories, (2, 4) if stories == 1 else (8, 12)):
        for three in Claims(premise, Random(seed)).threes(number=9):
            yield premise, three


def same(one: Event, two: Event, place: bool = True) -> bool:
    """Same verb, doer and thing; perhaps same town."""
    parts = (one.frame, one.subject, one.object) == (two.frame, two.subject, two.object)
    return parts and (not place or one.place == two.place)


def told_as(premise: Premise, event: Event, *said: str) -> Fact | None:
    """The one fact that tells this event in one of these ways."""
    found = [fact for fact in premise.facts if same(fact.event, event) and fact.said in said]
    assert len(found) < 2
    return found[0] if found else None


def holds(premise: Premise, claim: Claim) -> bool | None:
    """Judge a claim from the facts alone; None where they leave it open."""
    facts = [told_as(premise, event, TOLD, UNDATED) for event in claim.events]
    first = claim.events[0]
    if claim.form in ("fact", "negated"):
        true = bool(facts[0])
        moved = [
            f for f in premise.facts if f.said in (TOLD, UNDATED) and f.event.place is not None
        ]
        false = bool(told_as(premise, first, DENIED)) or any(
            same(fact.event, first, place=False) and fact.event.place != first.place
            for fact in moved
            if first.place is not None
        )
        known = True if true else False if false else None
        return known if known is None or claim.form == "fact" else not known
    if claim.form == "who":
        other = [
            fact
            for fact in premise.facts
            if same(replace(fact.event, subject=first.subject), first)
            and fact.said in (TOLD, UNDATED)
        ]
        return None if not other else other[0].event.subject == first.subject
    if None in facts or any(fact.said != TOLD for fact in facts if fact):
        return None
    if claim.form == "when":
        assert facts[0]
        return claim.date == facts[0].date if facts[0].date else None
    one, two = (fact for fact in facts if fact)
    if claim.form == "order":
        return one.event.start > two.event.start
    if claim.form == "together":
        return one.event.start == two.event.start
    # A sentence that tells a cause tells its effect and nothing else.
    if one.sentence != two.sentence or one.event.cause == two.event.cause:
        return None
    return one.event.cause is not None


@given(SEEDS)
def test_the_text_entails_excludes_or_leaves_open_as_the_label_says(seed):
    for premise, three in threes(seed):
        assert holds(premise, three[ENTAILMENT]) is True, three
        assert holds(premise, three[CONTRADICTION]) is False, three
        assert holds(premise, three[NEUTRAL]) is None, three


@settings(max_examples=15, deadline=None)
@given(SEEDS)
def test_labels_hold_in_premises_of_several_stories(seed):
    for premise, three in threes(seed, stories=3):
        assert [holds(premise, three[label]) for label in THREE] == [False, True, None], three


@given(SEEDS)
def test_only_neighbouring_sentences_order_their_events(seed):
    for premise in premises(seed, stories=2, sentences=(5, 9)):
        for one, two in premise.ordered():
            assert one.story == two.story
            assert 0 <= two.sentence - one.sentence <= 1
            assert not one.lasting
            assert not two.lasting


@given(SEEDS)
def test_what_is_left_open_is_about_people_and_things_of_the_premise(seed):
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
    assert [fact.worked_out for fact in facts] == [not one for one in dated]
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
def test_reasoning_names_what_a_claim_takes(claim, kinds):
    assert claim.reasoning() == kinds
