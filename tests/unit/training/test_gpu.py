"""Every task on a GPU: it trains and predicts in every precision, and resumes exactly after a kill.

Skipped without one; `HERON_DEVICE=cpu` shows what the tests do.
"""

from __future__ import annotations

import csv
import os

import numpy as np
import pytest
import torch

from heron.base.files import read_json
from heron.base.run_folder import RunFolder
from heron.training.compose import compose
from heron.training.inference import open_trained, read_splits
from heron.training.job import run_job
from small_tasks import RUNS, words_of
from stopping import assert_same_run, stopping

DEVICE = os.environ.get("HERON_DEVICE", "cuda")
pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(DEVICE == "cuda" and not torch.cuda.is_available(), reason="no GPU"),
]
PRECISIONS = ("bf16-mixed", "32-true", *(("16-mixed",) if DEVICE == "cuda" else ()))


@pytest.fixture
def configured(tmp_path, tiny_encoder):
    """Return a function that composes a small run of a task on the device."""
    fixed = (f"trainer.accelerator={DEVICE}", "dynamics.enabled=true", "trainer.checkpoint_steps=2")
    short = ("task.generation.max_new_tokens=6", "task.generation.num_beams=2")

    def configure(task, *words):
        more = short if task == "summarization" else ()
        return compose([*words_of(task, tmp_path, tiny_encoder), *fixed, *more, *words])

    return configure


def epoch_losses(folder):
    """List the training loss of each epoch."""
    rows = csv.DictReader(folder.metrics.read_text(encoding="utf-8").splitlines())
    return [float(row["train/loss"]) for row in rows if row["train/loss"]]


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("task", RUNS)
def test_a_run_trains_and_predicts(task, precision, configured, tmp_path):
    config, folder = configured(task, f"trainer.precision={precision}"), RunFolder(tmp_path / "run")
    scores = run_job(config, folder)
    assert all(np.isfinite([*each.values()]).all() for each in scores.values())
    assert read_json(folder.status)["state"] == "done"
    trained = open_trained(folder)
    for split, examples in read_splits(trained).items():
        predictions, _ = trained.predict(examples)
        assert len(predictions.guids) == len(examples), split


@pytest.mark.parametrize("kernels", ["auto", "compiled"])
@pytest.mark.parametrize("task", RUNS)
def test_a_killed_run_resumes_as_if_it_had_not_been(task, kernels, configured, tmp_path):
    config = configured(task, "trainer.precision=bf16-mixed", f"encoder.kernels={kernels}")
    whole, killed = RunFolder(tmp_path / "whole"), RunFolder(tmp_path / "killed")
    run_job(config, whole)
    torch.compiler.reset()  # as in another process
    with stopping("on_train_batch_end", 3):
        run_job(config, killed)
    torch.compiler.reset()
    run_job(config, killed)
    assert_same_run(killed, whole)


@pytest.mark.parametrize("task", RUNS)
def test_a_compiled_encoder_trains_with_the_same_losses(task, configured, tmp_path):
    words = ("trainer.precision=bf16-mixed", "encoder.dropout=0", "head.dropout=0")
    losses = []
    for kernels in ("torch", "compiled"):
        torch.compiler.reset()
        folder = RunFolder(tmp_path / kernels)
        run_job(configured(task, *words, f"encoder.kernels={kernels}"), folder)
        losses.append(epoch_losses(folder))
    np.testing.assert_allclose(losses[1], losses[0], rtol=1e-3)
