"""The comparison of one device with two finds what differs."""

from __future__ import annotations

import pytest
import torch

from benchmarks.devices import Measurement, furthest, table
from heron.base.cells import show


def test_distance_is_the_largest_of_all_numbers_in_both() -> None:
    one = {"test": {"f1": 0.5, "ece": 0.1}, "validation": {"f1": 0.25}}
    two = {"test": {"f1": 0.5, "ece": 0.1}, "validation": {"f1": 0.75}}
    assert furthest(one, one) == 0
    assert furthest(one, two) == 0.5
    weights = {"a": torch.zeros(3), "b": torch.ones(2, 2)}
    assert furthest(weights, {**weights, "a": torch.tensor([0.0, -2.0, 1.0])}) == 2


def test_a_missing_score_is_no_small_difference() -> None:
    with pytest.raises(ValueError, match="f1"):
        furthest({"f1": 0.5, "ece": 0.1}, {"ece": 0.1})


def test_table_shows_both_ways() -> None:
    measured = [Measurement(1, 40, 9.5, 20.0, 19.0), Measurement(2, 40, 5.5, 30.0, 33.0)]
    shown = [list(map(show, row)) for row in table(measured).rows]
    assert shown == [["1", "40", "9.5", "20.0", "19.0"], ["2", "40", "5.5", "30.0", "33.0"]]
