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
    """The input of one forward pass.

    Args:
        tokens_BL: token ids, int64, padded on the right.
        mask_BL: 1 for tokens, 0 for padding, int64.
        second_B: where the second text begins in each sequence, or -1, int64.
        owners_B: the (first) row of each sequence, int64 from 0 to R - 1.
        sequences_R: the (first) sequence of each row, int64 from 0 to B - 1.
        spans_R4: first and last word piece of events 1 and 2, or -1, int64.
        markers_R2: opening markers of events 1 and 2, or -1, int64.
        labels_R: class ids, or `UNLABELLED`, int64.
        rows_R: index of each row in its `Features`, int64; `Features.guids` names it.
        pooled_XP: stored output of a frozen encoder and the pooling, float32
            (`models/feature_cache.py`); there are no tokens then.
        answers_B2: of questions: first and last token of the gold answer in each sequence, see
            `Features.answers_S2`, int64.
        context_BL: of questions: whether a token lies in the text that holds the answer, bool.
        target_RM: of summaries: token ids of each row's target, int64, padded with `IGNORED`.
        whole_C: labelled rows per class of the whole planned batch, int64, where it is divided
            between processes (`data/sharing.py`).
        whole_sequences: number of sequences of the whole planned batch.
        whole_targets: number of target tokens of the whole planned batch.
        is_stand_in: whether it only keeps a process without a share in step.
    """

    tokens_BL: Tensor
    mask_BL: Tensor
    second_B: Tensor
    owners_B: Tensor
    sequences_R: Tensor
    spans_R4: Tensor
    markers_R2: Tensor
    labels_R: Tensor
    rows_R: Tensor
    pooled_XP: Tensor | None = None
    answers_B2: Tensor | None = None
    context_BL: Tensor | None = None
    target_RM: Tensor | None = None
    whole_C: Tensor | None = None
    whole_sequences: int | None = None
    whole_targets: int | None = None
    is_stand_in: bool = False

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
    """Turns unit indices into a `Batch`.

    Args:
        features: the split.
        pad_id: token id used for padding.
        vectors_XP: stored vectors, per row or per sequence, to use instead of tokens; or None.
    """

    def __init__(self, features: Features, pad_id: int, vectors_XP: np.ndarray | None = None):
        self.features = features
        self.pad_id = pad_id
        self.units = features.units()
        self.vectors_XP = vectors_XP

    def __call__(self, units_U: np.ndarray) -> Batch:
        """Gather sequences and rows of `units_U`, in that order."""
        features, units = self.features, self.units
        sequences_B, unit_B = _ranges(units.sequences_V, units_U)
        rows_R, unit_R = _ranges(units.rows_V, units_U)
        tokens_BL, mask_BL = self._pad(sequences_B)
        vectors_XP, pooled_XP = self.vectors_XP, None
        if vectors_XP is not None:
            per_row = len(vectors_XP) == len(features)
            pooled_XP = torch.from_numpy(vectors_XP[rows_R if per_row else sequences_B])
        # The first sequence and the first row of each unit, counted within the batch.
        first_sequence_U = np.searchsorted(unit_B, np.arange(len(units_U)))
        first_row_U = np.searchsorted(unit_R, np.arange(len(units_U)))
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
            context_BL=self._context(sequences_B),
            target_RM=self._targets(rows_R),
        )

    def sequences(self, units_U: np.ndarray) -> np.ndarray:
        """List the sequences of some units, in a batch's order."""
        return _ranges(self.units.sequences_V, units_U)[0]

    def labels(self, units_U: np.ndarray) -> np.ndarray:
        """List the labels of some units' rows, in a batch's order."""
        return np.asarray(self.features.labels_R[_ranges(self.units.rows_V, units_U)[0]])

    def target_tokens(self, units_U: np.ndarray) -> int | None:
        """Count the tokens of some units' targets; None for tasks without."""
        offsets_R = self.features.target_offsets_R
        if offsets_R is None:
            return None
        rows_R = _ranges(self.units.rows_V, units_U)[0]
        return int((offsets_R[rows_R + 1] - offsets_R[rows_R]).sum())

    def _targets(self, rows_R: np.ndarray) -> Tensor | None:
        """Pad the rows' targets; None for tasks without."""
        targets_T, offsets_R = self.features.targets_T, self.features.target_offsets_R
        if targets_T is None or offsets_R is None:
            return None
        return torch.from_numpy(_padded(targets_T, offsets_R, rows_R, IGNORED)[0])

    def _pad(self, sequences_B: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Pad the tokens and make the mask; both are empty where there are stored vectors."""
        if self.vectors_XP is not None:
            nothing = np.zeros((len(sequences_B), 0), dtype=np.int64)
            return nothing, nothing
        tokens_T, offsets_S = self.features.tokens_T, self.features.offsets_S
        tokens_BL, lengths_B = _padded(tokens_T, offsets_S, sequences_B, self.pad_id)
        mask_BL = np.arange(tokens_BL.shape[1]) < lengths_B[:, None]
        return tokens_BL, mask_BL.astype(np.int64)

    def _context(self, sequences_B: np.ndarray) -> Tensor | None:
        """Mark the tokens of the text that holds the answer; None for other tasks."""
        chars_T2 = self.features.chars_T2
        if chars_T2 is None or self.vectors_XP is not None:
            return None
        start_BL, _ = _padded(chars_T2[:, 0], self.features.offsets_S, sequences_B, -1)
        return torch.from_numpy(start_BL >= 0)


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


def _ranges(starts_U: np.ndarray, units_U: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """List the members of some units, and for each member its unit's place in `units_U`."""
    counts_U = starts_U[units_U + 1] - starts_U[units_U]
    unit_N = np.repeat(np.arange(len(units_U)), counts_U)
    before_U = np.cumsum(counts_U) - counts_U
    return np.arange(len(unit_N)) + (starts_U[units_U] - before_U)[unit_N], unit_N


def _gather(values: np.ndarray, rows_R: np.ndarray) -> Tensor:
    return torch.from_numpy(np.ascontiguousarray(values[rows_R]).astype(np.int64))
