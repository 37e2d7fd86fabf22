"""Poolings: encoder states to vectors. Pure functions, without weights.

Poolings of texts give one vector per sequence, those of events one per row; see
`heron.config.registries.Pooling`.

Shape suffixes: B sequences, L tokens, D hidden, R rows, P pooled.
"""

from __future__ import annotations

import torch
from torch import Tensor

from heron.data.collate import Batch


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


def event_start(states_BLD: Tensor, batch: Batch) -> Tensor:
    """Take the states of both opening markers.

    Returns:
        pooled_RP with P = 2 D: event 1, then event 2.

    Source: TRC section 4, Event Start State (ESS).
    """
    return _at(states_BLD, batch.sequences_R, batch.markers_R2).flatten(1)


def mention_pool(states_BLD: Tensor, batch: Batch) -> Tensor:
    """Take, for each event, the maximum over its word pieces, markers excluded.

    Returns:
        pooled_RP with P = 2 D: event 1, then event 2.

    Source: TRC section 4, Event Mention Pooling (EMP).
    """
    positions_L = torch.arange(states_BLD.shape[1], device=states_BLD.device)
    states_RLD = states_BLD[batch.sequences_R]
    pooled = []
    for first, last in ((0, 1), (2, 3)):
        inside_RL = (positions_L >= batch.spans_R4[:, first, None]) & (
            positions_L <= batch.spans_R4[:, last, None]
        )
        outside = torch.finfo(states_RLD.dtype).min
        pooled.append(states_RLD.masked_fill(~inside_RL[..., None], outside).amax(dim=1))
    return torch.cat(pooled, dim=1)


def span_ends(states_BLD: Tensor, batch: Batch) -> Tensor:
    """Take, for each event, its first and last word piece, and compare the two events.

    Returns:
        pooled_RP with P = 8 D: a, b, a * b, a - b, where a and b are the joined states of the
        first and last piece of events 1 and 2.
    """
    ends_R4D = _at(states_BLD, batch.sequences_R, batch.spans_R4)
    a_R, b_R = ends_R4D[:, :2].flatten(1), ends_R4D[:, 2:].flatten(1)
    return torch.cat([a_R, b_R, a_R * b_R, a_R - b_R], dim=1)


def _at(states_BLD: Tensor, sequences_R: Tensor, positions_RK: Tensor) -> Tensor:
    """Gather states at K positions of each row's sequence; returns [R, K, D]."""
    return states_BLD[sequences_R[:, None], positions_RK]
