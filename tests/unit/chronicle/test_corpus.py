"""Chronicle on disk: exact sizes, identical bytes, honest labels, and no lexical shortcut."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import MultinomialNB

from chronicle.corpus import document
from chronicle.relation import pairs
from chronicle.settings import LABELS, ChronicleConfig
from chronicle_rows import LANGUAGES, in_languages

MARKED = re.compile(r"\[(?:א|E)([12])\] (\S+) \[/(?:א|E)\1\]")


@pytest.fixture(scope="module")
def corpora(tmp_path_factory):
    return in_languages(tmp_path_factory, size=6000, seed=5)


@pytest.mark.parametrize("language", LANGUAGES)
def test_natural_class_mix_is_the_papers(corpora, language):
    labels = Counter(row["label"] for row in corpora[language]["train"])
    for label, share in zip(LABELS, (0.43, 0.33, 0.08, 0.16), strict=True):
        assert labels[label] / labels.total() == pytest.approx(share, abs=0.03)


@given(
    language=st.sampled_from(LANGUAGES), seed=st.integers(0, 10**6), number=st.integers(0, 10**6)
)
def test_markers_wrap_one_word_each_and_leave_the_plain_window_behind(language, seed, number):
    story, told = document(ChronicleConfig(language=language, seed=seed), number)
    windows = [f"{one.text} {two.text}" for one, two in pairwise(told)]
    for pair in pairs(story, told, language):
        assert [match[0] for match in MARKED.findall(pair.text)] == ["1", "2"]
        assert all(word.strip('.,;:"“”„') == word for _, word in MARKED.findall(pair.text))
        plain = re.sub(r"\[[אE][12]\] | \[/[אE][12]\]", "", pair.text)
        assert plain == windows[pair.window]


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_pair_of_a_window_is_a_row_labelled_by_the_worlds_start_times(corpora, language):
    config = ChronicleConfig(language=language, seed=5)
    rows = corpora[language]["train"][:1500]
    checked = 0
    for number in range(int(rows[-1]["document"][-6:])):
        story, told = document(config, number)
        expected = []
        for one, two in pairwise(told):
            events = [story.events[m.event] for sentence in (one, two) for m in sentence.mentions]
            for place, first in enumerate(events):
                for second in events[place + 1 :]:
                    if first.axis != second.axis:
                        expected.append("VAGUE")
                    else:
                        sign = (first.start > second.start) - (first.start < second.start)
                        expected.append({-1: "BEFORE", 0: "EQUAL", 1: "AFTER"}[sign])
        found = rows[checked : checked + len(expected)]
        assert [row["true_label"] for row in found] == expected
        checked += len(expected)
    assert checked > 1400


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_bag_of_words_or_verb_lexicon_solves_the_task(corpora, language):
    def bag(text: str) -> list[str]:
        marked = [f"verb{which}={word}" for which, word in MARKED.findall(text)]
        return re.findall(r"\w+", re.sub(r"\[/?[אE][12]\]", "", text)) + marked

    train, test = corpora[language]["train"], corpora[language]["test"]
    vectorizer = CountVectorizer(analyzer=bag)
    words = vectorizer.fit_transform([row["text"] for row in train])
    for model in (MultinomialNB(), LogisticRegression(max_iter=150, C=0.1)):
        model.fit(words, [row["label"] for row in train])
        score = model.score(
            vectorizer.transform([row["text"] for row in test]), [row["label"] for row in test]
        )
        assert score < 0.60


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_stands_between_the_events_helps(corpora, language):
    # Cues are local and frequent enough to learn from: word order alone adds several points.
    def ordered(text: str) -> list[str]:
        before, _, _, between, _, _, after = re.split(MARKED, text)
        return [
            f"{place} {word}"
            for place, part in (("0", before), ("1", between), ("2", after))
            for word in re.findall(r"\w+", part)
        ]

    train, test = corpora[language]["train"], corpora[language]["test"]
    vectorizer = CountVectorizer(analyzer=ordered, min_df=5)
    model = LogisticRegression(max_iter=150, C=0.1)
    words = vectorizer.fit_transform([row["text"] for row in train])
    model.fit(words, [row["label"] for row in train])
    score = model.score(
        vectorizer.transform([row["text"] for row in test]), [row["label"] for row in test]
    )
    assert score > 0.62
