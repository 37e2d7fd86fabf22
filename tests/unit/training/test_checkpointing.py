"""A run that was stopped, anywhere and however hard, ends as one that never was: bit for bit."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace
from typing import IO, Any, NamedTuple

import pytest
import torch

from heron.base.errors import ConfigError
from heron.base.libraries import random_state, restore_random_state
from heron.base.run_folder import RunFolder
from heron.tasks.config import Config, TrainerConfig
from heron.training.checkpointing import (
    History,
    LastCheckpoint,
    best_checkpoint,
    read_checkpoint,
    resume_from,
)
from heron.training.job import run_job
from real_data import ENCODER
from small_runs import TINY, compose, in_folder, train
from stopping import Stopped, assert_same_run, stopping
from tiers import quick

EPOCHS = 3
SETTINGS = {
    "ess": ("head=ess", "batching.tokens=600"),
    "window": ("head=window", "batching.tokens=200"),
    "accumulate": (
        "batching.tokens=600",
        "trainer.accumulate_grad_batches=2",
        "trainer.monitor=loss",
    ),
    "flags": (
        "batching.tokens=600",
        "trainer.accumulate_grad_batches=2",
        "trainer.val_check_interval=4",
        "trainer.log_every_n_steps=1",
        "trainer.limit_train_batches=11",
        "trainer.limit_val_batches=2",
        "trainer.checkpoint_steps=1",
    ),
}


class Unbroken(NamedTuple):
    """A configuration, and the run of it that was never stopped."""

    config: Config
    folder: RunFolder


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory):
    """Return a function that trains one of `SETTINGS` without a stop, once per setting."""
    home, made = tmp_path_factory.mktemp("unbroken"), dict[str, Unbroken]()

    def make(setting: str) -> Unbroken:
        if setting not in made:
            epochs = f"trainer.max_epochs={EPOCHS}"
            words = (epochs, "trainer.checkpoint_steps=3", *SETTINGS[setting])
            config = compose(home, *words)
            made[setting] = Unbroken(config, RunFolder(home / setting))
            run_job(config, made[setting].folder)
        return made[setting]

    return make


def run_until(hook: str, count: int, config: Config, folder: RunFolder) -> None:
    """Start (or go on with) a run and stop it at the `count`-th call of a Lightning hook."""
    with stopping(hook, count):
        run_job(config, folder)


# An epoch has 12 batches here, 8 or 9 of windows: call 17 of a batch hook is in the second.
STOPS = {
    "before anything was saved": ("on_train_batch_start", 2),
    "early in the first epoch": ("on_train_batch_start", 5),
    "in the second epoch": ("on_train_batch_start", 17),
    "after an update, before its checkpoint": ("on_train_batch_end", 18),
    "in the first validation": ("on_validation_batch_start", 1),
    "after the second validation": ("on_validation_end", 2),
    "between two epochs": ("on_train_epoch_start", 2),
    "at the end of training": ("on_train_end", 1),
    "while predicting": ("on_predict_batch_start", 1),
}


@pytest.mark.slow
class TestResume:
    @pytest.mark.parametrize("stop", quick(STOPS, 2))
    def test_goes_on_from_any_place(self, stop, unbroken, tmp_path):
        config, expected = unbroken("ess")
        folder = RunFolder(tmp_path / "run")
        run_until(*STOPS[stop], config, folder)
        assert folder.state() == "interrupted"
        run_job(config, folder)
        assert_same_run(folder, expected)

    @pytest.mark.parametrize("stop", ["in the second epoch"])
    @pytest.mark.parametrize("setting", quick(["window", "accumulate"]))
    def test_holds_for_windows_and_for_accumulated_gradients(
        self, setting, stop, unbroken, tmp_path
    ):
        config, expected = unbroken(setting)
        folder = RunFolder(tmp_path / "run")
        run_until(*STOPS[stop], config, folder)
        run_job(config, folder)
        assert_same_run(folder, expected)

    @pytest.mark.real  # takes seconds; another test of the file runs with every change
    def test_goes_on_without_a_status_and_through_a_link(self, unbroken, tmp_path):
        config, expected = unbroken("ess")
        folder, disk = RunFolder(tmp_path / "run"), tmp_path / "disk"
        disk.mkdir()
        folder.path.mkdir()
        folder.last.parent.symlink_to(disk)
        run_until(*STOPS["in the second epoch"], config, folder)
        folder.status.write_text("")
        run_job(config, folder)
        assert_same_run(folder, expected)
        assert (disk / "last.ckpt").is_file()

    @pytest.mark.parametrize("count", quick(range(2, 33, 3), 2))
    def test_holds_for_flags_of_lightnings(self, count, unbroken, tmp_path):
        config, expected = unbroken("flags")
        folder = RunFolder(tmp_path / "run")
        run_until("on_train_batch_end", count, config, folder)
        run_job(config, folder)
        assert_same_run(folder, expected)

    def test_holds_for_several_stops_of_one_run(self, unbroken, tmp_path):
        config, expected = unbroken("ess")
        folder = RunFolder(tmp_path / "run")
        for _ in range(3):
            run_until("on_train_batch_end", 9, config, folder)
        run_job(config, folder)
        assert_same_run(folder, expected)

    def test_stop_during_a_save_leaves_the_checkpoint_before(self, unbroken, tmp_path, monkeypatch):
        config, expected = unbroken("ess")
        folder = RunFolder(tmp_path / "run")
        save, saves = torch.save, []

        def save_half(checkpoint: dict[str, Any], file: IO[bytes]) -> None:
            save(checkpoint, file)
            saves.append(file)
            if len(saves) == 5:
                file.truncate(file.tell() // 2)
                raise Stopped

        with monkeypatch.context() as patch:
            patch.setattr(torch, "save", save_half)
            with pytest.raises(Stopped):
                run_job(config, folder)
        assert len(saves) == 5
        torch.load(folder.last, weights_only=True)  # still whole
        run_job(config, folder)
        assert_same_run(folder, expected)

    def test_a_damaged_best_checkpoint_is_never_scored(self, unbroken, tmp_path):
        config, expected = unbroken("ess")
        folder = RunFolder(tmp_path / "run")
        shutil.copytree(expected.path, folder.path)
        folder.scores.unlink()
        folder.update_status(state="interrupted")
        content = bytearray(folder.best.read_bytes())
        for place in range(len(content) // 2, len(content) // 2 + 4):
            content[place] ^= 0xFF
        folder.best.write_bytes(content)
        with pytest.raises(ConfigError, match=r"best\.ckpt"):
            read_checkpoint(folder.best)
        run_job(config, folder)
        assert folder.best.with_suffix(".corrupt").is_file()
        assert_same_run(folder, expected)

    def test_a_run_whose_best_checkpoint_is_gone_starts_over(self, unbroken, tmp_path):
        folder = RunFolder(tmp_path / "run")
        shutil.copytree(unbroken("ess").folder.path, folder.path)
        folder.best.unlink()
        assert resume_from(folder, unbroken("ess").config) is None, (
            "its last epochs may all be worse than the one chosen"
        )
        assert not folder.last.exists()

    def test_a_finished_run_keeps_its_weights_once(self, unbroken, tmp_path):
        words = ("trainer.max_epochs=3", "trainer.checkpoint_steps=3", *SETTINGS["ess"])
        config = compose(tmp_path, *words, "run.keep_checkpoints=false")
        folder = RunFolder(tmp_path / "run")
        run_until(*STOPS["while predicting"], config, folder)
        assert folder.last.is_file(), "it goes on from there"
        assert folder.best.is_file()
        run_job(config, folder)
        assert_same_run(folder, unbroken("ess").folder)
        assert not folder.last.parent.exists()
        assert run_job(config, folder) == folder.read_scores()

        longer = compose(tmp_path, *words, "trainer.max_epochs=4", f"ckpt_path='{folder.path}'")
        with pytest.raises(ConfigError, match="keep_checkpoints"):
            run_job(longer, RunFolder(tmp_path / "longer"))

    @pytest.mark.parametrize("seconds", [0.0, 1e9])
    def test_holds_where_the_last_epochs_were_too_short_to_be_saved(
        self, seconds, unbroken, tmp_path, monkeypatch
    ):
        monkeypatch.setattr("heron.training.checkpointing._AT_LEAST", seconds)
        words = (*SETTINGS["ess"], f"trainer.max_epochs={EPOCHS}", "run.keep_checkpoints=false")
        config = compose(tmp_path, *words)
        folder = RunFolder(tmp_path / "run")
        run_until(*STOPS["while predicting"], config, folder)
        assert folder.last.is_file() == (seconds == 0.0)
        run_job(config, folder)
        assert_same_run(folder, unbroken("ess").folder)

    def test_checkpoint_holds_no_pickled_code(self, unbroken):
        for path in (unbroken("ess").folder.last, unbroken("ess").folder.best):
            assert "state_dict" in torch.load(path, weights_only=True)


@pytest.mark.real
@pytest.mark.skipif(not ENCODER.is_dir(), reason="HERON_ENCODER names no encoder")
def test_a_run_of_a_pretrained_encoder_is_hardly_larger_than_its_weights(tmp_path):
    words = ("encoder=pretrained", f"encoder.name={ENCODER}", "trainer.max_steps=1")
    run = train(tmp_path, *words, "run.keep_checkpoints=false")
    size = sum(path.stat().st_size for path in run.path.rglob("*") if path.is_file())
    assert size < 1.07 * (run.model / "model.safetensors").stat().st_size


@pytest.mark.real  # seconds; an interruption inside the process is tested above
@pytest.mark.slow
def test_killed_process_goes_on_with_the_same_command(tmp_path):
    overrides = (
        "data.generator.size=700",
        "batching.tokens=300",
        "trainer.max_epochs=1",
        "trainer.checkpoint_steps=5",
    )
    # Its own cache: nothing that an earlier process left may be needed for equal bytes.
    whole = train(tmp_path / "whole", *overrides, job="run")
    broken = RunFolder(tmp_path / "broken" / "runs" / "chronicle-relation" / "run")
    words = [*TINY, *in_folder(tmp_path / "broken"), "run.job=run", *overrides]

    command = [sys.executable, "-m", "heron", "train", *words]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        while not broken.last.is_file() and process.poll() is None:
            time.sleep(0.005)
        process.send_signal(signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL
    assert not broken.dynamics(0).exists(), "the kill came after the epoch"
    assert broken.state() == "failed", "it could not say so itself"

    assert_same_run(train(tmp_path / "broken", *overrides, job="run"), whole)


def test_random_states_of_a_machine_with_more_devices_can_be_restored_here(monkeypatch):
    stored = torch.get_rng_state()
    with monkeypatch.context() as patch:
        patch.setattr("torch.cuda.is_available", lambda: True)
        patch.setattr("torch.cuda.get_rng_state", lambda: stored)
        state = random_state()
    assert len(state["cuda"]) == 1, "its own device's, however many there are"
    drawn = torch.rand(3)
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    restore_random_state(state)
    assert torch.equal(torch.rand(3), drawn)
    restored: list[torch.Tensor] = []
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    monkeypatch.setattr("torch.cuda.set_rng_state", restored.append)
    restore_random_state(state)
    assert torch.equal(restored[0], stored)


def test_the_best_checkpoint_is_named_as_lightning_does(tmp_path, monkeypatch):
    """By another name it would be removed where the next best one lies, which is the same file."""
    monkeypatch.chdir(tmp_path)
    folder, settings = RunFolder(Path("run")), TrainerConfig()
    folder.best.parent.mkdir(parents=True)
    folder.best.touch()
    state = {"best_model_path": "/moved/best.ckpt", "best_k_models": {"/moved/best.ckpt": 0.5}}
    loaded = {"callbacks": {"ModelCheckpoint": state}, "should_stop": False}
    own = LastCheckpoint(folder, settings, History(folder.metrics))
    own.on_load_checkpoint(SimpleNamespace(ckpt_path=None), None, loaded)  # type: ignore[arg-type]
    expected = best_checkpoint(folder, settings).dirpath
    assert (state["dirpath"], state["best_model_path"]) == (expected, f"{expected}/best.ckpt")
    assert state["best_k_models"] == {f"{expected}/best.ckpt": 0.5}
