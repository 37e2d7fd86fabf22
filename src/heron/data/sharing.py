"""Batches that are divided between the processes of a training.

Shape suffixes: U units, R rows, C classes.
"""

from dataclasses import replace

import numpy as np
import torch

from heron.data.collate import Batch, Collator
from heron.data.features import UNLABELLED


def share(units_U: np.ndarray, rank: int, ranks: int) -> np.ndarray:
    """Take one process's part of a planned batch: every `ranks`-th unit, so lengths are alike."""
    return units_U[rank::ranks]


class SharingCollator:
    """Collates one process's share of each batch, so that the gradients of all add up to its own.

    All processes must have the same number of batches. A share without a unit therefore gets a
    stand-in: a unit without labels that passes through the model and counts nowhere.
    """

    def __init__(self, collate: Collator, classes: int, rank: int, ranks: int):
        self.collate, self.classes = collate, classes
        self.rank, self.ranks = rank, ranks

    def __call__(self, units_U: np.ndarray) -> Batch:
        """Collate this process's share of a planned batch; see `Batch.whole_C`."""
        mine_U = share(units_U, self.rank, self.ranks)
        batch = self.collate(mine_U if len(mine_U) else units_U[:1])
        labels_R = self.collate.labels(units_U)
        counts_C = np.bincount(labels_R[labels_R != UNLABELLED], minlength=self.classes)
        sequences = int(self.collate.units.sizes_U[units_U].sum())
        batch = replace(
            batch,
            whole_C=torch.from_numpy(counts_C),
            whole_sequences=sequences,
            whole_targets=self.collate.target_tokens(units_U),
        )
        if not len(mine_U):
            nothing_R = torch.full_like(batch.labels_R, UNLABELLED)
            batch = replace(batch, labels_R=nothing_R, is_stand_in=True)
        return batch
