"""TRC's tables that no sweep fills."""

import os
from pathlib import Path

import pytest

from heron.base.errors import DataError
from heron.results.published import TARGETS
from heron_tools.reproduction.comparing import against_published
from heron_tools.reproduction.results import of_function
from heron_tools.reproduction.targets import Request, read_targets

DATA = os.environ.get("HERON_DATA", "")


def fill(key, data, *files):
    return TARGETS[f"trc:{key}"](Request(Path(data), Path("cache"), files=files))


def test_answers_to_the_two_questions_become_labels(tmp_path):
    path = tmp_path / "answers.csv"
    path.write_text("q1,q2\nyes,no\nNo,yes\nno,no\nyes,yes\nyes,no\n")
    first, second = fill("T1", tmp_path, path).tables
    assert first.rows[0] == ("yes", "no", "BEFORE")
    assert dict(second.rows) == {"BEFORE": 2, "AFTER": 1, "EQUAL": 1, "VAGUE": 1}


def test_other_answers_are_named_by_line(tmp_path):
    path = tmp_path / "answers.csv"
    path.write_text("q1,q2\nyes,no\nperhaps,no\n")
    with pytest.raises(DataError, match=r"answers.csv:3.*perhaps"):
        fill("T1", tmp_path, path)


def test_missing_annotations_are_all_named(tmp_path):
    with pytest.raises(DataError, match=r"(?s)round_1.*round_2.*multi_round_1_2"):
        fill("T3", tmp_path)


@pytest.mark.parametrize("key", ["T2", "T3", "T6"])
@pytest.mark.real
@pytest.mark.skipif(not DATA, reason="needs HERON_DATA")
def test_every_table_is_filled_from_the_released_files(key):
    found = of_function(read_targets()[f"trc:{key}"], fill(key, DATA))
    assert all(table.rows for table in found.tables)


@pytest.mark.real
@pytest.mark.skipif(not DATA, reason="needs HERON_DATA")
def test_kappas_are_the_printed_ones_to_three_digits():
    values = fill("T3", DATA).values["table3"]
    assert {names: round(each.value, 3) for names, each in values.items()} == {
        ("first round", "standard"): 0.615, ("first round", "relaxed"): 0.845,
        ("second round", "standard"): 0.528, ("second round", "relaxed"): 0.771,
        ("combined", "standard"): 0.805, ("combined", "relaxed"): 0.913,
    }  # fmt: skip
    assert [each.n for each in values.values()] == [3998, 3998, 1323, 1323, 3998, 3998]


@pytest.mark.real
@pytest.mark.skipif(not DATA, reason="needs HERON_DATA")
def test_labels_are_the_printed_ones_and_matres_is_not():
    values = fill("T2", DATA).values["table2"]
    assert values["total", "count"].value == 7260
    assert round(values["BEFORE", "share"].value, 3) == 0.426
    matres = values["BEFORE", "MATRES"]
    assert (matres.n, round(matres.value, 3)) == (13577, 0.507)
    assert against_published(0.49, matres, 2) == "differs"
