"""Heads for which transformers has a class of the same function."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn


@dataclass(frozen=True, slots=True)
class HeadWeights:
    """A head's weights under the names of a class of transformers.

    Args:
        auto: the class that opens encoder and head, such as `AutoModelForQuestionAnswering`.
        labels: what its outputs are called.
        layers: the head's weights.
    """

    auto: Any
    labels: list[str]
    layers: dict[str, Tensor]


def named(name: str, layer: nn.Module) -> dict[str, Tensor]:
    """List a layer's weights under another name."""
    return {f"{name}.{key}": value for key, value in layer.state_dict().items()}
