"""Chronicle's inference rows: sizes, mix, noise, shortcuts, and that there is much to learn."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import chronicle_rows
from chronicle.settings import LABEL_SETS
from chronicle_rows import LANGUAGES, Row, Rows, in_languages


@pytest.fixture(scope="module")
def threes(tmp_path_factory):
    return in_languages(tmp_path_factory, task="nli", size=2400, seed=5)


def rows_of(folder: Path, **options: Any) -> Rows:
    return chronicle_rows.rows_of(folder, "nli", label_set="four", **options)


def test_three_classes_are_equally_frequent_also_within_each_premise(threes):
    by_premise: dict[str, Counter[str]] = defaultdict(Counter)
    for row in threes["he"]["train"]:
        by_premise[row["premise"]][row["label"]] += 1
    whole = list(by_premise.values())[:-1]  # the last one is cut at the exact size
    assert all(len(set(labels.values())) == 1 and len(labels) == 3 for labels in whole)


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
    options = {"language": language, "size": 300}
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

    options = {"language": language, "size": 600}
    with_artefact = rows_of(tmp_path / "with", **options)["train"]
    without = rows_of(tmp_path / "without", casing_artefact=False, **options)["train"]
    linked = [row for row in with_artefact if row["phrase"]]
    assert all(row["hypothesis"] == row["hypothesis"].capitalize() for row in linked)
    assert fmean(map(capitals, [row for row in with_artefact if not row["phrase"]])) > 0.5
    assert fmean(map(capitals, [row for row in without if row["phrase"]])) > 0.4
    for one, other in zip(with_artefact, without, strict=True):
        assert one["hypothesis"].lower() == other["hypothesis"].lower()
