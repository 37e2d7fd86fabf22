"""The gradient of an optimizer step is that of its rows, however batches and processes divide them.

Every case trains through a plain `pl.Trainer`, so that Lightning's division by the number of
batches is in it, in one process and in two.
"""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import pytorch_lightning as pl
import torch
from pytorch_lightning.strategies import DDPStrategy

from heron.base import ranks
from heron.data.datamodule import DataModule
from small_tasks import CASES, build, eight_units, teach
from tiers import one_in

# Sizes of an epoch's batches by `accumulate_grad_batches`; each group has the same eight units, the
# last one of an epoch fewer batches. A batch of one leaves the second process nothing to do.
EPOCHS = {1: [[8]], 2: [[4, 4], [1, 7], [8]], 4: [[2, 2, 2, 2], [3, 1, 4]]}
STILL = ("encoder.dropout=0", "head.dropout=0")
Built = dict[str, tuple[Any, DataModule]]  # by task: module and data
Gradients = dict[tuple[str, str, str], torch.Tensor]


def gradients(built: Built) -> Gradients:
    """Compute the gradient of each optimizer step of every case."""
    found: Gradients = {}
    for task, kinds in CASES.items():
        module, data = built[task]
        for kind in kinds:
            teach(module, data, kind)
            for accumulate, steps in EPOCHS.items():
                names = [f"{sizes} of {accumulate}" for sizes in steps]
                seen = train(module, data, steps, accumulate)
                found |= {(task, kind, n): g for n, g in zip(names, seen, strict=True)}
    return found


def train(module: Any, data: Any, steps: list[list[int]], accumulate: int) -> list[torch.Tensor]:
    """Train an epoch of these batches; returns the gradient of each step."""
    seen: list[torch.Tensor] = []

    def keep(*_: Any, **__: Any) -> None:
        parts = [p.grad.flatten() for p in module.parameters() if p.grad is not None]
        seen.append(torch.cat(parts).clone())

    cuts = [np.split(eight_units(data), np.cumsum(sizes)[:-1]) for sizes in steps]
    data.plan = lambda epoch: [batch for step in cuts for batch in step]
    module.configure_gradient_clipping = keep
    trainer = pl.Trainer(
        max_epochs=1,
        accelerator="cpu",
        devices=ranks.ranks(),
        strategy=DDPStrategy() if ranks.ranks() > 1 else "auto",
        accumulate_grad_batches=accumulate,
        use_distributed_sampler=False,
        limit_val_batches=0,
        logger=False,
        enable_checkpointing=False,
        enable_model_summary=False,
        enable_progress_bar=False,
    )
    trainer.fit(module, datamodule=data)
    return seen


@pytest.fixture(scope="module")
def found(tmp_path_factory, tiny_encoder):
    """The gradients in one process, and in two."""
    home = tmp_path_factory.mktemp("gradient")
    built = {task: build(task, home, tiny_encoder, *STILL) for task in CASES}
    one = gradients(built)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    # A fork has all that is built; to start Python anew takes longer than the rest of this file.
    torch.multiprocessing.start_processes(
        in_two, (built, port, home / "two"), nprocs=2, start_method="fork"
    )
    return one, torch.load(home / "two")


def in_two(rank: int, built: Any, port: int, file: Path) -> None:
    """Be one of two processes."""
    counts = {"WORLD_SIZE": 2, "LOCAL_WORLD_SIZE": 2, "GROUP_RANK": 0, "TORCHELASTIC_RUN_ID": 0}
    place = {"RANK": rank, "LOCAL_RANK": rank, "MASTER_PORT": port, **counts}
    os.environ |= {"MASTER_ADDR": "127.0.0.1", **{name: str(n) for name, n in place.items()}}
    ranks.join("cpu")
    two = gradients(built)
    if rank == 0:
        torch.save(two, file)
    ranks.leave()


@pytest.mark.parametrize("processes", [1, 2])
@pytest.mark.parametrize(
    ("task", "kind"), one_in(2, [(task, kind) for task in CASES for kind in CASES[task]])
)
def test_a_step_has_the_gradient_of_its_rows(found, task, kind, processes):
    wanted = found[0][task, kind, "[8] of 1"]
    assert wanted.norm() > 0
    for key, gradient in found[processes - 1].items():
        if key[:2] == (task, kind):
            assert (gradient - wanted).norm() < 1e-5 * wanted.norm(), key
