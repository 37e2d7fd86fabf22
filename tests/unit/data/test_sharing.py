"""A divided batch: its shares make it up, and each process knows the whole batch's counts."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn import functional as F

from heron.base import ranks
from heron.data.collate import Collator
from heron.data.features import UNLABELLED
from heron.data.sharing import SharingCollator, share
from heron.tasks.class_module import ClassificationModule


@given(units=st.integers(1, 40), count=st.integers(1, 8))
def test_every_unit_is_in_one_share(units: int, count: int) -> None:
    batch_U = np.random.default_rng(0).permutation(100)[:units]
    shares = [share(batch_U, rank, count) for rank in range(count)]
    assert sorted(np.concatenate(shares)) == sorted(batch_U)
    assert max(map(len, shares)) - min(map(len, shares)) <= 1


@pytest.fixture(scope="module")
def parts(request: pytest.FixtureRequest):
    """A module and its train features, with a few labels taken away."""
    from heron.data.datamodule import DataModule
    from heron.training.build import build_module

    compose = request.getfixturevalue("module_config")
    config = compose("head=window", "optim.class_weights=balanced", "optim.label_smoothing=0.1")
    data = DataModule(config)
    features = data.features["train"]
    labels_R = np.asarray(features.labels_R).copy()
    labels_R[::5] = UNLABELLED
    features = dataclasses.replace(features, labels_R=labels_R)
    return build_module(config, data).eval(), Collator(features, data.tokenizer.pad_token_id)


@pytest.fixture(scope="module")
def module_config(tmp_path_factory: pytest.TempPathFactory, session_cache):
    """As `chronicle_config`, once for the module."""
    from small_runs import compose

    folder = tmp_path_factory.mktemp("sharing")
    return lambda *words: compose(folder, *words)


@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize("units", [1, 2, 5])
def test_mean_of_the_shares_losses_and_gradients_is_that_of_the_batch(
    parts, units: int, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    module, collate = parts
    batch_U = np.arange(units) + 2
    whole = module.step(collate(batch_U))
    wanted = torch.autograd.grad(whole.loss, list(module.parameters()))
    monkeypatch.setattr(ranks._here, "ranks", count)
    losses, rows = [], []
    for rank in range(count):
        batch = SharingCollator(collate, 4, rank, count)(batch_U)
        assert batch.is_stand_in == (rank >= units)
        output = module.step(batch)
        losses.append(output.loss)
        rows += output.rows_R.tolist()
    assert sorted(rows) == sorted(whole.rows_R.tolist())
    mean = torch.stack(losses).mean()
    torch.testing.assert_close(mean, whole.loss)
    found = torch.autograd.grad(mean, list(module.parameters()))
    for ours, theirs in zip(found, wanted, strict=True):
        torch.testing.assert_close(ours, theirs, atol=1e-6, rtol=1e-5)


def test_a_batch_without_labels_has_no_loss_in_any_process(parts) -> None:
    module, collate = parts
    nothing_R = np.full_like(collate.features.labels_R, UNLABELLED)
    features = dataclasses.replace(collate.features, labels_R=nothing_R)
    for rank in range(2):
        batch = SharingCollator(Collator(features, collate.pad_id), 4, rank, 2)(np.arange(1))
        assert module.step(batch).loss is None


def test_one_process_takes_the_mean_as_torch_does(parts) -> None:
    module, collate = parts
    assert isinstance(module, ClassificationModule)
    output = module.step(collate(np.arange(4)))
    wanted = F.cross_entropy(
        output.logits_RC, output.labels_R, module.weights_C, label_smoothing=0.1
    )
    torch.testing.assert_close(output.loss, wanted)
