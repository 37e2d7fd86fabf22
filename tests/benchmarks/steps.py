"""One training step as `heron train` takes it, for the benchmarks that time single steps."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import torch

from heron.data.datamodule import DataModule
from heron.models.optim import build_optimizer
from heron.models.precision import precision
from heron.tasks.config import Config


def take_steps(module: Any, data: DataModule, config: Config) -> Iterator[Any]:
    """Train on an epoch's batches again and again; yields the output of each step, taken."""
    optimizer = build_optimizer(module.encoder, module.head, config.optim)
    autocast = torch.autocast("cpu", torch.bfloat16, precision(config) == "bf16-mixed")
    for batch in itertools.cycle(list(data.train_dataloader())):
        with autocast:
            output = module.step(batch)
        output.loss.backward()
        torch.nn.utils.clip_grad_norm_(module.parameters(), config.trainer.gradient_clip_val)
        optimizer.step()
        optimizer.zero_grad()
        yield output
