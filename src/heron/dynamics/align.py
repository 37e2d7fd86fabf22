"""Records of one run side by side: every example a column, whatever each record visited.

Records nearly always hold the same guids in the same order. That is seen by comparing Arrow's
memory, and then nothing is looked up: at half a million examples the difference between
milliseconds and seconds. Otherwise each record is aligned by a hash table of guids.

Shape suffixes: E records, N examples, K examples of one record.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from heron.base.errors import DataError, Problem
from heron.dynamics.files import Dynamics, Meta, read_meta

_VALUES = ("p_gold", "correct", "margin")


def align(records: Iterable[tuple[str, pa.Table]]) -> Dynamics:
    """Align records by guid; NaN (in counts 0) where a record did not visit an example.

    Args:
        records: at least one; the name for messages, and the table (see `dynamics_table`). Each
            is let go before the next one is asked for.

    Raises:
        DataError: records that do not belong together, or a guid that occurs twice in one or has
            two gold labels.
    """
    grid = _Grid()
    for name, table in records:
        grid.add(name, table)
    return grid.dynamics()


@dataclass
class _Grid:
    """The examples met so far, and for each record its values and where they belong."""

    guids: pa.Array = field(default_factory=lambda: pa.array([], pa.string()))
    gold_N: np.ndarray = field(default_factory=lambda: np.empty(0, np.int16))
    first: Meta | None = None
    columns: list[tuple[np.ndarray | slice, dict[str, np.ndarray]]] = field(default_factory=list)
    epochs: list[float] = field(default_factory=list)

    def add(self, name: str, table: pa.Table) -> None:
        """Take one record."""
        meta = read_meta(table)
        self.first = self.first or meta
        _require_same(name, self.first, meta)
        gold_K = table["gold"].to_numpy()
        place = self._place(name, table["guid"].combine_chunks(), gold_K)
        wrong_K = self.gold_N[place] != gold_K
        if wrong_K.any():
            row = int(wrong_K.argmax())
            what = f"guid '{table['guid'][row]}' has another gold label than in earlier records"
            raise DataError(Problem(name, what, "one run's records have one label each"))
        values = {column: table[column].to_numpy() for column in (*_VALUES, "count")}
        self.columns.append((place, values))
        self.epochs.append(meta.epoch)

    def _place(self, name: str, guids: pa.Array, gold_K: np.ndarray) -> np.ndarray | slice:
        """Find where a record's examples belong; those not met before go to the end."""
        known = len(self.guids)
        if known and guids.equals(self.guids):
            return slice(0, known)
        found = pc.index_in(guids, value_set=self.guids)
        new_K = found.is_null().to_numpy(zero_copy_only=False)
        new = guids.filter(pa.array(new_K))
        place_K = found.fill_null(0).to_numpy().astype(np.int64)
        place_K[new_K] = known + np.arange(len(new))
        if len(new.unique()) < len(new) or (np.bincount(place_K) > 1).any():
            raise DataError(Problem(name, f"guid '{_twice(guids)}' occurs twice", "write it once"))
        if len(new):
            self.guids = pa.concat_arrays([self.guids, new])
            self.gold_N = np.concatenate([self.gold_N, gold_K[new_K]])
        return place_K

    def dynamics(self) -> Dynamics:
        """Lay the records out as E x N arrays."""
        assert self.first is not None, "at least one record is needed"
        shape = (len(self.columns), len(self.guids))
        filled = {name: np.full(shape, np.nan, np.float32) for name in _VALUES}
        filled["count"] = np.zeros(shape, np.int16)
        for record, (place, values) in enumerate(self.columns):
            for name, grid_EN in filled.items():
                grid_EN[record, place] = values[name]
        return Dynamics(
            guids=self.guids.to_numpy(zero_copy_only=False).tolist(),
            gold_N=self.gold_N,
            p_gold_EN=filled["p_gold"],
            correct_EN=filled["correct"],
            margin_EN=filled["margin"],
            count_EN=filled["count"],
            epochs_E=np.asarray(self.epochs, np.float64),
            labels=self.first.labels,
            mode=self.first.mode,
            task=self.first.task,
        )


def _twice(guids: pa.Array) -> str:
    counted = guids.value_counts()
    return str(counted.field("values")[int(counted.field("counts").to_numpy().argmax())])


def _require_same(name: str, first: Meta, meta: Meta) -> None:
    for key in ("labels", "mode", "task"):
        before, here = getattr(first, key), getattr(meta, key)
        if before != here:
            what = f"has {key} {_shown(here)}, but earlier records of this run {_shown(before)}"
            raise DataError(Problem(name, what, "remove the files that another run left here"))


def _shown(value: str | tuple[str, ...]) -> str:
    return value if isinstance(value, str) else f"[{', '.join(value)}]"
