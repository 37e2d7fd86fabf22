"""The predictions of several systems, put on the same rows by guid.

Legend: N rows, K runs of a system.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from heron.comparison.finding import Source, System
from heron.data.tables import cell_text, is_missing, read_table
from heron.errors import ConfigError, DataError, Problem, nearest
from heron.metrics.confusion import Counts

ROWS = ("all", "shared")
_REQUIRED = ("guid", "gold", "prediction")
_GROUP = "group"


@dataclass(frozen=True, slots=True)
class Predicted:
    """What one system predicted.

    Args:
        label: the system's name.
        names: its runs' names, K.
        seeds: what sets the runs apart, K.
        prediction_KN: class ids.
        validation: each run's score on validation; None where none is stored.
    """

    label: str
    names: tuple[str, ...]
    seeds: tuple[str, ...]
    prediction_KN: Counts
    validation: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class Aligned:
    """Several systems on the same rows.

    Args:
        guids: N.
        classes: class names, in order.
        gold_N: class ids.
        systems: what each predicted.
        groups: names of the groups that stay whole in a draw, N; None draws rows.
        notes: what the reader must know.
    """

    guids: tuple[str, ...]
    classes: tuple[str, ...]
    gold_N: Counts
    systems: tuple[Predicted, ...]
    groups: tuple[str, ...] | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Rows:
    """One file's labelled rows, by guid: gold and predicted class, and perhaps a group."""

    source: Source
    labels: dict[str, tuple[str, str]]
    groups: dict[str, str]


def align(
    systems: Sequence[System],
    metric: str,
    *,
    rows: str = "all",
    labels: Sequence[str] | None = None,
    find_groups: Callable[[Sequence[str], dict[str, str]], list[str] | None] | None = None,
) -> Aligned:
    """Read all predictions and put them on the same rows, in the first file's order.

    Args:
        systems: from `heron.comparison.finding`.
        metric: the score on validation that chooses each system's best run.
        rows: `all` refuses systems on different rows; `shared` compares on those that all have.
        labels: all class names, in order; default: those of the runs' data sets, or the gold
            labels that occur.
        find_groups: gets the guids and the groups that the files name, and returns the groups, or
            None to draw rows.

    Raises:
        ConfigError: another value of `rows`.
        DataError: everything wrong with the files: unreadable rows, repeated guids, different
            golds or rows, unknown labels.
    """
    if rows not in ROWS:
        raise ConfigError(f"rows={rows}.{nearest(rows, ROWS)}")
    problems: list[Problem] = []
    files = [[_read(source, problems) for source in system.sources] for system in systems]
    flat = [file for system in files for file in system]
    if problems:
        raise DataError(problems)
    _check_gold(flat)
    guids, notes = _shared_rows(flat, rows)
    classes = tuple(labels or _classes(flat))
    numbers = {name: number for number, name in enumerate(classes)}
    _check_labels(flat, guids, numbers)
    gold_N = np.array([numbers[flat[0].labels[guid][0]] for guid in guids], np.int64)
    named = {guid: group for file in flat for guid, group in file.groups.items()}
    groups = find_groups(guids, named) if find_groups else None
    predicted = [
        Predicted(
            system.label,
            tuple(source.name for source in system.sources),
            tuple(source.seed for source in system.sources),
            np.array([[numbers[f.labels[g][1]] for g in guids] for f in of_system], np.int64),
            tuple(_validation(source, metric) for source in system.sources),
        )
        for system, of_system in zip(systems, files, strict=True)
    ]
    # Groups of one row each are rows, and rows are drawn faster.
    whole = tuple(groups) if groups and len(set(groups)) < len(groups) else None
    return Aligned(tuple(guids), classes, gold_N, tuple(predicted), whole, tuple(notes))


def _read(source: Source, problems: list[Problem]) -> Rows:
    """Read one file; rows without a gold label are left out."""
    try:
        columns = _read_columns(source.path)
    except DataError as error:
        problems += error.problems
        return Rows(source, {}, {})
    guids = [cell_text(guid) for guid in columns["guid"]]
    repeated = [guid for guid, count in Counter(guids).items() if count > 1]
    problems += [Problem(str(source.path), f"guid '{guid}' is there twice") for guid in repeated]
    labels = {
        guid: (cell_text(gold), cell_text(prediction))
        for guid, gold, prediction in zip(
            guids, columns["gold"], columns["prediction"], strict=True
        )
        if not is_missing(gold)
    }
    if not labels:
        problems.append(Problem(str(source.path), "no row has a gold label"))
    groups = zip(guids, columns.get(_GROUP, ()), strict=False)
    named = {guid: cell_text(group) for guid, group in groups if not is_missing(group)}
    return Rows(source, labels, named)


def _read_columns(path: Path) -> dict[str, list[Any]]:
    """Read the columns that count; of Parquet only these, for the texts are most of a file."""
    if path.suffix.lower() != ".parquet":
        table = read_table(path)
        table.require(*_REQUIRED)
        return {name: table.values(name) for name in (*_REQUIRED, _GROUP) if name in table.columns}
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            present = file.schema_arrow.names
            wanted = [name for name in (*_REQUIRED, _GROUP) if name in present]
            columns = file.read(wanted).to_pydict()
    except (OSError, pa.ArrowException) as error:
        raise DataError(Problem(str(path), f"is not a readable Parquet file: {error}")) from error
    absent = [name for name in _REQUIRED if name not in columns]
    if absent:
        what = f"no column {', '.join(absent)}.{nearest(absent[0], present)}"
        raise DataError(Problem(str(path), what))
    return columns


def _check_gold(files: Sequence[Rows]) -> None:
    """Refuse a guid whose gold label is not the same everywhere."""
    first: dict[str, tuple[str, Rows]] = {}
    problems: dict[str, Problem] = {}
    for file in files:
        for guid, (gold, _) in file.labels.items():
            known, other = first.setdefault(guid, (gold, file))
            if gold != known:
                what = f"gold is '{known}' in {other.source.path}, '{gold}' in {file.source.path}"
                problems.setdefault(guid, Problem(guid, what))
    if problems:
        fix = "score both on the same version of the data"
        raise DataError([Problem(p.where, p.what, fix) for p in problems.values()])


def _shared_rows(files: Sequence[Rows], rows: str) -> tuple[list[str], list[str]]:
    """List the guids to compare on, in the first file's order, and what is left out."""
    every = dict.fromkeys(guid for file in files for guid in file.labels)
    shared = [guid for guid in every if all(guid in file.labels for file in files)]
    if len(shared) == len(every):
        return shared, []
    problems = []
    for file in files:
        absent = [guid for guid in every if guid not in file.labels]
        if absent:
            few = ", ".join(f"'{guid}'" for guid in absent[:3])
            more = ", ..." if len(absent) > 3 else ""
            what = f"lacks {len(absent)} of {len(every)} labelled guids: {few}{more}"
            problems.append(Problem(str(file.source.path), what))
    fix = f"rows=shared compares on the {len(shared)} rows that all have"
    if not shared:
        fix = "the files have no row in common: are they of one data set and split?"
    if rows == "all" or not shared:
        raise DataError([Problem(p.where, p.what, fix) for p in problems])
    left = len(every) - len(shared)
    return shared, [f"{left} of {len(every)} rows are left out: not every system has them."]


def _classes(files: Sequence[Rows]) -> list[str]:
    """List the classes: those of the runs' data sets in their order, or the gold labels."""
    records = [file.source.record for file in files if file.source.record is not None]
    known = dict.fromkeys(
        str(label) for record in records for label in record.setting("data.label_order", ())
    )
    return list(known) or sorted({gold for file in files for gold, _ in file.labels.values()})


def _check_labels(files: Sequence[Rows], guids: Sequence[str], numbers: dict[str, int]) -> None:
    """Refuse labels that are no classes."""
    fix = f"allowed: {', '.join(numbers)}; labels=A,B,... sets them"
    problems = [
        Problem(f"{file.source.path}, {guid}", f"unknown {kind} '{label}'", fix)
        for file in files
        for guid in guids
        for kind, label in zip(("gold", "prediction"), file.labels[guid], strict=True)
        if label not in numbers
    ]
    if problems:
        raise DataError(problems)


def _validation(source: Source, metric: str) -> float | None:
    """Find the score that chooses a system's best run, never one of the compared split."""
    if source.record is None:
        return None
    scores = source.record.scores.get("validation", {})
    monitor = str(source.record.setting("trainer.monitor", metric))
    return scores.get(metric, scores.get(monitor))
