"""`Batch`: padded tensors of some sequences and all their rows.

Shape suffixes: B sequences, L tokens of the longest, R rows of these sequences.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np
import torch
from torch import Tensor

from heron.data.features import Features


@dataclass(frozen=True, slots=True)
class Batch:
    """What one forward pass reads.

    Args:
        tokens_BL: token ids, int64, padded on the right.
        mask_BL: 1 for tokens, 0 for padding, int64.
        sequences_R: the sequence of each row, int64 from 0 to B - 1.
        spans_R4: first and last word piece of events 1 and 2, int64.
        markers_R2: opening markers of events 1 and 2, or -1, int64.
        labels_R: class ids, or `UNLABELLED`, int64.
        rows_R: index of each row in its `Features`, int64; `Features.guids` names it.
    """

    tokens_BL: Tensor
    mask_BL: Tensor
    sequences_R: Tensor
    spans_R4: Tensor
    markers_R2: Tensor
    labels_R: Tensor
    rows_R: Tensor

    def to(self, device: torch.device | str, non_blocking: bool = False) -> Batch:
        """Copy every tensor to a device; Lightning calls this."""
        moved = {
            field.name: getattr(self, field.name).to(device, non_blocking=non_blocking)
            for field in fields(self)
        }
        return Batch(**moved)

    def turned(self) -> Batch:
        """Exchange event 1 and event 2 of every row."""
        return replace(
            self,
            spans_R4=self.spans_R4[:, [2, 3, 0, 1]],
            markers_R2=self.markers_R2[:, [1, 0]],
        )

    def __len__(self) -> int:
        return len(self.rows_R)


class Collator:
    """Turns sequence indices into a `Batch`.

    Args:
        features: the split.
        pad_id: token id used for padding.
    """

    def __init__(self, features: Features, pad_id: int):
        self.features = features
        self.pad_id = pad_id
        sequences = np.arange(len(features.offsets_S))
        # Rows are sorted by sequence, so those of sequence s are first_row[s] to first_row[s + 1].
        self.first_row = np.searchsorted(features.sequences_R, sequences)

    def __call__(self, sequences_B: np.ndarray) -> Batch:
        """Gather tokens and rows of `sequences_B`, in that order."""
        features = self.features
        lengths_B = features.lengths_S[sequences_B]
        tokens_BL = np.full((len(sequences_B), int(lengths_B.max())), self.pad_id, dtype=np.int64)
        for place, sequence in enumerate(sequences_B):
            start = features.offsets_S[sequence]
            tokens_BL[place, : lengths_B[place]] = features.tokens_T[
                start : start + lengths_B[place]
            ]
        mask_BL = np.arange(tokens_BL.shape[1]) < lengths_B[:, None]
        counts_B = self.first_row[sequences_B + 1] - self.first_row[sequences_B]
        rows_R = np.concatenate(
            [np.arange(self.first_row[s], self.first_row[s + 1]) for s in sequences_B]
        )
        return Batch(
            tokens_BL=torch.from_numpy(tokens_BL),
            mask_BL=torch.from_numpy(mask_BL.astype(np.int64)),
            sequences_R=torch.from_numpy(np.repeat(np.arange(len(sequences_B)), counts_B)),
            spans_R4=_gather(features.spans_R4, rows_R),
            markers_R2=_gather(features.markers_R2, rows_R),
            labels_R=_gather(features.labels_R, rows_R),
            rows_R=torch.from_numpy(rows_R),
        )


def _gather(values: np.ndarray, rows_R: np.ndarray) -> Tensor:
    return torch.from_numpy(np.ascontiguousarray(values[rows_R]).astype(np.int64))
