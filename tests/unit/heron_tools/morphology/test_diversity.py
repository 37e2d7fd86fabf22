"""Type-token ratios equal their definitions; the moving average does not fall with length."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heron_tools.morphology.analyses import Analysis
from heron_tools.morphology.diversity import WINDOW, diversity, mattr, type_token_ratio

TOKENS = st.lists(st.sampled_from("abcdef"), max_size=60)


@given(TOKENS, st.integers(1, 30))
def test_mattr_is_the_mean_of_the_ratios_of_all_windows(tokens, window):
    starts = range(max(len(tokens) - window, 0) + 1)
    ratios = [len(set(w)) / max(len(w), 1) for s in starts for w in [tokens[s : s + window]]]
    assert mattr(tokens, window) == pytest.approx(np.mean(ratios))


@given(TOKENS)
def test_a_ratio_is_a_fraction_and_one_where_nothing_repeats(tokens):
    assert 0 <= type_token_ratio(tokens) <= 1
    if tokens and len(set(tokens)) == len(tokens):
        assert type_token_ratio(tokens) == mattr(tokens) == 1


def test_the_ratio_falls_with_length_and_the_moving_average_does_not():
    random = np.random.default_rng(0)
    short, long = (random.integers(200, size=size).tolist() for size in (100, 1000))
    assert type_token_ratio(long) < 0.6 * type_token_ratio(short)
    assert mattr(long) == pytest.approx(mattr(short), abs=0.02)


def test_the_papers_ratio_is_the_mean_of_both_terms_over_both_texts():
    premise = Analysis(("a", "b", "a"), ("NOUN", "VERB", "NOUN"))
    hypothesis = Analysis(("a",), ("NOUN",))
    found = diversity([premise, hypothesis])
    assert (found.lemma, found.pos, found.tokens) == (0.5, 0.5, 4)
    assert diversity([Analysis(("a", "b"), ("X", "X"))]).ttr == 0.75


def test_without_parts_of_speech_the_lemma_term_stands_alone():
    found = diversity([Analysis(("a", "b", "a")), Analysis(("c",), ("NOUN",))])
    assert found.pos is None
    assert found.ttr == found.lemma == 0.75


def test_the_part_of_speech_term_of_a_long_text_is_17_over_its_length():
    tags = tuple(f"T{i % 17}" for i in range(500))
    found = diversity([Analysis(tuple(map(str, range(500))), tags)])
    assert found.pos == pytest.approx(17 / 500)
    assert found.mattr == 1
    assert WINDOW < 500
