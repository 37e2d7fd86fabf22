"""Dynamics come back from disk as they were written, aligned by guid, or with a reason why not."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heron.base.errors import DataError
from heron.dynamics.files import (
    METADATA,
    Meta,
    align,
    dynamics_table,
    read_dynamics,
    read_meta,
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
    with pytest.raises(DataError, match=r"epoch=0\.parquet: .*without logits"):
        read_logits(tmp_path, 0)


def test_a_file_of_a_newer_heron_says_so(tmp_path):
    one = table(["a"])
    stored = json.loads(one.schema.metadata[METADATA]) | {"version": 2}
    newer = one.replace_schema_metadata({METADATA: json.dumps(stored)})
    write(tmp_path, newer)
    with pytest.raises(DataError, match=r"epoch=0\.parquet: dynamics version 2"):
        read_dynamics(tmp_path)


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


@pytest.mark.parametrize("kept", [0, 3, 200])
def test_a_broken_file_is_named(tmp_path, kept):
    write(tmp_path, table(list("abcdefgh")), table(list("abcdefgh")))
    path = tmp_path / "epoch=1.parquet"
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(DataError, match=r"epoch=1\.parquet: is no record"):
        read_dynamics(tmp_path)


@pytest.mark.parametrize(
    "about", [meta(labels=("no", "yes")), meta(mode="evaluation"), meta(task="relation")]
)
def test_files_of_another_run_are_refused(tmp_path, about):
    write(tmp_path, table(["a"]), table(["a"], about=about))
    with pytest.raises(DataError, match=r"epoch=1\.parquet"):
        read_dynamics(tmp_path)


def test_a_guid_has_one_row_a_file_and_one_label_a_run(tmp_path):
    write(tmp_path / "twice", table(["a", "b", "a"]))
    with pytest.raises(DataError, match="guid 'a' occurs twice"):
        read_dynamics(tmp_path / "twice")
    write(tmp_path / "later", table(["a", "b"]), table(["b", "b"]))
    with pytest.raises(DataError, match=r"epoch=1\.parquet: guid 'b' occurs twice"):
        read_dynamics(tmp_path / "later")
    for guids, golds in ((["a", "b"], [0, 2]), (["b", "a"], [2, 0])):
        write(tmp_path / "label", table(["a", "b"], [0, 1]), table(guids, golds))
        with pytest.raises(DataError, match=r"epoch=1\.parquet: guid 'b' has another gold label"):
            read_dynamics(tmp_path / "label")


def test_guids_may_be_an_arrow_array_that_is_made_once():
    guids = pa.array(["a", "b"])
    assert table(guids).equals(table(["a", "b"]))
