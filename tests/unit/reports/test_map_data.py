"""Columns of a data map: what is a number, what a name, and which row is which."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from heron.reports.map_data import FEW, Categories, Numbers, as_column, rows_of, take_rows


@given(st.lists(st.integers(0, 20), unique=True), st.lists(st.integers(0, 20), max_size=8))
def test_rows_of_finds_each_guid_or_says_that_it_is_absent(have, wanted):
    guids = [f"g{number}" for number in have]
    rows_N = rows_of(guids, [f"g{number}" for number in wanted])
    taken = take_rows(np.array(have, np.float64), rows_N, math.nan)
    for number, value in zip(wanted, taken, strict=True):
        assert value == number if number in have else math.isnan(value)


@given(st.lists(st.one_of(st.none(), st.floats(-1e6, 1e6, width=32)), min_size=1))
def test_many_distinct_numbers_are_a_column_of_numbers(values):
    column = as_column("x", values)
    if len({value for value in values if value is not None}) > FEW:
        assert isinstance(column, Numbers)
        for value, shown in zip(values, column.values_N.tolist(), strict=True):
            assert math.isnan(shown) if value is None else shown == value
    else:
        assert isinstance(column, Categories)


def test_few_distinct_numbers_and_truths_are_names():
    for values in ([0, 1, 1], ["0", "1", "1"], [False, True, True]):
        column = as_column("flipped", values)
        assert isinstance(column, Categories)
        assert len(column.names) == 2
        assert column.names[0] == str(values[1])


def test_one_word_among_numbers_makes_names_of_all():
    assert isinstance(as_column("x", [*range(20), "many"]), Categories)


@given(st.lists(st.one_of(st.none(), st.sampled_from(["a", "b", "ג", " "]))))
def test_names_are_found_again_and_the_most_frequent_comes_first(values):
    column = as_column("x", values)
    assert isinstance(column, Categories)
    for row, value in enumerate(values):
        assert column.name_at(row) == ("" if value in (None, " ") else value)
    counts = [int((column.codes_N == code).sum()) for code in range(len(column.names))]
    assert counts == sorted(counts, reverse=True)
