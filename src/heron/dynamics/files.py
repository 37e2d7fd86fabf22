"""Training dynamics on disk, one Parquet file per record; and a run's records, aligned by guid.

A record is one look at the training data: an epoch, or a part of one. Files are uncompressed and
without dictionaries, so that reading is a memory map and a copy.

Shape suffixes: E records ("epochs"), N examples, C classes.
"""

import dataclasses
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet
from pydantic import TypeAdapter

from heron.base.errors import DataError, Problem
from heron.base.files import atomic_open
from heron.base.tables import require_rows

# Only dynamics of other tools need them.

VERSION = 1
METADATA = b"heron.dynamics"
COLUMNS = ("guid", "gold", "p_gold", "correct", "margin", "count")
_AGAIN = "put a whole one back, or train again: run.resume=false"
_NAME = re.compile(r"epoch=(\d+)(?:,part=(\d+))?\.parquet")


@dataclass(frozen=True, slots=True)
class Meta:
    """Metadata of a record."""

    epoch: float  # end of the record, in epochs; 1.0 is the end of the first one
    mode: str  # `train` (the training passes, dropout on) or `evaluation` (a pass of its own)
    task: str  # its name
    # Names in the order of the ids, `data.label_order`; another tool's ids where it has no names.
    labels: tuple[str, ...]
    version: int = VERSION


_META = TypeAdapter(Meta)


@dataclass(frozen=True)
class Dynamics:
    """The records of one run, aligned by guid."""

    guids: list[str]  # length N, in order of first appearance; each once
    gold_N: np.ndarray  # int16 ids, indices into `labels`
    # Float32 probability of the gold label (of the gold span, or the mean one of the gold tokens);
    # like the next two NaN where the record did not visit the example.
    p_gold_EN: np.ndarray
    correct_EN: np.ndarray  # float32 share of the record's visits that were right
    # Float32 gold logit minus the largest other one; all NaN where the task has none.
    margin_EN: np.ndarray
    # Int16 visits; oversampled repeats are averaged and counted. 0: not visited.
    count_EN: np.ndarray
    epochs_E: np.ndarray  # float64 end of each record, in epochs
    # labels, mode, task: as in `Meta`.
    labels: tuple[str, ...]
    mode: str
    task: str


def dynamics_table(
    guids: Sequence[str] | pa.Array,
    gold_N: np.ndarray,
    p_gold_N: np.ndarray,
    correct_N: np.ndarray,
    margin_N: np.ndarray,
    count_N: np.ndarray,
    logits_NC: np.ndarray | None,
    meta: Meta,
) -> pa.Table:
    """Lay out one record as the columns of its file: values as in `Dynamics`, of any dtype.

    Args:
        guids: of the visited examples; an Arrow array saves building one per record.
        logits_NC: stored as float32; None where the task has no classes.
    """
    columns: dict[str, Any] = {"guid": pa.array(guids, pa.string())}
    values = (gold_N, p_gold_N, correct_N, margin_N, count_N)
    for name, value_N in zip(COLUMNS[1:], values, strict=True):
        dtype = np.int16 if name in ("gold", "count") else np.float32
        columns[name] = np.ascontiguousarray(value_N, dtype)
    if logits_NC is not None:
        flat = np.ascontiguousarray(logits_NC, np.float32).reshape(-1)
        columns["logits"] = pa.FixedSizeListArray.from_arrays(pa.array(flat), logits_NC.shape[1])
    stored = {"version": VERSION, **dataclasses.asdict(meta), "epoch": float(meta.epoch)}
    text = json.dumps(stored, ensure_ascii=False).encode()
    return pa.table(columns).replace_schema_metadata({METADATA: text})


def write_dynamics(path: Path | str, table: pa.Table) -> None:
    """Write one record atomically, uncompressed and without dictionaries or statistics."""
    with atomic_open(path, "wb") as file:
        pyarrow.parquet.write_table(
            table, file, compression="none", use_dictionary=False, write_statistics=False
        )


def read_dynamics(folder: Path | str) -> Dynamics:
    """Read all records of a run and align them by guid.

    `folder` is a run folder, its `dynamics/`, or one that holds `training_dynamics/` in the layout
    of the cartography tools (see `heron.dynamics.jsonl`).

    Raises:
        DataError: no dynamics there; a file that is broken, of a newer heron, or no dynamics file;
            files that do not belong together; a guid twice in a file or with two gold labels.
    """
    return align((str(path), _read(path, COLUMNS)) for path in record_paths(folder))


def record_paths(folder: Path | str) -> list[Path]:
    """Find the records' files, in order; see `read_dynamics` for what `folder` may be.

    Raises:
        DataError: there are none.
    """
    folder = Path(folder)
    for inside in (folder / "dynamics", folder):
        found = [(path, _NAME.fullmatch(path.name)) for path in inside.glob("epoch=*.parquet")]
        keyed = [((int(m[1]), int(m[2] or 0)), path) for path, m in found if m]
        if keyed:
            if inside.name == "dynamics":  # a run's own
                _require_all({key for key, _ in keyed}, inside)
            return [path for _, path in sorted(keyed)]
    from heron.dynamics.jsonl import record_paths

    return record_paths(folder)


def _require_all(keys: set[tuple[int, int]], folder: Path) -> None:
    """Refuse dynamics in which an epoch before the last one is missing or incomplete."""
    last, parts = max(keys)[0], max(part for _, part in keys)
    lacking = [epoch for epoch in range(last) if (epoch, parts) not in keys]
    if lacking:
        end = f",part={parts}" if parts else ""
        what = f"lacks {', '.join(f'epoch={epoch}{end}.parquet' for epoch in lacking)}"
        raise DataError(Problem(str(folder), what, _AGAIN))


def _read(path: Path, columns: Sequence[str]) -> pa.Table:
    """Read columns of one record of either format, its metadata checked."""
    if path.suffix == ".jsonl":
        from heron.dynamics.jsonl import read_record

        table: pa.Table = read_record(path)
        return table.select(columns)
    try:
        with pyarrow.parquet.ParquetFile(path, memory_map=True) as file:
            schema = file.schema_arrow
            _require(path, schema, columns)
            require_rows(file, path.stat().st_size)
            table = file.read(columns=list(columns)).replace_schema_metadata(schema.metadata)
            table.validate(full=True)  # also that texts are UTF-8
            return table
    except (pa.ArrowException, OSError) as error:
        what = f"is not a readable Parquet file: {error}"
        raise DataError(Problem(str(path), what, _AGAIN)) from error


def _require(path: Path, schema: pa.Schema, columns: Sequence[str]) -> None:
    again = "train again with this heron"
    text = (schema.metadata or {}).get(METADATA)
    if text is None:
        raise DataError(Problem(str(path), "is no dynamics file: it says no version", again))
    try:
        meta = _META.validate_json(text, strict=True)
    except ValueError as error:
        raise DataError(Problem(str(path), "its metadata is damaged", _AGAIN)) from error
    if meta.version > VERSION:
        what = f"was written by a newer heron (dynamics version {meta.version})"
        raise DataError(Problem(str(path), what, f"this one reads {VERSION}: update heron"))
    missing = [name for name in columns if name not in schema.names]
    if missing == ["logits"]:
        raise DataError(Problem(str(path), "holds no logits", "only tasks with classes have them"))
    if missing:
        raise DataError(Problem(str(path), f"lacks columns: {', '.join(missing)}", again))


def read_meta(table: pa.Table) -> Meta:
    """Read a record's metadata from its table."""
    return _META.validate_json(table.schema.metadata[METADATA], strict=True)


def records(folder: Path | str, columns: Sequence[str] = COLUMNS) -> Iterator[pa.Table]:
    """Read a run's records one by one, in order, as tables; raises as `read_dynamics`."""
    for path in record_paths(folder):
        yield _read(path, columns)


_VALUES = ("p_gold", "correct", "margin")


def align(tables: Iterable[tuple[str, pa.Table]]) -> Dynamics:
    """Align records by guid; NaN (in counts 0) where a record did not visit an example.

    Args:
        tables: at least one; the name for messages, and the table. Only one is in memory at a time.

    Raises:
        DataError: as for `read_dynamics`.
    """
    grid = _Grid()
    for name, table in tables:
        grid.add(name, table)
    return grid.dynamics()


@dataclass
class _Grid:
    """The examples found so far, and for each record its values and their columns."""

    guids: pa.Array = field(default_factory=lambda: pa.array([], pa.string()))
    gold_N: np.ndarray = field(default_factory=lambda: np.empty(0, np.int16))
    first: Meta | None = None  # of the first record
    columns: list[tuple[np.ndarray | slice, dict[str, np.ndarray]]] = field(default_factory=list)
    epochs: list[float] = field(default_factory=list)

    def add(self, name: str, table: pa.Table) -> None:
        """Add one record."""
        meta = read_meta(table)
        self.first = self.first or meta
        for key in ("labels", "mode", "task"):
            before, here = getattr(self.first, key), getattr(meta, key)
            if before != here:
                what = f"has {key} {_shown(here)}, but earlier records of this run {_shown(before)}"
                raise DataError(Problem(name, what, "remove the files that another run left here"))
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
        """Find the columns of a record's examples; new examples are added at the end."""
        known = len(self.guids)
        # Nearly all records have the same guids in the same order; a hash table takes far longer.
        if known and guids.equals(self.guids):
            return slice(0, known)
        found = pc.index_in(guids, value_set=self.guids)
        new_K = found.is_null().to_numpy(zero_copy_only=False)
        new = guids.filter(pa.array(new_K))
        place_K = found.fill_null(0).to_numpy().astype(np.int64)
        place_K[new_K] = known + np.arange(len(new))
        if len(new.unique()) < len(new) or (np.bincount(place_K) > 1).any():
            counted = guids.value_counts()
            twice = counted.field("values")[int(counted.field("counts").to_numpy().argmax())]
            raise DataError(Problem(name, f"guid '{twice}' occurs twice", "write it once"))
        if len(new):
            self.guids = pa.concat_arrays([self.guids, new])
            self.gold_N = np.concatenate([self.gold_N, gold_K[new_K]])
        return place_K

    def dynamics(self) -> Dynamics:
        """Arrange the records as E x N arrays."""
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


def _shown(value: str | tuple[str, ...]) -> str:
    return value if isinstance(value, str) else f"[{', '.join(value)}]"
