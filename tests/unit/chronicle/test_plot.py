"""The plot behind chronicle: what a text says settles every label it carries."""

from __future__ import annotations

from itertools import pairwise, product
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from chronicle import world
from chronicle.plot import OWN_AXIS, PATTERNS, draw_story, settles
from chronicle.world import Entity, Event, relation

SEEDS = st.integers(0, 10**6)
A_PERSON = Entity(world.PERSON, 0, "f")


def event(start: int, axis: int = 0) -> Event:
    return Event(world.FRAMES[0], A_PERSON, None, None, start, axis)


def test_relation_compares_start_times_on_one_axis_only():
    assert relation(event(1), event(2)) == "BEFORE"
    assert relation(event(2), event(1)) == "AFTER"
    assert relation(event(2), event(2)) == "EQUAL"
    assert relation(event(1), event(2, axis=1)) == "VAGUE"
    assert relation(event(1, axis=1), event(2, axis=1)) == "BEFORE"


@given(SEEDS)
def test_stories_are_deterministic_and_of_the_promised_length(seed):
    story = draw_story(Random(seed))
    assert story == draw_story(Random(seed))
    assert 4 <= len(story.sentences) <= 7
    assert [i for s in story.sentences for i in s.events] == list(range(len(story.events)))


def orders(before: tuple[int, ...], direction: int, after: tuple[int, ...]) -> set[tuple[int, ...]]:
    """All sign patterns of the cross pairs as distances vary."""
    found = set()
    for link, gap, other in product((1, 2, 5), repeat=3):
        signs = []
        for one in (0, *before):
            for two in (0, *after):
                difference = direction * link + two * other - one * gap
                signs.append((difference > 0) - (difference < 0))
        found.add(tuple(signs))
    return found


def test_settles_means_that_no_distance_changes_an_order():
    sides = [(), (-1,), (0,), (1,)]
    for before, direction, after in product(sides, (-1, 0, 1), sides):
        unique = len(orders(before, direction, after)) == 1
        assert settles(before, direction, after) == unique, (before, direction, after)


def test_what_lies_on_an_axis_of_its_own_never_unsettles():
    assert settles((OWN_AXIS,), 1, (OWN_AXIS, OWN_AXIS))


@given(SEEDS)
def test_links_of_hours_stay_in_the_day_and_settle_every_pair(seed):
    story = draw_story(Random(seed))
    for one, two in pairwise(story.sentences):
        if two.link.kind in ("hours", "same"):
            before, after = PATTERNS[one.pattern], PATTERNS[two.pattern]
            assert settles(before.sides, two.link.direction, after.sides)
            assert not before.drifts
            assert not after.timed
            heads = [story.events[sentence.events[0]].start for sentence in (one, two)]
            assert heads[1] - heads[0] == two.link.direction * two.link.amount
            assert heads[0] // world.DAY == heads[1] // world.DAY


@given(SEEDS)
def test_a_date_is_compared_with_a_date(seed):
    story = draw_story(Random(seed))
    for one, two in pairwise(story.sentences):
        if two.link.kind == "date":
            assert one.dated
            assert two.dated


def test_calendar_and_clock_read_minutes_since_the_year_began():
    assert world.calendar(2023, 0) == (1, 1)
    assert world.calendar(2023, 59 * world.DAY) == (1, 3)
    assert world.calendar(2024, 59 * world.DAY) == (29, 2)
    assert world.clock(3 * world.DAY + 9 * 60 + 5) == "9:05"
