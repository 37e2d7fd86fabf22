"""Chronicle's articles and summaries: true, short, in other words, and not the article's lead."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise
from random import Random
from statistics import fmean
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chronicle import world
from chronicle.plot import Story, draw_story
from chronicle.premise import Fact, facts_of, gather
from chronicle.summary import POINTS, Digest
from chronicle.world import AGENTS
from chronicle_rows import LANGUAGES, in_languages

SEEDS = st.integers(0, 10**6)
TRUE = ("told", "undated")


@pytest.fixture(scope="module")
def corpora(tmp_path_factory):
    found = in_languages(tmp_path_factory, task="summarization", size=200)
    return {language: rows["train"] for language, rows in found.items()}


def digest(seed: int) -> tuple[Story, list[Fact], Digest]:
    story = draw_story(Random(seed), sentences=(8, 20))
    facts = list(facts_of(story, story.sentences))
    return story, facts, Digest(gather("", facts, [story]), story)


class Spoken:
    """Stands for a language: keeps what a point says."""

    def __init__(self) -> None:
        self.said: dict[str, tuple[Any, ...]] = {}

    def __getattr__(self, name: str) -> Any:
        return lambda *words: self.said.setdefault(name, words)


def points(seed: int) -> tuple[list[Fact], dict[str, tuple[Any, ...]]]:
    _, facts, one = digest(seed)
    spoken = Spoken()
    for find in POINTS.values():
        if point := find(one, Random(seed)):
            point(spoken)  # type: ignore[arg-type]
    return facts, spoken.said


def happened(facts: list[Fact]) -> list[Fact]:
    """What the article says for sure, saying things among it."""
    return [
        fact
        for fact in facts
        if fact.said in TRUE
        or (fact.said == "reported" and fact.event.frame in world.REPORTS)
    ]  # fmt: skip


@given(SEEDS)
def test_what_a_summary_says_is_true_of_the_events(seed):
    facts, said = points(seed)
    known = happened(facts)
    if "centre" in said:
        who, acts, examples = said["centre"]
        counts = Counter(fact.event.subject for fact in known if fact.event.subject.kind in AGENTS)
        assert counts[who] == acts
        assert all(count < acts for other, count in counts.items() if other != who)
        events = [fact.event for fact in facts if fact.said == "told"]
        assert all(event.subject == who and event in events for event in examples)
    if "course" in said:
        first, last = said["course"]
        starts = [fact.event.start for fact in known if fact.said != "undated"]
        assert first.start == min(starts)
        assert last.start == max(starts)
        assert starts.count(first.start) == starts.count(last.start) == 1
    if "towns" in said:
        [towns] = said["towns"]
        events = [fact.event for fact in known]
        places = {event.place for event in events if event.place is not None}
        places |= {e.object.word for e in events if e.object and e.object.kind == world.PLACE}
        assert set(towns) == places
        assert len(set(towns)) == len(towns)
    if "reason" in said:
        effect, cause = said["reason"]
        [fact] = [fact for fact in facts if fact.event == effect]
        [other] = [fact for fact in facts if fact.event == cause]
        assert effect.cause is not None
        assert fact.sentence == other.sentence


def test_rows_hold_an_article_and_a_summary_of_one_to_three_sentences(corpora):
    for rows in corpora.values():
        assert len({row["guid"] for row in rows}) == len({row["summary"] for row in rows}) == 140
        lengths = [row["summary"].count(". ") + 1 for row in rows]
        assert set(lengths) == {1, 2, 3}
        for row in rows:
            assert list(row) == ["guid", "document", "article", "summary"]
            assert 8 <= row["article"].count(". ") + 1 <= 20


def bigrams(text: str) -> list[tuple[str, str]]:
    words = re.findall(r"[\w']+", text.lower())
    return list(pairwise(words))


@pytest.mark.parametrize("language", LANGUAGES)
def test_most_bigrams_of_a_summary_are_not_its_articles(corpora, language):
    novel = [
        fmean(pair not in set(bigrams(row["article"])) for pair in bigrams(row["summary"]))
        for row in corpora[language]
    ]
    assert fmean(novel) > 0.7
    assert min(novel) > 0.4


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_first_three_sentences_are_a_weak_summary(corpora, language):
    shares = []
    for row in corpora[language]:
        lead = Counter(bigrams(". ".join(row["article"].split(". ")[:3])))
        gold = Counter(bigrams(row["summary"]))
        shares.append(2 * (lead & gold).total() / (lead.total() + gold.total()))
    assert fmean(shares) < 0.1
