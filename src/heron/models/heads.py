"""Heads: a pooling times a classifier, from encoder states to class logits.

Shape suffixes: B sequences, L tokens, D hidden, R rows, P pooled, C classes.
"""

from __future__ import annotations

from itertools import pairwise

import torch
from torch import Tensor, nn

from heron.data.collate import Batch
from heron.models.pooling import POOLINGS
from heron.schema import HeadConfig

# Token distances fall into these half-open buckets: 1, 2, 3-4, 5-8, ... tokens apart; the same
# again for pairs that are read from the later event to the earlier one.
_DISTANCE_BORDERS = (2, 3, 5, 9, 17, 33, 65, 129)


class Head(nn.Module):
    """Pools the states of each row and classifies the result.

    Args:
        config: see `HeadConfig`.
        width: D of the encoder.
        classes: C.
    """

    def __init__(self, config: HeadConfig, width: int, classes: int):
        super().__init__()
        self.pool, multiple = POOLINGS[config.pooling]
        self.distance = (
            nn.Embedding(2 * (len(_DISTANCE_BORDERS) + 1), config.distance)
            if config.distance
            else None
        )
        pooled = multiple * width + config.distance
        self.classifier = build_classifier(config, pooled, classes)

    def forward(self, states_BLD: Tensor, batch: Batch) -> Tensor:
        """Classify every row of the batch; returns logits_RC, float32."""
        pooled_RP = self.pool(states_BLD, batch)
        if self.distance is not None:
            pooled_RP = torch.cat([pooled_RP, self.distance(distance_bucket(batch))], dim=1)
        logits_RC: Tensor = self.classifier(pooled_RP)
        return logits_RC.float()


def distance_bucket(batch: Batch) -> Tensor:
    """Bucket the signed distance between the two mentions' first pieces; returns int64 [R]."""
    borders = torch.tensor(_DISTANCE_BORDERS, device=batch.spans_R4.device)
    distance_R = batch.spans_R4[:, 2] - batch.spans_R4[:, 0]
    bucket_R = torch.bucketize(distance_R.abs(), borders, right=True)
    return bucket_R + (len(borders) + 1) * (distance_R < 0)


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
        logits_RC: Tensor = self.classes(self.dropout(self.joined(both_RP)))
        return logits_RC


class Pooler(nn.Module):
    """The TRC repository's SEQ-CLS: BERT's pooler (linear, tanh), then one layer for the classes.

    Deviates: the pooler starts from nothing, because few encoders ship a trained one; the paper
    has a single linear layer.
    Source: TRC-Hebrew repository.
    """

    def __init__(self, pooled: int, classes: int, dropout: float):
        super().__init__()
        self.dense = nn.Linear(pooled, pooled)
        self.classes = nn.Linear(pooled, classes)
        self.dropout = nn.Dropout(dropout)

    def forward(self, pooled_RP: Tensor) -> Tensor:
        """Map the first token's state to logits_RC."""
        logits_RC: Tensor = self.classes(self.dropout(torch.tanh(self.dense(pooled_RP))))
        return logits_RC


def build_classifier(config: HeadConfig, pooled: int, classes: int) -> nn.Module:
    """Build the classifier that `config.classifier` names."""
    if config.classifier == "linear":
        return nn.Sequential(nn.Dropout(config.dropout), nn.Linear(pooled, classes))
    if config.classifier == "per_event":
        stack = Pooler if config.pooling == "cls" else PerEvent
        return stack(pooled, classes, config.dropout)
    layers: list[nn.Module] = [nn.Dropout(config.dropout)]
    for inside, outside in pairwise([pooled, *config.hidden]):
        layers += [nn.Linear(inside, outside), nn.ReLU(), nn.Dropout(config.dropout)]
    return nn.Sequential(*layers, nn.Linear(config.hidden[-1], classes))
