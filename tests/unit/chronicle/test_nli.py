"""Chronicle's inference rows: sizes, mix, noise, shortcuts, and that there is much to learn."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from chronicle import ChronicleConfig, write
from chronicle.settings import LABEL_SETS
from heron.base.files import sha256_file
from heron.data.config import read_config
from heron.data.readers import load
from tiers import quick

LANGUAGES = ("he", "ro", "en")
CONF = Path(__file__).parents[3] / "conf" / "data"
PINNED = {
    ("he", "three"): "2c064b090e61fe3a",
    ("ro", "three"): "750fbaca594f2ee2",
    ("en", "three"): "b03480fc2967af18",
    ("he", "four"): "f114d4f04a383b8c",
    ("ro", "four"): "5873a9038b0b6fd2",
    ("en", "four"): "f16d672ac0ef5d86",
}  # of 1,000 rows with seed 0
Row = dict[str, Any]
Rows = dict[str, list[Row]]


def rows_of(folder: Path, **options: Any) -> Rows:
    paths = write(ChronicleConfig(task="nli", **options), folder)
    return {split: [json.loads(line) for line in path.open()] for split, path in paths.items()}


@pytest.fixture(scope="module")
def threes(tmp_path_factory):
    folder = tmp_path_factory.mktemp("three")
    return {
        language: rows_of(folder / language, language=language, size=2400, seed=5)
        for language in LANGUAGES
    }


@pytest.fixture(scope="module")
def fours(tmp_path_factory):
    folder = tmp_path_factory.mktemp("four")
    return {
        language: rows_of(folder / language, language=language, label_set="four", size=600, seed=5)
        for language in LANGUAGES
    }


@pytest.mark.parametrize(("language", "label_set"), quick(PINNED))
def test_bytes_do_not_depend_on_machine_or_python_version(tmp_path, language, label_set):
    config = ChronicleConfig(task="nli", language=language, label_set=label_set, size=1000)
    paths, again = write(config, tmp_path), write(config, tmp_path / "again")
    assert all(paths[split].read_bytes() == again[split].read_bytes() for split in paths)
    assert sha256_file(paths["train"])[:16] == PINNED[language, label_set]


@settings(max_examples=8, deadline=None)
@given(
    size=st.integers(100, 500),
    language=st.sampled_from(LANGUAGES),
    label_set=st.sampled_from(("three", "four")),
    sentences=st.sampled_from([(1, 1), (2, 4), (3, 9), (12, 15)]),
    seed=st.integers(0, 99),
)
def test_sizes_are_exact_and_no_document_or_premise_is_in_two_splits(
    tmp_path_factory, size, language, label_set, sentences, seed
):
    rows = rows_of(
        tmp_path_factory.mktemp("c"),
        size=size,
        language=language,
        label_set=label_set,
        premise_sentences=sentences,
        seed=seed,
    )
    assert [len(split) for split in rows.values()] == [
        round(size * 0.7),
        round(size * 0.1),
        size - round(size * 0.7) - round(size * 0.1),
    ]
    documents = [{row["document"] for row in split} for split in rows.values()]
    assert sum(map(len, documents)) == len(set().union(*documents))
    premises = [{row["premise"] for row in split} for split in rows.values()]
    assert sum(map(len, premises)) == len(set().union(*premises))
    guids = [row["guid"] for split in rows.values() for row in split]
    assert len(guids) == len(set(guids))


def test_languages_hold_the_same_rows_in_other_words(threes, fours):
    for corpus in (threes, fours):
        he, ro, en = (
            [(row["guid"].split("-", 2)[2], row["label"]) for row in corpus[language]["test"]]
            for language in LANGUAGES
        )
        assert he == ro == en


def test_three_classes_are_equally_frequent_also_within_each_premise(threes):
    by_premise: dict[str, Counter[str]] = defaultdict(Counter)
    for row in threes["he"]["train"]:
        by_premise[row["premise"]][row["label"]] += 1
    whole = list(by_premise.values())[:-1]  # the last one is cut at the exact size
    assert all(len(set(labels.values())) == 1 and len(labels) == 3 for labels in whole)


@pytest.mark.parametrize("label_set", LABEL_SETS)
def test_class_weights_set_the_mix_of_every_split(tmp_path, label_set):
    weights = (2592.0, 1300.0, 25722.0, 28500.0)[: len(LABEL_SETS[label_set])]
    for rows in rows_of(
        tmp_path, size=400, language="ro", label_set=label_set, class_weights=weights
    ).values():
        labels = Counter(row["label"] for row in rows)
        for label, weight in zip(LABEL_SETS[label_set], weights, strict=True):
            assert labels[label] == pytest.approx(len(rows) * weight / sum(weights), abs=2)


@pytest.mark.parametrize("label_set", LABEL_SETS)
def test_noise_flips_the_exact_share_of_train_and_keeps_the_truth(tmp_path, label_set):
    clean = rows_of(tmp_path / "clean", size=500, label_set=label_set)
    noisy = rows_of(tmp_path / "noisy", size=500, label_set=label_set, label_noise=0.2)
    assert noisy["validation"] == clean["validation"]
    assert noisy["test"] == clean["test"]
    assert sum(row["flipped"] for row in noisy["train"]) == 70
    for row, same in zip(noisy["train"], clean["train"], strict=True):
        assert row["true_label"] == same["label"]
        assert row["flipped"] == (row["label"] != row["true_label"])
        assert row["hypothesis"] == same["hypothesis"]
        assert row["label"] in LABEL_SETS[label_set]


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def overlap(row: Row) -> float:
    """Share of the hypothesis's words that the premise has."""
    premise, hypothesis = set(words(row["premise"])), words(row["hypothesis"])
    return fmean(word in premise for word in hypothesis)


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_is_entailed_and_what_is_excluded_overlap_alike(threes, language):
    means = {
        label: fmean(overlap(row) for row in threes[language]["train"] if row["label"] == label)
        for label in LABEL_SETS["three"]
    }
    assert means["entailment"] - means["contradiction"] < 0.08
    assert means["neutral"] > 0.5


def accuracy(rows: Rows, model: Any, view: Callable[[Row], Any]) -> float:
    model.fit([view(row) for row in rows["train"]], [row["label"] for row in rows["train"]])
    gold = [row["label"] for row in rows["test"]]
    return float(model.score([view(row) for row in rows["test"]], gold))


@pytest.mark.parametrize(
    ("language", "side"),
    [("he", "hypothesis"), ("ro", "hypothesis"), ("en", "hypothesis"), ("en", "premise")],
)
def test_neither_text_alone_tells_the_class_of_three(threes, language, side):
    grams = TfidfVectorizer(analyzer="char_wb", ngram_range=(1, 3), min_df=20, sublinear_tf=True)
    model = make_pipeline(grams, LogisticRegression(max_iter=40))
    assert accuracy(threes[language], model, lambda row: row[side]) < 1 / 3 + 0.1


@pytest.mark.parametrize("language", LANGUAGES)
def test_both_texts_together_tell_the_class_of_three(threes, language):
    def compared(row: Row) -> list[str]:
        # Which words are shared, which are not, and whether shared ones keep order and distance.
        premise, hypothesis = words(row["premise"]), words(row["hypothesis"])
        places = [premise.index(word) for word in hypothesis if word in premise]
        steps = [b - a for a, b in pairwise(places)]
        return [
            *(f"{'shared' if word in premise else 'new'} {word}" for word in hypothesis),
            *("shared" if word in premise else "new" for word in hypothesis),
            *("forward" if step > 0 else "back" for step in steps),
            *("near" if abs(step) < 4 else "far" for step in steps),
        ]

    model = make_pipeline(
        CountVectorizer(analyzer=compared, min_df=5), LogisticRegression(max_iter=200, C=0.1)
    )
    assert accuracy(threes[language], model, lambda row: row) > 1 / 3 + 0.15


@pytest.mark.parametrize("language", LANGUAGES)
def test_kept_phrases_open_the_second_sentence_and_removed_ones_leave_the_rest(tmp_path, language):
    options = {"language": language, "label_set": "four", "size": 300}
    kept = rows_of(tmp_path / "kept", keep_phrases=True, **options)["train"]
    removed = rows_of(tmp_path / "removed", casing_artefact=False, **options)["train"]
    for whole, rest in zip(kept, removed, strict=True):
        phrase = rest["phrase"]
        assert whole["phrase"] == phrase
        assert whole["hypothesis"].lower().startswith(phrase)
        tail = whole["hypothesis"][len(phrase) :].lstrip(",: ")
        assert tail.lower() == rest["hypothesis"].lower()
        assert tail[1:] == rest["hypothesis"][1:] or not tail[0].isalpha()


@pytest.mark.parametrize("language", ["ro", "en"])
def test_casing_artefact_is_in_the_rows_that_lost_a_phrase_and_in_no_other(tmp_path, language):
    def capitals(row: Row) -> bool:
        return any(letter.isupper() for letter in row["hypothesis"][1:])

    options = {"language": language, "label_set": "four", "size": 600}
    with_artefact = rows_of(tmp_path / "with", **options)["train"]
    without = rows_of(tmp_path / "without", casing_artefact=False, **options)["train"]
    linked = [row for row in with_artefact if row["phrase"]]
    assert all(row["hypothesis"] == row["hypothesis"].capitalize() for row in linked)
    assert fmean(map(capitals, [row for row in with_artefact if not row["phrase"]])) > 0.5
    assert fmean(map(capitals, [row for row in without if row["phrase"]])) > 0.4
    for one, other in zip(with_artefact, without, strict=True):
        assert one["hypothesis"].lower() == other["hypothesis"].lower()


@pytest.mark.parametrize("name", ["chronicle_nli", "chronicle_ronli"])
def test_shipped_configurations_load_as_pairs(tmp_path, name):
    config = read_config(CONF / f"{name}.yaml")
    assert config.generator
    config.generator.size = 200
    splits = load(config, tmp_path, tmp_path / "cache")
    assert [len(rows) for rows in splits.values()] == [140, 20, 40]
    example = splits["train"][0]
    assert example.text_pair
    assert example.group.startswith("chronicle-")
    assert set(config.columns.side) <= set(example.side)
