"""Training dynamics on disk, one Parquet file per record; and a run's records, aligned by guid.

A record is one look at the training data: an epoch, or a part of one. Files are uncompressed and
without dictionaries, so that reading is a memory map and a copy.

Shape suffixes: E records ("epochs"), N examples, C classes.
"""

import dataclasses
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet
from pydantic import TypeAdapter

from heron.base.errors import DataError
from heron.base.files import atomic_open

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
            present, part = {key for key, _ in keyed}, max(key[1] for key, _ in keyed)
            lacking = [epoch for epoch in range(max(present)[0]) if (epoch, part) not in present]
            if lacking and inside.name == "dynamics":  # a run's own
                raise DataError(str(inside), f"lacks records of epochs {lacking}", _AGAIN)
            return [path for _, path in sorted(keyed)]
    from heron.dynamics.jsonl import record_paths

    return record_paths(folder)


def _read(path: Path, columns: Sequence[str]) -> pa.Table:
    """Read columns of one record of either format, its metadata checked."""
    if path.suffix == ".jsonl":
        from heron.dynamics.jsonl import read_record

        table: pa.Table = read_record(path)
        return table.select(columns)
    try:
        with pyarrow.parquet.ParquetFile(path, memory_map=True) as file:
            schema = file.schema_arrow
            version = _META.validate_json(schema.metadata[METADATA], strict=True).version
            missing = [name for name in columns if name not in schema.names]
            if missing or version > VERSION:
                what = f"dynamics version {version} without {', '.join(missing) or VERSION}"
                raise DataError(str(path), what, "only tasks with classes have logits")
            table = file.read(columns=list(columns)).replace_schema_metadata(schema.metadata)
            table.validate(full=True)  # also that texts are UTF-8
            return table
    except (pa.ArrowException, OSError, KeyError, TypeError, ValueError) as error:
        what = f"is no record of dynamics: {error!r}"
        raise DataError(str(path), what, _AGAIN) from error


def read_meta(table: pa.Table) -> Meta:
    """Read a record's metadata from its table."""
    return _META.validate_json(table.schema.metadata[METADATA], strict=True)


def records(folder: Path | str, columns: Sequence[str] = COLUMNS) -> Iterator[pa.Table]:
    """Read a run's records one by one, in order, as tables; raises as `read_dynamics`."""
    for path in record_paths(folder):
        yield _read(path, columns)


def align(tables: Iterable[tuple[str, pa.Table]]) -> Dynamics:
    """Align records by guid; NaN (in counts 0) where a record did not visit an example.

    Args:
        tables: at least one; the name for messages, and the table.

    Raises:
        DataError: as for `read_dynamics`.
    """
    read = [(name, table, read_meta(table)) for name, table in tables]
    first = read[0][2]
    columns = [table["guid"].combine_chunks() for _, table, _ in read]
    guids = pa.chunked_array(columns, pa.string()).unique()
    shape = (len(read), len(guids))
    values = {name: np.full(shape, np.nan, np.float32) for name in ("p_gold", "correct", "margin")}
    values["count"] = np.zeros(shape, np.int16)
    gold_N, seen_N = np.zeros(len(guids), np.int16), np.zeros(len(guids), bool)
    for record, ((name, table, meta), own) in enumerate(zip(read, columns, strict=True)):
        if dataclasses.replace(meta, epoch=first.epoch) != first:
            what = f"is of {meta}, but the first record of {first}"
            raise DataError(name, what, "remove the files that another run left here")
        place_K: np.ndarray | slice = slice(None)
        if not own.equals(guids):  # nearly all records have the same guids in the same order
            place_K = found_K = pc.index_in(own, value_set=guids).to_numpy()
            if len(twice := np.flatnonzero(np.bincount(found_K) > 1)):
                what = f"guid '{guids[int(twice[0])]}' occurs twice"
                raise DataError(name, what, "write it once")
        gold_K = table["gold"].to_numpy()
        wrong_K = seen_N[place_K] & (gold_N[place_K] != gold_K)
        if wrong_K.any():
            what = f"guid '{own[int(wrong_K.argmax())]}' has another gold label than before"
            raise DataError(name, what, "one run's records have one label each")
        gold_N[place_K], seen_N[place_K] = gold_K, True
        for column, values_EN in values.items():
            values_EN[record, place_K] = table[column].to_numpy()
    return Dynamics(
        guids=guids.to_pylist(),
        gold_N=gold_N,
        epochs_E=np.array([meta.epoch for *_, meta in read], np.float64),
        labels=first.labels,
        mode=first.mode,
        task=first.task,
        **{f"{column}_EN": values_EN for column, values_EN in values.items()},
    )
