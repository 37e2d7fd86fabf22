"""Chronicle on disk: exact sizes, identical bytes, honest labels, and no lexical shortcut."""

from __future__ import annotations

import json
import re
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import MultinomialNB

from chronicle import LABELS, ChronicleConfig, SettingsError, write
from chronicle.corpus import document
from chronicle.relation import pairs
from heron.base.files import sha256_file
from tiers import quick

LANGUAGES = ("he", "ro", "en")
MARKED = re.compile(r"\[(?:א|E)([12])\] (\S+) \[/(?:א|E)\1\]")
PINNED = {
    "he": "7ff4608061609472",
    "ro": "77962d2abaafa47b",
    "en": "65531c185e7425eb",
}  # of 1,000 rows with seed 0
Rows = dict[str, list[dict[str, Any]]]


def rows_of(folder: Path, **options: Any) -> Rows:
    paths = write(ChronicleConfig(**options), folder)
    return {split: [json.loads(line) for line in path.open()] for split, path in paths.items()}


@pytest.fixture(scope="module")
def corpora(tmp_path_factory):
    folder = tmp_path_factory.mktemp("chronicle")
    return {
        language: rows_of(folder / language, language=language, size=6000, seed=5)
        for language in LANGUAGES
    }


@pytest.mark.parametrize("language", LANGUAGES)
def test_same_configuration_gives_identical_bytes(tmp_path, language):
    config = ChronicleConfig(language=language, size=300, seed=7, label_noise=0.1)
    first, again = write(config, tmp_path / "one"), write(config, tmp_path / "two")
    assert all(first[split].read_bytes() == again[split].read_bytes() for split in first)


@pytest.mark.parametrize("language", quick(LANGUAGES))
def test_bytes_do_not_depend_on_machine_or_python_version(tmp_path, language):
    # Whoever has to change these hashes changes every score ever measured on chronicle.
    paths = write(ChronicleConfig(language=language, size=1000), tmp_path)
    assert sha256_file(paths["train"])[:16] == PINNED[language]


def test_languages_tell_the_same_stories(corpora):
    # Word order differs, so pairs do; the multiset of what a document relates does not.
    def documents(language: str) -> list[tuple[str, int]]:
        counts = Counter(row["document"][-6:] for row in corpora[language]["train"])
        return sorted(counts.items())[:-1]  # the last one is cut at the exact size

    assert documents("he") == documents("ro") == documents("en")


@settings(max_examples=15, deadline=None)
@given(size=st.integers(100, 700), language=st.sampled_from(LANGUAGES), seed=st.integers(0, 99))
def test_sizes_are_exact_and_no_document_is_in_two_splits(tmp_path_factory, size, language, seed):
    rows = rows_of(tmp_path_factory.mktemp("c"), size=size, language=language, seed=seed)
    assert sum(map(len, rows.values())) == size
    assert len(rows["train"]) == round(size * 0.7)
    assert len(rows["validation"]) == round(size * 0.1)
    documents = [{row["document"] for row in split} for split in rows.values()]
    assert sum(map(len, documents)) == len(set().union(*documents))
    guids = [row["guid"] for split in rows.values() for row in split]
    assert len(guids) == len(set(guids))


@pytest.mark.parametrize("language", LANGUAGES)
def test_natural_class_mix_is_the_papers(corpora, language):
    labels = Counter(row["label"] for row in corpora[language]["train"])
    for label, share in zip(LABELS, (0.43, 0.33, 0.08, 0.16), strict=True):
        assert labels[label] / labels.total() == pytest.approx(share, abs=0.03)


@pytest.mark.parametrize(
    "weights", [(1.0, 1.0, 1.0, 1.0), (0.5, 0.5, 0.0, 0.0), (2.0, 1.0, 6.0, 1.0)]
)
def test_class_weights_set_the_mix_of_every_split(tmp_path, weights):
    for rows in rows_of(tmp_path, size=1000, class_weights=weights).values():
        labels = Counter(row["label"] for row in rows)
        for label, weight in zip(LABELS, weights, strict=True):
            assert labels[label] == pytest.approx(len(rows) * weight / sum(weights), abs=2)


@pytest.mark.parametrize("noise", [0.0, 0.2, 1.0])
def test_noise_flips_the_exact_share_of_train_and_keeps_the_truth(tmp_path, noise):
    clean = rows_of(tmp_path / "clean", size=500)
    noisy = rows_of(tmp_path / "noisy", size=500, label_noise=noise)
    assert noisy["validation"] == clean["validation"]
    assert noisy["test"] == clean["test"]
    assert sum(row["flipped"] for row in noisy["train"]) == round(350 * noise)
    for row, same in zip(noisy["train"], clean["train"], strict=True):
        assert row["true_label"] == same["label"]
        assert row["flipped"] == (row["label"] != row["true_label"])
        assert row["text"] == same["text"]


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


def test_all_wrong_values_are_reported_at_once():
    with pytest.raises(SettingsError, match=r"task=.*language=.*size="):
        ChronicleConfig(task="tagging", language="fr", size=1)
