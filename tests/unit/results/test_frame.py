"""The one reader of prediction files: rows, golds, joins, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from heron.base.errors import DataError
from heron.base.tables import write_table
from heron.results.frame import Frame, joined, on_shared_rows, read_frame


def write(path: Path, **columns: list) -> Path:
    write_table(path, columns)
    return path


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_the_same_rows_are_read_from_every_format(suffix, tmp_path):
    path = write(
        tmp_path / f"rows.{suffix}",
        guid=["1", "2"],
        gold=["a", None],
        prediction=["b", " a "],
        group=["d", None],
        golds=[json.dumps(["a", "b"]), ""],
    )
    found = read_frame(path)
    assert (found["guid"], found["prediction"]) == (["1", "2"], ["b", "a"])
    assert (found.golds, found.texts("group")) == ([("a", "b"), ()], ["d", ""])
    assert found.labelled()["guid"] == ["1"]


def test_an_empty_gold_text_is_one_where_no_answer_can_be_right_and_nan_is_a_text(tmp_path):
    path = write(tmp_path / "a.jsonl", guid=["1", "2", "3"], gold=["", None, "nan"], summary="xyz")
    found = read_frame(path)
    assert found.labelled()["guid"] == ["3"]
    assert found.labelled(empty=True)["guid"] == ["1", "3"]


def test_the_probability_is_that_of_the_prediction(tmp_path):
    columns = {"guid": ["1"], "gold": ["a"], "prediction": ["b"], "p/a": [0.25], "p/b": [0.75]}
    found = read_frame(write(tmp_path / "a.parquet", **columns))
    assert (found.probabilities, found.right) == ([0.75], [False])


def test_only_the_named_columns_of_a_parquet_file_are_read(tmp_path):
    columns = {"guid": ["1"], "gold": ["a"], "prediction": ["b"], "text": ["long"], "group": ["d"]}
    path = write(tmp_path / "a.parquet", **columns)
    assert set(read_frame(path, only=("group",)).columns) == {*columns} - {"text"}
    assert read_frame(path).texts("text") == ["long"]


def test_columns_may_have_other_names_and_a_file_no_gold(tmp_path):
    path = write(tmp_path / "a.csv", id=["1"], summary=["s"])
    found = read_frame(path, needs_gold=False)
    assert found.columns == {"guid": ["1"], "gold": [None], "prediction": ["s"]}
    with pytest.raises(DataError, match="no column 'gold'"):
        read_frame(path)


@pytest.mark.parametrize(
    ("rows", "named"),
    [
        ([{"guid": "1", "golds": "{}"}], ", 1: golds is"),
        ([{"guid": "1"}, {"guid": "1"}, {"guid": ""}], ":2: guid '1' is already on line 1"),
        ([{"guid": "1"}, {"guid": "1"}, {"guid": ""}], ":3: 'guid' is empty"),
    ],
)
def test_what_is_wrong_with_a_file_is_named(rows, named, tmp_path):
    path = tmp_path / "a.jsonl"
    lines = (json.dumps({**row, "gold": "a", "prediction": "a"}) for row in rows)
    path.write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(DataError, match=f"{path}{named}"):
        read_frame(path)


def test_rows_of_several_files_are_put_side_by_side_by_guid():
    one, other = (Frame(Path("x"), {"guid": guids, "n": [*range(3)]}) for guids in ("abc", "cad"))
    (first, second), left_out = on_shared_rows([one, other], allowed=True)
    assert (first.columns, second["n"], left_out) == ({"guid": ["a", "c"], "n": [0, 2]}, [1, 0], 2)
    with pytest.raises(DataError, match="lacks 1 of 4 labelled guids: 'd'"):
        on_shared_rows([one, other], allowed=False)
    with pytest.raises(DataError, match="lacks 3 of 6"):
        on_shared_rows([one, Frame(Path("y"), {"guid": "xyz"})], allowed=True)
    columns = one.beside(["c", "x"]).columns
    assert columns == {"guid": ["c", "x"], "n": [2, None]}
    assert joined([one, Frame(Path("y"), {"guid": ["d"]})]).columns == {"guid": [*"abcd"]}
