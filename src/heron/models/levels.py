"""Inspection of a pretrained encoder: its layers, the level of each parameter, its positions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel
from transformers.modeling_layers import GradientCheckpointingLayer

from heron.base.errors import ConfigError
from heron.base.terminal import say
from heron.models.config import EncoderConfig

_PADDING = 1e-4  # largest change by padding, as a share of the largest state; rounding is far below


def find_layers(model: nn.Module) -> nn.ModuleList:
    """Find the stack of transformer layers: the longest list of modules of one class.

    Lists of modules of transformers' own layer class come first.
    """
    stacks = []
    for module in model.modules():
        if isinstance(module, nn.ModuleList) and len({type(layer) for layer in module}) == 1:
            stacks.append(module)
    if not stacks:
        raise ConfigError(f"{type(model).__name__}: no stack of transformer layers found")

    def rank(stack: nn.ModuleList) -> tuple[bool, int]:
        return isinstance(stack[0], GradientCheckpointingLayer), len(stack)

    return max(stacks, key=rank)


def encode_ids(model: PreTrainedModel, ids: Sequence[int], padding: int = 0) -> Tensor:
    """Encode a text in evaluation mode; the model's mode and random numbers stay as they were.

    Args:
        model: an encoder.
        ids: token ids of the text, L of them.
        padding: number of padding tokens after the text.

    Returns:
        states_LD, without those of padding.
    """
    was_training = model.training
    pad_id = model.config.pad_token_id or 0
    padded_ids = [*ids, *[pad_id] * padding]
    mask = [1] * len(ids) + [0] * padding
    tokens_1L = torch.tensor([padded_ids], device=model.device)
    mask_1L = torch.tensor([mask], device=model.device)
    with torch.random.fork_rng(devices=[]):
        output = model.eval()(input_ids=tokens_1L, attention_mask=mask_1L)
    model.train(was_training)
    return output.last_hidden_state[0, : len(ids)]


def freeze_parts(encoder: Any, freeze: str) -> list[nn.Module]:
    """Stop gradients as `EncoderConfig.freeze` says; returns the frozen modules."""
    if freeze == "all":
        encoder.inner.requires_grad_(False)
        return [encoder.inner]

    level = 0 if freeze == "embeddings" else int(freeze)
    layers = len(encoder.layers)
    if level > layers:
        raise ConfigError(f"encoder.freeze={freeze}: the encoder has only {layers} layers")
    frozen = {parameter for parameter, own in encoder.levels.items() if own <= level}
    for parameter in frozen:
        parameter.requires_grad_(False)

    modules = []
    for module in encoder.inner.modules():
        parameters = set(module.parameters())
        if parameters and parameters <= frozen:
            modules.append(module)
    return modules


def find_levels(model: PreTrainedModel) -> dict[nn.Parameter, int]:
    """Give each parameter a level, the number of the layer it belongs to, by one forward pass.

    Returns:
        k for parameters of layer k, counted from 1. Others have 0 if used before the first layer
        (embeddings), the lower layer's number if used between two layers, and the number of layers
        + 1 if used after the last (a final normalisation). Parameters whose module is never called
        have 0, such as tables of relative positions, which are passed to all layers.
    """
    layers = find_layers(model)
    stacks = [module for module in model.modules() if isinstance(module, nn.ModuleList)]
    levels: dict[nn.Parameter, int] = {}
    # XLM has separate lists for the parts of its layers: attentions, norms, feed-forwards.
    for stack in [*stacks, layers]:
        if len(stack) != len(layers):
            continue
        for number, layer in enumerate(stack, start=1):
            levels |= dict.fromkeys(layer.parameters(), number)

    below = 0  # the highest layer that was called so far

    def note(module: nn.Module, inputs: Any) -> None:
        nonlocal below
        for parameter in module.parameters(recurse=False):
            above = below if below < len(layers) else len(layers) + 1
            below = max(below, levels.setdefault(parameter, above))

    hooks = [module.register_forward_pre_hook(note) for module in model.modules()]
    with torch.no_grad():
        encode_ids(model, range(1, 9))
    for hook in hooks:
        hook.remove()
    return {parameter: levels.get(parameter, 0) for parameter in model.parameters()}


def check_encoder(config: EncoderConfig, model: PreTrainedModel) -> None:
    """Check that an encoder reads `max_length` tokens; warn where padding changes its states."""
    check_positions(config, count_positions(model))
    ids = [token for token in range(5, 18) if token != model.config.pad_token_id]
    with torch.no_grad():
        alone_LD = encode_ids(model, ids)
        padded_LD = encode_ids(model, ids, padding=7)
    change = float((alone_LD - padded_LD).abs().max() / alone_LD.abs().max())
    if change > _PADDING:
        say(
            f"{config.name}: padding changes the states of a {model.config.model_type} encoder (by "
            f"{change:.1g} of their size), so its states of a text depend on the longest text "
            "of the batch; batching.size=1 reads each text alone",
            f"padding {config.name}",
        )


def check_positions(config: EncoderConfig, positions: int | None) -> None:
    """Raise a ConfigError where `max_length` needs more positions than a model has."""
    if positions and config.max_length > positions:
        raise ConfigError(
            f"encoder.max_length={config.max_length}: {config.name} reads only {positions} tokens"
        )


def count_positions(model: PreTrainedModel) -> int | None:
    """Count the positions that tokens can have; None without a limit.

    Where the table of positions has a row for padding (RoBERTa), they begin after it.
    """
    positions: int | None = getattr(model.config, "max_position_embeddings", None)
    if positions is None or positions < 1:  # XLNet says -1
        return None
    words: Any = model.get_input_embeddings()
    for module in model.modules():
        pad_id = getattr(module, "padding_idx", None)
        weight = getattr(module, "weight", None)
        if module is words or pad_id is None:
            continue
        if isinstance(weight, Tensor) and len(weight) == positions:
            return positions - int(pad_id) - 1
    return positions
