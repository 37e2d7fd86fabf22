"""A small module of every task and its data, for what has to hold of all tasks."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from heron.data.config import TRAIN
from heron.data.datamodule import DataModule
from heron.data.features import UNLABELLED
from heron.training.compose import compose
from heron.training.trainer import build_module
from made_up_texts import sentences
from small_runs import TINY, in_folder

RUNS = {
    "relation": ("head=window",),
    "nli": ("data=chronicle_nli", "task=nli", "head=siamese_cls"),
    "classification": ("data=own_classification", "data.language=en"),
    "qa": ("data=chronicle_qa", "encoder.max_length=48", "encoder.stride=16"),
    "summarization": ("data=chronicle_summaries",),
    "mlm": ("data=own_text", "encoder=pretrained", "encoder.max_length=32"),
}
# What is trained in different ways, see `teach`.
CASES = {
    "relation": ("plain", "weights", "soft", "smoothed", "soft, smoothed, weights", "both ways"),
    **dict.fromkeys(("nli", "classification"), ("plain", "smoothed, weights")),
    "qa": ("plain", "soft", "smoothed"),
    **dict.fromkeys(("summarization", "mlm"), ("plain", "smoothed")),
}
NAMES = ("economy", "sport", "culture")


def words_of(task: str, home: Path, encoder: Path) -> list[str]:
    """List the overrides of a small run; its files and its cache are in `home`."""
    words = [*RUNS[task], *in_folder(home)]
    if task == "classification":
        rows = [f"{text},{NAMES[n % 3]}" for n, text in enumerate(sentences(60))]
        (home / "rows.csv").write_text("\n".join(["text,label", *rows]), encoding="utf-8")
        words += [f"data.files.{split}.path={home}/rows.csv" for split in ("train", "test")]
    if task == "mlm":
        (home / "rows.txt").write_text("\n".join(sentences(60)), encoding="utf-8")
        words += [f"data.files.train.path={home}/rows.txt", f"encoder.name={encoder}"]
    made_up = task not in ("classification", "mlm")
    return [*(word for word in TINY if made_up or "generator" not in word), *words]


def build(task: str, home: Path, encoder: Path, *words: str) -> tuple[Any, DataModule]:
    """Build a small module and its data; two units have no class."""
    data = DataModule(compose([*words_of(task, home, encoder), *words]))
    torch.manual_seed(0)
    module, features = build_module(data.config, data), data.features[TRAIN]
    if len(data.config.data.label_order) > 1:
        labels_R = np.array(features.labels_R)
        for unit in eight_units(data)[:2]:
            labels_R[slice(*data.units[TRAIN].rows_V[unit : unit + 2])] = UNLABELLED
        data.features[TRAIN] = replace(features, labels_R=labels_R)
    return module, data


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
