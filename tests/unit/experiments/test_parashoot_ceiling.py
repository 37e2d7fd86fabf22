"""The annotation ceiling: the paper's arithmetic, and that of any sheet."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heron.metrics.span import item_scores
from heron_forks.parashoot.ceiling import Measured, best_f1, ceiling, ceiling_table, needed_ratio


def test_the_papers_numbers_give_87_and_its_84_needs_spans_3_3_times_as_long():
    assert best_f1(2.5) == pytest.approx(0.571, abs=0.0005)
    assert ceiling(0.70, 2.5) == pytest.approx(0.871, abs=0.0005)
    assert needed_ratio(0.84, 0.70) == pytest.approx(3.286, abs=0.0005)
    assert ceiling(0.70, 3.5) == pytest.approx(0.833, abs=0.0005)


@given(words=st.integers(1, 8), times=st.integers(1, 6))
def test_no_answer_inside_a_longer_one_gets_more_than_the_bound(words, times):
    minimal = " ".join(f"m{number}" for number in range(words))
    longer = " ".join([minimal, *(f"x{number}" for number in range(words * (times - 1)))])
    assert item_scores([minimal], [[longer]])["f1"] == pytest.approx(best_f1(times))


@given(minimal=st.floats(0, 0.95), ratio=st.floats(1, 20))
def test_the_needed_ratio_is_the_ceiling_read_backwards(minimal, ratio):
    assert needed_ratio(ceiling(minimal, ratio), minimal) == pytest.approx(ratio)


def test_the_table_shows_the_papers_arithmetic_beside_the_sheets():
    table = ceiling_table(Measured(0.5, 3.0, 0.75))
    assert [(row[0], row[-1]) for row in table.rows[-2:]] == [
        ("this sheet, the same way", 0.75),
        ("this sheet, measured", 0.75),
    ]
    printed = table.rows[0]
    assert [cell.value for cell in printed[1:]] == [0.70, 2.5, 0.57, 0.84]


def test_a_sheet_of_minimal_answers_alone_has_no_ceiling():
    table = ceiling_table(Measured(1.0, None, 1.0))
    assert table.rows[-2][-1] == table.rows[-1][-1] == 1.0
