import csv
import io
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from heron.base.cells import (
    Formatted,
    Interval,
    Summary,
    Table,
    show,
    summarize,
    to_csv,
    to_markdown,
)
from heron.base.terminal import to_rich

TABLE = Table(
    "A title",
    ("head", "macro_f1", "runs"),
    (("ess", Summary(0.5, 0.0125, 3), 3), ("[bold]a|b<i>", None, 0)),
    "A note.",
)


@given(st.lists(st.floats(0, 1), min_size=2, max_size=20))
def test_mean_and_sample_sd_equal_the_standard_library(values):
    summary = summarize(values)
    assert summary is not None
    assert summary.mean == pytest.approx(statistics.mean(values))
    assert summary.sd == pytest.approx(statistics.stdev(values))
    assert summary.n == len(values)


def test_one_value_has_no_sd_and_none_has_no_summary():
    assert summarize([0.4]) == Summary(0.4, None, 1)
    assert summarize([]) is None


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        (Summary(0.5, 0.0125, 3), "0.500 ± 0.013 (3)"),
        (Summary(0.5, None, 1), "0.500 (1)"),
        (Interval(0.5, 0.41, 0.59), "0.500 [0.410, 0.590]"),
        (Formatted(0.6, ".2f"), "0.60"),
        (Formatted(-0.08, "+.3f"), "-0.080"),
        (1485, "1,485"),
        (None, "–"),
        ("ess", "ess"),
    ],
)
def test_cells_are_rounded_for_reading(cell, text):
    assert show(cell) == text


def test_csv_has_every_number_in_full_in_a_column_of_its_own():
    table = Table("", ("x", "y"), ((Summary(1 / 3, 0.1, 2), Interval(0.5, 0.4, 0.6)), (None, None)))
    header, first, second = csv.reader(io.StringIO(to_csv(table)))
    assert header == ["x mean", "x sd", "x n", "y", "y low", "y high"]
    assert [float(value) for value in first] == [1 / 3, 0.1, 2, 0.5, 0.4, 0.6]
    assert second == [""] * 6


def test_csv_holds_no_text_that_a_spreadsheet_runs():
    table = Table("", ("label", "=y"), (("=1+1", -0.5), ("-3", 2)))
    assert list(csv.reader(io.StringIO(to_csv(table)))) == [
        ["label", "'=y"],
        ["'=1+1", "-0.5"],
        ["-3", "2"],
    ]


def test_markdown_escapes_pipes_and_html():
    text = to_markdown(TABLE)
    assert "| ess | 0.500 ± 0.013 (3) | 3 |" in text
    assert r"[bold]a\|b&lt;i&gt;" in text
    assert text.endswith("A note.\n")


@pytest.mark.parametrize("width", [10, 40, None])
def test_the_terminal_table_loses_no_cell_however_narrow(width):
    console = Console(width=200, file=io.StringIO(), record=True)
    console.print(to_rich(TABLE, width))
    words = console.export_text().split()
    assert {"ess", "0.500", "±", "0.013", "(3)", "3", "–", "0"} <= set(words)


def test_rich_markup_in_a_cell_is_shown_as_text():
    console = Console(width=200, file=io.StringIO(), record=True)
    console.print(to_rich(TABLE))
    assert "[bold]a|b<i>" in console.export_text()
