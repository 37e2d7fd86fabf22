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

from heron.base.errors import DataError, raise_all
from heron.base.files import atomic_open
from heron.base.tables import read_table

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
    columns: dict[str, Any] = {
        "guid": pa.array(guids, pa.string()),
        "gold": np.ascontiguousarray(gold_N, np.int16),
        "p_gold": np.ascontiguousarray(p_gold_N, np.float32),
        "correct": np.ascontiguousarray(correct_N, np.float32),
        "margin": np.ascontiguousarray(margin_N, np.float32),
        "count": np.ascontiguousarray(count_N, np.int16),
    }
    if logits_NC is not None:
        values = np.ascontiguousarray(logits_NC, np.float32).reshape(-1)
        classes = logits_NC.shape[1]
        columns["logits"] = pa.FixedSizeListArray.from_arrays(pa.array(values), classes)

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

    for place in (folder / "dynamics", folder):
        numbered = []
        for path in place.glob("epoch=*.parquet"):
            match = _NAME.fullmatch(path.name)
            if match:
                part = int(match[2] or 0)
                numbered.append((int(match[1]), part, path))

        if numbered:
            last_part = max(part for _, part, _ in numbered)
            ended = {epoch for epoch, part, _ in numbered if part == last_part}
            last_epoch, *_ = max(numbered)
            lacking = [epoch for epoch in range(last_epoch) if epoch not in ended]
            if lacking and place.name == "dynamics":  # a run's own
                raise DataError(str(place), f"lacks records of epochs {lacking}", _AGAIN)

            return [path for *_, path in sorted(numbered)]

    for place in (folder / FOLDER, folder):
        by_number = {}
        for path in place.glob("dynamics_epoch_*"):
            match = _JSONL.fullmatch(path.name)
            if match:
                number = int(match[1])
                by_number[number] = path

        if by_number:
            lacking = sorted(set(range(min(by_number), max(by_number))) - by_number.keys())
            if lacking:
                raise DataError(str(place), f"lacks dynamics of epochs {lacking}", _AGAIN)
            return [by_number[number] for number in sorted(by_number)]

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
    named = list(tables)
    metas = [read_meta(table) for _, table in named]
    first = metas[0]
    guids_E = [table["guid"].combine_chunks() for _, table in named]
    guids = pa.chunked_array(guids_E, pa.string()).unique()

    shape = (len(named), len(guids))
    values: dict[str, np.ndarray] = {
        "p_gold": np.full(shape, np.nan, np.float32),
        "correct": np.full(shape, np.nan, np.float32),
        "margin": np.full(shape, np.nan, np.float32),
        "count": np.zeros(shape, np.int16),
    }
    gold_N = np.zeros(len(guids), np.int16)
    for record, (name, table) in enumerate(named):
        meta = metas[record]
        if dataclasses.replace(meta, epoch=first.epoch) != first:
            what = f"has {meta}, but the first record has {first}"
            raise DataError(name, what, "remove the files that another run left here")

        place_K: np.ndarray | slice = slice(None)
        if not guids_E[record].equals(guids):  # nearly all records have the same ones, in order
            place_K = pc.index_in(guids_E[record], value_set=guids).to_numpy()

        gold_N[place_K] = table["gold"].to_numpy()
        for column, values_EN in values.items():
            values_EN[record, place_K] = table[column].to_numpy()

    return Dynamics(
        guids=guids.to_pylist(),
        gold_N=gold_N,
        p_gold_EN=values["p_gold"],
        correct_EN=values["correct"],
        margin_EN=values["margin"],
        count_EN=values["count"],
        epochs_E=np.array([meta.epoch for meta in metas], np.float64),
        labels=first.labels,
        mode=first.mode,
        task=first.task,
    )


def export_jsonl(folder: Path | str, out: Path | str) -> list[Path]:
    """Write a run's dynamics for other tools, as `<out>/training_dynamics/`; returns the files.

    File n has the n-th record that visited an example, from 0; guids are strings. The example with
    most records comes first in the first file, because the paper's code counts records by it.

    Raises:
        DataError: no dynamics there, or without logits.
    """
    target = Path(out) / FOLDER
    sources = record_paths(folder)  # before further files are written there
    paths: list[Path] = []
    visits = Counter[str]()
    first_lines: dict[str, str] = {}
    with ExitStack() as stack:
        files: list[IO[str]] = []
        for table in records(folder, ("guid", "gold", "logits")):
            logits_NC = _logits(table).tolist()
            guids = table["guid"].to_pylist()
            golds = table["gold"].to_pylist()
            for guid, gold, logits in zip(guids, golds, logits_NC, strict=True):
                number = visits[guid]
                visits[guid] += 1
                if number == len(files):
                    path = target / f"dynamics_epoch_{number}.jsonl"
                    paths.append(path)
                    files.append(stack.enter_context(atomic_open(path)))

                row = {"guid": guid, f"logits_epoch_{number}": logits, "gold": gold}
                line = json.dumps(row, ensure_ascii=False) + "\n"
                if number:
                    files[number].write(line)
                else:
                    first_lines[guid] = line

        for guid in sorted(first_lines, key=lambda guid: -visits[guid]):
            files[0].write(first_lines[guid])

    kept = {path.resolve() for path in (*paths, *sources)}
    for path in target.glob("dynamics_epoch_*.jsonl"):
        if path.resolve() not in kept:  # of an earlier export with more records
            path.unlink()
    return paths


def _logits(table: pa.Table) -> np.ndarray:
    """Read logits_NC as float64, without the further decimals that float32 numbers have then."""
    column = table["logits"].combine_chunks()
    values = column.flatten().to_numpy().astype(np.float64)
    return np.round(values.reshape(-1, column.type.list_size), 10)


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

    row_of: dict[str, int] = {}
    rows_K = np.array([row_of.setdefault(guid, len(row_of)) for guid in guids])
    count_N = np.bincount(rows_K)
    gold_N = np.zeros(len(row_of), np.int16)
    gold_N[rows_K] = golds

    def average(values_K: np.ndarray) -> np.ndarray:
        return np.bincount(rows_K, weights=values_K) / count_N

    p_gold_K, correct_K, margin_K = judge(logits_KC, golds)
    logits_CN = [average(column_K) for column_K in logits_KC.T]
    return dynamics_table(
        list(row_of),
        gold_N,
        average(p_gold_K),
        average(correct_K),
        average(margin_K),
        count_N,
        np.stack(logits_CN, axis=1),
        meta,
    )


def judge(logits_KC: np.ndarray, gold_K: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Compare logits of at least two classes with the gold labels' ids.

    Returns:
        Three float64 arrays of length K: the gold label's probability; 1 where it has the largest
        logit (the first of equal ones counts), else 0; its logit minus the largest other one.
    """
    gold_cells = np.arange(len(gold_K)), gold_K
    shifted_KC = logits_KC - logits_KC.max(axis=1, keepdims=True)
    powers_KC = np.exp(shifted_KC)
    p_gold_K = powers_KC[gold_cells] / powers_KC.sum(axis=1)
    correct_K = (logits_KC.argmax(axis=1) == gold_K).astype(float)

    gold_logit_K = shifted_KC[gold_cells]
    shifted_KC[gold_cells] = -np.inf
    margin_K = gold_logit_K - shifted_KC.max(axis=1)
    return p_gold_K, correct_K, margin_K


def _read_lines(path: Path, key: str) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Read guids, gold_K and logits_KC.

    Raises:
        DataError: names each line whose logits or gold label cannot be used.
    """
    table = read_table(path)
    table.require("guid", "gold", key)
    golds = table.values("gold")
    logits = table.values(key)

    classes = 0
    if isinstance(logits[0], list):
        classes = len(logits[0])

    problems = table.missing_values("guid")
    for index, row in enumerate(table.rows):
        is_class = classes > 1 and row["gold"] in range(classes)
        if is_class and _are_numbers(row[key], classes):
            continue

        what = f"gold is {row['gold']} and {key} is {row[key]}"
        fix = "each line needs as many logits (two or more), and the index of the gold class"
        problems.append(table.problem(index, what, fix))

    raise_all(problems)

    guids = table.texts("guid")
    return guids, np.array(golds), np.array(logits, dtype=float)


def _are_numbers(value: Any, count: int) -> bool:
    """Tell whether a value of JSON is a list of so many finite numbers."""
    if not isinstance(value, list) or len(value) != count:
        return False
    return all(isinstance(number, int | float) and math.isfinite(number) for number in value)
