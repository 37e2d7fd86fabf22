"""ROUGE equals XL-Sum's fork to the last digit, and its own profile forgives spelling alone."""

import json
from collections import Counter
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from torchmetrics.functional.text.rouge import rouge_score

from heron.base.errors import ConfigError, DataError
from heron.languages.english import ENGLISH
from heron.languages.hebrew import HEBREW
from heron.languages.romanian import ROMANIAN
from heron.metrics import rouge_tokens
from heron.metrics.names import MEASURES
from heron.metrics.rouge import (
    longest_common_subsequence,
    rouge,
    shared_counts,
    shared_ngrams,
)
from heron.metrics.rouge_tokens import Vocabulary

FORK = json.loads(Path(__file__).with_name("rouge_fork.json").read_text())
PAIRS = [(prediction, reference) for prediction, reference, _ in FORK["pairs"]]
PREDICTIONS, REFERENCES = map(list, zip(*PAIRS, strict=True))

ids = st.lists(st.integers(0, 6), max_size=12)
letters = st.sampled_from("אבגדה")
texts = st.text(st.sampled_from("אבגדהabc12 ,.-\u05b8\"'\u200f"), max_size=40)


def f(prediction, reference, profile="heron", language=HEBREW):
    scores = rouge([prediction], [reference], profile, language)
    return tuple(float(scores[measure][0]) for measure in MEASURES)


@pytest.mark.parametrize(("text", "tokens"), FORK["tokens"])
def test_tokens_are_those_of_the_fork(text, tokens):
    assert Vocabulary("xlsum", HEBREW).tokens(text) == tokens


def test_scores_are_those_of_the_fork():
    scores = rouge(PREDICTIONS, REFERENCES, "xlsum", HEBREW)
    for measure in MEASURES:
        theirs = [expected[measure][2] for *_, expected in FORK["pairs"]]
        np.testing.assert_allclose(scores[measure], theirs, rtol=0, atol=1e-12)


def test_scores_are_those_of_torchmetrics_with_the_same_tokens():
    ours = rouge(PREDICTIONS, REFERENCES, "xlsum", HEBREW)
    for item, pair in enumerate(PAIRS):
        theirs = rouge_score(
            *pair, rouge_keys=MEASURES, normalizer=str, tokenizer=Vocabulary("xlsum", HEBREW).tokens
        )
        for measure in MEASURES:
            assert ours[measure][item] == pytest.approx(float(theirs[f"{measure}_fmeasure"]))


def plain_subsequence(first, second):
    @cache
    def length(i, j):
        if not (i and j):
            return 0
        if first[i - 1] == second[j - 1]:
            return length(i - 1, j - 1) + 1
        return max(length(i - 1, j), length(i, j - 1))

    return length(len(first), len(second))


@given(ids, ids)
def test_longest_common_subsequence_is_that_of_the_plain_recursion(first, second):
    assert longest_common_subsequence(first, second) == plain_subsequence(first, second)


@given(ids, ids)
def test_counts_are_those_of_whole_texts_although_only_shared_words_are_compared(first, second):
    unigrams = (Counter(first) & Counter(second)).total()
    bigrams = (Counter(pairwise(first)) & Counter(pairwise(second))).total()
    expected = unigrams, bigrams, plain_subsequence(first, second)
    assert shared_counts(first, second) == expected
    assert shared_counts(second, first) == expected


def test_longest_common_subsequence_of_texts_longer_than_a_machine_word():
    long = list(range(200)) * 2
    assert longest_common_subsequence(long[50:250], long) == 200
    assert longest_common_subsequence(long[::-1][:200], long) == 2


@given(ids, ids)
def test_shared_ngrams_are_the_multiset_intersection(first, second):
    assert shared_ngrams(first, second) == (Counter(first) & Counter(second)).total()


@given(prediction=texts, reference=texts, profile=st.sampled_from(["xlsum", "heron"]))
def test_scores_are_symmetric_fractions(prediction, reference, profile):
    scores = rouge([prediction, reference], [reference, prediction], profile, HEBREW)
    for values in scores.values():
        assert ((values >= 0) & (values <= 1)).all()
    for measure in MEASURES:
        there, back = scores[measure]
        assert there == back
    assert (scores["rouge1"] >= scores["rougeL"]).all()


@given(text=texts, profile=st.sampled_from(["xlsum", "heron"]))
def test_a_text_against_itself_scores_1_where_it_has_n_tokens(text, profile):
    tokens = len(Vocabulary(profile, HEBREW).ids(text))
    assert f(text, text, profile) == (float(tokens > 0), float(tokens > 1), float(tokens > 0))


@given(words=st.lists(st.text(letters, min_size=1), min_size=1), data=st.data())
def test_points_and_direction_marks_do_not_change_the_heron_profile(words, data):
    marks = st.text(st.sampled_from("\u05b0\u05b8\u05bc\u05c1\u0591\u200f\u200e"), max_size=2)
    plain = " ".join(words)
    marked = "".join(char + (data.draw(marks) if char != " " else "") for char in plain)
    vocabulary = Vocabulary("heron", HEBREW)
    assert vocabulary.ids(marked) == vocabulary.ids(plain)


@pytest.mark.parametrize("acronym", ["צה״ל", 'צה"ל', "צה”ל", "צה''ל", "צה׳׳ל"])
def test_an_acronym_is_one_word_whatever_its_quotation_mark(acronym):
    assert Vocabulary("heron", HEBREW).tokens(f"({acronym}), {acronym}.") == ['צה"ל'] * 2


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("בית־ספר בית-ספר בית–ספר", ["בית", "ספר"] * 3),
        ("ב-1974 ב1974", ["ב", "1974"] * 2),
        ('ל"שקוף" ל"שקוף."', ["ל", "שקוף"] * 2),
        ('"של צה"ל"', ["של", 'צה"ל']),
        ("3,5 1.000 צ׳ק רח'", ["3,5", "1.000", "צ'ק", "רח"]),
        ("א\x0bב 👍 €5", ["א", "ב", "5"]),
    ],
)
def test_hebrew_words_of_the_heron_profile(text, tokens):
    assert Vocabulary("heron", HEBREW).tokens(text) == tokens


def test_cedilla_and_comma_are_one_letter_in_romanian_only():
    assert f("Oraşul şi ţara", "orașul și țara", language=ROMANIAN) == (1, 1, 1)
    assert f("Oraşul şi ţara", "orașul și țara", language=ENGLISH) == (0, 0, 0)
    assert f("ra\u0306mas", "rămas", language=ROMANIAN)[0] == 1


def test_the_best_of_several_references_counts_for_each_measure():
    references = ["א ב ג", "ג ב", "ז"]
    scores = rouge(["ב ג", "ז"], [references, "ז"], "xlsum", HEBREW)
    single = [f("ב ג", reference, "xlsum") for reference in references]
    for measure, values in zip(MEASURES, zip(*single, strict=True), strict=True):
        assert scores[measure][0] == max(values)


def test_earlier_texts_do_not_change_a_score():
    expected = f("שלום לכולם", "שלום לך", "xlsum")
    rouge(PREDICTIONS, REFERENCES, "xlsum", HEBREW)
    assert f("שלום לכולם", "שלום לך", "xlsum") == expected


def test_a_vocabulary_that_is_emptied_changes_no_score(monkeypatch):
    expected = rouge(PREDICTIONS, REFERENCES, "heron", HEBREW)
    full = rouge_tokens.vocabulary("heron", HEBREW)
    monkeypatch.setattr(rouge_tokens, "_MOST_WORDS", 0)
    found = rouge(PREDICTIONS, REFERENCES, "heron", HEBREW)
    assert all((found[measure] == expected[measure]).all() for measure in MEASURES)
    assert rouge_tokens.vocabulary("heron", HEBREW) is not full


def test_a_mark_escapes_the_space_before_it_but_not_the_beginning():
    tokens = Vocabulary("xlsum", HEBREW).tokens("\u05b0א -\u05b0א")
    assert tokens == ["\u05b0", "א", "\uff050020\u05b0", "א"]


def test_mistakes_are_named():
    with pytest.raises(ConfigError, match=r"profile=xl-sum.*Did you mean 'xlsum'"):
        rouge(["a"], ["a"], "xl-sum", HEBREW)
    with pytest.raises(DataError, match="1 predictions, but references for 2"):
        rouge(["a"], ["a", "b"], "xlsum", HEBREW)
    with pytest.raises(DataError, match="item 1: no reference"):
        rouge(["a", "b"], [["a"], []], "xlsum", HEBREW)
