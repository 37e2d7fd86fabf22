"""Batches that are divided between the processes of a training.

Shape suffix: U units.
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
    """Collates one process's share of each batch.

    All processes must have the same number of batches. A share without a unit therefore gets a
    placeholder: a unit without labels that passes through the model and counts nowhere.
    """

    def __init__(self, collate: Collator, rank: int, ranks: int):
        self.collate, self.rank, self.ranks = collate, rank, ranks

    def __call__(self, units_U: np.ndarray) -> Batch:
        """Collate this process's share of a planned batch."""
        mine_U = share(units_U, self.rank, self.ranks)
        if len(mine_U):
            return self.collate(mine_U)
        batch = self.collate(units_U[:1])
        nothing_R = torch.full_like(batch.labels_R, UNLABELLED)
        return replace(batch, labels_R=nothing_R, is_stand_in=True)
