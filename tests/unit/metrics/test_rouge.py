"""ROUGE equals XL-Sum's fork to the last digit, and its own profile forgives spelling alone."""

import json
from array import array
from collections import Counter
from functools import cache, partial
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from torchmetrics.functional.text.rouge import rouge_score

from heron.languages.english import ENGLISH
from heron.languages.hebrew import HEBREW
from heron.languages.romanian import ROMANIAN
from heron.metrics.names import MEASURES, PROFILES
from heron.metrics.rouge import number_tokens, rouge, shared_counts

FORK = json.loads(Path(__file__).with_name("rouge_fork.json").read_text())
PAIRS = [(prediction, reference) for prediction, reference, _ in FORK["pairs"]]
PREDICTIONS, REFERENCES = map(list, zip(*PAIRS, strict=True))

ids = st.lists(st.integers(0, 6), max_size=12)
letters = st.sampled_from("אבגדה")
texts = st.text(st.sampled_from("אבגדהabc12 ,.-\u05b8\"'\u200f"), max_size=40)


def f(prediction, reference, profile="heron", language=HEBREW):
    scores = rouge([prediction], [reference], profile, language)
    return tuple(float(scores[measure][0]) for measure in MEASURES)


def split_all(texts, profile, language=HEBREW):
    numbers, spellings = number_tokens(texts, profile, language)
    spelled = spellings.to_pylist()
    return [[spelled[number] for number in text] for text in numbers]


def split(text, profile, language=HEBREW):
    return split_all([text], profile, language)[0]


@pytest.mark.parametrize(("text", "tokens"), FORK["tokens"])
def test_tokens_are_those_of_the_fork(text, tokens):
    assert split(text, "xlsum") == tokens


def test_each_text_of_many_has_the_tokens_that_it_has_alone():
    alone, tokens = zip(*FORK["tokens"], strict=True)
    assert split_all([*alone, *alone[::-1]], "xlsum") == [*tokens, *tokens[::-1]]


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("language", [HEBREW, ROMANIAN, ENGLISH], ids=lambda each: each.code)
def test_words_of_letters_alone_have_the_tokens_of_words_that_are_split(profile, language):
    letters = HEBREW.alphabet + ROMANIAN.alphabet + ROMANIAN.variants
    for letter in letters:  # a trailing mark or digit has the word split character by character
        for word in (letter, "א" + letter, letter + letters):
            assert split(word, profile, language) == split(word + "1", profile, language)[:-1]


def test_half_of_a_surrogate_pair_is_no_letter():
    assert split("א\ud800ב ג", "xlsum") == ["אב", "ג"]
    assert split("א\ud800ב ג", "heron") == ["א", "ב", "ג"]


def test_scores_are_those_of_the_fork():
    scores = rouge(PREDICTIONS, REFERENCES, "xlsum", HEBREW)
    for measure in MEASURES:
        theirs = [expected[measure][2] for *_, expected in FORK["pairs"]]
        np.testing.assert_allclose(scores[measure], theirs, rtol=0, atol=1e-12)


def test_scores_are_those_of_torchmetrics_with_the_same_tokens():
    ours = rouge(PREDICTIONS, REFERENCES, "xlsum", HEBREW)
    for item, pair in enumerate(PAIRS):
        theirs = rouge_score(
            *pair, rouge_keys=MEASURES, normalizer=str, tokenizer=partial(split, profile="xlsum")
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


@given(st.lists(st.tuples(ids, ids), min_size=1, max_size=4))
def test_counts_are_those_of_each_pair_by_itself(pairs):
    expected = [
        (
            (Counter(first) & Counter(second)).total(),
            (Counter(pairwise(first)) & Counter(pairwise(second))).total(),
            plain_subsequence(first, second),
        )
        for first, second in pairs
    ]
    firsts, seconds = ([array("q", pair[side]) for pair in pairs] for side in (0, 1))
    assert shared_counts(firsts, seconds).tolist() == [list(each) for each in expected]
    assert shared_counts(seconds, firsts).tolist() == [list(each) for each in expected]


def test_longest_common_subsequence_of_texts_longer_than_a_machine_word():
    long = array("q", list(range(200)) * 2)
    counts = shared_counts([long[50:250], long[::-1][:200]], [long, long])
    assert counts[:, 2].tolist() == [200, 2]


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
    tokens = len(split(text, profile))
    assert f(text, text, profile) == (float(tokens > 0), float(tokens > 1), float(tokens > 0))


@given(words=st.lists(st.text(letters, min_size=1), min_size=1), data=st.data())
def test_points_and_what_is_not_seen_do_not_change_the_heron_profile(words, data):
    marks = st.text(st.sampled_from("\u05b0\u05bc\u0591\u200f\u200e\u00ad\u200d"), max_size=2)
    plain = " ".join(words)
    marked = "".join(char + (data.draw(marks) if char != " " else "") for char in plain)
    assert split(marked, "heron") == split(plain, "heron")


@pytest.mark.parametrize("acronym", ["צה״ל", 'צה"ל', "צה”ל", "צה''ל", "צה׳׳ל"])
def test_an_acronym_is_one_word_whatever_its_quotation_mark(acronym):
    assert split(f"({acronym}), {acronym}.", "heron") == ['צה"ל'] * 2


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
    assert split(text, "heron") == tokens


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


def test_a_mark_escapes_the_space_before_it_but_not_the_beginning():
    assert split("\u05b0א -\u05b0א", "xlsum") == ["\u05b0", "א", "\uff050020\u05b0", "א"]
