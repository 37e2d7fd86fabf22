"""The grammar of chronicle's questions: agreement, binyan, construct, genitive, clitics."""

from __future__ import annotations

from random import Random

import pytest

from chronicle import world
from chronicle.answering import ASKERS
from chronicle.hebrew_questions import FORMS, _inflect, _participle
from chronicle.hebrew_words import VERBS
from chronicle.plot import Story
from chronicle.pointing import unmark
from chronicle.romanian_questions import NOUNS
from chronicle.world import Entity, Event

FRAMES = {frame.name: frame for frame in world.FRAMES}
WOMAN, MAN = Entity(world.PERSON, 10, "f", role=0), Entity(world.PERSON, 0, "m", role=1)
RESIDENTS = Entity(world.ORGANISATION, 6)
PROPOSAL, LETTERS = Entity(world.DOCUMENT, 4), Entity(world.DOCUMENT, 3, count=3)
SCHOOL, HEARING = Entity(world.SITE, 0), Entity(world.HAPPENING, 9)
TOWN = Entity(world.PLACE, 0)


def wordings(
    language: str, form: str, verb: str, subject: Entity, thing: Entity | None = None
) -> list[str]:
    event = Event(FRAMES[verb], subject, thing, None, 0)
    teller = ASKERS[language](Story(0, (event,), ()), Random(0))
    said = teller.wordings(form, event, doer=True)
    return [" ".join(unmark(one)[0].split()) for one in said]


@pytest.mark.parametrize(
    ("form", "verb", "subject", "thing", "ending"),
    [
        ("who", "reject", WOMAN, PROPOSAL, "על ידי מי נדחתה ההצעה"),
        ("who", "reject", WOMAN, PROPOSAL, "מי היה אחראי לדחיית ההצעה"),
        ("date", "publish", RESIDENTS, PROPOSAL, "פורסמה ההצעה על ידי תושבי השכונה"),
        ("date", "publish", RESIDENTS, PROPOSAL, "מפרסמים תושבי השכונה את ההצעה"),
        ("date", "sign", WOMAN, LETTERS, "נחתמו שלושה מכתבים על ידי השופטת דנה"),
        ("date", "submit", WOMAN, PROPOSAL, "מגישה השופטת דנה את ההצעה"),
        ("date", "argue", WOMAN, MAN, "היה הוויכוח של השופטת דנה עם המהנדס אבנר"),
        ("date", "resign", WOMAN, None, "הייתה ההתפטרות של השופטת דנה"),
        ("place", "help", WOMAN, MAN, "עוזרת השופטת דנה למהנדס אבנר"),
        ("town", "travel", WOMAN, TOWN, "נוסעת השופטת דנה"),
        ("how_many", "sign", WOMAN, LETTERS, "על כמה מכתבים חותמת השופטת דנה"),
        ("how_many", "print", WOMAN, LETTERS, "כמה מכתבים הודפסו על ידי השופטת דנה"),
        ("why", "argue", WOMAN, MAN, "מה הייתה הסיבה לוויכוח של השופטת דנה עם המהנדס אבנר"),
        ("why", "close", RESIDENTS, SCHOOL, "מה הביא את תושבי השכונה לסגור את בית הספר"),
    ],
)
def test_hebrew(form: str, verb: str, subject: Entity, thing: Entity | None, ending: str) -> None:
    said = wordings("he", form, verb, subject, thing)
    assert any(one.endswith(ending) for one in said), said


@pytest.mark.parametrize(
    ("form", "verb", "subject", "thing", "ending"),
    [
        ("who", "reject", MAN, PROPOSAL, "de cine a fost respinsă propunerea"),
        ("who", "reject", MAN, PROPOSAL, "cine s-a ocupat de respingerea propunerii"),
        ("who", "invite", MAN, WOMAN, "cine avea s-o invite pe judecătoarea Cristina"),
        ("who", "invite", MAN, WOMAN, "cine s-a ocupat de invitarea judecătoarei Cristina"),
        ("date", "publish", RESIDENTS, LETTERS, "de către locuitorii cartierului"),
        ("date", "publish", RESIDENTS, LETTERS, "au fost publicate trei scrisori de către"
         " locuitorii cartierului"),
        ("date", "moderate", WOMAN, HEARING, "a avut loc moderarea audierii de către"
         " judecătoarea Cristina"),
        ("place", "help", WOMAN, MAN, "să-l ajute pe inginerul Adrian"),
        ("town", "leave", WOMAN, TOWN, "judecătoarea Cristina să plece"),
        ("how_many", "copy", WOMAN, LETTERS, "câte scrisori au fost copiate de către"
         " judecătoarea Cristina"),
        ("why", "close", RESIDENTS, SCHOOL, "motivul pentru închiderea școlii de către"
         " locuitorii cartierului"),
        ("why", "resign", WOMAN, None, "care a fost motivul pentru demisia judecătoarei Cristina"),
    ],
)  # fmt: skip
def test_romanian(form: str, verb: str, subject: Entity, thing: Entity | None, ending: str) -> None:
    said = wordings("ro", form, verb, subject, thing)
    assert any(one.endswith(ending) for one in said), said


def test_english_uses_the_base_form_and_names_the_preposition() -> None:
    assert "who would argue with Engineer Adam" in wordings("en", "who", "argue", WOMAN, MAN)
    [said] = wordings("en", "town", "travel", WOMAN, TOWN)
    assert said.startswith("which town did Judge ")
    assert said.endswith("travel to")


@pytest.mark.parametrize("language", ASKERS)
@pytest.mark.parametrize("verb", FRAMES)
def test_every_verb_has_a_question_of_every_form(language: str, verb: str) -> None:
    frame = FRAMES[verb]
    subject = WOMAN if world.PERSON in frame.subjects else Entity(frame.subjects[0], 0)
    thing = (
        MAN if frame.object == world.PERSON else Entity(frame.object, 0) if frame.object else None
    )
    for form in ("date", "clock", "place", "why"):
        assert all(wordings(language, form, verb, subject, thing))
    if subject is WOMAN:
        assert len(wordings(language, "who", verb, subject, thing)) >= 2


def test_hebrew_verb_forms_are_complete() -> None:
    assert set(FORMS) == set(FRAMES) < set(VERBS)
    assert all(len(forms) == 4 and forms[1].startswith("ל") for forms in FORMS.values())


def test_romanian_verbal_nouns_are_of_known_verbs() -> None:
    assert set(NOUNS) < set(FRAMES)


@pytest.mark.parametrize(
    ("verb", "feminine", "plural"),
    [
        ("נחתם", "נחתמה", "נחתמו"),
        ("נדחה", "נדחתה", "נדחו"),
        ("הודפס", "הודפסה", "הודפסו"),
        ("רואיין", "רואיינה", "רואיינו"),
    ],
)
def test_hebrew_passives_agree(verb: str, feminine: str, plural: str) -> None:
    assert [_inflect(verb, which) for which in "mfp"] == [verb, feminine, plural]


@pytest.mark.parametrize(
    ("verb", "feminine", "plural"),
    [
        ("חותם", "חותמת", "חותמים"),
        ("דוחה", "דוחה", "דוחים"),
        ("מגיש", "מגישה", "מגישים"),
        ("מזמין", "מזמינה", "מזמינים"),
        ("מראיין", "מראיינת", "מראיינים"),
        ("נפגש", "נפגשת", "נפגשים"),
        ("מסתיים", "מסתיימת", "מסתיימים"),
    ],
)
def test_hebrew_presents_agree(verb: str, feminine: str, plural: str) -> None:
    assert [_participle(verb, which) for which in "mfp"] == [verb, feminine, plural]
