"""Columns and texts of a data map: what is a number, what a name, and which row is which."""

import math
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from heron.base.run_folder import config_text
from heron.base.tables import write_table
from heron.data.config import FileConfig
from heron.reports.map_data import (
    FEW,
    Categories,
    Numbers,
    as_column,
    build_map,
    group_examples,
    read_mapped,
)
from heron.training.stored import read_stored
from made_up_runs import CLASSES, make_run


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


def test_a_run_with_stages_shows_the_texts_of_its_last_stage(tmp_path):
    folder = make_run(tmp_path, rows=12)
    config = read_stored(folder / "config.yaml")
    columns = {
        "guid": [f"p{row}" for row in range(12)],  # guids of both data sets
        "premise": [f"second {row}" for row in range(12)],
        "hypothesis": ["-"] * 12,
        "label": [CLASSES[row % 3] for row in range(12)],
        "genre": ["travel"] * 12,
    }
    write_table(tmp_path / "data" / "second.jsonl", columns)
    second = replace(config.data, name="second", files={"train": FileConfig(path="second.jsonl")})
    config.stages, config.others = [config.data.name, "second"], {"second": second}
    (folder / "config.yaml").write_text(config_text(config), encoding="utf-8")
    mapped = read_mapped(folder)
    groups = group_examples(mapped, "terciles")
    texts = build_map(mapped, None, groups, None, (None, None)).texts
    assert texts is not None
    assert texts.first == columns["premise"]
