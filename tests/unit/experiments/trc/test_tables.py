"""TRC's tables that no sweep fills."""

from pathlib import Path

import pytest

from heron_tools.reproduction.cell_comparison import against_published
from heron_tools.reproduction.results import of_function
from heron_tools.reproduction.targets import TargetRequest, read_targets
from real_data import DATA, on_real


def fill(key, data, *files):
    return read_targets()[f"trc:{key}"].compute(
        TargetRequest(Path(data), Path("cache"), files=files)
    )


def test_answers_to_the_two_questions_become_labels(tmp_path):
    path = tmp_path / "answers.csv"
    path.write_text("q1,q2\nyes,no\nNo,yes\nno,no\nyes,yes\nyes,no\n")
    first, second = fill("T1", tmp_path, path).tables
    assert first.rows[0] == ("yes", "no", "BEFORE")
    assert dict(second.rows) == {"BEFORE": 2, "AFTER": 1, "EQUAL": 1, "VAGUE": 1}


@pytest.mark.parametrize("key", ["T2", "T3", "T6"])
@on_real
def test_every_table_is_filled_from_the_released_files(key):
    found = of_function(read_targets()[f"trc:{key}"], fill(key, DATA))
    assert all(table.rows for table in found.tables)


@on_real
def test_kappas_are_the_printed_ones_to_three_digits():
    values = fill("T3", DATA).values["table3"]
    assert {names: round(each.value, 3) for names, each in values.items()} == {
        ("first round", "standard"): 0.615, ("first round", "relaxed"): 0.845,
        ("second round", "standard"): 0.528, ("second round", "relaxed"): 0.771,
        ("combined", "standard"): 0.805, ("combined", "relaxed"): 0.913,
    }  # fmt: skip
    assert [each.n for each in values.values()] == [3998, 3998, 1323, 1323, 3998, 3998]


@on_real
def test_labels_are_the_printed_ones_and_matres_is_not():
    values = fill("T2", DATA).values["table2"]
    assert values["total", "count"].value == 7260
    assert round(values["BEFORE", "share"].value, 3) == 0.426
    matres = values["BEFORE", "MATRES"]
    assert (matres.n, round(matres.value, 3)) == (13577, 0.507)
    assert against_published(0.49, matres, 2) == "differs"
