"""Layers of an encoder, and which layer each parameter acts below."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves
from transformers import PreTrainedModel
from transformers.modeling_layers import GradientCheckpointingLayer

from heron.base.errors import ConfigError


def find_layers(model: nn.Module) -> nn.ModuleList:
    """Find the stack of transformer layers: the longest list of modules of one class.

    Lists of modules of transformers' own layer class come first.
    """
    stacks = [
        module
        for module in model.modules()
        if isinstance(module, nn.ModuleList) and len({type(inner) for inner in module}) == 1
    ]
    if not stacks:
        raise ConfigError(f"{type(model).__name__}: no stack of transformer layers found")
    return max(
        stacks, key=lambda stack: (isinstance(stack[0], GradientCheckpointingLayer), len(stack))
    )


def encode_ids(model: PreTrainedModel, ids: Sequence[int], padding: int = 0) -> Tensor:
    """Encode a text of token ids in evaluation mode; returns states_LD, without the padding's.

    Mode and random numbers stay as they were.
    """
    training, length = model.training, len(ids)
    padded = [*ids, *[model.config.pad_token_id or 0] * padding]
    tokens_1L = torch.tensor([padded], device=model.device)
    mask_1L = torch.tensor([[1] * length + [0] * padding], device=model.device)
    with torch.random.fork_rng(devices=[]):
        output = model.eval()(input_ids=tokens_1L, attention_mask=mask_1L)
    model.train(training)
    return output.last_hidden_state[0, :length]


def freeze_parts(encoder: Any, freeze: str) -> list[nn.Module]:
    """Stop gradients as `EncoderConfig.freeze` says; returns the frozen modules."""
    if freeze == "all":
        encoder.inner.requires_grad_(False)
        return [encoder.inner]
    level, layers = 0 if freeze == "embeddings" else int(freeze), len(encoder.layers)
    if level > layers:
        raise ConfigError(f"encoder.freeze={freeze}: the encoder has only {layers} layers")
    below = {parameter for parameter, own in encoder.levels.items() if own <= level}
    for parameter in below:
        parameter.requires_grad_(False)
    return list(_modules_of(encoder.inner, below))


@torch.enable_grad()
def find_levels(model: PreTrainedModel) -> dict[nn.Parameter, int]:
    """Number the parameters by the layers that they act below, found by one forward pass.

    Returns:
        k for those of layer k, counted from 1. For those outside the layers the number of layers
        below the lowest one whose input depends on them: 0 for embeddings and for relative
        positions, which all layers are given. One more than there are layers for all others, such
        as a final normalisation.
    """
    layers = list(find_layers(model))
    inputs: dict[nn.Module, Any] = {}
    levels = {p: level for level, layer in enumerate(layers, 1) for p in layer.parameters()}

    def noting(layer: nn.Module) -> Callable[..., Any]:
        forward = layer.forward  # not a hook: SqueezeBERT calls it by its name

        def note(*given: Any, **named: Any) -> Any:
            inputs.setdefault(layer, (given, named))
            return forward(*given, **named)

        return note

    frozen = [parameter for parameter in model.parameters() if not parameter.requires_grad]
    for parameter in frozen:
        parameter.requires_grad_(True)
    for layer in layers:
        layer.forward = noting(layer)
    encode_ids(model, range(1, 9))
    for layer in layers:
        del layer.forward
    for parameter in frozen:
        parameter.requires_grad_(False)
    seen: set[Any] = set()
    for level, layer in enumerate(layers):
        leaves = [each for each in tree_leaves(inputs.get(layer)) if isinstance(each, Tensor)]
        for parameter in leaves:
            if isinstance(parameter, nn.Parameter):
                levels.setdefault(parameter, level)
        found: list[Any] = [leaf.grad_fn for leaf in leaves]
        while found:
            if (node := found.pop()) is None or node in seen:
                continue
            seen.add(node)
            if hasattr(node, "variable"):
                levels.setdefault(node.variable, level)
            found += [before for before, _ in node.next_functions]
    for stack in model.modules():  # XLM has a list for each part of its layers
        is_list = isinstance(stack, nn.ModuleList) and len(stack) == len(layers)
        if is_list and type(stack[0]) is not type(layers[0]):
            for level, layer in enumerate(stack, 1):
                levels = {**dict.fromkeys(layer.parameters(), level), **levels}
    return {p: levels.get(p, len(layers) + 1) for p in model.parameters()}


def _modules_of(module: nn.Module, parameters: set[nn.Parameter]) -> Iterator[nn.Module]:
    """Find the largest modules that have none but the given parameters."""
    own = set(module.parameters())
    if own and own <= parameters:
        yield module
    else:
        for inner in module.children():
            yield from _modules_of(inner, parameters)
