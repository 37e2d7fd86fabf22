"""Training dynamics on disk, one Parquet file per record; and a run's records, aligned by guid.

A record covers one epoch of the training data, or a part of one. Files are uncompressed and without
dictionary encoding, so that reading is a memory map and a copy.

Cartography tools read and write another layout, one JSON line per example and epoch:

training_dynamics/dynamics_epoch_<n>.jsonl
    {"guid": "a1", "logits_epoch_0": [0.2, -1.3, 0.8], "gold": 2}

The paper's code refuses examples that are not in the first file. Under a curriculum a record may
leave examples out or visit them several times: file n then holds, for each example, the n-th record
that visited it. A record's logits are the mean over its visits, whose softmax is not the mean
probability: where examples were visited several times, another tool finds another confidence.

Source: Swayamdipta et al. (2020), Dataset Cartography, and the code released with it.

Shape suffixes: E records ("epochs"), N examples, C classes, K lines of one file.
"""

from __future__ import annotations

import dataclasses
import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pydantic import TypeAdapter

from heron.base.errors import DataError, Problem, raise_all
from heron.base.files import atomic_open
from heron.base.tables import cell_text, read_table

VERSION = 1
METADATA = b"heron.dynamics"
COLUMNS = ("guid", "gold", "p_gold", "correct", "margin", "count")
_AGAIN = "restore the files from a copy, or train again: run.resume=false"
_NAME = re.compile(r"epoch=(\d+)(?:,part=(\d+))?\.parquet")
FOLDER = "training_dynamics"
_JSONL = re.compile(r"dynamics_epoch_(\d+)\.jsonl")


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
    # Float32 probability of the gold label (or of the gold span, or the mean over gold tokens). It
    # and the next two are NaN where the record did not visit the example.
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
        pq.write_table(
            table, file, compression="none", use_dictionary=False, write_statistics=False
        )


def read_dynamics(folder: Path | str) -> Dynamics:
    """Read all records of a run and align them by guid.

    `folder` is a run folder, its `dynamics/`, or one that holds `training_dynamics/` in the layout
    of the cartography tools.

    Raises:
        DataError: no dynamics there; a damaged file, or one of another kind; files of different
            labels, modes or tasks.
    """
    return align((str(path), _read(path, COLUMNS)) for path in record_paths(folder))


def record_paths(folder: Path | str) -> list[Path]:
    """Find the records' files, in order; see `read_dynamics` for what `folder` may be.

    Raises:
        DataError: there are none.
    """
    folder = Path(folder)
    if folder.is_file():  # a table of statistics: `heron.dynamics.cartography.read_statistics`
        return [folder]
    for inside in (folder / "dynamics", folder):
        found = [(path, _NAME.fullmatch(path.name)) for path in inside.glob("epoch=*.parquet")]
        keyed = [((int(m[1]), int(m[2] or 0)), path) for path, m in found if m]
        if keyed:
            present, part = {key for key, _ in keyed}, max(key[1] for key, _ in keyed)
            lacking = [epoch for epoch in range(max(present)[0]) if (epoch, part) not in present]
            if lacking and inside.name == "dynamics":  # a run's own
                raise DataError(str(inside), f"lacks records of epochs {lacking}", _AGAIN)
            return [path for _, path in sorted(keyed)]
    for inside in (folder / FOLDER, folder):
        named = [(path, _JSONL.fullmatch(path.name)) for path in inside.glob("dynamics_epoch_*")]
        if numbered := [(int(match[1]), path) for path, match in named if match]:
            return [path for _, path in sorted(numbered)]
    fix = "name a run, or a stage, that had dynamics.enabled=true"
    raise DataError(str(folder), "no dynamics here", fix)


def _read(path: Path, columns: Sequence[str]) -> pa.Table:
    """Read columns of one record of either format, its metadata checked."""
    if path.suffix == ".jsonl":
        return read_record(path).select(columns)
    try:
        table: pa.Table = pq.read_table(path, columns=list(columns), memory_map=True)
        read_meta(table)
        table.validate(full=True)  # also that texts are UTF-8
        return table.select(columns)
    except (pa.ArrowException, OSError, KeyError, TypeError, ValueError) as error:
        what = f"is no record of dynamics with {', '.join(columns)}: {error!r}"
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
    gold_N = np.zeros(len(guids), np.int16)
    for record, ((name, table, meta), own) in enumerate(zip(read, columns, strict=True)):
        if dataclasses.replace(meta, epoch=first.epoch) != first:
            what = f"has {meta}, but the first record has {first}"
            raise DataError(name, what, "remove the files that another run left here")
        place_K: np.ndarray | slice = slice(None)
        if not own.equals(guids):  # nearly all records have the same guids in the same order
            place_K = pc.index_in(own, value_set=guids).to_numpy()
        gold_N[place_K] = table["gold"].to_numpy()
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


def export_jsonl(folder: Path | str, out: Path | str) -> list[Path]:
    """Write a run's dynamics for other tools, as `<out>/training_dynamics/`; returns the files.

    File n has the n-th record that visited an example, from 0; guids are strings. The example with
    most records comes first in the first file, because the paper's code counts records by it.

    Raises:
        DataError: no dynamics there, or without logits.
    """
    written: list[Path] = []
    visits, first = Counter[str](), dict[str, str]()
    with ExitStack() as stack:
        opened: list[IO[str]] = []
        for table in records(folder, ("guid", "gold", "logits")):
            column = table["logits"].combine_chunks()
            wide = column.flatten().to_numpy().astype(np.float64).reshape(-1, column.type.list_size)
            plain = np.round(wide, 10).tolist()  # without float32's further decimals
            rows = zip(table["guid"].to_pylist(), table["gold"].to_pylist(), plain, strict=True)
            for guid, gold, logits in rows:
                number = visits[guid]
                visits[guid] += 1
                if number == len(opened):
                    written.append(Path(out) / FOLDER / f"dynamics_epoch_{number}.jsonl")
                    opened.append(stack.enter_context(atomic_open(written[-1])))
                line = {"guid": guid, f"logits_epoch_{number}": logits, "gold": gold}
                text = json.dumps(line, ensure_ascii=False) + "\n"
                if number:
                    opened[number].write(text)
                else:
                    first[guid] = text
        for guid in sorted(first, key=lambda guid: -visits[guid]):
            opened[0].write(first[guid])
    kept = {path.resolve() for path in (*written, *record_paths(folder))}
    for path in (Path(out) / FOLDER).glob("dynamics_epoch_*.jsonl"):
        if path.resolve() not in kept:  # of an earlier export with more records
            path.unlink()
    return written


def read_record(path: Path) -> pa.Table:
    """Read one JSONL file as a dynamics table; guids may be numbers or strings.

    A guid that the file repeats, as oversampling makes it, is one row: the mean over its visits,
    and their count.

    Raises:
        DataError: every line that cannot be used, with its number.

    Deviates: the paper's code appends repeats as if they were further epochs, so that the epochs of
    different examples no longer match.
    """
    match = _JSONL.fullmatch(path.name)
    number = int(match[1]) if match else 0
    guids, golds, logits_KC = _read_lines(path, f"logits_epoch_{number}")
    classes = logits_KC.shape[1]
    meta = Meta(number + 1.0, "train", "imported", tuple(map(str, range(classes))))
    place: dict[str, int] = {}
    rows_K = np.array([place.setdefault(guid, len(place)) for guid in guids])
    count_N = np.bincount(rows_K)
    gold_N = np.zeros(len(place), np.int16)
    gold_N[rows_K] = golds

    def average(values_K: np.ndarray) -> np.ndarray:
        return np.bincount(rows_K, weights=values_K) / count_N

    p_gold_K, correct_K, margin_K = judge(logits_KC, golds)
    logits_NC = np.stack([average(column_K) for column_K in logits_KC.T], axis=1)
    values = (average(p_gold_K), average(correct_K), average(margin_K))
    return dynamics_table(list(place), gold_N, *values, count_N, logits_NC, meta)


def judge(logits_KC: np.ndarray, gold_K: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Compare logits of at least two classes with the gold labels' ids.

    Returns:
        Three float64 arrays of length K: the gold label's probability; 1 where it has the largest
        logit (the first of equal ones counts), else 0; its logit minus the largest other one.
    """
    rows = np.arange(len(gold_K))
    shifted = logits_KC - logits_KC.max(axis=1, keepdims=True)
    powers = np.exp(shifted)
    p_gold_K = powers[rows, gold_K] / powers.sum(axis=1)
    own_K = shifted[rows, gold_K]
    shifted[rows, gold_K] = -np.inf
    margin_K = own_K - shifted.max(axis=1)
    return p_gold_K, (logits_KC.argmax(axis=1) == gold_K).astype(float), margin_K


def _read_lines(path: Path, key: str) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Read guids, gold_K and logits_KC."""
    table = read_table(path)
    table.require("guid", "gold", key)
    problems, golds, logits = table.missing_values("guid"), table.values("gold"), table.values(key)
    classes = len(logits[0]) if isinstance(logits[0], list) else 0
    for index, (gold, values) in enumerate(zip(golds, logits, strict=True)):
        listed = values if isinstance(values, list) else []
        numbers = [v for v in listed if isinstance(v, int | float) and math.isfinite(v)]
        if gold not in range(classes) or not len(numbers) == len(listed) == classes > 1:
            what = f"gold is {gold} and {key} is {values}"
            fix = "each line needs as many logits (two or more), and the index of the gold class"
            problems.append(Problem(table.where(index), what, fix))
    raise_all(problems)
    guids = [cell_text(guid) for guid in table.values("guid")]
    return guids, np.array(golds), np.array(logits, dtype=float)
