"""Poolings (encoder states to vectors, without weights) and heads: a pooling and a classifier.

Poolings of texts give one vector per sequence, those of events one per row; see
`heron.models.Pooling`.

Shape suffixes: B sequences, L tokens, D hidden, R rows, P pooled, C classes; X rows or sequences.
"""

from __future__ import annotations

from contextlib import nullcontext
from itertools import pairwise
from typing import NamedTuple

import torch
from torch import Tensor, nn

from heron.data.collate import Batch
from heron.models import CLASSIFIERS, HEADS, POOLINGS
from heron.models.config import HeadConfig


def cls(states_BLD: Tensor, batch: Batch) -> Tensor:
    """Take the state of the first token. Returns pooled_BD. Source: TRC section 4, SEQ-CLS."""
    return states_BLD[:, 0]


def last_token(states_BLD: Tensor, batch: Batch) -> Tensor:
    """Take the state of the last token that is not padding. Returns pooled_BD.

    Source: RoNLI section 4, RoGPT2: the state of the end-of-sequence token.
    """
    last_B = batch.mask_BL.sum(dim=1) - 1
    return states_BLD[torch.arange(len(last_B), device=last_B.device), last_B]


def mean(states_BLD: Tensor, batch: Batch) -> Tensor:
    """Take the mean state of the tokens that are not padding. Returns pooled_BD."""
    mask_BL1 = batch.mask_BL[..., None].to(states_BLD.dtype)
    return (states_BLD * mask_BL1).sum(dim=1) / mask_BL1.sum(dim=1)


class Events(NamedTuple):
    """The columns of a batch whose rows have two marked events; int64."""

    # First and last word piece of event 1, then of event 2 (both inclusive, counted from the start
    # of the sequence).
    spans_R4: Tensor
    markers_R2: Tensor  # each event's opening marker; its first word piece where there is none

    @classmethod
    def of(cls, batch: Batch) -> Events:
        """View a batch."""
        return cls(batch.columns["spans"], batch.columns["markers"])


def events_swapped(batch: Batch) -> Batch:
    """Swap event 1 and event 2 of every row."""
    spans_R4, markers_R2 = Events.of(batch)
    return batch.with_columns(spans=spans_R4.roll(2, dims=1), markers=markers_R2.flip(1))


def event_start(states_BLD: Tensor, batch: Batch) -> Tensor:
    """Take the states of both opening markers: pooled_RP with P = 2 D, event 1 first.

    Without markers, those of the events' first word pieces.

    Source: TRC section 4, Event Start State (ESS).
    """
    return _at(states_BLD, batch.sequences_R, Events.of(batch).markers_R2).flatten(1)


def mention_pool(states_BLD: Tensor, batch: Batch) -> Tensor:
    """Take each event's maximum over its word pieces, markers excluded: pooled_RP with P = 2 D.

    Source: TRC section 4, Event Mention Pooling (EMP).
    """
    states_RLD = states_BLD[batch.sequences_R]
    outside = torch.finfo(states_RLD.dtype).min
    positions_L = torch.arange(states_BLD.shape[1], device=states_BLD.device)
    spans_R4 = Events.of(batch).spans_R4

    pooled = []
    for first, last in ((0, 1), (2, 3)):
        is_after_RL = positions_L > spans_R4[:, last, None]
        is_before_RL = positions_L < spans_R4[:, first, None]
        is_outside_RL1 = (is_before_RL | is_after_RL)[..., None]
        pooled.append(states_RLD.masked_fill(is_outside_RL1, outside).amax(dim=1))
    return torch.cat(pooled, dim=1)


def span_ends(states_BLD: Tensor, batch: Batch) -> Tensor:
    """Join the states of each event's first and last word piece, and compare the two events.

    Returns:
        pooled_RP with P = 8 D: a, b, a * b, a - b, where a and b are the joined states of the
        first and last piece of events 1 and 2.
    """
    ends_R4D = _at(states_BLD, batch.sequences_R, Events.of(batch).spans_R4)
    a_RP = ends_R4D[:, :2].flatten(1)
    b_RP = ends_R4D[:, 2:].flatten(1)
    return torch.cat([a_RP, b_RP, a_RP * b_RP, a_RP - b_RP], dim=1)


def _at(states_BLD: Tensor, sequences_R: Tensor, positions_RK: Tensor) -> Tensor:
    """Gather states at K positions of each row's sequence; returns [R, K, D]."""
    return states_BLD[sequences_R[:, None], positions_RK]


# Token distances fall into these half-open buckets: 1, 2, 3-4, 5-8, ... tokens apart; the same
# again for pairs that are read from the later event to the earlier one.
_DISTANCE_BORDERS = (2, 3, 5, 9, 17, 33, 65, 129)


# Weights of a classifier from which bf16 pays: 128 x 128 units on 768 gain nothing, 256 x 256 a
# third, 512 x 512 two fifths of their time (measured, see tests/benchmarks/README.md).
_SMALL = 200_000


class Head(nn.Module):
    """Pools the states of each row and classifies the result, from D to C."""

    def __init__(self, config: HeadConfig, width: int, classes: int):
        super().__init__()
        self.config = config
        self.distance = None
        if config.distance:
            buckets = 2 * (len(_DISTANCE_BORDERS) + 1)
            self.distance = nn.Embedding(buckets, config.distance)
        self.classifier = build_classifier(config, pooled_width(config, width), classes)
        weights = sum(parameter.numel() for parameter in self.classifier.parameters())
        self.is_small = weights < _SMALL

    def forward(self, states_BLD: Tensor, batch: Batch) -> Tensor:
        """Classify every row of the batch; returns logits_RC, float32."""
        return self.classify(self.pool(states_BLD, batch), batch)

    def pool(self, states_BLD: Tensor, batch: Batch) -> Tensor:
        """Pool the states: a vector per row, or per window where logits are joined."""
        config = self.config
        pooling = POOLINGS[config.pooling]
        pooled_XP = pooling.pool(states_BLD, batch)
        if pooling.of_rows:
            return pooled_XP

        if config.input in ("marked", "window"):
            return pooled_XP[batch.sequences_R]
        if config.input == "separate":
            premise_RP, hypothesis_RP = pooled_XP.view(len(batch), 2, -1).unbind(dim=1)
            return combine(premise_RP, hypothesis_RP, config.combine)
        if config.over_windows == "mean_states":
            return join_windows(pooled_XP, batch, "mean")
        return pooled_XP

    def pools_rows(self) -> bool:
        """Tell whether `pool` gives a vector per row; per sequence otherwise."""
        return (
            POOLINGS[self.config.pooling].of_rows
            or self.config.input in ("marked", "window", "separate")
            or self.config.over_windows == "mean_states"
        )

    def classify(self, pooled_XP: Tensor, batch: Batch) -> Tensor:
        """Map pooled vectors to logits_RC, float32.

        In full precision under autocast too if the head is small: casting costs more than it saves.
        Of a wide head, the output layer is: logits of 8 bits would tie in rankings of examples.
        """
        full = torch.autocast(pooled_XP.device.type, enabled=False)
        with full if self.is_small else nullcontext():
            dtype = next(self.classifier.parameters()).dtype
            pooled_XP = pooled_XP.to(dtype)
            if self.distance is not None:
                distance_RP = self.distance(distance_bucket(batch))
                pooled_XP = torch.cat([pooled_XP, distance_RP], dim=1)
            logits_XC: Tensor = self.classifier(pooled_XP).float()
        if len(logits_XC) == len(batch):
            return logits_XC
        how = self.config.over_windows.removesuffix("_logits")
        return join_windows(logits_XC, batch, how)


def new_head(config: HeadConfig, width: int, classes: int) -> nn.Module:
    """Build a configuration's head, a fork's or `Head`, for an encoder of width D and C classes."""
    build = Head if config.module is None else HEADS[config.module]
    return build(config, width, classes)


def pooled_width(config: HeadConfig, width: int) -> int:
    """Compute P, the width of the classifier's input, for an encoder of `width` D."""
    multiple = POOLINGS[config.pooling].width
    if config.input == "separate":
        multiple *= 4 if config.combine == "compare" else 2
    return multiple * width + config.distance


def combine(u_RD: Tensor, v_RD: Tensor, how: str) -> Tensor:
    """Join the vectors of premise u and hypothesis v, each [R, D], by `head.combine`.

    Returns:
        `concat`: u, v as [R, 2 D]; `compare`: u, v, |u - v|, u * v as [R, 4 D].

    Source: `concat` RoNLI section 4; `compare` is InferSent's (Conneau et al. 2017).
    """
    if how == "concat":
        return torch.cat([u_RD, v_RD], dim=1)
    return torch.cat([u_RD, v_RD, (u_RD - v_RD).abs(), u_RD * v_RD], dim=1)


def join_windows(values_BX: Tensor, batch: Batch, how: str) -> Tensor:
    """Join the values of each row's windows by their `mean` or `max`; returns float32 [R, X].

    Deterministic: windows of a row are contiguous, so nothing is added in random order. As many
    kernels run for many rows as for one.
    """
    values_BX = values_BX.float()
    if len(values_BX) == len(batch):
        return values_BX
    counts_R = torch.bincount(batch.host.owners_B, minlength=len(batch))
    counts_R = counts_R.to(values_BX.device, non_blocking=True)
    # `unsafe`: torch would wait for a GPU to check the counts.
    return torch.segment_reduce(values_BX, how, lengths=counts_R, unsafe=True)


def distance_bucket(batch: Batch) -> Tensor:
    """Bucket the signed distance between the two mentions' first pieces; returns int64 [R]."""
    spans_R4 = Events.of(batch).spans_R4
    borders = torch.tensor(_DISTANCE_BORDERS).to(spans_R4.device, non_blocking=True)
    distance_R = spans_R4[:, 2] - spans_R4[:, 0]
    bucket_R = torch.bucketize(distance_R.abs(), borders, right=True)
    return bucket_R + (len(borders) + 1) * (distance_R < 0)


def build_classifier(config: HeadConfig, pooled: int, classes: int) -> nn.Module:
    """Build the classifier that `config.classifier` names."""
    return CLASSIFIERS[config.classifier](config, pooled, classes)


class OutputLayer(nn.Linear):
    """A linear layer in full precision, under autocast too."""

    def forward(self, values_XP: Tensor) -> Tensor:
        """Map the last hidden layer's values to logits_XC, in the precision of the weights."""
        with torch.autocast(values_XP.device.type, enabled=False):
            return super().forward(values_XP.to(self.weight.dtype))


def linear(config: HeadConfig, pooled: int, classes: int) -> nn.Sequential:
    """Make one linear layer, after dropout."""
    return nn.Sequential(nn.Dropout(config.dropout), nn.Linear(pooled, classes))


def mlp(config: HeadConfig, pooled: int, classes: int) -> nn.Sequential:
    """Stack hidden layers (linear, ReLU, layer norm, dropout) and a linear output layer.

    Args:
        config: `hidden` has the widths; `layer_norm` and `dropout_at` say which hidden layers
            have a norm, and dropout.
        pooled: width P of the input.
        classes: number C of outputs.

    Source: LCHAIM section 3.1 (300, 100, 50, a norm after each; dropout after the first, in its
    released code after the first two), RoNLI's repository (256; dropout after it).
    """
    dropout = config.dropout
    widths = [pooled, *config.hidden]
    with_dropout = {"first": 1, "first_two": 2}.get(config.dropout_at, len(config.hidden))
    with_norm = {"none": 0, "first": 1, "all": len(config.hidden)}[config.layer_norm]

    layers: list[nn.Module] = []
    if config.dropout_at == "all":
        layers.append(nn.Dropout(dropout))
    for depth, (inputs, outputs) in enumerate(pairwise(widths)):
        layers += [nn.Linear(inputs, outputs), nn.ReLU()]
        if depth < with_norm:
            layers.append(nn.LayerNorm(outputs))
        if depth < with_dropout:
            layers.append(nn.Dropout(dropout))
    return nn.Sequential(*layers, OutputLayer(widths[-1], classes))
