"""`metrics.csv`: every logged row, whole or not at all."""

from __future__ import annotations

import csv

import pytest

from heron.training.checkpointing import History


def test_columns_begin_with_epoch_and_step_and_keep_their_order(tmp_path):
    history = History(tmp_path / "metrics.csv")
    history.log_metrics({"train/loss": 1.5, "epoch": 0}, step=9)
    history.log_metrics({"validation/loss": 1.25, "epoch": 0}, step=11)
    history.write()
    assert (tmp_path / "metrics.csv").read_text() == (
        "epoch,step,train/loss,validation/loss\n0,9,1.5,\n0,11,,1.25\n"
    )


def test_numbers_are_written_in_full(tmp_path):
    history = History(tmp_path / "metrics.csv")
    value = 0.1 + 0.2
    history.log_metrics({"train/loss": value}, step=0)
    history.finalize("success")
    with (tmp_path / "metrics.csv").open() as file:
        assert float(next(csv.DictReader(file))["train/loss"]) == value


def test_a_disk_that_is_full_when_a_training_fails_does_not_hide_the_failure(tmp_path):
    (tmp_path / "file").write_text("in the way")
    history = History(tmp_path / "file" / "metrics.csv")
    history.log_metrics({"train/loss": 1.0}, 0)
    history.finalize("failed")
    with pytest.raises(OSError, match="file"):
        history.finalize("success")
