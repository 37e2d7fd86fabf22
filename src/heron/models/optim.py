"""AdamW or Adafactor with decay groups, and schedules as factors on the peak learning rate."""

import math
from collections.abc import Callable, Container

import torch
from torch import nn
from torch.optim import Adafactor, AdamW, Optimizer
from torch.optim.lr_scheduler import LambdaLR

from heron.models.config import OptimConfig
from heron.models.encoder import Encoder


def build_optimizer(
    encoder: Encoder,
    head: nn.Module,
    config: OptimConfig,
    matrices: Container[int] | None = None,
    is_scaled: bool = False,
) -> Optimizer:
    """Group the trainable parameters by learning rate and weight decay.

    The encoder trains at `lr`, the head and a decoder in the encoder at `head_lr`; a layer k layers
    below the head at `lr * layer_decay ** k`, parameters outside the layers likewise, by level
    (`heron.models.levels.find_levels`). Biases and normalisation weights never decay.

    Args:
        encoder: its trainable parameters are grouped.
        head: the same.
        config: keys of `optim`.
        matrices: ids of the parameters that decay; None: those with more than one dimension.
        is_scaled: whether gradients are scaled (16-bit floats), which no fused step can undo.
    """
    groups: dict[tuple[float, float], list[nn.Parameter]] = {}  # by learning rate and decay

    def add(parameter: nn.Parameter, rate: float) -> None:
        decays = parameter.ndim > 1 if matrices is None else id(parameter) in matrices
        decay = config.weight_decay if decays else 0.0
        if parameter.requires_grad:
            groups.setdefault((rate, decay), []).append(parameter)

    head_lr = config.lr if config.head_lr is None else config.head_lr
    top = 0
    levels = {}
    if config.layer_decay != 1:
        top = len(encoder.layers)
        levels = encoder.levels
    for parameter in encoder.parameters():
        depth = max(0, top - levels.get(parameter, top))
        layer_lr = config.lr * config.layer_decay**depth
        add(parameter, head_lr if encoder.learns_as_head(parameter) else layer_lr)
    for parameter in head.parameters():
        add(parameter, head_lr)

    grouped = []
    devices = set()
    for (rate, decay), parameters in groups.items():
        grouped.append({"params": parameters, "lr": rate, "weight_decay": decay})
        devices |= {parameter.device.type for parameter in parameters}
    if config.name == "adafactor":
        return Adafactor(grouped)
    return AdamW(
        grouped,
        betas=(config.betas[0], config.betas[1]),
        eps=config.eps,
        fused=not is_scaled and devices <= {"cpu", "cuda"},
    )


def build_schedule(optimizer: Optimizer, config: OptimConfig, total_steps: float) -> LambdaLR:
    """Warm up over `warmup_steps`, or a fraction of all steps, then follow `config.schedule`.

    A training without an end (`total_steps` is infinite) has no fraction to warm up over.
    """
    warmup = config.warmup_steps
    if warmup is None:
        warmup = math.ceil(config.warmup * total_steps) if total_steps < math.inf else 0
    return LambdaLR(optimizer, schedule(config.schedule, warmup, total_steps))


def schedule(name: str, warmup: int, total_steps: float) -> Callable[[int], float]:
    """Make the factor on the peak learning rate as a function of the steps already taken.

    Args:
        name: `constant`, `linear` (to 0 at the end) or `cosine` (half a wave, to 0 at the end).
        warmup: optimizer steps over which the factor rises linearly from 0; may be more than
            `total_steps`.
        total_steps: optimizer steps of the whole run; infinite: the rate stays after the warm-up.

    Source: transformers' `get_linear_schedule_with_warmup` and its neighbours.
    """

    def factor(step: int) -> float:
        if step < warmup:
            return step / warmup
        progress = min(1.0, (step - warmup) / max(1, total_steps - warmup))
        if name == "linear":
            return 1.0 - progress
        if name == "cosine":
            return 0.5 * (1.0 + math.cos(math.pi * progress))
        return 1.0

    return factor


def class_weights(kind: str, counts_C: torch.Tensor) -> torch.Tensor | None:
    """Weigh classes in the loss by how often they occur in the train split.

    Args:
        kind: `none`; `balanced` is N / (C n_c); `one_minus_share` is 1 - n_c / N.
        counts_C: train rows per class, int64.

    Returns:
        Weights, float32 [C], or None. Absent classes weigh as if they occurred once.
    """
    if kind == "none":
        return None
    counts_C = counts_C.clamp(min=1).float()
    if kind == "balanced":
        return counts_C.sum() / (len(counts_C) * counts_C)
    return 1 - counts_C / counts_C.sum()
