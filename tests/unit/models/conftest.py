"""Batches made up for the tests of models: random tokens, two mentions and markers per row."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from heron.data.collate import Batch

MakeBatch = Callable[..., Batch]
PAD = 0


@pytest.fixture
def make_batch() -> MakeBatch:
    """Return a function that makes a batch of sequences of the given lengths."""
    return _make_batch


def _make_batch(
    lengths: tuple[int, ...] = (9, 14, 11),
    rows: tuple[int, ...] = (2, 1, 3),
    padding: int = 0,
    seed: int = 0,
    vocabulary: int = 100,
) -> Batch:
    """Make a batch; `padding` adds columns of padding on the right and changes nothing else."""
    random = torch.Generator().manual_seed(seed)
    width = max(lengths)
    mask_BL = (torch.arange(width) < torch.tensor(lengths)[:, None]).long()
    tokens_BL = torch.randint(5, vocabulary, (len(lengths), width), generator=random)
    sequences_R = torch.repeat_interleave(torch.arange(len(lengths)), torch.tensor(rows))
    places = []
    for sequence in sequences_R.tolist():
        # Six different places in order: marker, first, last of one event, then of the other.
        six = torch.randperm(lengths[sequence], generator=random)[:6].sort().values
        places.append(six if len(places) % 2 else six[[3, 4, 5, 0, 1, 2]])
    places_R6 = torch.stack(places)
    extra = torch.zeros(len(lengths), padding, dtype=torch.int64)
    return Batch(
        tokens_BL=torch.cat([tokens_BL.masked_fill(mask_BL == 0, PAD), extra + PAD], dim=1),
        mask_BL=torch.cat([mask_BL, extra], dim=1),
        second_B=torch.full((len(lengths),), -1),
        owners_B=torch.searchsorted(sequences_R, torch.arange(len(lengths))),
        sequences_R=sequences_R,
        labels_R=torch.randint(0, 4, (len(sequences_R),), generator=random),
        rows_R=torch.arange(len(sequences_R)),
        columns={"spans": places_R6[:, [1, 2, 4, 5]], "markers": places_R6[:, [0, 3]]},
    )
