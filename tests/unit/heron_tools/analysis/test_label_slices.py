"""Slices hold every row where they should, and nowhere else."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heron.data.examples import Example
from heron.languages.words import TOKENIZERS
from heron_tools.analysis.slicing import category_slices, quantile_bins
from heron_tools.statistics.labels import jaccard, measure_lengths


@given(st.lists(st.integers(0, 8), max_size=50), st.integers(1, 6))
def test_bins_part_all_rows_and_never_two_equal_values(values, bins):
    found = quantile_bins(values, bins)
    rows = np.concatenate([rows for _, rows in found]) if found else []
    assert sorted(rows) == list(range(len(values)))
    assert len(found) <= bins
    held = [{values[row] for row in rows} for _, rows in found]
    assert all(not one & other for i, one in enumerate(held) for other in held[:i])
    assert all(max(one) < min(other) for one, other in pairwise(held))


def test_distinct_values_fill_bins_of_equal_size_named_by_their_ends():
    found = quantile_bins(np.arange(100) / 100, 4)
    assert [len(rows) for _, rows in found] == [25] * 4
    assert found[0][0] == "0.000 to 0.240"
    assert [name for name, _ in quantile_bins([3, 1, 2, 2], 2)] == ["1", "2 to 3"]


def test_a_row_of_several_categories_is_in_each_once_and_one_of_none_is_named():
    found = category_slices([["a", "b", "a"], ["b"], []])
    assert [(name, rows.tolist()) for name, rows in found] == [
        ("b", [0, 1]),
        ("a", [0]),
        ("(none)", [2]),
    ]


def test_rows_without_a_number_come_last():
    found = quantile_bins([2.0, np.nan, 1.0], 2, "(none)")
    assert [(name, rows.tolist()) for name, rows in found] == [
        ("1", [2]),
        ("2", [0]),
        ("(none)", [1]),
    ]


@given(st.text("ab c"), st.text("ab c"))
def test_overlap_is_symmetric_and_one_for_the_same_words(one, other):
    first, second = one.split(), other.split()
    assert jaccard(first, second) == jaccard(second, first)
    assert jaccard(first, first * 2) == (1 if first else 0)


def test_a_pair_has_two_lengths_and_an_overlap_and_a_text_has_one():
    words = TOKENIZERS["words"]
    pair = measure_lengths(Example("1", "Un om vine.", "un OM"), words)
    assert (pair.first, pair.second) == (3, 2)
    assert pair.overlap == pytest.approx(2 / 3)
    assert measure_lengths(Example("2", "Un om vine."), words) == (3, None, None)
