"""`Batch`: padded tensors of some units: their sequences and all their rows.

Shape suffixes: U units, B sequences, L tokens of the longest, R rows of these sequences, C classes,
M tokens of the longest target; X rows or sequences, P pooled.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from heron.data.features import Features

IGNORED = -100  # in targets: padding, without loss


@dataclass(frozen=True, slots=True)
class Batch:
    """The input of one forward pass; tensors of numbers are int64."""

    tokens_BL: Tensor  # token ids, padded on the right
    mask_BL: Tensor  # 1 for tokens, 0 for padding
    second_B: Tensor  # where the second text begins in each sequence, or -1
    owners_B: Tensor  # the (first) row of each sequence, from 0 to R - 1
    sequences_R: Tensor  # the (first) sequence of each row, from 0 to B - 1
    spans_R4: Tensor  # first and last word piece of events 1 and 2, or -1
    markers_R2: Tensor  # opening markers of events 1 and 2, or -1
    labels_R: Tensor  # class ids, or `UNLABELLED`
    rows_R: Tensor  # index of each row in its `Features`; `Features.guids` names it
    # Output of a frozen encoder and the pooling, float32, as stored by `models/feature_cache.py`;
    # there are no tokens then.
    pooled_XP: Tensor | None = None
    # Of questions: first and last token of the gold answer, see `Features.answers_S2`; and, bool,
    # whether a token lies in the text that holds the answer.
    answers_B2: Tensor | None = None
    context_BL: Tensor | None = None
    target_RM: Tensor | None = None  # of summaries: token ids, padded with `IGNORED`
    is_stand_in: bool = False  # it only keeps a process without a share in step

    def to(self, device: torch.device | str, non_blocking: bool = False) -> Batch:
        """Copy every tensor to a device; Lightning calls this."""
        moved: dict[str, Any] = {
            field.name: value.to(device, non_blocking=non_blocking)
            for field in fields(self)
            if isinstance(value := getattr(self, field.name), Tensor)
        }
        return replace(self, **moved)

    def with_events_swapped(self) -> Batch:
        """Swap event 1 and event 2 of every row."""
        spans_R4, markers_R2 = self.spans_R4[:, [2, 3, 0, 1]], self.markers_R2[:, [1, 0]]
        return replace(self, spans_R4=spans_R4, markers_R2=markers_R2)

    def __len__(self) -> int:
        return len(self.rows_R)


class Collator:
    """Turns unit indices into a `Batch` of tokens, or of vectors (per row or per sequence)."""

    def __init__(self, features: Features, pad_id: int, vectors_XP: np.ndarray | None = None):
        self.features, self.units = features, features.units()
        self.pad_id, self.vectors_XP = pad_id, vectors_XP

    def __call__(self, units_U: np.ndarray) -> Batch:
        """Gather sequences and rows of `units_U`, in that order."""
        features, units = self.features, self.units
        sequences_B, unit_B = _ranges(units.sequences_V, units_U)
        rows_R, unit_R = _ranges(units.rows_V, units_U)
        tokens_BL = mask_BL = np.zeros((len(sequences_B), 0), dtype=np.int64)
        vectors_XP, pooled_XP = self.vectors_XP, None
        if vectors_XP is not None:
            per_row = len(vectors_XP) == len(features)
            pooled_XP = torch.from_numpy(vectors_XP[rows_R if per_row else sequences_B])
        else:
            tokens_T, offsets_S = features.tokens_T, features.offsets_S
            tokens_BL, lengths_B = _padded(tokens_T, offsets_S, sequences_B, self.pad_id)
            mask_BL = (np.arange(tokens_BL.shape[1]) < lengths_B[:, None]).astype(np.int64)
        # The first sequence and the first row of each unit, counted within the batch.
        first_sequence_U = np.searchsorted(unit_B, np.arange(len(units_U)))
        first_row_U = np.searchsorted(unit_R, np.arange(len(units_U)))
        context_BL = target_RM = None
        if features.chars_T2 is not None and vectors_XP is None:
            start_BL = _padded(features.chars_T2[:, 0], features.offsets_S, sequences_B, -1)[0]
            context_BL = torch.from_numpy(start_BL >= 0)
        if features.targets_T is not None and features.target_offsets_R is not None:
            targets = _padded(features.targets_T, features.target_offsets_R, rows_R, IGNORED)
            target_RM = torch.from_numpy(targets[0])
        answers_S2 = features.answers_S2
        return Batch(
            tokens_BL=torch.from_numpy(tokens_BL),
            mask_BL=torch.from_numpy(mask_BL),
            second_B=_gather(features.second_S, sequences_B),
            owners_B=torch.from_numpy(first_row_U[unit_B]),
            sequences_R=torch.from_numpy(first_sequence_U[unit_R]),
            spans_R4=_gather(features.spans_R4, rows_R),
            markers_R2=_gather(features.markers_R2, rows_R),
            labels_R=_gather(features.labels_R, rows_R),
            rows_R=torch.from_numpy(rows_R),
            pooled_XP=pooled_XP,
            answers_B2=None if answers_S2 is None else _gather(answers_S2, sequences_B),
            context_BL=context_BL,
            target_RM=target_RM,
        )

    def sequences(self, units_U: np.ndarray) -> np.ndarray:
        """List the sequences of some units, in a batch's order."""
        return _ranges(self.units.sequences_V, units_U)[0]


def _padded(
    values: np.ndarray, offsets: np.ndarray, rows: np.ndarray, fill: int
) -> tuple[np.ndarray, np.ndarray]:
    """Put the values of some rows side by side, int64 `[rows, longest]`; also gives the lengths."""
    starts = offsets[rows]
    lengths = offsets[rows + 1] - starts
    found = np.full((len(rows), int(lengths.max(initial=0))), fill, dtype=np.int64)
    for place, (start, length) in enumerate(zip(starts, lengths, strict=True)):
        found[place, :length] = values[start : start + length]
    return found, lengths


def _ranges(borders_V: np.ndarray, units_U: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """List the members of some units, and for each member its unit's place in `units_U`."""
    counts_U = borders_V[units_U + 1] - borders_V[units_U]
    unit_N = np.repeat(np.arange(len(units_U)), counts_U)
    before_U = np.cumsum(counts_U) - counts_U
    return np.arange(len(unit_N)) + (borders_V[units_U] - before_U)[unit_N], unit_N


def _gather(values: np.ndarray, rows_R: np.ndarray) -> Tensor:
    return torch.from_numpy(np.ascontiguousarray(values[rows_R]).astype(np.int64))
