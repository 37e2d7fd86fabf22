"""Dynamics come back from disk as they were written, aligned by guid, or with a reason why not."""

import json
import os
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from heron.base.errors import DataError
from heron.dynamics.files import (
    METADATA,
    Meta,
    align,
    dynamics_table,
    export_jsonl,
    judge,
    read_dynamics,
    read_meta,
    read_record,
    records,
    write_dynamics,
)
from heron.reports.map_data import read_logits

LABELS = ("entailment", "contradiction", "neutral")


def meta(epoch=1.0, labels=LABELS, mode="train", task="nli"):
    return Meta(epoch, mode, task, labels)


def table(guids, gold=None, about=None, seed=0, logits=True):
    random = np.random.default_rng(seed)
    n = len(guids)
    return dynamics_table(
        guids,
        np.arange(n) % 3 if gold is None else np.asarray(gold),
        random.random(n),
        random.integers(0, 2, n).astype(float),
        random.normal(size=n),
        random.integers(1, 5, n),
        random.normal(size=(n, 3)) if logits else None,
        about or meta(),
    )


def write(folder, *tables):
    for epoch, one in enumerate(tables):
        write_dynamics(folder / f"epoch={epoch}.parquet", one)
    return folder


def test_what_was_written_is_read_bit_for_bit(tmp_path):
    tables = [table(["b", "א", "c"], about=meta(epoch + 1), seed=epoch) for epoch in range(3)]
    write(tmp_path / "dynamics", *tables)
    for folder in (tmp_path, tmp_path / "dynamics", str(tmp_path)):
        found = read_dynamics(folder)
        assert found.guids == ["b", "א", "c"]
        assert found.gold_N.dtype == np.int16
        assert found.gold_N.tolist() == [0, 1, 2]
        for name in ("p_gold", "correct", "margin", "count"):
            values_EN = getattr(found, f"{name}_EN")
            assert values_EN.dtype == (np.int16 if name == "count" else np.float32)
            assert values_EN.tolist() == [one[name].to_pylist() for one in tables]
        assert found.epochs_E.tolist() == [1, 2, 3]
        assert (found.labels, found.mode, found.task) == (LABELS, "train", "nli")
    for epoch, one in enumerate(tables):
        guids, logits_NC = read_logits(tmp_path, epoch)
        assert guids == ["b", "א", "c"]
        assert logits_NC.dtype == np.float32
        assert logits_NC.tolist() == one["logits"].to_pylist()
    assert read_logits(tmp_path, -1)[1].tolist() == read_logits(tmp_path, 2)[1].tolist()
    assert [read_meta(one).epoch for one in records(tmp_path)] == [1, 2, 3]


def test_files_have_the_columns_and_metadata_of_the_contract(tmp_path):
    write(tmp_path, table(["a", "b"], about=meta(0.5)))
    file = pq.ParquetFile(tmp_path / "epoch=0.parquet")
    types = {field.name: str(field.type) for field in file.schema_arrow}
    assert types.pop("logits").startswith("fixed_size_list<")
    assert types == {
        "guid": "string",
        "gold": "int16",
        "p_gold": "float",
        "correct": "float",
        "margin": "float",
        "count": "int16",
    }
    assert json.loads(file.schema_arrow.metadata[METADATA]) == {
        "version": 1,
        "epoch": 0.5,
        "mode": "train",
        "task": "nli",
        "labels": list(LABELS),
    }
    for column in range(file.metadata.num_columns):
        chunk = file.metadata.row_group(0).column(column)
        assert chunk.compression == "UNCOMPRESSED"
        assert not chunk.has_dictionary_page


def test_records_are_in_the_order_of_epoch_then_part(tmp_path):
    names = ["epoch=10", "epoch=2,part=1", "epoch=2,part=0", "epoch=0", "epoch=2,part=10"]
    ends = [11.0, 2.5, 2.2, 1.0, 3.0]
    for name, end in zip(names, ends, strict=True):
        write_dynamics(tmp_path / f"{name}.parquet", table(["a"], about=meta(end)))
    assert read_dynamics(tmp_path).epochs_E.tolist() == [1.0, 2.2, 2.5, 3.0, 11.0]


VISITS = st.lists(
    st.lists(st.sampled_from("abcdefgh"), unique=True, min_size=0, max_size=8),
    min_size=1,
    max_size=5,
)


@given(VISITS)
def test_whatever_each_record_visited_is_aligned_by_guid(visited):
    gold = {guid: place % 3 for place, guid in enumerate("abcdefgh")}
    tables = [
        table(guids, [gold[guid] for guid in guids], seed=record)
        for record, guids in enumerate(visited)
    ]
    found = align((str(record), one) for record, one in enumerate(tables))
    assert found.guids == list(dict.fromkeys(guid for guids in visited for guid in guids))
    assert found.gold_N.tolist() == [gold[guid] for guid in found.guids]
    for record, one in enumerate(tables):
        expected = {row["guid"]: row for row in one.to_pylist()}
        for place, guid in enumerate(found.guids):
            row = expected.get(guid)
            for name in ("p_gold", "correct", "margin", "count"):
                value = getattr(found, f"{name}_EN")[record, place]
                if row:
                    assert value == row[name]
                else:
                    assert value == 0 if name == "count" else np.isnan(value)


def test_tasks_without_classes_have_no_logits_and_no_labels(tmp_path):
    write(tmp_path, table(["a", "b"], [-1, -1], meta(labels=(), task="qa"), logits=False))
    found = read_dynamics(tmp_path)
    assert found.labels == ()
    assert found.gold_N.tolist() == [-1, -1]
    with pytest.raises(DataError, match=r"epoch=0\.parquet: .*logits"):
        read_logits(tmp_path, 0)


@pytest.mark.parametrize("parts", [("",), (",part=0", ",part=1")])
def test_a_record_that_is_missing_between_others_is_named(tmp_path, parts):
    for epoch in (0, 1, 2):
        for part in parts:
            path = tmp_path / "dynamics" / f"epoch={epoch}{part}.parquet"
            write_dynamics(path, table(["a"], about=meta(1.0)))
    lost = tmp_path / "dynamics" / f"epoch=1{parts[-1]}.parquet"
    lost.unlink()
    with pytest.raises(DataError, match=r"lacks records of epochs \[1\].*run\.resume=false"):
        read_dynamics(tmp_path)


@pytest.mark.parametrize(
    "about", [meta(labels=("no", "yes")), meta(mode="evaluation"), meta(task="relation")]
)
def test_files_of_another_run_are_refused(tmp_path, about):
    write(tmp_path, table(["a"]), table(["a"], about=about))
    with pytest.raises(DataError, match=r"epoch=1\.parquet"):
        read_dynamics(tmp_path)


def write_lines(path, *rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        "".join(row if isinstance(row, str) else json.dumps(row) + "\n" for row in rows)
    )
    return path


def row(guid, logits, gold=0, epoch=0):
    return {"guid": guid, f"logits_epoch_{epoch}": logits, "gold": gold}


LOGITS = arrays.arrays(
    np.float64, st.tuples(st.integers(1, 6), st.integers(2, 4)), elements=st.floats(-50, 50)
)


@given(LOGITS)
def test_judging_is_softmax_argmax_and_the_distance_to_the_best_other(logits_KC):
    gold_K = np.arange(len(logits_KC)) % logits_KC.shape[1]
    p_gold_K, correct_K, margin_K = judge(logits_KC, gold_K)
    softmax_KC = torch.softmax(torch.from_numpy(logits_KC), dim=1).numpy()
    for place, (logits_C, gold) in enumerate(zip(logits_KC, gold_K, strict=True)):
        others = [value for label, value in enumerate(logits_C) if label != gold]
        assert p_gold_K[place] == pytest.approx(softmax_KC[place, gold], abs=1e-12)
        assert correct_K[place] == (int(np.argmax(logits_C)) == gold)
        assert margin_K[place] == pytest.approx(logits_C[gold] - max(others), abs=1e-12)


def test_a_folder_of_the_tools_reads_like_a_run(tmp_path):
    inside = tmp_path / "training_dynamics"
    write_lines(inside / "dynamics_epoch_0.jsonl", row(17, [2.0, 0.0]), row(5, [0.0, 1.0], 1))
    write_lines(inside / "dynamics_epoch_1.jsonl", row("5", [3.0, 1.0], 1, 1), "\n")
    for folder in (tmp_path, inside):
        found = read_dynamics(folder)
        assert found.guids == ["17", "5"]
        assert found.gold_N.tolist() == [0, 1]
        assert found.margin_EN == pytest.approx(np.array([[2, 1], [np.nan, -2]]), nan_ok=True)
        assert found.correct_EN == pytest.approx(np.array([[1, 1], [np.nan, 0]]), nan_ok=True)
        assert found.count_EN.tolist() == [[1, 1], [0, 1]]
        assert found.epochs_E.tolist() == [1, 2]
        assert found.labels == ("0", "1")


def test_a_repeated_guid_is_averaged_and_counted(tmp_path):
    path = write_lines(
        tmp_path / "dynamics_epoch_0.jsonl",
        row("a", [2.0, 0.0]),
        row("b", [0.0, 1.0]),
        row("a", [0.0, 1.0]),
        row("a", [1.0, 0.0]),
    )
    found = read_record(path).to_pydict()
    assert found["guid"] == ["a", "b"]
    assert found["count"] == [3, 1]
    assert found["correct"] == pytest.approx([2 / 3, 0])
    assert found["margin"] == pytest.approx([2 / 3, -1])
    sigmoid = [1 / (1 + np.exp(-margin)) for margin in (2, -1, 1)]
    assert found["p_gold"] == pytest.approx([np.mean(sigmoid), sigmoid[1]])
    assert found["logits"][0] == pytest.approx([1, 1 / 3])


@given(arrays.arrays(np.float32, (2, 4, 3), elements=st.floats(-20, 20, width=32)))
def test_what_is_exported_comes_back_the_same(tmp_path_factory, logits_ENC):
    folder = tmp_path_factory.mktemp("run")
    guids, gold_N = ["a", "b", "א", "9"], np.array([0, 1, 2, 0])
    for record, logits_NC in enumerate(logits_ENC):
        values = (*judge(logits_NC.astype(float), gold_N), np.ones(4))
        meta = Meta((record + 1) / 2, "train", "nli", ("x", "y", "z"))
        one = dynamics_table(guids, gold_N, *values, logits_NC, meta)
        write_dynamics(folder / "dynamics" / f"epoch=0,part={record}.parquet", one)
    written = export_jsonl(folder, folder / "out")
    assert [path.name for path in written] == ["dynamics_epoch_0.jsonl", "dynamics_epoch_1.jsonl"]
    before, after = read_dynamics(folder), read_dynamics(folder / "out")
    assert after.guids == before.guids
    assert after.gold_N.tolist() == before.gold_N.tolist()
    for name in ("p_gold_EN", "margin_EN", "count_EN"):
        assert getattr(after, name) == pytest.approx(getattr(before, name), abs=1e-5)
    for record in range(2):
        assert read_logits(folder / "out", record)[1] == pytest.approx(logits_ENC[record], abs=1e-9)


def test_the_released_reader_takes_a_run_whose_records_leave_examples_out(tmp_path):
    visited = (["c"], ["a", "b"], ["b"], ["a", "b"])
    for record, guids in enumerate(visited):
        meta, ones = Meta(record + 1.0, "train", "nli", ("x", "y")), np.ones(len(guids))
        logits_NC = np.array([[record, ord(guid)] for guid in guids], float)
        one = dynamics_table(guids, ones, ones, ones, ones, ones, logits_NC, meta)
        write_dynamics(tmp_path / "dynamics" / f"epoch={record}.parquet", one)
    found = {}
    for number, path in enumerate(export_jsonl(tmp_path, tmp_path)):
        for line in map(json.loads, path.read_text().splitlines()):
            assert number == 0 or line["guid"] in found  # the reader's own assertion
            found.setdefault(line["guid"], []).append(line[f"logits_epoch_{number}"][0])
    assert found == {"a": [1, 3], "b": [1, 2, 3], "c": [0]}
    assert len(next(iter(found.values()))) == 3  # by which the reader counts the epochs


def test_an_export_holds_one_run_and_never_removes_what_it_reads(tmp_path):
    inside, other = (tmp_path / name / "training_dynamics" for name in ("run", "other"))
    for folder, epochs in ((inside, 1), (other, 3)):
        for epoch in range(epochs):
            line = row("a", [1.0, float(epochs)], epoch=epoch)
            write_lines(folder / f"dynamics_epoch_{epoch}.jsonl", line)
    (other / "notes.txt").write_text("mine")
    export_jsonl(inside.parent, other.parent)
    assert sorted(path.name for path in other.iterdir()) == ["dynamics_epoch_0.jsonl", "notes.txt"]
    assert len(read_dynamics(other).epochs_E) == 1
    (inside / "dynamics_epoch_0.jsonl").rename(inside / "dynamics_epoch_5.jsonl")
    write_lines(inside / "dynamics_epoch_5.jsonl", row("a", [1.0, 2.0], epoch=5))
    export_jsonl(inside, inside.parent)
    assert (inside / "dynamics_epoch_5.jsonl").is_file()


def test_records_with_gaps_are_refused(tmp_path):
    for epoch in (0, 1, 2, 10):
        line = row("a", [1.0, 2.0], epoch=epoch)
        write_lines(tmp_path / f"dynamics_epoch_{epoch}.jsonl", line)
    with pytest.raises(DataError, match="3, 4, 5, 6, 7, 8, 9"):
        read_dynamics(tmp_path)


def test_exported_lines_are_those_of_the_tools(tmp_path):
    meta = Meta(1.0, "train", "nli", ("x", "y"))
    ones = np.ones(1)
    one = dynamics_table(["a"], np.ones(1), ones, ones, ones, ones, np.array([[0.1, -2]]), meta)
    write_dynamics(tmp_path / "epoch=0.parquet", one)
    earlier = tmp_path / "out" / "training_dynamics" / "dynamics_epoch_7.jsonl"
    earlier.parent.mkdir(parents=True)
    earlier.touch()  # of a longer training
    (path,) = export_jsonl(tmp_path, tmp_path / "out")
    assert not earlier.exists()
    assert path == tmp_path / "out" / "training_dynamics" / "dynamics_epoch_0.jsonl"
    assert json.loads(path.read_text()) == {
        "guid": "a",
        "logits_epoch_0": [0.1000000015, -2.0],
        "gold": 1,
    }


def test_imported_dynamics_are_a_run_folders(tmp_path):
    inside = tmp_path / "tool" / "training_dynamics"
    for epoch in range(11):  # by number, not by name: 10 comes last
        lines = [row(guid, [0.1 * epoch, guid], guid % 2, epoch) for guid in range(3)]
        write_lines(inside / f"dynamics_epoch_{epoch}.jsonl", *lines)
    found = read_dynamics(tmp_path / "tool")
    assert found.labels == ("0", "1")
    assert found.epochs_E.tolist() == [*range(1, 12)]


BAD_ROWS = (
    row("a", [1.0, "x"]),
    row("a", [float("nan"), 1]),
    row(None, [1.0, 2.0]),
    row("a", [1.0]),
    row("a", [1.0, 2.0, 3.0]),
    row("a", [1.0, 2.0], 2),
    row("a", [1.0, 2.0], "no"),
    row("a", [1.0, 2.0], epoch=1),
)


def test_every_bad_line_is_named_with_its_number(tmp_path):
    path = tmp_path / "dynamics_epoch_0.jsonl"
    write_lines(path, row("z", [0.0, 1.0]), *BAD_ROWS)
    with pytest.raises(DataError) as caught:
        read_record(path)
    lines = sorted(problem.number for problem in caught.value.problems)
    assert lines == [*range(2, len(BAD_ROWS) + 2)]


@pytest.mark.real
def test_the_published_sample_is_read_and_comes_back_as_it_was(tmp_path):
    data = os.environ.get("HERON_DATA")
    if not data or not (Path(data) / "cartography_sample").is_dir():
        pytest.skip("the sample is not here: HERON_DATA")
    sample = Path(data) / "cartography_sample"
    found = read_dynamics(sample)
    assert (len(found.guids), len(found.epochs_E)) == (50, 5)
    assert found.count_EN.sum(axis=0).tolist() == [1] * 50  # its epochs have no guid in common
    assert found.guids[0] == "4734364254410"
    assert found.margin_EN[0, 0] == pytest.approx(-0.4754295349 - 0.9408461452)
    theirs = [
        json.loads(line)
        for epoch in range(5)
        for line in (sample / f"training_dynamics/dynamics_epoch_{epoch}.jsonl").open()
    ]
    (path,) = export_jsonl(sample, tmp_path)
    ours = [json.loads(line) for line in path.read_text().splitlines()]
    assert [int(line["guid"]) for line in ours] == [line["guid"] for line in theirs]
    for our, their in zip(ours, theirs, strict=True):
        (logits,) = (value for name, value in their.items() if name.startswith("logits"))
        assert our["logits_epoch_0"] == pytest.approx(logits, abs=1e-6)
