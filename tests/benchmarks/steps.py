"""Some steps of one rival, measured in this process.

Reading, tokenizing and planning are done before the clock starts; it runs from the end of one step
to the end of the next, so that batch assembly, forward, backward, clipping, optimizer, schedule,
logging and callbacks are in it.

Shape suffix: S sequences.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
import pytorch_lightning as pl
import torch
from torch import nn
from transformers import AutoConfig

from heron.base.libraries import silence_libraries
from heron.models.precision import precision
from heron.tasks.config import Config
from heron.training.compose import compose

from .epoch import TRAINING, ChosenBatches, Stopwatch, choose_batches, padded_tokens
from .rivals import RIVALS, plan_rival, train


def measure(name: str, steps: int, words: Sequence[str]) -> dict[str, float | None]:
    """Time a few steps of one rival and estimate its epoch.

    Args:
        name: who trains.
        steps: that are timed.
        words: of heron's configuration, from which the Trainer takes data, encoder and optimizer.

    Returns:
        `cpu_seconds` and `seconds` of 1,000 event pairs, all threads together; the share of tokens
        that are no padding; operations of the layers on real tokens in a processor second, as a
        share of what this machine reaches in nothing but their products, in the same precision.
    """
    silence_libraries()
    rival = RIVALS[name]
    own = (f"head={rival.head}", f"trainer.precision={rival.precision}", "encoder.max_length=256")
    config = compose(["data=trc", *TRAINING, *own, *words])
    torch.set_num_threads(config.trainer.threads or 1)
    pl.seed_everything(config.seed, verbose=False)
    data, watch = ChosenBatches(config), Stopwatch()
    plan, lengths, samples = plan_rival(rival, config, data)
    chosen, order = choose_batches(plan, lengths, steps), np.concatenate(plan)
    data.chosen = [chosen[len(chosen) // 2], *chosen]  # one of middle length is not timed
    train(rival, config, data, watch)
    padded, some = padded_tokens(plan, lengths), padded_tokens(chosen, lengths)
    spent = watch.laps().sum(axis=0) * padded / some * 1000 / samples[order].sum()
    found = dict(zip(("cpu_seconds", "seconds"), spent.tolist(), strict=True))
    found["padding_efficiency"] = float(lengths[order].sum()) / padded
    share = None
    if rival.head != "window":  # its pairs share a forward pass
        share = 1000 * gflop_per_sample(config, lengths) / spent[0] / gemm_rate(config)
    return found | {"gemm_share": share}


def gflop_per_sample(config: Config, lengths_S: np.ndarray) -> float:
    """Count the operations of the encoder's layers, forward and backward, on real tokens."""
    shape = AutoConfig.from_pretrained(config.encoder.name)
    width, inner = shape.hidden_size, shape.intermediate_size
    products = 6 * (4 * width * width + 2 * width * inner) * lengths_S.mean()
    attention = 12 * width * float(np.mean(lengths_S.astype(float) ** 2))
    return float(shape.num_hidden_layers * (products + attention)) / 1e9


def gemm_rate(config: Config, tokens: int = 2048, rounds: int = 5) -> float:
    """Measure GFLOP per second of processor time in the products of one layer and nothing else."""
    shape = AutoConfig.from_pretrained(config.encoder.name)
    dtype = torch.bfloat16 if precision(config) == "bf16-mixed" else torch.float32
    widths = shape.hidden_size, shape.intermediate_size
    shapes = [(widths[0], widths[0])] * 4 + [widths, widths[::-1]]
    layers = [nn.Linear(*each, bias=False).to(dtype) for each in shapes]
    inputs = [torch.randn(tokens, each[0], dtype=dtype, requires_grad=True) for each in shapes]
    outputs = [torch.randn(tokens, each[1], dtype=dtype) for each in shapes]
    best = float("inf")
    for _ in range(rounds):
        begin = time.process_time()
        for layer, states, gradient in zip(layers, inputs, outputs, strict=True):
            layer(states).backward(gradient)
        best = min(best, time.process_time() - begin)
    return sum(6 * tokens * one * two for one, two in shapes) / best / 1e9
