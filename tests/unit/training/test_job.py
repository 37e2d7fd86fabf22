"""`run_job`: one run at a time in a folder, an honest status, and what the Trainer is told."""

from __future__ import annotations

import csv
import json
import signal
import sys

import pytest
import pytorch_lightning as pl
import torch
from torch.utils.data import DataLoader

from heron.base.errors import ConfigError
from heron.base.files import locked
from heron.base.run_folder import RunFolder
from heron.base.signals import Terminated, interruptible
from heron.data.datamodule import DataModule
from heron.training.checkpointing import History
from heron.training.job import run_job
from heron.training.trainer import build_module, build_trainer, predict_split


def test_folder_in_use_by_another_process_is_refused(chronicle_config, tmp_path):
    folder = RunFolder(tmp_path / "run")
    with (
        locked(folder.lock),
        pytest.raises(ConfigError, match="another process is working on this run"),
    ):
        run_job(chronicle_config(), folder)


def test_failure_is_kept_in_the_status_and_forgotten_when_the_run_is_done(
    chronicle_config, tmp_path, monkeypatch
):
    def out_of_disk(*_: object) -> None:
        raise OSError("no space left")

    config, folder = chronicle_config(), RunFolder(tmp_path / "run")
    with monkeypatch.context() as patch:
        patch.setattr("heron.training.job.write_table", out_of_disk)
        with pytest.raises(OSError, match="no space"):
            run_job(config, folder)
    failed = json.loads(folder.status.read_text())
    assert failed["state"] == "failed"
    assert failed["error"] == "OSError: no space left"
    assert any("out_of_disk" in line for line in failed["traceback"])

    run_job(config, folder)
    done = json.loads(folder.status.read_text())
    assert (done["state"], done["error"], done["traceback"]) == ("done", None, None)
    assert done["seconds"] >= failed["seconds"], "time spent before the failure counts"


def test_selecting_the_last_epoch_keeps_no_best_one(chronicle_config, tmp_path):
    config = chronicle_config("trainer.select=last")
    folder = RunFolder(tmp_path / "run")
    scores = run_job(config, folder)
    assert set(scores) == {"validation", "test"}
    assert not folder.best.exists()


def test_best_epoch_is_the_one_that_is_scored(chronicle_config, tmp_path):
    config = chronicle_config("trainer.max_epochs=3", "optim.lr=3e-3", "run.keep_checkpoints=true")
    folder = RunFolder(tmp_path / "run")
    run_job(config, folder)
    best = torch.load(folder.best, weights_only=True)["state_dict"]
    data = DataModule(config)
    module = build_module(config, data)
    module.load_state_dict(best)
    trainer = build_trainer(config, folder, data, History(tmp_path / "again.csv"))
    again = predict_split(trainer, module, data, "test").scores(config)
    scores = json.loads(folder.scores.read_text())["test"]
    assert again["macro_f1"] == scores["macro_f1"]


def test_a_monitored_loss_is_minimised_by_the_choice_of_the_epoch_and_the_early_stop(
    chronicle_config, tmp_path
):
    config = chronicle_config(
        "trainer.monitor=loss",
        "trainer.max_epochs=8",
        "trainer.patience=1",
        "optim.lr=2e-2",
        "run.keep_checkpoints=true",
    )
    folder = RunFolder(tmp_path / "run")
    scores = run_job(config, folder)
    with open(folder.metrics, encoding="utf-8", newline="") as file:
        logged = [row["validation/loss"] for row in csv.DictReader(file)]
    losses = [float(value) for value in logged if value]
    best = losses.index(min(losses))
    assert best > 0, "a run whose loss never falls shows nothing"
    assert len(losses) == best + 2 < 8, "it stops after one epoch without a lower loss"
    assert torch.load(folder.best, weights_only=True)["epoch"] == best
    assert scores["validation"]["loss"] == losses[best]
    assert "loss" not in scores["test"]


def exit_as_lightning_does() -> None:
    """Turn Ctrl+C into an exit, and be deaf to the next one."""
    try:
        raise KeyboardInterrupt
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        sys.exit(1)


def test_exit_that_stands_for_ctrl_c_is_an_interrupt_again():
    handler = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt), interruptible():
        exit_as_lightning_does()
    assert signal.getsignal(signal.SIGINT) is handler


class NotBegun(DataLoader):
    """A loader that is interrupted while it starts its workers."""

    def __iter__(self):
        raise Terminated


def test_an_interrupt_before_the_first_batch_is_not_hidden_by_lightnings_clean_up(tmp_path):
    trainer = pl.Trainer(logger=False, enable_checkpointing=False, default_root_dir=tmp_path)
    module = pl.LightningModule()
    module.training_step = lambda batch: None
    module.configure_optimizers = lambda: None
    with pytest.raises(Terminated), interruptible():
        trainer.fit(module, NotBegun(range(4)))
