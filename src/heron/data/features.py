"""`Features`: a tokenized split as flat arrays, stored on disk.

A *sequence* is one input of the encoder; a *row* is what is classified. They need not be one to
one: in the window form all pairs of a text share one sequence; a premise and a hypothesis that are
encoded separately, or a long premise in overlapping windows, are several sequences of one row. A
*unit* is a smallest set of sequences and rows that belong together; it is never split over batches.

Shape suffixes: T tokens of the split, S sequences, R rows, U units.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from heron.base import array_store
from heron.base.errors import DataError, Problem
from heron.data.examples import Example
from heron.data.markers import Markers

FEATURES_VERSION = 5
UNLABELLED = -100

# How well tokens match a gold answer's characters; `Features.fits_R` holds the index.
FITS = EXACT, INEXACT, CUT, TOKENLESS = ("exact", "inexact", "cut", "tokenless")


@dataclass(frozen=True, slots=True)
class Features:
    """One tokenized split; the arrays may be memory-mapped.

    Args:
        tokens_T: token ids of all sequences, one after the other, int32.
        offsets_S: where each sequence begins in `tokens_T`; one more entry than sequences, int64.
        second_S: where the second text begins in each sequence, counted in tokens from its start,
            for encoders that tell two segments apart; -1 where there is none, int32.
        sequences_R: the (first) sequence of each row, int32, never falling.
        spans_R4: first and last word piece of event 1, then of event 2 (both inclusive, counted
            from the start of the sequence), or -1, int32.
        markers_R2: the opening marker of each event, or -1, int32.
        labels_R: index into `label_order`, or `UNLABELLED`, int32.
        truncated_R: whether the length limit cut the row's text, bool.
        guids: one per row.
        refused: examples that could not be used, with the reason; they have no row.
        answers_S2: of questions: first and last token of the gold answer in each sequence (both
            inclusive, counted from its start); 0, 0 where the answer is not in this window or
            there is none; -1, -1 where none is known, int32.
        chars_T2: of questions: the characters of `Example.text` of each token, end exclusive; -1
            for tokens outside of it (question, special tokens) and for mere blanks, int32.
        fits_R: of questions: index into `FITS`: the tokens have the gold answer's characters
            exactly; or more or fewer (a border inside a token); it is cut (whole in no window); or
            it has no token; -1 where there is no gold answer, int8.
        targets_T: of summaries: token ids of all targets, one after the other, int32.
        target_offsets_R: of summaries: where each row's target begins in `targets_T`; one more
            entry than rows, int64. A row without a target has an empty one.
        target_cut_R: of summaries: whether the length limit cut the target, bool.

    Arrays of questions and summaries are None for other tasks.
    """

    tokens_T: np.ndarray
    offsets_S: np.ndarray
    second_S: np.ndarray
    sequences_R: np.ndarray
    spans_R4: np.ndarray
    markers_R2: np.ndarray
    labels_R: np.ndarray
    truncated_R: np.ndarray
    guids: list[str]
    refused: list[Problem]
    answers_S2: np.ndarray | None = None
    chars_T2: np.ndarray | None = None
    fits_R: np.ndarray | None = None
    targets_T: np.ndarray | None = None
    target_offsets_R: np.ndarray | None = None
    target_cut_R: np.ndarray | None = None

    @property
    def lengths_S(self) -> np.ndarray:
        """Tokens per sequence, int64."""
        return np.diff(self.offsets_S)

    def units(self) -> Units:
        """Group sequences and rows into units."""
        first_S, first_R = np.unique(self.sequences_R, return_index=True)
        starts_S = np.append(first_S, len(self.lengths_S)).astype(np.int64)
        starts_R = np.append(first_R, len(self.guids)).astype(np.int64)
        longest_U = np.maximum.reduceat(self.lengths_S, first_S) if len(first_S) else first_S
        return Units(starts_S, starts_R, longest_U)

    def __len__(self) -> int:
        return len(self.guids)


@dataclass(frozen=True, slots=True)
class Units:
    """The sequences and rows of each unit, which are contiguous.

    Shape suffixes: U units; V = U + 1 borders: unit u begins at entry u and ends at entry u + 1.

    Args:
        sequences_V: the first sequence of each unit, then the number of sequences, int64.
        rows_V: the first row of each unit, then the number of rows, int64.
        longest_U: tokens of each unit's longest sequence, int64.
    """

    sequences_V: np.ndarray
    rows_V: np.ndarray
    longest_U: np.ndarray

    @classmethod
    def single(cls, lengths_S: np.ndarray) -> Units:
        """Make every sequence a unit of its own, with one row."""
        starts = np.arange(len(lengths_S) + 1)
        return cls(starts, starts, np.asarray(lengths_S, dtype=np.int64))

    @property
    def sizes_U(self) -> np.ndarray:
        """Sequences per unit, int64."""
        return np.diff(self.sequences_V)

    def guids(self, features: Features) -> list[str]:
        """List the guid of each unit's first row."""
        return [features.guids[row] for row in self.rows_V[:-1]]

    def __len__(self) -> int:
        return len(self.longest_U)


@dataclass(frozen=True, slots=True)
class FeatureOptions:
    """Options of tokenization; part of the cache key.

    Args:
        input: see `HeadConfig.input`.
        markers: opening and closing marker of event 1, then of event 2.
        max_length: tokens per sequence at most, special tokens included.
        label_order: class names; a label's index is its class id.
        truncation: see `EncoderConfig`, like the next four.
        overflow: `truncate` or `windows`.
        stride: tokens that neighbouring windows share.
        separator: text between premise and hypothesis, or None for the tokenizer's pair template.
        trailing_separator: write it after the hypothesis as well.
        training: of questions: refuse those whose answer is in no window.
        max_target: of summaries: tokens of a target at most, special tokens included.
        target_start: of summaries: keep the special token that the tokenizer puts before a text.
    """

    input: str
    markers: Markers
    max_length: int
    label_order: tuple[str, ...]
    truncation: str = "only_first"
    overflow: str = "truncate"
    stride: int = 64
    separator: str | None = None
    trailing_separator: bool = False
    training: bool = False
    max_target: int = 0
    target_start: bool = True

    def label_ids(self, examples: Sequence[Example]) -> np.ndarray:
        """Number the labels of some examples, int32."""
        ids = {label: index for index, label in enumerate(self.label_order)}
        labels = [UNLABELLED if e.label is None else ids[e.label] for e in examples]
        return np.asarray(labels, dtype=np.int32)


def flatten(sequences: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Concatenate token ids, int32; returns tokens_T and offsets_S."""
    lengths = [len(ids) for ids in sequences]
    tokens_T = np.concatenate([np.empty(0, dtype=np.int32), *sequences])
    return tokens_T, np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def token_ids(ids: Sequence[int]) -> np.ndarray:
    """Convert the token ids of one sequence to int32: a list takes ten times the memory."""
    return np.asarray(ids, dtype=np.int32)


def require_none_refused(features: Features, split: str) -> None:
    """Raise a DataError that lists every refused example of a split, if there are any."""
    fix = ("raise encoder.max_length", "data.on_cut=drop leaves such rows out, counted")
    if found := [Problem(f"{split} {p.where}", p.what, p.fix or fix) for p in features.refused]:
        raise DataError(found)


def load_features(cache: Path, key: str, build: Callable[[], Features]) -> Features:
    """Open the features stored under `key`, building them first where needed; see `array_store`."""

    def parts() -> tuple[array_store.Arrays, dict[str, Any]]:
        features = build()
        values = {each.name: getattr(features, each.name) for each in fields(features)}
        arrays = {name: v for name, v in values.items() if isinstance(v, np.ndarray)}
        refused = [asdict(problem) for problem in features.refused]
        return arrays, {"guids": features.guids, "refused": refused}

    arrays, rest = array_store.load_or_build(cache, "features", key, parts)
    refused = [Problem(**problem) for problem in rest["refused"]]
    return Features(**arrays, guids=rest["guids"], refused=refused)
