"""What a run says of data that little can be learnt from, with the key to change."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from heron.base.terminal import begin
from heron.data.config import TRAIN
from heron.data.datamodule import DataModule
from heron.data.examples import Example
from heron.training import job
from heron.training.job import describe_training


@pytest.fixture
def data(chronicle_config):
    begin()
    return DataModule(chronicle_config("batching.tokens=500"))


def with_train(data: DataModule, **arrays: object) -> DataModule:
    data.features[TRAIN] = replace(data.features[TRAIN], **arrays)  # type: ignore[arg-type]
    return data


def test_data_that_can_be_learnt_from_is_left_without_a_warning(data, capsys):
    found = describe_training(data)
    printed = capsys.readouterr().err
    assert "warning" not in printed
    assert found["batch_tokens"] == 500
    assert found["steps"] == data.steps_per_epoch()[0] > 3
    sizes = [len(batch) for batch in data.plan(0)]  # a row is a unit here
    for number in (len(data.features[TRAIN]), min(sizes), max(sizes), 500, found["steps"]):
        assert str(number) in printed
    assert found["unknown"] < 0.1


@pytest.mark.parametrize(("task", "score"), [("qa", "he_f1"), ("summaries", "rouge1_heron")])
def test_a_monitor_blind_to_words_without_blanks_is_named_with_one_that_sees_them(
    task, score, chronicle_config, capsys
):
    config = chronicle_config(f"data=chronicle_{task}")
    begin()
    job._warn_of_monitor(config, [Example("g", "a town"), Example("h", "ក")])
    assert not capsys.readouterr().err
    job._warn_of_monitor(config, [Example("g", "ភ្នំពេញ ជា រាជធានី 1")])
    assert f"trainer.monitor={score}" in capsys.readouterr().err


def test_a_class_that_train_lacks_and_another_split_has_is_named_with_its_rows(capsys):
    splits = {
        "train": [Example("a", "text", label="yes")],
        "validation": [Example("b", "text", label="no"), Example("c", "text", label="yes")],
    }
    begin()
    job._warn_of_classes(["yes", "no"], np.array([1, 0]), splits)
    printed = capsys.readouterr().err
    assert "validation" in printed
    assert "1 no" in printed
    assert "data.folds" in printed

    begin()
    job._warn_of_classes(["yes", "no"], np.array([1, 1]), splits)
    assert not capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "value", "key"),
    [("tokens_T", "unknown", "encoder="), ("labels_R", "first", "data.columns.label")],
)
def test_data_that_little_can_be_learnt_from_is_named_with_the_key(name, value, key, data, capsys):
    array = np.array(getattr(data.features[TRAIN], name))
    array[: int(0.9 * len(array)) if value == "unknown" else None] = (
        data.tokenizer.unk_token_id if value == "unknown" else 0
    )
    found = describe_training(with_train(data, **{name: array}))
    assert key in capsys.readouterr().err
    assert (found["unknown"] > 0.5) == (value == "unknown")


def test_a_vocabulary_without_use_is_named_with_the_key_that_keeps_capitals(
    data, capsys, monkeypatch
):
    monkeypatch.setattr(job, "unused_share", lambda tokenizer: 0.17)
    assert describe_training(data)["unused"] == 0.17
    error = capsys.readouterr().err
    assert "17%" in error
    assert "do_lower_case" in error


def test_questions_that_all_have_an_answer_can_be_learnt_from(chronicle_config, capsys):
    begin()
    words = ("data=chronicle_qa", "data.generator.unanswerable=0.1")
    data = DataModule(chronicle_config(*words, "data.label_order=[answer,no_answer]"))
    labels_R = np.zeros_like(data.features[TRAIN].labels_R)
    describe_training(with_train(data, labels_R=labels_R))
    assert "of class" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("batching.tokens=50000", "lower batching.tokens"),
        ("batching=shuffle batching.size=500", "lower batching.size"),
    ],
)
def test_an_epoch_of_few_steps_is_named_with_the_key_of_the_budget(
    word, said, chronicle_config, capsys
):
    begin()
    describe_training(DataModule(chronicle_config(*word.split())))
    error = capsys.readouterr().err
    assert said in error


def test_small_data_gets_its_own_budget_which_is_written_down(chronicle_config):
    found = describe_training(DataModule(chronicle_config("batching.tokens=null")))
    assert found["batch_tokens"] < 3072
    assert found["steps"] >= 15
