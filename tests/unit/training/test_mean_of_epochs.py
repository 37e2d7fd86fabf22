"""`trainer.select=mean` predicts with the mean of the weights of the last epochs."""

import pytest
import torch

import small_runs
from heron.base.signals import Terminated
from heron.data.datamodule import DataModule
from heron.training.callbacks import MeanOfEpochs
from heron.training.checkpointing import LastCheckpoint, load_weights, read_checkpoint
from heron.training.trainer import build_module


@pytest.fixture
def weights_after(monkeypatch):
    """Collect copies of the weights after each epoch, and the mean that was loaded."""
    seen, loaded = [], []
    add, load = MeanOfEpochs.on_train_epoch_end, MeanOfEpochs.load_into

    def adding(self, trainer, module):
        seen.append({n: p.detach().clone() for n, p in module.named_parameters()})
        add(self, trainer, module)

    def loading(self, module):
        load(self, module)
        loaded.append({n: p.detach().clone() for n, p in module.named_parameters()})

    monkeypatch.setattr(MeanOfEpochs, "on_train_epoch_end", adding)
    monkeypatch.setattr(MeanOfEpochs, "load_into", loading)
    return seen, loaded


WORDS = ("trainer.select=mean", "trainer.mean_of=2", "trainer.max_epochs=3")


def test_the_mean_is_of_the_last_epochs(tmp_path, weights_after):
    folder = small_runs.train(tmp_path, *WORDS)
    seen, (loaded,) = weights_after
    assert len(seen) == 3
    for name, weights in loaded.items():
        torch.testing.assert_close(weights, (seen[1][name] + seen[2][name]) / 2)
    assert folder.read_scores()["test"]


@pytest.mark.real  # takes seconds; another test of the file runs with every change
def test_a_resumed_run_ends_with_the_same_mean(tmp_path, monkeypatch, weights_after):
    whole = small_runs.train(tmp_path / "whole", *WORDS)
    save = LastCheckpoint.on_train_epoch_end

    def cut(self, trainer, module):
        save(self, trainer, module)
        if trainer.current_epoch == 1:
            raise Terminated

    with monkeypatch.context() as patch:
        patch.setattr(LastCheckpoint, "on_train_epoch_end", cut)
        words = [*small_runs.TINY, *small_runs.in_folder(tmp_path / "cut"), "run.job=tiny"]
        assert small_runs.heron("train", *words, *WORDS) == 143
    again = small_runs.train(tmp_path / "cut", *WORDS)
    assert again.read_scores() == whole.read_scores()
    (first, second) = weights_after[1]
    for name, weights in first.items():
        assert torch.equal(weights, second[name])


def test_the_last_checkpoint_keeps_the_weights_that_training_goes_on_from(tmp_path, weights_after):
    folder = small_runs.train(tmp_path, *WORDS)
    config = small_runs.compose(tmp_path, *WORDS)
    data = DataModule(config)
    module = build_module(config, data)
    load_weights(module, read_checkpoint(folder.last))
    for name, weights in module.named_parameters():
        assert torch.equal(weights, weights_after[0][-1][name])
