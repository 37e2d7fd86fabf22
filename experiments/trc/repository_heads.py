"""Classifiers of the TRC repository, for `protocol=repo`.

Shape suffixes: R rows, P pooled, C classes.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from heron.models.config import HeadConfig


class PerEvent(nn.Module):
    """The TRC repository's stack: one linear layer per event, one for both, one for the classes.

    Deviates: from the paper, which has a single linear layer; chosen by `protocol=repo`.
    Source: TRC-Hebrew repository; no non-linearity between the layers, as there.
    """

    def __init__(self, pooled: int, classes: int, dropout: float):
        super().__init__()
        half = pooled // 2
        self.events = nn.ModuleList([nn.Linear(half, half), nn.Linear(half, half)])
        self.joined = nn.Linear(2 * half, half)
        self.classes = nn.Linear(half, classes)
        self.dropout = nn.Dropout(dropout)

    def forward(self, pooled_RP: Tensor) -> Tensor:
        """Map pooled_RP (event 1, then event 2) to logits_RC."""
        halves = zip(self.events, pooled_RP.chunk(2, dim=1), strict=True)
        both_RP = torch.cat([self.dropout(layer(half)) for layer, half in halves], dim=1)
        return self.classes(self.dropout(self.joined(both_RP)))


class Pooler(nn.Module):
    """The TRC repository's SEQ-CLS: BERT's pooler (linear, tanh), then one layer for the classes.

    Deviates: from the repository, in that the pooler starts with random weights, because few
    encoders ship one; from the paper, which has a single linear layer.
    Source: TRC-Hebrew repository.
    """

    def __init__(self, pooled: int, classes: int, dropout: float):
        super().__init__()
        self.dense = nn.Linear(pooled, pooled)
        self.classes = nn.Linear(pooled, classes)
        self.dropout = nn.Dropout(dropout)

    def forward(self, pooled_RP: Tensor) -> Tensor:
        """Map the first token's state to logits_RC."""
        return self.classes(self.dropout(torch.tanh(self.dense(pooled_RP))))


def per_event(config: HeadConfig, pooled: int, classes: int) -> nn.Module:
    """Make the classifier `per_event`.

    It is `PerEvent`, or under `pooling=cls`, which has one vector, the repository's SEQ-CLS
    (`Pooler`).

    Args:
        config: of the head.
        pooled: width of what is pooled.
        classes: number of labels.
    """
    stack = Pooler if config.pooling == "cls" else PerEvent
    return stack(pooled, classes, config.dropout)
