"""The gradient of an optimizer step is that of its rows, however batches and processes divide them.

Every case trains through a plain `pl.Trainer`, so that Lightning's division by the number of
batches is in it, in one process and in two.
"""

from __future__ import annotations

import os
import socket
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import pytorch_lightning as pl
import torch
from pytorch_lightning.strategies import DDPStrategy

from heron.base import ranks
from heron.data.config import TRAIN
from heron.data.datamodule import DataModule
from heron.data.features import UNLABELLED
from heron.training.compose import compose
from heron.training.trainer import build_module
from made_up_texts import sentences
from small_runs import TINY, in_folder

# Sizes of an epoch's batches by `accumulate_grad_batches`; each group has the same eight units, the
# last one of an epoch fewer batches. A batch of one leaves the second process nothing to do.
EPOCHS = {1: [[8]], 2: [[4, 4], [1, 7], [8]], 4: [[2, 2, 2, 2], [3, 1, 4]]}
RUNS = {
    "relation": ("head=window",),
    "nli": ("data=chronicle_nli", "task=nli", "head=siamese_cls"),
    "classification": ("data=own_classification", "data.language=en"),
    "qa": ("data=chronicle_qa", "encoder.max_length=48", "encoder.stride=16"),
    "summarization": ("data=chronicle_summaries",),
    "mlm": ("data=own_text", "encoder=pretrained", "encoder.max_length=32"),
}
CASES = {
    "relation": ("plain", "weights", "soft", "smoothed", "soft, smoothed, weights", "both ways"),
    **dict.fromkeys(("nli", "classification"), ("plain", "smoothed, weights")),
    "qa": ("plain", "soft", "smoothed"),
    **dict.fromkeys(("summarization", "mlm"), ("plain", "smoothed")),
}
NAMES = ("economy", "sport", "culture")
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


def eight_units(data: DataModule) -> np.ndarray:
    """Choose units of all lengths."""
    return np.linspace(0, len(data.units[TRAIN]) - 1, 8).astype(int)


def teach(module: Any, data: DataModule, kind: str) -> None:
    """Set what the rows of train teach."""
    draw = torch.Generator().manual_seed(0)
    optim, classes = module.config.optim, len(data.config.data.label_order)
    optim.lr, optim.head_lr = 0.0, None
    optim.label_smoothing = 0.2 if "smoothed" in kind else 0.0
    if data.config.task.name == "qa":
        optim.soft.answers = "soft" in kind
    elif classes > 1:
        module.weights_C = 4 * torch.rand(classes, generator=draw) if "weights" in kind else None
        soft_RC = torch.rand(len(data.features[TRAIN]), classes, generator=draw)
        module.soft_RC = soft_RC if "soft" in kind else None
        module.inverse_C = torch.tensor([1, 0, 2, 3]) if kind == "both ways" else None


@pytest.fixture(scope="module")
def found(tmp_path_factory, tiny_encoder):
    """The gradients in one process, and in two."""
    home = tmp_path_factory.mktemp("gradient")
    built = {task: build(task, home, tiny_encoder) for task in CASES}
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


def build(task: str, home: Path, encoder: Path) -> tuple[Any, DataModule]:
    """Build a small module, whose weights stay, and its data; two units have no class."""
    words = [*RUNS[task], "encoder.dropout=0", "head.dropout=0", *in_folder(home)]
    if task == "classification":
        rows = [f"{text},{NAMES[n % 3]}" for n, text in enumerate(sentences(60))]
        (home / "rows.csv").write_text("\n".join(["text,label", *rows]), encoding="utf-8")
        words += [f"data.files.{split}.path={home}/rows.csv" for split in ("train", "test")]
    if task == "mlm":
        (home / "rows.txt").write_text("\n".join(sentences(60)), encoding="utf-8")
        words += [f"data.files.train.path={home}/rows.txt", f"encoder.name={encoder}"]
    made_up = task not in ("classification", "mlm")
    data = DataModule(compose([*(w for w in TINY if made_up or "generator" not in w), *words]))
    torch.manual_seed(0)
    module, features = build_module(data.config, data), data.features[TRAIN]
    if len(data.config.data.label_order) > 1:
        labels_R = np.array(features.labels_R)
        for unit in eight_units(data)[:2]:
            labels_R[slice(*data.units[TRAIN].rows_V[unit : unit + 2])] = UNLABELLED
        data.features[TRAIN] = replace(features, labels_R=labels_R)
    return module, data


@pytest.mark.parametrize("processes", [1, 2])
@pytest.mark.parametrize(("task", "kind"), [(task, kind) for task in CASES for kind in CASES[task]])
def test_a_step_has_the_gradient_of_its_rows(found, task, kind, processes):
    wanted = found[0][task, kind, "[8] of 1"]
    assert wanted.norm() > 0
    for key, gradient in found[processes - 1].items():
        if key[:2] == (task, kind):
            assert (gradient - wanted).norm() < 1e-5 * wanted.norm(), key
