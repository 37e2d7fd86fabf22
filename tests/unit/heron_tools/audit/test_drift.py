"""Drift between splits: labels, lengths, vocabulary."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2_contingency
from tests.unit.heron_tools.audit.builders import by_id, pair, pairs

from heron_tools.audit.drift import find_drift, total_variation

counts = st.lists(st.integers(0, 50), min_size=3, max_size=3).filter(any)


@given(counts, counts)
def test_total_variation_is_a_distance_between_0_and_1(one, other):
    distance = total_variation(one, other)
    assert 0 <= distance <= 1
    assert distance == total_variation(other, one)
    assert total_variation(one, [2 * n for n in one]) == pytest.approx(0)


def rows(a: int, b: int, words: int = 4):
    text = " ".join(["cuvânt"] * words)
    return [pair(str(i), text, text, "a" if i < a else "b") for i in range(a + b)]


def test_other_class_shares_are_a_warning_with_the_test_behind_it():
    found = by_id(find_drift({"train": rows(150, 50), "test": rows(50, 150)}, ["a", "b"]))
    drift = found["label_drift"]
    assert drift.severity == "warning"
    assert drift.measures[0]["total variation"] == pytest.approx(0.5)
    expected = chi2_contingency([[150, 50], [50, 150]]).pvalue
    assert drift.measures[0]["chi-squared p"] == pytest.approx(expected)


def test_other_lengths_are_a_warning():
    found = by_id(find_drift({"train": rows(50, 50), "test": rows(50, 50, 9)}, ["a", "b"]))
    assert found["length_drift"].severity == "warning"
    assert found["label_drift"].severity == "info"


def test_the_share_of_unseen_words_counts_types_and_words():
    train, test = [pair("1", "casa mare", "da")], [pair("2", "casa nouă nouă", "da")]
    (seen,) = by_id(find_drift({"train": train, "test": test}, ["a"]))["vocabulary_drift"].measures
    assert seen["types not in train"] == pytest.approx(1 / 3)
    assert seen["words not in train"] == pytest.approx(2 / 4)


def test_random_splits_of_one_source_do_not_drift():
    found = find_drift({"train": pairs(300), "test": pairs(200, 1)}, ["a", "b"])
    assert {finding.severity for finding in found} == {"info"}


def test_one_split_has_its_counts_and_no_drift():
    (only,) = find_drift({"train": [*pairs(3, labels="a"), pair("x", "p", "h", None)]}, ["a", "b"])
    assert only.measures == [{"split": "train", "rows": 4, "a": 3, "b": 0, "unlabelled": 1}]
