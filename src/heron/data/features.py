"""`Features`: a tokenized split as flat arrays, stored on disk.

A *sequence* is one input of the encoder; a *row* is what is classified. They need not be one to
one: in the window form all pairs of a text share one sequence; a premise and a hypothesis that are
encoded separately, or a long premise in overlapping windows, are several sequences of one row. A
*unit* is a smallest set of sequences and rows that belong together; batches do not divide it.

A task's own fields are its `columns`; their axis alone decides how they are divided, stored and
put into batches.

Shape suffixes: T tokens of the split, S sequences, R rows, U units.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Literal

import numpy as np

from heron.base.errors import Problem, raise_all
from heron.base.files import Arrays, load_or_build
from heron.data.examples import Example

FEATURES_VERSION = 9
UNLABELLED = -100
# What stands before a column's name, in the cache.
_COLUMN = "column "
_OFFSETS = "offsets "
_GUIDS = ("guids", "offsets of guids")
_AT_ONCE = 4096
Axis = Literal["token", "sequence", "row", "unit"]


@dataclass(frozen=True, slots=True)
class Column:
    """An array with one entry for each token, sequence, row or unit of a split.

    With `offsets`, int64, an entry is a list: entry e is `array[offsets[e]:offsets[e + 1]]`. Lists,
    and the tokens of a sequence, are padded by `fill` in batches.
    """

    array: np.ndarray
    axis: Axis
    fill: int = -1
    offsets: np.ndarray | None = None


class Texts(Sequence[str]):
    """Texts as one array, which may be memory-mapped: a list of them takes 90 bytes for each."""

    def __init__(self, bytes_T: np.ndarray, offsets_R: np.ndarray):
        """Take the bytes of all texts, UTF-8, and where each begins; then where the last ends."""
        import pyarrow as pa  # start-up time

        self.array = pa.LargeStringArray.from_buffers(
            len(offsets_R) - 1, pa.py_buffer(offsets_R), pa.py_buffer(bytes_T)
        )

    @classmethod
    def arrays(cls, texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """Make the arguments of the constructor."""
        encoded = [text.encode() for text in texts]
        lengths_R = [len(text) for text in encoded]
        offsets_R = np.cumsum([0, *lengths_R], dtype=np.int64)
        return np.frombuffer(b"".join(encoded), np.uint8), offsets_R

    def __getitem__(self, index: Any) -> Any:
        texts = self.array[index]
        return texts.to_pylist() if isinstance(index, slice) else texts.as_py()

    def __iter__(self) -> Iterator[str]:
        for start in range(0, len(self), _AT_ONCE):
            yield from self[start : start + _AT_ONCE]

    def __len__(self) -> int:
        return len(self.array)

    def __repr__(self) -> str:
        return repr(list(self))


@dataclass(frozen=True, slots=True)
class Features:
    """One tokenized split; the arrays may be memory-mapped."""

    tokens_T: np.ndarray  # int32, token ids of all sequences, one after the other
    offsets_S: np.ndarray  # int64, where each begins in tokens_T; one more entry than sequences
    # int32, where the second text begins in each sequence, counted in tokens from its start, for
    # encoders that tell two segments apart; -1 where there is none
    second_S: np.ndarray
    sequences_R: np.ndarray  # int32, the (first) sequence of each row, ascending
    labels_R: np.ndarray  # int32, index into `label_order`, or `UNLABELLED`
    truncated_R: np.ndarray  # bool, whether the length limit cut the row's text
    guids: Sequence[str]  # one per row
    refused: list[Problem]  # examples that could not be used, with the reason; they have no row
    columns: dict[str, Column] = field(default_factory=dict)  # the task's own, by name
    # Numbers that the task counted, by name, each with a warning to print after it ("" for none).
    counts: dict[str, tuple[int, str]] = field(default_factory=dict)

    @classmethod
    def of_rows(
        cls,
        examples: Sequence[Example],
        ids: Sequence[np.ndarray],
        cut: Sequence[bool],
        **rest: Any,
    ) -> Features:
        """Make features of examples with one sequence each and no second text.

        Args:
            examples: the rows.
            ids: token ids of each row.
            cut: whether the length limit cut each row's text.
            rest: `labels_R` and other fields.
        """
        tokens_T, offsets_S = flatten(ids)
        return cls(
            tokens_T=tokens_T,
            offsets_S=offsets_S,
            second_S=np.full(len(ids), -1, dtype=np.int32),
            sequences_R=np.arange(len(ids), dtype=np.int32),
            truncated_R=np.asarray(cut, dtype=bool),
            guids=[example.guid for example in examples],
            refused=[],
            **rest,
        )

    @property
    def lengths_S(self) -> np.ndarray:
        """Tokens per sequence, int64."""
        return np.diff(self.offsets_S)

    def units(self) -> Units:
        """Group sequences and rows into units."""
        first_row_U = np.flatnonzero(np.diff(self.sequences_R, prepend=-1))
        rows_V = np.append(first_row_U, len(self.guids))

        lengths_S = self.lengths_S
        first_U = self.sequences_R[first_row_U]
        sequences_V = np.append(first_U, len(lengths_S)).astype(np.int64, copy=False)
        longest_U = np.maximum.reduceat(lengths_S, first_U) if len(first_U) else lengths_S
        return Units(sequences_V, rows_V, longest_U)

    def __len__(self) -> int:
        return len(self.guids)


@dataclass(frozen=True, slots=True)
class Units:
    """The sequences and rows of each unit, which are contiguous.

    Shape suffixes: U units; V = U + 1 borders: unit u begins at entry u and ends at entry u + 1.
    """

    sequences_V: np.ndarray  # int64, the first sequence of each unit, then their number
    rows_V: np.ndarray  # int64, the first row of each unit, then their number
    longest_U: np.ndarray  # int64, tokens of each unit's longest sequence

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
        guids = [*features.guids]  # mapped texts are faster all at once than one by one
        return [guids[row] for row in self.rows_V[:-1].tolist()]

    def __len__(self) -> int:
        return len(self.longest_U)


@dataclass(frozen=True, slots=True)
class FeatureOptions:
    """Options of tokenization; part of the cache key. See also `HeadConfig`, `EncoderConfig`."""

    input: str
    max_length: int  # tokens per sequence at most, special tokens included
    label_order: tuple[str, ...]  # class names; a label's index is its class id
    truncation: str = "only_first"
    overflow: str = "truncate"
    stride: int = 64
    separator: str | None = None  # between premise and hypothesis; None: the tokenizer's template
    trailing_separator: bool = False  # write it after the hypothesis as well
    own: Any = None  # of the task, see `Task.feature_options`: hashable, any dataclass or value

    @property
    def shared(self) -> int:
        """Tokens that neighbouring windows share; 0 without windows."""
        return self.stride if self.overflow == "windows" else 0

    def label_ids(self, examples: Sequence[Example]) -> np.ndarray:
        """Number the labels of some examples, int32."""
        ids: dict[str | None, int] = {None: UNLABELLED}
        for index, label in enumerate(self.label_order):
            ids[label] = index
        return np.asarray([ids[example.label] for example in examples], dtype=np.int32)


def flatten(
    sequences: Sequence[np.ndarray], shape: tuple[int, ...] = ()
) -> tuple[np.ndarray, np.ndarray]:
    """Concatenate token ids, or other lists.

    Args:
        sequences: a list of ids for each sequence.
        shape: of one entry; () for a number.

    Returns:
        tokens_T, int32, and offsets_S, int64: where each sequence begins, and the last one ends.
    """
    nothing = np.empty((0, *shape), dtype=np.int32)
    tokens_T = np.concatenate([nothing, *sequences])
    lengths_S = [len(ids) for ids in sequences]
    return tokens_T, np.cumsum([0, *lengths_S], dtype=np.int64)


def token_ids(ids: Sequence[int]) -> np.ndarray:
    """Convert the token ids of one sequence to int32: a list takes ten times the memory."""
    return np.asarray(ids, dtype=np.int32)


def require_none_refused(features: Features, split: str) -> None:
    """Raise a DataError that lists every refused example of a split, if there are any.

    Args:
        features: of the split.
        split: its name, for the message.
    """
    problems = []
    for problem in features.refused:
        fixes = problem.fixes or (
            "raise encoder.max_length",
            "data.on_cut=drop leaves such rows out, counted",
        )
        if not len(features):
            others = [fix for fix in fixes if "data.on_cut=drop" not in fix]
            fixes = (*others, "no row would be left")
        problems.append(Problem(f"{split} {problem.where}", problem.what, fixes))
    raise_all(problems)


def load_features(cache: Path, key: str, build: Callable[[], Features]) -> Features:
    """Open the features stored under `key`, building them first where needed.

    Args:
        cache: the folder of all caches.
        key: a fingerprint of everything that the features depend on.
        build: tokenizes the split.

    Returns:
        The features, with memory-mapped arrays.
    """
    arrays, rest = load_or_build(cache, "features", key, lambda: _stored_parts(build()))
    guids = Texts(*(arrays.pop(name) for name in _GUIDS))

    columns = {}
    for name, (axis, fill) in rest["columns"].items():
        array = arrays.pop(_COLUMN + name)
        offsets = arrays.pop(_OFFSETS + name, None)
        columns[name] = Column(array, axis, fill, offsets)

    refused = [Problem(**problem) for problem in rest["refused"]]
    # JSON has lists in place of tuples.
    counts: dict[str, Any] = {name: tuple(count) for name, count in rest["counts"].items()}
    others: dict[str, Any] = arrays
    return Features(guids=guids, refused=refused, columns=columns, counts=counts, **others)


def _stored_parts(features: Features) -> tuple[Arrays, dict[str, Any]]:
    """Divide features into what is stored as arrays, and as JSON.

    Returns:
        Arrays by name, those of columns with a prefix; and `refused`, `counts` and `columns`.
    """
    arrays = {}
    for attribute in fields(features):
        value = getattr(features, attribute.name)
        if isinstance(value, np.ndarray):
            arrays[attribute.name] = value
    arrays |= zip(_GUIDS, Texts.arrays(features.guids), strict=True)

    columns = {}
    for name, column in features.columns.items():
        columns[name] = (column.axis, column.fill)
        arrays[_COLUMN + name] = column.array
        if column.offsets is not None:
            arrays[_OFFSETS + name] = column.offsets

    refused = [asdict(problem) for problem in features.refused]
    return arrays, {"refused": refused, "counts": features.counts, "columns": columns}
