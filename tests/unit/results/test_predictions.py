"""The one reader of prediction files: rows, golds, joins, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from heron.base.errors import DataError
from heron.base.tables import write_table
from heron.results.predictions import Names, read_predictions


def write(path: Path, **columns: list) -> Path:
    write_table(path, columns)
    return path


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_the_same_rows_are_read_from_every_format(suffix: str, tmp_path: Path) -> None:
    path = write(
        tmp_path / f"rows.{suffix}",
        guid=["1", "2"],
        gold=["a", None],
        prediction=["b", " a "],
        group=["d", None],
    )
    found = read_predictions(path)
    assert [(row.guid, row.prediction, row.golds, row.group) for row in found.rows] == [
        ("1", "b", ("a",), "d"),
        ("2", "a", (), ""),
    ]
    labelled = found.labelled()
    assert (labelled.guids, labelled.unlabelled) == (["1"], 1)


def test_an_empty_gold_text_is_one_where_no_answer_can_be_right(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", guid=["1", "2"], gold=["", None], prediction=["", "x"])
    found = read_predictions(path)
    assert found.labelled().guids == []
    assert found.labelled(empty=True).guids == ["1"]


def test_the_text_nan_is_a_gold(tmp_path: Path) -> None:
    found = read_predictions(write(tmp_path / "a.csv", guid=["1"], gold=["nan"], prediction=["x"]))
    assert len(found.labelled()) == 1


def test_all_right_texts_come_from_the_column_golds(tmp_path: Path) -> None:
    golds = [json.dumps(["one", "two"]), ""]
    path = write(tmp_path / "a.csv", guid=["1", "2"], gold=["one"] * 2, prediction=["x"] * 2)
    assert read_predictions(path).rows[0].golds == ("one",)
    columns = {"guid": ["1", "2"], "gold": ["one"] * 2, "prediction": ["x"] * 2, "golds": golds}
    assert [row.golds for row in read_predictions(write(path, **columns)).rows] == [
        ("one", "two"),
        ("one",),
    ]


def test_the_probability_is_that_of_the_prediction(tmp_path: Path) -> None:
    columns = {"guid": ["1"], "gold": ["a"], "prediction": ["b"], "p/a": [0.25], "p/b": [0.75]}
    (row,) = read_predictions(write(tmp_path / "a.parquet", **columns)).rows
    assert row.probability == 0.75


def test_only_the_named_columns_of_a_parquet_file_are_read(tmp_path: Path) -> None:
    path = write(
        tmp_path / "a.parquet", guid=["1"], gold=["a"], prediction=["b"], text=["long"], group=["d"]
    )
    assert read_predictions(path, only=("group",)).columns == (
        "guid",
        "gold",
        "prediction",
        "group",
    )
    assert read_predictions(path).rows[0].text("text") == "long"


def test_columns_may_have_other_names_and_a_file_no_gold(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", id=["1"], summary=["s"])
    names = Names(guid=("guid", "id"), prediction=("prediction", "summary"), needs_gold=False)
    (row,) = read_predictions(path, names=names).rows
    assert (row.guid, row.gold, row.prediction) == ("1", None, "s")


def test_everything_wrong_with_a_file_is_said_at_once(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    rows = [
        {"guid": "1", "gold": "a", "prediction": "a", "golds": "{}"},
        {"guid": "1", "gold": "a", "prediction": "a"},
        {"guid": "", "gold": "a", "prediction": "a"},
    ]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    with pytest.raises(DataError) as caught:
        read_predictions(path)
    said = str(caught.value)
    assert f"{path}:1, 1: golds is" in said
    assert f"{path}:2: guid '1' is already on line 1" in said
    assert f"{path}:3: 'guid' is empty" in said
