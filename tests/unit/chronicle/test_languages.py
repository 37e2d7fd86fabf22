"""Chronicle's Hebrew, Romanian and English: complete vocabularies and correct grammar."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chronicle import english_words, hebrew_words, romanian_words, world
from chronicle.corpus import TELLERS, ChronicleConfig, document
from chronicle.plot import PATTERNS, draw_story
from chronicle.relation import pairs

WORDS = {"he": hebrew_words, "ro": romanian_words, "en": english_words}
LANGUAGES = tuple(WORDS)
FRAMES = {frame.name: frame for frame in (*world.FRAMES, *world.REPORTS)}


@pytest.mark.parametrize("words", WORDS.values(), ids=LANGUAGES)
def test_vocabularies_are_complete_and_without_repetition(words):
    sizes = {"m": world.NAMES_PER_GENDER, "f": world.NAMES_PER_GENDER}
    assert {gender: len(set(names)) for gender, names in words.NAMES.items()} == sizes
    assert len(set(words.ROLES)) == len(words.ROLES) == world.ROLES
    assert len(set(words.PLACES)) == len(words.PLACES) == world.PLACES
    assert len(set(words.ORGANISATIONS)) == len(words.ORGANISATIONS) == world.ORGANISATIONS
    assert {kind: len(set(nouns)) for kind, nouns in words.NOUNS.items()} == world.NOUNS
    assert set(words.VERBS) == set(FRAMES)
    assert len(words.MONTHS) == 12


@pytest.mark.parametrize("teller", TELLERS.values(), ids=TELLERS)
def test_every_pattern_has_templates_that_tell_each_clause_once(teller):
    assert set(teller.templates) == set(PATTERNS)
    for name, templates in teller.templates.items():
        clauses = list(range(1 + len(PATTERNS[name].sides)))
        for template in templates:
            assert sorted(map(int, re.findall(r"\{(\d)", template))) == clauses, template


@given(st.sampled_from(LANGUAGES), st.integers(0, 10**6))
def test_stories_are_told_whole_in_clean_sentences(language, seed):
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
def test_texts_use_the_languages_own_letters_only(language, letters):
    allowed = re.compile(rf"[{letters}0-9 .,;:'\"“”„-]+")
    for number in range(200):
        for sentence in document(ChronicleConfig(language=language), number)[1]:
            assert allowed.fullmatch(sentence.text), sentence.text


@pytest.mark.parametrize(
    ("language", "cues"),
    [
        ("he", ("אחרי", "לאחר", "לפני", "מאוחר", "מוקדם", "קודם", "מכן", "עד", "כבר", "כי")),
        ("ro", ("după", "înainte", "târziu", "devreme", "până", "când", "care", "iar", "dar")),
        ("en", ("after", "before", "later", "earlier", "until", "when", "because", "who", "had")),
    ],
)
def test_no_temporal_word_gives_the_order_away(language, cues):
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


def test_hebrew_conjunctions_become_part_of_the_marked_token():
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
