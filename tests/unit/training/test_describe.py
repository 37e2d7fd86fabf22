"""What a run says of data that little can be learnt from, with the key to change."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from heron.base.terminal import begin
from heron.data.config import TRAIN
from heron.data.datamodule import DataModule
from heron.tasks.config import Config
from heron.training.describe import describe_training


@pytest.fixture
def data(chronicle_config: Callable[..., Config]) -> DataModule:
    begin()
    return DataModule(chronicle_config("batching.tokens=500"))


def with_train(data: DataModule, **arrays: object) -> DataModule:
    data.features[TRAIN] = replace(data.features[TRAIN], **arrays)  # type: ignore[arg-type]
    return data


def test_data_that_can_be_learnt_from_is_left_without_a_warning(
    data: DataModule, capsys: pytest.CaptureFixture[str]
) -> None:
    found = describe_training(data)
    assert capsys.readouterr().err == ""
    assert found["batch_tokens"] == 500
    assert found["steps"] == data.steps_per_epoch()[0] > 3
    assert found["unknown"] < 0.1


def test_a_script_that_the_tokenizer_does_not_know_is_named_with_the_encoder(
    data: DataModule, capsys: pytest.CaptureFixture[str]
) -> None:
    tokens_T = np.array(data.features[TRAIN].tokens_T)
    tokens_T[: int(0.56 * len(tokens_T))] = data.tokenizer.unk_token_id
    assert describe_training(with_train(data, tokens_T=tokens_T))["unknown"] > 0.5
    said = capsys.readouterr().err
    assert "56% of the tokens are [UNK]" in said or "57% of the tokens are [UNK]" in said
    assert "set encoder=" in said


def test_one_class_in_train_is_named_with_the_keys_of_labels(
    data: DataModule, capsys: pytest.CaptureFixture[str]
) -> None:
    labels_R = np.zeros_like(data.features[TRAIN].labels_R)
    describe_training(with_train(data, labels_R=labels_R))
    said = capsys.readouterr().err
    assert "rows are of class BEFORE: nothing can be learnt; see data.columns.label" in said


def test_questions_that_all_have_an_answer_can_be_learnt_from(
    chronicle_config: Callable[..., Config], capsys: pytest.CaptureFixture[str]
) -> None:
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
    word: str,
    said: str,
    chronicle_config: Callable[..., Config],
    capsys: pytest.CaptureFixture[str],
) -> None:
    begin()
    describe_training(DataModule(chronicle_config(*word.split())))
    error = capsys.readouterr().err
    assert said in error


def test_small_data_gets_its_own_budget_which_is_written_down(
    chronicle_config: Callable[..., Config],
) -> None:
    found = describe_training(DataModule(chronicle_config("batching.tokens=null")))
    assert found["batch_tokens"] < 3072
    assert found["steps"] >= 15
