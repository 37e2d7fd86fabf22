"""Statistics of summaries agree with sums done by hand, and are what their names say."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heron.languages.hebrew import HEBREW
from heron.metrics.summary import (
    Tally,
    average_share,
    by_whitespace,
    by_words,
    describe_summaries,
)
from heron_tools.morphology.backends import simplemma
from heron_tools.statistics.profiles import draw_shares
from summary_shares import mean_shares

tokens = st.lists(st.sampled_from("abcd"), max_size=12)

ARTICLES = ["a b c d e f g h", "a b"]
SUMMARIES = ["a c c c", "a"]


def test_shares_are_those_counted_by_hand():
    # Of the first summary: a, c known; its bigrams ac, cc, cc all novel; 2 of 4 words repeat.
    found = describe_summaries(ARTICLES, SUMMARIES, ["a b c", "a"])
    assert found == {
        "novel_1": 0.0,
        "novel_2": 1.0,
        "novel_3": 1.0,
        "novel_4": 1.0,
        "compression": (1 / 2 + 1 / 2) / 2,
        "redundancy_1": (2 / 4 + 0) / 2,
        "redundancy_2": 1 / 3,
        "summary_length": 2.5,
        "gold_length": 2.0,
    }


def test_the_mean_over_documents_is_not_the_ratio_of_mean_lengths():
    # As in HeSum: 33.2 words of 1,427.4 are 97.67 %, the mean over documents is 95.48 %.
    lengths, summary_lengths = np.array([2500.0, 354.8]), np.array([33.2, 33.2])
    pooled = 1 - average_share(summary_lengths, lengths, "corpus")
    assert pooled == pytest.approx(0.9767, abs=5e-5)
    assert 1 - average_share(summary_lengths, lengths) < pooled


def novel_ngrams(article, summary, n, count="type"):
    """Count a summary's n-grams that its article lacks, and all of them, the plain way."""
    known = {tuple(article[i : i + n]) for i in range(len(article) - n + 1)}
    found = [tuple(summary[i : i + n]) for i in range(len(summary) - n + 1)]
    counted = found if count == "token" else set(found)
    return len([one for one in counted if one not in known]), len(counted)


def counted(article, summary, count="type"):
    tally = Tally()
    tally.add(list(article), list(summary))
    return {name: tuple(pair[:, 0]) for name, pair in tally.shares(count).items()}


def test_repeated_ngrams_are_those_beyond_the_first():
    assert counted("", "ababab")["redundancy_1"] == (4, 6)
    assert counted("", "ababab")["redundancy_2"] == (3, 5)
    assert counted("", "")["redundancy_1"] == (0, 0)


def test_documents_with_nothing_to_count_are_left_out():
    articles, summaries = ["a b", "c d"], ["x y", ""]
    found = describe_summaries(articles, summaries, ["a", "c"])
    assert found["novel_1"] == 1.0
    assert found["compression"] == pytest.approx((0 + 1) / 2)
    assert "novel_3" not in found
    assert math.isnan(mean_shares(articles, summaries)["novel_3"])
    assert mean_shares(["", "a b"], ["a", "a"])["compression"] == 0.5


def test_words_are_heron_words_and_a_morphology_finds_more_of_them_in_the_article():
    assert by_words(["Și בית־ספר, 3,5!"]) == [["și", "בית־ספר", "3,5"]]
    articles, summaries = ["הבית נבנה בעיר"], ["בית נבנה בעיר"]
    words = mean_shares(articles, summaries)

    def lemmas_of(texts):
        return [one.lemmas for one in simplemma(HEBREW).analyse(texts)]

    lemmas = mean_shares(articles, summaries, lemmas_of)
    assert words["novel_1"] == pytest.approx(1 / 3)
    assert lemmas["novel_1"] == 0


def test_between_spaces_punctuation_makes_another_word():
    pair = ["Unu, doi."], ["unu doi"]
    assert mean_shares(*pair)["novel_1"] == 0
    assert mean_shares(*pair, by_whitespace)["novel_1"] == 1


def test_any_number_of_documents_gives_each_its_weight():
    articles, summaries = ["a b c"] * 600, ["a"] * 300 + ["x"] * 300
    assert mean_shares(articles, summaries)["novel_1"] == 0.5


def made(documents=30, seed=0):
    random = np.random.default_rng(seed)
    tally = Tally()
    for _ in range(documents):
        tally.add(list(random.choice(list("abcdef"), 12)), list(random.choice(list("abcdefg"), 5)))
    return tally


def test_draws_are_those_of_drawing_documents_one_by_one():
    shares = made().shares("token")
    found = draw_shares(shares, np.arange(30), resamples=200, seed=3)
    random = np.random.default_rng(3)
    draws = [random.integers(30, size=30) for _ in range(200)]
    for name, (parts, wholes) in shares.items():
        values = [average_share(parts[rows], wholes[rows]) for rows in draws]
        assert found[name] == pytest.approx(values)


def test_documents_of_one_group_are_drawn_together():
    shares = made().shares()
    alone, whole = (draw_shares(shares, ids) for ids in (np.arange(30), np.zeros(30, int)))
    assert np.ptp(whole["novel_1"]) == pytest.approx(0)
    assert np.ptp(alone["novel_1"]) > 0


def test_a_draw_with_nothing_to_count_is_no_number():
    tally = Tally()
    tally.add(["a"], ["b"])
    drawn = draw_shares(tally.shares(), np.zeros(1, int))
    counted = {name for name, values in drawn.items() if not np.isnan(values).any()}
    assert counted == {"novel_1", "compression", "redundancy_1"}


@given(documents=st.lists(st.tuples(tokens, tokens), min_size=1, max_size=5))
def test_a_tally_of_both_counts_holds_what_is_counted_one_by_one(documents):
    tally = Tally()
    for article, summary in documents:
        tally.add(article, summary)
    for count in ("type", "token"):
        shares = tally.shares(count)
        for n in (1, 2, 3, 4):
            expected = [novel_ngrams(article, summary, n, count) for article, summary in documents]
            assert shares[f"novel_{n}"].T.tolist() == [[*map(float, pair)] for pair in expected]
    lengths = [(len(article), len(summary)) for article, summary in documents]
    assert np.transpose(tally.lengths()).tolist() == [[*map(float, pair)] for pair in lengths]
