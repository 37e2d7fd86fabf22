"""Chronicle's Hebrew, Romanian and English: complete vocabularies and correct grammar."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from random import Random
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chronicle import english_words, hebrew_words, romanian_words, world
from chronicle.corpus import TELLERS, ChronicleConfig, document
from chronicle.english import English
from chronicle.hebrew import Hebrew
from chronicle.plot import PATTERNS, Story, draw_story
from chronicle.relation import pairs
from chronicle.romanian import Romanian
from chronicle.telling import Teller
from chronicle.world import Entity, Event

WORDS = {"he": hebrew_words, "ro": romanian_words, "en": english_words}
LANGUAGES = tuple(WORDS)
FRAMES = {frame.name: frame for frame in (*world.FRAMES, *world.REPORTS)}
WOMAN, MAN = Entity(world.PERSON, 10, "f", role=0), Entity(world.PERSON, 0, "m", role=0)
COUNCIL = Entity(world.ORGANISATION, 0)
RESIDENTS = Entity(world.ORGANISATION, 6)
EMPTY = Story(2000, (), ())


def say(teller: Teller, verb: str, tense: str, subject: Entity, thing: Entity | None = None) -> str:
    """The predicate alone: verb group and complements."""
    event = Event(FRAMES[verb], subject, thing, None, 0)
    return " ".join(teller.predicate(event, tense, "")).strip()


def hebrew() -> Hebrew:
    return Hebrew(EMPTY, Random(0))


def romanian() -> Romanian:
    return Romanian(EMPTY, Random(0))


def english() -> English:
    return English(EMPTY, Random(0))


@pytest.mark.parametrize("words", WORDS.values(), ids=LANGUAGES)
def test_vocabularies_are_complete_and_without_repetition(words: ModuleType) -> None:
    sizes = {"m": world.NAMES_PER_GENDER, "f": world.NAMES_PER_GENDER}
    assert {gender: len(set(names)) for gender, names in words.NAMES.items()} == sizes
    assert len(set(words.ROLES)) == len(words.ROLES) == world.ROLES
    assert len(set(words.PLACES)) == len(words.PLACES) == world.PLACES
    assert len(set(words.ORGANISATIONS)) == len(words.ORGANISATIONS) == world.ORGANISATIONS
    assert {kind: len(set(nouns)) for kind, nouns in words.NOUNS.items()} == world.NOUNS
    assert set(words.VERBS) == set(FRAMES)
    assert len(words.MONTHS) == 12


@pytest.mark.parametrize("teller", TELLERS.values(), ids=TELLERS)
def test_every_pattern_has_templates_that_tell_each_clause_once(teller: type[Teller]) -> None:
    assert set(teller.templates) == set(PATTERNS)
    for name, templates in teller.templates.items():
        clauses = list(range(1 + len(PATTERNS[name].sides)))
        for template in templates:
            assert sorted(map(int, re.findall(r"\{(\d)", template))) == clauses, template


@given(st.sampled_from(LANGUAGES), st.integers(0, 10**6))
def test_stories_are_told_whole_in_clean_sentences(language: str, seed: int) -> None:
    story = draw_story(Random(seed))
    told = TELLERS[language](story, Random(seed)).tell()
    for plan, sentence in zip(story.sentences, told, strict=True):
        assert sorted(mention.event for mention in sentence.mentions) == list(plan.events)
        assert sentence.text.endswith(".")
        assert not re.search(r"\s\s|\s[.,;]|,,|[\ue000-\uf8ff{}_/|]", sentence.text)
        assert unicodedata.is_normalized("NFC", sentence.text)
        if language != "he":
            assert re.search(r"\w", sentence.text)[0].isupper()  # type: ignore[index]


@pytest.mark.parametrize(
    ("language", "letters"),
    [
        ("he", "א-ת"),
        ("ro", "a-zA-ZăâîșțĂÂÎȘȚ"),  # comma below, never the cedilla of old fonts
        ("en", "a-zA-Z"),
    ],
)
def test_texts_use_the_languages_own_letters_only(language: str, letters: str) -> None:
    allowed = re.compile(rf"[{letters}0-9 .,;:'\"“”„-]+")
    for number in range(200):
        for sentence in document(ChronicleConfig(language=language), number)[1]:
            assert allowed.fullmatch(sentence.text), sentence.text


@pytest.mark.parametrize(("language", "least"), [("he", 1100), ("ro", 850), ("en", 550)])
def test_vocabulary_in_use_is_wide(language: str, least: int) -> None:
    types = Counter(
        word
        for number in range(300)
        for sentence in document(ChronicleConfig(language=language), number)[1]
        for word in re.findall(r"[^\W\d]+", sentence.text)
    )
    assert len(types) >= least


@pytest.mark.parametrize(
    ("language", "cues"),
    [
        ("he", ("אחרי", "לאחר", "לפני", "מאוחר", "מוקדם", "קודם", "מכן", "עד", "כבר", "כי")),
        ("ro", ("după", "înainte", "târziu", "devreme", "până", "când", "care", "iar", "dar")),
        ("en", ("after", "before", "later", "earlier", "until", "when", "because", "who", "had")),
    ],
)
def test_no_temporal_word_gives_the_order_away(language: str, cues: tuple[str, ...]) -> None:
    labels: dict[str, Counter[str]] = defaultdict(Counter)
    for number in range(400):
        story, told = document(ChronicleConfig(language=language), number)
        for pair in pairs(story, told, language):
            for word in set(re.findall(r"\w+", pair.text)) & set(cues):
                labels[word][pair.label] += 1
    for cue in cues:
        before, after = labels[cue]["BEFORE"], labels[cue]["AFTER"]
        assert before + after > 100, cue
        assert 0.3 < before / (before + after) < 0.7, cue


def test_hebrew_verbs_agree_in_gender_and_number() -> None:
    teller = hebrew()
    assert say(teller, "resign", "past", MAN) == "התפטר"
    assert say(teller, "resign", "past", WOMAN) == "התפטרה"
    assert say(teller, "vote", "past", RESIDENTS) == "הצביעו"
    assert say(teller, "resign", "future", WOMAN) == "תתפטר"
    assert say(teller, "vote", "future", RESIDENTS) == "יצביעו"
    assert say(teller, "begin", "past", Entity(world.HAPPENING, 0)) == "התחילה"
    assert say(teller, "begin", "past", Entity(world.HAPPENING, 1)) == "התחיל"
    assert say(teller, "vote", "negated", COUNCIL) == "לא הצביעה"


def test_hebrew_futures_begin_with_yod() -> None:
    for past, _, _, he, they, *_ in hebrew_words.VERBS.values():
        assert he.startswith("י"), he
        assert they.startswith("י"), they
        assert they.endswith("ו"), they
        assert past != he


def test_hebrew_prefixes_swallow_the_article_but_not_a_names_first_letter() -> None:
    teller = hebrew()
    judge = "שופטת " + hebrew_words.NAMES["f"][10]
    assert say(teller, "help", "past", COUNCIL, WOMAN) == f"עזרה ל{judge}"
    assert say(teller, "watch", "past", MAN, Entity(world.HAPPENING, 0)) == "צפה בתערוכה"
    assert say(teller, "visit", "past", MAN, Entity(world.SITE, 0)) == "ביקר בבית הספר"
    hadas = Entity(world.PERSON, hebrew_words.NAMES["f"].index("הדס"), "f")
    assert teller.govern("ל", hadas) == "לשופטת הדס"
    assert {teller.govern("ל", hadas) for _ in range(20)} == {"להדס", "לשופטת"}
    herzliya = Entity(world.PLACE, hebrew_words.PLACES.index("הרצליה"))
    assert teller.govern("ל", herzliya) == "להרצליה"
    assert teller.govern("מ", Entity(world.HAPPENING, 0)) == "מהתערוכה"


def test_hebrew_object_marker_goes_with_definite_objects_only() -> None:
    one, three = Entity(world.DOCUMENT, 5), Entity(world.DOCUMENT, 5, count=3)
    assert say(hebrew(), "publish", "past", MAN, one) == "פרסם את התוכנית"
    assert say(hebrew(), "publish", "past", MAN, three) == "פרסם שלוש תוכניות"
    assert say(hebrew(), "publish", "past", MAN, Entity(world.DOCUMENT, 0, count=3)) == (
        "פרסם שלושה הסכמים"
    )


def test_hebrew_conjunctions_become_part_of_the_marked_token() -> None:
    tokens = [
        sentence.text[mention.start : mention.end]
        for number in range(300)
        for sentence in document(ChronicleConfig(), number)[1]
        for mention in sentence.mentions
    ]
    forms = {form for forms in hebrew_words.VERBS.values() for form in forms[:5]}
    feminine_futures = {"ת" + forms[3][1:] for forms in hebrew_words.VERBS.values()}
    prefixes = Counter(
        next(p for p in ("", "כש", "ש", "ו") if token.removeprefix(p) in forms | feminine_futures)
        for token in tokens
    )
    assert min(prefixes["ש"], prefixes["כש"], prefixes["ו"]) > 10
    assert prefixes[""] > prefixes["ש"]


@pytest.mark.parametrize(
    ("tense", "masculine", "feminine", "plural"),
    [
        ("past", "l-a felicitat pe", "a felicitat-o pe", "au felicitat-o pe"),
        ("perfect", "îl felicitase pe", "o felicitase pe", "o felicitaseră pe"),
        ("future", "îl va felicita pe", "o va felicita pe", "o vor felicita pe"),
        ("negated", "nu l-a felicitat pe", "nu a felicitat-o pe", "nu au felicitat-o pe"),
        ("subjunctive", "să-l felicite pe", "s-o felicite pe", "s-o felicite pe"),
        ("might", "ar putea să-l felicite pe", "ar putea s-o felicite pe", "ar putea s-o"),
    ],
)
def test_romanian_doubles_a_person_as_object_with_a_clitic(
    tense: str, masculine: str, feminine: str, plural: str
) -> None:
    assert say(romanian(), "congratulate", tense, COUNCIL, MAN).startswith(masculine + " ")
    assert say(romanian(), "congratulate", tense, COUNCIL, WOMAN).startswith(feminine + " ")
    assert say(romanian(), "congratulate", tense, RESIDENTS, WOMAN).startswith(plural + " ")


def test_romanian_dative_declines_roles_and_names() -> None:
    teller = romanian()
    maria = Entity(world.PERSON, romanian_words.NAMES["f"].index("Maria"), "f")
    carmen = Entity(world.PERSON, romanian_words.NAMES["f"].index("Carmen"), "f")
    said = say(teller, "thank", "past", COUNCIL, maria)
    assert said == "i-a mulțumit judecătoarei Maria"
    assert say(teller, "thank", "past", RESIDENTS, MAN) == "i-au mulțumit judecătorului Adrian"
    say(teller, "thank", "past", COUNCIL, carmen)
    forms = {say(teller, "thank", "past", COUNCIL, one) for one in [maria, carmen, MAN] * 9}
    assert forms == {
        f"i-a mulțumit {form}"
        for form in ("Mariei", "lui Carmen", "lui Adrian", "judecătoarei", "judecătorului")
    }


def test_romanian_reflexives_and_pluperfects() -> None:
    teller = romanian()
    place = Entity(world.PLACE, romanian_words.PLACES.index("Iași"))
    assert say(teller, "return", "past", MAN, place) == "s-a întors la Iași"
    assert say(teller, "return", "perfect", MAN, place) == "se întorsese la Iași"
    assert say(teller, "return", "future", MAN, place) == "se va întoarce la Iași"
    assert say(teller, "return", "subjunctive", MAN, place) == "să se întoarcă la Iași"
    assert say(teller, "begin", "perfect", Entity(world.HAPPENING, 0)) == "începuse"
    assert say(teller, "attend", "past", MAN, Entity(world.HAPPENING, 0)) == (
        "a participat la expoziție"
    )
    assert say(teller, "read", "imperfect", RESIDENTS, Entity(world.DOCUMENT, 0)) == (
        "citeau acordul"
    )
    assert say(teller, "sign", "past", MAN, Entity(world.DOCUMENT, 0, count=2)) == (
        "a semnat două acorduri"
    )


def test_english_tenses_and_irregular_forms() -> None:
    report = Entity(world.DOCUMENT, 1)
    assert say(english(), "hide", "past", MAN, report) == "hid the report"
    assert say(english(), "hide", "perfect", MAN, report) == "had hidden the report"
    assert say(english(), "approve", "past", MAN, report) == "approved the report"
    assert say(english(), "approve", "negated", MAN, report) == "did not approve the report"
    assert say(english(), "read", "progressive", RESIDENTS, report) == "were reading the report"
    assert say(english(), "examine", "continuous", MAN, report) == "had been examining the report"
    two = Entity(world.DOCUMENT, 1, count=2)
    assert say(english(), "sign", "would", MAN, two) == "would sign two reports"


@pytest.mark.parametrize("language", LANGUAGES)
def test_people_are_introduced_by_role_and_name(language: str) -> None:
    teller = TELLERS[language](EMPTY, Random(0))
    first = teller.subject(WOMAN).lower()
    later = {teller.subject(WOMAN).lower().removeprefix("the ") for _ in range(20)}
    role, name = first.split(" ")
    assert later == {role, name}
