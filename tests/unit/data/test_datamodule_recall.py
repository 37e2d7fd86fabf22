"""The jobs of a sweep share one preparation of their data, as long as nothing about it changes."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heron.data import datamodule
from heron.data.config import Columns, FileConfig
from heron.data.datamodule import DataModule, plan_stored
from heron.data.features import Units
from heron.data.markers import event_markers


@pytest.fixture
def readings(monkeypatch):
    """Count how often a data set is read, from an empty memory."""
    counted, load = [], datamodule.load_run_data
    monkeypatch.setattr(datamodule, "_last", {})
    monkeypatch.setattr(
        datamodule, "load_run_data", lambda *inputs: counted.append(1) or load(*inputs)
    )
    return counted


def changed(config, part, **values):
    return dataclasses.replace(
        config, **{part: dataclasses.replace(getattr(config, part), **values)}
    )


def test_other_heads_rates_and_seeds_read_nothing_again(chronicle_config, readings):
    config = chronicle_config()
    first = DataModule(config)
    others = [
        dataclasses.replace(config, seed=7),
        changed(config, "optim", lr=0.1),
        changed(config, "head", dropout=0.5),
    ]
    for other in others:
        again = DataModule(other)
        assert again.examples == first.examples
        assert again.keys == first.keys
        assert again.config is other
    assert len(readings) == 1


@pytest.mark.parametrize(
    ("part", "values"),
    [
        ("data", {"on_cut": "drop"}),
        ("encoder", {"max_length": 250}),
        ("head", {"input": "window"}),
    ],
)
def test_what_decides_the_features_is_prepared_anew(part, values, chronicle_config, readings):
    config = chronicle_config()
    DataModule(config).prepare_data()
    DataModule(changed(config, part, **values)).prepare_data()
    assert len(readings) == 2


def test_a_file_that_changed_between_two_jobs_is_read_again(chronicle_config, readings, tmp_path):
    train, config = tmp_path / "train.csv", chronicle_config()
    (begin1, end1), (begin2, end2) = zip(*[iter(event_markers(config.data))] * 2, strict=True)
    text = f"{begin1} began {end1} before B {begin2} ended {end2} ."
    rows = [f"a{n},A{n} {text},{['BEFORE', 'AFTER'][n % 2]}\n" for n in range(16)]
    train.write_text("guid,text,label\n" + "".join(rows), encoding="utf-8")
    config = changed(
        config,
        "data",
        generator=None,
        files={"train": FileConfig(path=str(train))},
        columns=Columns(guid="guid", text="text", label="label"),
    )
    first = DataModule(config)
    first.prepare_data()
    train.write_text("guid,text,label\n" + "".join(rows[:12]), encoding="utf-8")
    again = DataModule(config)
    assert sum(map(len, first.examples.values())) == 16
    assert sum(map(len, again.examples.values())) == 12


def test_what_one_job_does_to_its_splits_stays_with_it(chronicle_config, readings):
    config = chronicle_config()
    first = DataModule(config)
    del first.features["test"], first.examples["test"]
    first.vectors["train"] = np.zeros((1, 1))
    assert set(DataModule(config).features) == {"train", "validation", "test"}
    assert not DataModule(config).vectors


def test_a_run_that_is_also_tested_on_its_own_data_has_that_split(chronicle_config, readings):
    config = chronicle_config()
    DataModule(config)
    own = config.data.name
    tested = DataModule(dataclasses.replace(config, also_test=[own]))
    assert set(tested.features) == {"train", "validation", "test", f"{own}.test"}


def test_given_examples_are_never_remembered(chronicle_config, readings):
    config = chronicle_config()
    data = DataModule(config)
    few = {split: rows[:5] for split, rows in data.examples.items()}
    assert len(DataModule(config, few).examples["train"]) == 5
    assert len(DataModule(config).examples["train"]) > 5


@given(
    rows=st.lists(st.integers(1, 50), min_size=1, max_size=60),
    windows=st.integers(1, 3),
    most=st.integers(1, 100),
)
def test_stored_vectors_come_once_each_in_batches_of_about_the_size_asked_for(rows, windows, most):
    sizes_U = np.asarray(rows)
    units = Units(
        sequences_V=np.concatenate([[0], np.cumsum(np.full(len(rows), windows))]),
        rows_V=np.concatenate([[0], np.cumsum(sizes_U)]),
        longest_U=np.ones(len(rows), dtype=np.int64),
    )
    plan = plan_stored(units, most)
    assert np.concatenate(plan).tolist() == list(range(len(rows)))
    largest = max(sizes_U.max(), windows)
    assert all(sizes_U[batch].sum() < most + largest for batch in plan)


def test_equal_runs_have_equal_tokenizers_whether_their_features_were_stored_or_not(
    chronicle_config, tmp_path, monkeypatch
):
    config = chronicle_config()
    config.paths.cache = str(tmp_path / "cache")
    for folder in ("cold", "warm"):
        monkeypatch.setattr(datamodule, "_last", {})
        DataModule(config).tokenizer.save_pretrained(tmp_path / folder)
    for name in ("tokenizer.json", "tokenizer_config.json"):
        assert (tmp_path / "cold" / name).read_bytes() == (tmp_path / "warm" / name).read_bytes()
