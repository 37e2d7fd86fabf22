"""The world of a chronicle: people, things and dated events, independent of language.

The order of two events comes from their start times, never from words. Texts are told from this
world; labels, questions, answers and entailments are computed from it.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta

LABELS = ("BEFORE", "AFTER", "EQUAL", "VAGUE")
DAY = 24 * 60  # minutes

# Kinds of nouns; the frames below name the kinds of subject and object of each verb.
PERSON, ORGANISATION, PLACE = "person", "organisation", "place"
DOCUMENT, SITE, HAPPENING = "document", "site", "happening"

# Vocabulary sizes; every language's word lists have exactly these lengths.
NAMES_PER_GENDER, ROLES, PLACES, ORGANISATIONS = 40, 20, 40, 32
NOUNS = {DOCUMENT: 18, SITE: 14, HAPPENING: 14}


@dataclass(frozen=True, slots=True)
class Entity:
    """Someone or something that takes part in events.

    Args:
        kind: person, organisation, place, document, site or happening.
        word: index into the language's word list of that kind (for people: of names).
        gender: `m` or `f` for people; empty where the noun itself decides.
        role: index of a person's role; 0 and unused for others.
        count: how many (1: one known thing, told with a definite article).
    """

    kind: str
    word: int
    gender: str = ""
    role: int = 0
    count: int = 1


@dataclass(frozen=True, slots=True)
class Frame:
    """The kind of event that a verb tells.

    Args:
        name: key into every language's verb table.
        subjects: kinds of entity that can do it.
        object: kind of entity it is done to; empty for intransitive verbs.
        durative: it lasts for hours, so it can be under way when another event starts.
    """

    name: str
    subjects: tuple[str, ...]
    object: str
    durative: bool


def _frames(subjects: tuple[str, ...], object_: str, names: str) -> list[Frame]:
    return [
        Frame(name.rstrip("~"), subjects, object_, name.endswith("~")) for name in names.split()
    ]


AGENTS = (PERSON, ORGANISATION)
REPORT = "report"  # the object of a reporting verb is its content

# `~` marks durative frames.
FRAMES = (
    *_frames(
        AGENTS,
        DOCUMENT,
        "sign publish approve reject submit read~ draft~ translate~ present distribute correct"
        " print examine~ receive send copy lose find hide update",
    ),
    *_frames(
        AGENTS,
        SITE,
        "open close visit renovate~ paint~ rent buy sell clean~ inspect guard~ measure~ evacuate"
        " expand",
    ),
    *_frames(
        AGENTS,
        HAPPENING,
        "organise cancel postpone promote attend moderate watch~ film~ fund praise condemn"
        " initiate record~",
    ),
    *_frames(
        AGENTS,
        PERSON,
        "thank congratulate invite interview~ phone accompany recruit meet question support warn"
        " reassure help argue",
    ),
    *_frames((PERSON,), PLACE, "arrive leave return move travel"),
    *_frames((PERSON,), "", "resign speak"),
    *_frames(AGENTS, "", "protest~ vote"),
    *_frames((HAPPENING,), "", "begin end"),
    *_frames((SITE,), "", "shut reopen"),
    *_frames((DOCUMENT,), "", "vanish"),
)
REPORTS = tuple(
    _frames(
        AGENTS,
        REPORT,
        "say announce report write tell claim explain recall add stress reveal",
    )
)


@dataclass(frozen=True, slots=True)
class Event:
    """One event: who did what to whom, where, when, how many, why.

    Args:
        frame: what happens.
        subject: who or what does it.
        object: what it is done to (its `count` is the how many), or None.
        place: index of the town where it happens, or None.
        start: true start, minutes since the story's year began.
        axis: events are ordered only within one axis. Axis 0 holds real events; hypothetical,
            denied, believed and undated events have other axes.
        cause: index of the event that caused it, or None.
    """

    frame: Frame
    subject: Entity
    object: Entity | None
    place: int | None
    start: int
    axis: int = 0
    cause: int | None = None


def relation(first: Event, second: Event) -> str:
    """Compare two events by start time.

    Returns:
        BEFORE when `first` starts earlier, AFTER when later, EQUAL at the same minute; VAGUE when
        they are on different axes and have no order.

    Source: TRC (Hebrew temporal relations), label definitions after MATRES' multi-axis scheme.
    Deviates: a plain announcement ("will open tonight") counts as on the main axis.
    """
    if first.axis != second.axis:
        return "VAGUE"
    if first.start == second.start:
        return "EQUAL"
    return "BEFORE" if first.start < second.start else "AFTER"


def calendar(year: int, minutes: int) -> tuple[int, int]:
    """Turn minutes since the year began into (day of month, month)."""
    day = date(year, 1, 1) + timedelta(days=minutes // DAY)
    return day.day, day.month


def clock(minutes: int) -> str:
    """Turn minutes since the year began into a time of day such as `9:30`."""
    return f"{minutes % DAY // 60}:{minutes % 60:02d}"
