"""The arithmetic of BERTScore, against the paper's sums written out."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from heron.metrics.bertscore import idf_weights, match_tokens


def unit_vectors(count, seed):
    vectors = torch.randn(count, 5, generator=torch.Generator().manual_seed(seed))
    return torch.nn.functional.normalize(vectors, dim=1)


def written_out(candidate, reference, candidate_weights, reference_weights):
    """Zhang et al. 2020, section 3, one token after the other."""

    def mean(tokens, others, weights):
        best = [max(sum(a * b for a, b in zip(t, o, strict=True)) for o in others) for t in tokens]
        weighed = sum(w * value for w, value in zip(weights, best, strict=True))
        return weighed / sum(weights)

    precision = mean(candidate.tolist(), reference.tolist(), candidate_weights)
    recall = mean(reference.tolist(), candidate.tolist(), reference_weights)
    positive = precision > 0 and recall > 0
    return precision, recall, 2 * precision * recall / (precision + recall) if positive else 0


sizes = st.integers(1, 6)
seeds = st.integers(0, 10_000)


@given(sizes, sizes, seeds)
def test_matching_is_the_papers_sums(first, second, seed):
    texts = unit_vectors(first, seed), unit_vectors(second, seed + 1)
    random = np.random.default_rng(seed)
    weights = random.uniform(0.1, 3, first), random.uniform(0.1, 3, second)
    found = match_tokens(*texts, *weights)
    assert found == pytest.approx(written_out(*texts, *weights), rel=1e-4, abs=1e-6)
    assert all(-1.00001 <= value <= 1.00001 for value in found)


@given(sizes, sizes, seeds)
def test_precision_and_recall_change_places_with_the_texts(first, second, seed):
    one, other = unit_vectors(first, seed), unit_vectors(second, seed + 1)
    weights = np.ones(first), np.ones(second)
    precision, recall, f1 = match_tokens(one, other, *weights)
    swapped = match_tokens(other, one, *weights[::-1])
    assert swapped == pytest.approx((recall, precision, f1), abs=1e-6)


@given(sizes, seeds)
def test_a_text_matches_itself_whatever_its_tokens_weigh(size, seed):
    text = unit_vectors(size, seed)
    weights = np.random.default_rng(seed).uniform(0.1, 3, size)
    assert match_tokens(text, text, weights, weights) == pytest.approx((1, 1, 1), abs=1e-6)


def test_a_token_without_weight_can_be_matched_but_does_not_count():
    word, end = torch.eye(2)
    candidate, reference = torch.stack([word, end]), torch.stack([end])
    precision, recall, _ = match_tokens(candidate, reference, np.array([1.0, 0]), np.array([1.0]))
    assert (precision, recall) == (0, 1)


def test_frequent_tokens_weigh_little_and_unknown_ones_most():
    # Three references; the end token 9 is in all of them, 1 in two, 2 (twice in one text) in one.
    weights = idf_weights([np.array(ids) for ids in ([9, 1, 2, 2], [9, 1], [9])], special=())
    expected = [math.log(4 / 4), math.log(4 / 3), math.log(4 / 2), math.log(4 / 1)]
    assert weights.of(np.array([9, 1, 2, 5])).tolist() == pytest.approx(expected)


def test_a_reference_that_comes_twice_counts_twice():
    once, twice = (idf_weights([np.array([1])] + [np.array([2])] * n, ()) for n in (1, 2))
    assert once.of(np.array([2]))[0] == pytest.approx(math.log(3 / 2))
    assert twice.of(np.array([2]))[0] == pytest.approx(math.log(4 / 3))


def test_special_tokens_weigh_nothing():
    weights = idf_weights([np.array([1]), np.array([2])], [7])
    assert weights.of(np.array([7, 1])).tolist() == [0, weights.known[1]]
