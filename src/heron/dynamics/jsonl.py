"""The layout that cartography tools read and write: one JSON line per example and epoch.

training_dynamics/dynamics_epoch_<n>.jsonl
    {"guid": "a1", "logits_epoch_0": [0.2, -1.3, 0.8], "gold": 2}

The released reader refuses examples that are not in the first file. Under a curriculum a record may
leave examples out or visit them several times: file n then holds each example's record number n of
those that visited it. A record's logits are the mean of its visits, whose softmax is not the mean
probability: where examples were visited several times, another tool finds another confidence.

Source: Swayamdipta et al. (2020), Dataset Cartography, and the code released with it.

Shape suffixes: K lines of one file, N examples, C classes.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import IO, TYPE_CHECKING

import numpy as np

from heron.base.errors import DataError, Problem
from heron.base.files import atomic_open
from heron.base.tables import cell_text, read_table
from heron.dynamics import files
from heron.dynamics.files import Meta, dynamics_table, records

if TYPE_CHECKING:
    import pyarrow as pa

FOLDER = "training_dynamics"
_NAME = re.compile(r"dynamics_epoch_(\d+)\.jsonl")


def record_paths(folder: Path | str) -> list[Path]:
    """Find the epochs' files in `folder` or in its `training_dynamics/`, in order.

    Raises:
        DataError: there are none.
    """
    for inside in (Path(folder) / FOLDER, Path(folder)):
        found = [(_NAME.fullmatch(path.name), path) for path in inside.glob("dynamics_epoch_*")]
        keyed = [(int(match[1]), path) for match, path in found if match]
        if keyed:
            return [path for _, path in sorted(keyed)]
    fix = "name a run, or a stage, that had dynamics.enabled=true"
    raise DataError(str(folder), "no dynamics here", fix)


def export_jsonl(folder: Path | str, out: Path | str) -> list[Path]:
    """Write a run's dynamics for other tools, as `<out>/training_dynamics/`; gives the files.

    File n has each example's n-th visited record, from 0; guids are strings. The example with most
    records is the first of the first file, by which the released tool counts them.

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
            plain = np.round(wide, 10).tolist()  # the tools' decimals, which float32 has not
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
    kept = {path.resolve() for path in (*written, *files.record_paths(folder))}
    for path in (Path(out) / FOLDER).glob("dynamics_epoch_*.jsonl"):
        if path.resolve() not in kept:  # of an earlier export with more records
            path.unlink()
    return written


def read_record(path: Path) -> pa.Table:
    """Read one epoch's file as a dynamics table; guids may be numbers or strings.

    A guid that the file repeats, as oversampling makes it, is one row: the mean over its visits,
    and their count.

    Raises:
        DataError: every line that cannot be used, with its number.

    Deviates: the released tool appends repeats as if they were further epochs, which shifts the
    examples' epochs against each other.
    """
    match = _NAME.fullmatch(path.name)
    number = int(match[1]) if match else 0
    guids, golds, logits_KC = _read_lines(path, f"logits_epoch_{number}")
    classes = logits_KC.shape[1]
    meta = Meta(number + 1.0, "train", "imported", tuple(map(str, range(classes))))
    place: dict[str, int] = {}
    rows_K = np.array([place.setdefault(guid, len(place)) for guid in guids])
    count_N = np.bincount(rows_K)
    gold_N = np.zeros(len(place), np.int16)
    gold_N[rows_K] = golds
    bad_K = gold_N[rows_K] != golds
    if bad_K.any():
        guid = guids[int(bad_K.argmax())]
        raise DataError(str(path), f"guid '{guid}' has two gold labels", "one each")

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
            fix = "a list of at least two numbers, as many as in other lines, and one's place"
            problems.append(Problem(table.where(index), what, fix))
    if problems:
        raise DataError(problems)
    guids = [cell_text(guid) for guid in table.values("guid")]
    return guids, np.array(golds), np.array(logits, dtype=float)
