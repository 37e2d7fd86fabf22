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
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from heron.base.errors import DataError, Problem
from heron.base.files import atomic_open, parse_json
from heron.base.tables import cell_text, is_missing
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
    raise DataError(Problem(str(folder), "no dynamics here", _advice(Path(folder))))


def _advice(folder: Path) -> str:
    if not folder.is_dir():
        return "there is no such folder; name a run folder or its dynamics/"
    nested = [*folder.glob("*/dynamics"), *folder.glob("stages/*/dynamics")]
    if nested:
        runs = sorted(str(path.parent.relative_to(folder)) for path in nested)
        return f"name one of the runs inside: {', '.join(runs[:10])}"
    return "a run with dynamics.enabled=false leaves none: train it again with true"


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
        raise DataError(Problem(str(path), f"guid '{guid}' has two gold labels", "one each"))

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
    rows: list[tuple[str, int, list[float]]] = []
    problems = []
    with open(path, "rb") as file:  # bytes: one that is no UTF-8 costs its own line only
        for line, text in enumerate(file, 1):
            if not text.strip():
                continue
            try:
                rows.append(_parse(text, key, len(rows[0][2]) if rows else None))
            except ValueError as error:
                problems.append(Problem(f"{path}:{line}", str(error)))
    if not rows and not problems:
        problems.append(Problem(str(path), "has no lines", "one per example is needed"))
    if problems:
        raise DataError(problems)
    guids, golds, logits = zip(*rows, strict=True)
    return list(guids), np.array(golds), np.array(logits, dtype=float)


def _parse(text: bytes, key: str, classes: int | None) -> tuple[str, int, list[float]]:
    """Read one line; a ValueError says what is wrong with it."""
    try:
        row: Any = parse_json(text.decode())
    except UnicodeDecodeError as error:
        raise ValueError("the text is not UTF-8") from error
    except json.JSONDecodeError as error:
        raise ValueError(f"broken JSON: {error.msg}") from error
    if missing := {"guid", "gold", key}.difference(row if isinstance(row, dict) else ()):
        raise ValueError(f"lacks {', '.join(sorted(missing))}")
    gold, values = row["gold"], row[key]
    if is_missing(row["guid"]):
        raise ValueError("guid is empty")
    if not isinstance(values, list) or len(values) < 2 or not all(map(_is_number, values)):
        raise ValueError(f"{key} is {json.dumps(values)}; a list of at least two numbers is needed")
    if classes is not None and len(values) != classes:
        raise ValueError(f"{len(values)} logits where earlier lines have {classes}")
    if not isinstance(gold, int) or not 0 <= gold < len(values):
        raise ValueError(f"gold is {json.dumps(gold)}; 0 to {len(values) - 1} is allowed")
    return cell_text(row["guid"]), gold, values


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)
