"""The figure: what is counted, what is drawn, and that it is the same every time."""

import os
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heron.base.run_folder import RunFolder
from heron.reports.map import (
    POINTS,
    bands,
    draw_map,
    histogram_edges,
    map_figure,
    sample_points,
    save_figure,
)
from heron.reports.map_data import Categories, MapRun, Numbers, categories
from tiers import quick

pytestmark = pytest.mark.usefixtures("drawn_figures")


def _map_run(count: int, records: int = 5, unseen: int = 0) -> MapRun:
    random = np.random.default_rng(0)
    values = {
        "confidence": random.random(count),
        "variability": random.random(count) / 2,
        "correctness": random.integers(0, records + 1, count) / records,
    }
    for column in values.values():
        column[:unseen] = np.nan
    columns = {name: column.astype(np.float32) for name, column in values.items()}
    return MapRun("run", records, columns)


def _panels(figure):
    left, right = figure.subfigs
    return left.axes[0], right.axes


@pytest.mark.real  # takes seconds; another test of the file runs with every change
def test_a_map_of_an_earlier_training_is_drawn_again(make_run):
    folder = RunFolder(make_run())
    path = draw_map(folder)
    path.write_bytes(b"kept")
    assert draw_map(folder).read_bytes() == b"kept"
    os.utime(path, (0, 0))
    assert draw_map(folder).read_bytes() != b"kept"


def test_points_and_histograms_count_every_example_once():
    run = _map_run(500, unseen=40)
    scatter, histograms = _panels(map_figure("run", run))
    points = np.concatenate([collection.get_offsets() for collection in scatter.collections])
    seen = ~np.isnan(run.values["confidence"])
    expected = np.stack([run.values["variability"][seen], run.values["confidence"][seen]], axis=1)
    assert len(points) == 460
    assert set(map(tuple, points.tolist())) == set(map(tuple, expected.tolist()))
    for axes, name in zip(histograms, ("confidence", "variability", "correctness"), strict=True):
        heights = [bar.get_height() for bar in axes.patches]
        assert sum(heights) == 460
        edges = histogram_edges(name, run.values[name][seen], 5)
        assert heights == np.histogram(run.values[name][seen], edges)[0].tolist()


def test_the_legend_counts_all_examples_even_if_fewer_are_drawn():
    run = _map_run(POINTS + 5_000)
    figure = map_figure("run", run)
    scatter, _ = _panels(figure)
    points = sum(len(collection.get_offsets()) for collection in scatter.collections)
    assert points == POINTS
    legend = [text.get_text() for text in scatter.get_legend().get_texts()]
    counts = [int(re.search(r"\((.*)\)", text)[1].replace(",", "")) for text in legend]
    levels = np.unique(run.values["correctness"], return_counts=True)[1]
    assert counts == levels.tolist()
    assert f"30,000 examples, {POINTS:,} of them drawn" in figure.get_suptitle()


@given(st.integers(0, 3 * POINTS), st.integers(0, 3))
def test_a_sample_is_a_part_of_the_rows_without_repeats(count, seed):
    rows = np.arange(count) * 2
    chosen = sample_points(rows, seed)
    assert len(chosen) == min(count, POINTS)
    assert np.isin(chosen, rows).all()
    assert (np.diff(chosen) > 0).all()
    np.testing.assert_array_equal(chosen, sample_points(rows, seed))


@given(st.lists(st.one_of(st.just(np.nan), st.floats(-50, 50, width=32)), max_size=60))
def test_every_number_is_between_the_two_ends_in_its_bands_name(values):
    shown = bands(Numbers("loss", np.array(values, np.float32)))
    assert len(shown.names) == len(shown.colours)
    for value, band in zip(values, shown.index_N, strict=True):
        if np.isnan(value):
            assert band == -1
            continue
        ends = [float(end) for end in shown.names[band].split(" – ")]
        slack = 0.06 * max(map(abs, (*ends, value)))  # names are rounded to two digits
        assert ends[0] - slack <= value <= ends[-1] + slack


def test_numbers_are_split_into_several_bands_even_if_most_are_equal():
    column = Numbers("forgetting", np.array([0] * 900 + [*range(1, 11)] * 10, np.float32))
    counts = np.bincount(bands(column).index_N)
    assert counts[0] >= 900
    assert (counts[1:] > 0).sum() >= 4


@pytest.mark.parametrize(("count", "expected"), [(7, 7), (8, 7), (40, 7)])
def test_rare_categories_share_the_last_band(count, expected):
    names = [f"c{number:02}" for number in range(count) for _ in range(count - number)]
    column = categories("kind", names)
    shown = bands(column)
    assert len(shown.names) == expected
    for name, band in zip(names, shown.index_N, strict=True):
        number = int(name[1:])
        assert band == min(number, expected - 1)
    assert shown.names[-1] == ("c06" if count == 7 else f"{count - 6} others")


@pytest.mark.parametrize("form", quick(["png", "pdf"]))
def test_the_same_map_gives_the_same_bytes(form):
    one, other = (save_figure(map_figure("run", _map_run(300)), form) for _ in range(2))
    assert one == other
    assert one[:4] == {"png": b"\x89PNG", "pdf": b"%PDF"}[form]


def test_labels_keep_the_order_of_the_classes():
    column = Categories("label", ("a", "b"), np.array([1, 1, 0, -1], np.int32))
    shown = bands(column)
    assert shown.names == ("a", "b")
    assert shown.index_N.tolist() == [1, 1, 0, -1]
