"""`Batch`: padded tensors of some units: their sequences and all their rows.

A planned batch is divided between the processes of a training.

Shape suffixes: U units, B sequences, L tokens of the longest, R rows of these sequences, C classes,
X rows or sequences, P size of a pooled vector.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from heron.data.features import UNLABELLED, Axis, Column, Features, Units

IGNORED = -100  # target id of padding: without loss


@dataclass(frozen=True, slots=True)
class Batch:
    """The input of one forward pass; tensors of numbers are int64."""

    tokens_BL: Tensor  # token ids, padded on the right
    mask_BL: Tensor  # 1 for tokens, 0 for padding
    second_B: Tensor  # where the second text begins in each sequence, or -1
    owners_B: Tensor  # the (first) row of each sequence, from 0 to R - 1
    sequences_R: Tensor  # the (first) sequence of each row, from 0 to B - 1
    labels_R: Tensor  # class ids, or `UNLABELLED`
    rows_R: Tensor  # index of each row in its `Features`; `Features.guids` names it
    # Pooled output of a frozen encoder, float32, as stored by `models/feature_cache.py`; the batch
    # then has no tokens.
    pooled_XP: Tensor | None = None
    # The task's own, see `Features.columns`; those of tokens are padded [B, L, ...].
    columns: dict[str, Tensor] = field(default_factory=dict)
    is_stand_in: bool = False  # a placeholder, for a process without a share
    collated: Batch | None = None  # see `host`

    @property
    def host(self) -> Batch:
        """The batch as collated, in the host's memory: reading values from a GPU waits for it."""
        return self if self.collated is None else self.collated

    def to(self, device: torch.device | str, non_blocking: bool = False) -> Batch:
        """Copy every tensor to a device, without waiting for a GPU; Lightning calls this."""
        at_once = non_blocking or torch.device(device).type not in ("cpu", "mps")
        moved = self._mapped(lambda tensor: tensor.to(device, non_blocking=at_once))
        return replace(moved, collated=self.host)

    def pin_memory(self) -> Batch:
        """Copy every tensor to pinned memory; a `DataLoader` calls this."""
        return self._mapped(Tensor.pin_memory)

    def _mapped(self, change: Callable[[Tensor], Tensor]) -> Batch:
        mapped: dict[str, Any] = {}
        for attribute in fields(self):
            value = getattr(self, attribute.name)
            if torch.is_tensor(value):
                value = change(value)
            elif isinstance(value, dict):
                value = {name: change(column) for name, column in value.items()}
            mapped[attribute.name] = value
        return Batch(**mapped)

    def with_columns(self, **changed: Tensor) -> Batch:
        """Add columns, or replace them."""
        return replace(self, columns={**self.columns, **changed})

    def __len__(self) -> int:
        return len(self.rows_R)


def known_places(column: str, batch: Batch) -> Tensor:
    """Find the entries of a column that are not `IGNORED`.

    The host's copy of the batch is read, so that a GPU need not be waited for.

    Returns:
        Indices into the flat column, int64 [N], on the batch's device.
    """
    device = batch.columns[column].device
    is_known = batch.host.columns[column] != IGNORED
    return is_known.flatten().nonzero()[:, 0].to(device, non_blocking=True)


class Collator:
    """Turns unit indices into a `Batch` of tokens, or of stored vectors.

    Args:
        features: of the split.
        pad_id: token id of padding.
        vectors_XP: a vector for each row or each sequence, which replaces its tokens.
        units: of the split; None: made from the features.
    """

    def __init__(
        self,
        features: Features,
        pad_id: int,
        vectors_XP: np.ndarray | None = None,
        units: Units | None = None,
    ):
        self.features = features
        self.units = units or features.units()
        self.pad_id = pad_id
        self.vectors_XP = vectors_XP

    def __call__(self, units_U: np.ndarray) -> Batch:
        """Gather sequences and rows of `units_U`, in that order."""
        features = self.features
        units = self.units
        sequences_B, unit_B = _members(units.sequences_V, units_U)
        rows_R, unit_R = _members(units.rows_V, units_U)

        # A batch of stored vectors has no tokens.
        tokens_BL = mask_BL = np.zeros((len(sequences_B), 0), dtype=np.int64)
        pooled_XP = None
        if self.vectors_XP is None:
            tokens_BL, lengths_B = _padded(
                features.tokens_T, features.offsets_S, sequences_B, self.pad_id
            )
            positions_L = np.arange(tokens_BL.shape[1])
            mask_BL = (positions_L < lengths_B[:, None]).astype(np.int64)
        else:
            is_per_row = len(self.vectors_XP) == len(features)
            entries_X = rows_R if is_per_row else sequences_B
            pooled_XP = torch.from_numpy(self.vectors_XP[entries_X])

        entries: dict[Axis, np.ndarray] = {"sequence": sequences_B, "row": rows_R, "unit": units_U}
        columns = {}
        for name, column in features.columns.items():
            if self.vectors_XP is None or column.axis != "token":
                columns[name] = self._column(column, entries)

        # The first sequence and the first row of each unit, counted within the batch.
        positions_U = np.arange(len(units_U))
        first_sequence_U = np.searchsorted(unit_B, positions_U)
        first_row_U = np.searchsorted(unit_R, positions_U)
        return Batch(
            tokens_BL=torch.from_numpy(tokens_BL),
            mask_BL=torch.from_numpy(mask_BL),
            second_B=_gather(features.second_S, sequences_B),
            owners_B=torch.from_numpy(first_row_U[unit_B]),
            sequences_R=torch.from_numpy(first_sequence_U[unit_R]),
            labels_R=_gather(features.labels_R, rows_R),
            rows_R=torch.from_numpy(rows_R),
            pooled_XP=pooled_XP,
            columns=columns,
        )

    def _column(self, column: Column, entries: dict[Axis, np.ndarray]) -> Tensor:
        """Gather a column's entries of a batch, given the sequences, the rows and the units."""
        axis: Axis = column.axis
        offsets = column.offsets
        if axis == "token":
            axis = "sequence"
            offsets = self.features.offsets_S
        if offsets is None:
            return _gather(column.array, entries[axis])
        padded, _ = _padded(column.array, offsets, entries[axis], column.fill)
        return torch.from_numpy(padded)

    def sequences(self, units_U: np.ndarray) -> np.ndarray:
        """List the sequences of some units, in a batch's order."""
        sequences_B, _ = _members(self.units.sequences_V, units_U)
        return sequences_B


def _padded(
    values: np.ndarray, offsets: np.ndarray, entries: np.ndarray, fill: int
) -> tuple[np.ndarray, np.ndarray]:
    """Stack the lists of some entries, padded on the right.

    Args:
        values: all lists, one after the other.
        offsets: where each list begins in `values`, and where the last one ends.
        entries: which lists to stack.
        fill: value of the padding.

    Returns:
        `[entries, longest, ...]`, and the length of each list.
    """
    starts = offsets[entries]
    ends = offsets[entries + 1]
    lengths = ends - starts
    longest = int(lengths.max(initial=0))

    stacked = np.full((len(entries), longest, *values.shape[1:]), fill, dtype=_dtype(values))
    for row, start, end in zip(stacked, starts, ends, strict=True):
        row[: end - start] = values[start:end]
    return stacked, lengths


def _members(borders_V: np.ndarray, units_U: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """List the members (sequences or rows) of some units.

    Returns:
        Indices of the members, and for each one the position of its unit in `units_U`.
    """
    starts_U = borders_V[units_U]
    counts_U = borders_V[units_U + 1] - starts_U
    unit_N = np.repeat(np.arange(len(units_U)), counts_U)

    before_U = np.cumsum(counts_U) - counts_U  # members of the units before
    shift_U = starts_U - before_U
    return np.arange(len(unit_N)) + shift_U[unit_N], unit_N


def _gather(values: np.ndarray, entries: np.ndarray) -> Tensor:
    gathered = np.ascontiguousarray(values[entries])
    return torch.from_numpy(gathered.astype(_dtype(values)))


def _dtype(values: np.ndarray) -> Any:
    """Choose a tensor's type: int64 for integers, else unchanged."""
    return np.int64 if values.dtype.kind in "iu" else values.dtype


def share(units_U: np.ndarray, tokens_U: np.ndarray, rank: int, ranks: int) -> np.ndarray:
    """Take one process's part of a planned batch, given the tokens of its units.

    Units are dealt to the processes from the longest to the shortest, in turns of alternating
    direction, since a step waits for the largest share; two shares differ by at most the longest
    unit.

    Args:
        units_U: the batch's unit indices.
        tokens_U: tokens of each of these units.
        rank: of the process.
        ranks: number of processes.
    """
    turn_U = np.arange(len(units_U)) % (2 * ranks)
    rank_U = np.minimum(turn_U, 2 * ranks - 1 - turn_U)
    longest_first_U = units_U[np.argsort(-tokens_U, kind="stable")]
    return longest_first_U[rank_U == rank]


class SharingCollator:
    """Collates one process's share of each batch.

    All processes must have the same number of batches. A share without a unit therefore gets a
    placeholder: a unit without labels that passes through the model and counts nowhere.

    Args:
        collate: collates a whole batch.
        rank: of this process.
        ranks: number of processes.
    """

    def __init__(self, collate: Collator, rank: int, ranks: int):
        self.collate = collate
        self.rank = rank
        self.ranks = ranks
        self.tokens_U = collate.units.longest_U * collate.units.sizes_U

    def __call__(self, units_U: np.ndarray) -> Batch:
        """Collate this process's share of a planned batch."""
        own_U = share(units_U, self.tokens_U[units_U], self.rank, self.ranks)
        if len(own_U):
            return self.collate(own_U)
        placeholder = self.collate(units_U[:1])
        unlabelled_R = torch.full_like(placeholder.labels_R, UNLABELLED)
        return replace(placeholder, labels_R=unlabelled_R, is_stand_in=True)
