"""Read a data map's columns and texts from dynamics, the run's data set, and a user's table.

Shape suffixes: E records, N examples, C classes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heron.base.errors import ConfigError, DataError, HeronError, Problem
from heron.base.tables import cell_text, is_missing, read_table
from heron.config.data import TRAIN, DataConfig
from heron.config.stored import read_stored
from heron.data.examples import Example
from heron.data.markers import event_markers, mark
from heron.dynamics.cartography import Statistics, difficulty, statistics
from heron.dynamics.files import Dynamics, read_dynamics, read_logits
from heron.languages import LANGUAGES
from heron.reports.map_data import (
    Categories,
    Column,
    MapRun,
    Numbers,
    Texts,
    as_column,
    rows_of,
    take_rows,
)
from heron.results.shipped import read_shipped

SCORE = "eq1_swapped"


@dataclass(frozen=True, slots=True)
class Mapped:
    """One run's dynamics and their statistics.

    Args:
        name: of the run, for titles.
        folder: the run folder, or a folder of other tools' dynamics.
        dynamics: all records.
        statistics: of the records before burn-out.
        records: number of these records.
    """

    name: str
    folder: Path
    dynamics: Dynamics
    statistics: Statistics
    records: int


def read_mapped(folder: Path, burn_out: int | None = None, include_ci: bool = False) -> Mapped:
    """Read a run's dynamics and compute the statistics.

    Raises:
        ConfigError: `burn_out` below 1, or `include_ci` with one record.
        DataError: there are none, or they cannot be read.
    """
    folder = Path(folder)
    if folder.name == "dynamics" and (folder.parent / "config.yaml").is_file():
        folder = folder.parent
    dynamics = read_dynamics(folder)
    found = statistics(dynamics, burn_out=burn_out, include_ci=include_ci)
    records = len(dynamics.epochs_E[: burn_out or None])
    if include_ci and records < 2:
        raise ConfigError(f"include_ci=true needs two records or more; {folder} has {records}")
    return Mapped(folder.resolve().name, folder, dynamics, found, records)


def shown_statistics(of: Statistics) -> dict[str, NDArray[np.float64]]:
    """List the statistics that the map's page and tables show, float64 [N] each."""
    return {
        "confidence": of.confidence_N,
        "variability": of.variability_N,
        "correctness": of.correctness_share_N,
        "forgetting": of.forgetting_N,
        "aum": of.aum_N,
        "loss": of.loss_N,
        SCORE: difficulty(SCORE, of),
    }


def map_run(mapped: Mapped, guids: Sequence[str] | None = None) -> MapRun:
    """Bring a run's statistics into the order of `guids` (default: the run's own)."""
    of = mapped.statistics
    values = shown_statistics(of)
    predicted = _predicted(mapped)
    if guids is not None and guids != of.guids:
        rows_N = rows_of(of.guids, guids)
        values = {name: take_rows(one, rows_N, np.nan) for name, one in values.items()}
        if predicted is not None:
            predicted = predicted._replace(codes_N=take_rows(predicted.codes_N, rows_N, -1))
    # A task without classes has no margins: no column is clearer than an empty one.
    shown = {name: one.astype(np.float32) for name, one in values.items() if not _empty(one)}
    return MapRun(mapped.name, mapped.records, shown, predicted)


def _empty(values_N: NDArray[Any]) -> bool:
    return bool(len(values_N)) and bool(np.isnan(values_N).all())


def _predicted(mapped: Mapped) -> Categories | None:
    """Find the predicted labels in the last record before burn-out; None without logits."""
    if not mapped.dynamics.labels:
        return None
    try:
        guids, logits_NC = read_logits(mapped.folder, mapped.records - 1)
    except DataError:
        return None
    rows_N = rows_of(guids, mapped.dynamics.guids)
    codes_N = take_rows(logits_NC.argmax(axis=1).astype(np.int32), rows_N, -1)
    return Categories("predicted", mapped.dynamics.labels, codes_N)


def labels_of(mapped: Mapped) -> Categories | None:
    """List the gold labels; None where the task has no classes."""
    if not mapped.dynamics.labels:
        return None
    codes_N = mapped.dynamics.gold_N.astype(np.int32)
    return Categories("label", mapped.dynamics.labels, codes_N)


def group_names(groups: Mapping[str, NDArray[np.bool_]], examples: int) -> list[str]:
    """Name each example's groups, joined with `+`; empty where it is in none."""
    names = [""] * examples
    for name, mask_N in groups.items():
        for row in np.flatnonzero(mask_N).tolist():
            names[row] = f"{names[row]}+{name}" if names[row] else name
    return names


def read_columns(path: Path, guids: Sequence[str]) -> tuple[list[Column], str]:
    """Read further columns to colour by from a table with a column `guid`.

    Returns:
        The columns in the order of `guids`, and a note on the file's guids that are not among them
        (empty if there are none).

    Raises:
        DataError: no such column, a guid twice, or none of the guids is in the map.
    """
    table = read_table(path, own=True)
    table.require("guid")
    if problems := table.missing_values("guid") + table.duplicates("guid"):
        raise DataError(problems)
    named = [cell_text(value) for value in table.values("guid")]
    rows_N = rows_of(named, guids)
    unknown = len(named) - int((rows_N >= 0).sum())
    if unknown == len(named):
        fix = f"the run's look like '{guids[0]}'" if guids else ""
        what = f"none of its {len(named):,} guids has dynamics, for example '{named[0]}'"
        raise DataError(Problem(str(path), what, fix))
    columns = []
    for name in table.columns:
        if name != "guid":
            cells = table.values(name)
            columns.append(as_column(name, [cells[row] if row >= 0 else None for row in rows_N]))
    said = f"{path.name}: {unknown:,} of {len(named):,} guids have no dynamics" if unknown else ""
    return columns, said


def read_examples(
    data: DataConfig, data_dir: Path, cache_dir: Path, guids: Sequence[str]
) -> list[Example | None]:
    """Find the examples of these guids, in whichever split they are; None where there is none.

    Nothing is downloaded.

    Raises:
        DataError: the files are missing or cannot be read.
    """
    splits = read_shipped(data, data_dir, cache_dir).splits
    by_guid: dict[str, Example] = {}
    for split in sorted(splits, key=lambda name: name == TRAIN):  # train last: its rows stand
        by_guid.update((example.guid, example) for example in splits[split])
    return [by_guid.get(guid) for guid in guids]


def texts_of(examples: Sequence[Example | None], data: DataConfig) -> Texts:
    """Take the examples' texts, with events marked."""
    language = LANGUAGES.find(data.language)
    return Texts(
        [None if example is None else _shown(example, data) for example in examples],
        [None if example is None else example.text_pair for example in examples],
        language.code if language else "",
        language.direction if language else "auto",
    )


def _shown(example: Example, data: DataConfig) -> str:
    if len(example.spans) != 2:
        return example.text
    return mark(example.text, example.spans, event_markers(data)).text


def example_columns(examples: Sequence[Example | None]) -> list[Column]:
    """Make columns of the number of words and of the data set's side columns."""
    words = [
        np.nan if one is None else len(f"{one.text} {one.text_pair or ''}".split())
        for one in examples
    ]
    columns: list[Column] = [Numbers("words", np.array(words, np.float32))]
    names = dict.fromkeys(name for one in examples if one is not None for name in one.side)
    for name in names:
        cells = [None if one is None else one.side.get(name) for one in examples]
        present = [cell for cell in cells if not is_missing(cell)]
        plain = all(isinstance(cell, str | int | float) for cell in present)
        # One value for all examples, such as the file's name, colours nothing.
        if plain and len(set(present)) > 1:
            columns.append(as_column(name, cells))
    return columns


def find_texts(
    folder: Path, guids: Sequence[str], data_dir: Path | None, cache_dir: Path | None
) -> tuple[Texts | None, list[Column], str]:
    """Find the texts of a run's examples, if its data is still there.

    Returns:
        The texts (None where there are none), the data's columns, and a note on what is missing
        (empty if nothing is).
    """
    path = folder / "config.yaml"
    if not path.is_file():
        return None, [], "no texts: the folder has no config.yaml that names a data set"
    try:
        config = read_stored(path)
        places = data_dir or Path(config.paths.data), cache_dir or Path(config.paths.cache)
        examples = read_examples(config.data, *places, guids)
    except (HeronError, OSError) as error:
        return None, [], f"no texts: {str(error).splitlines()[0]}"
    missing = examples.count(None)
    if missing == len(examples):
        return None, [], f"no texts: none of the examples is in {config.data.name}"
    said = f"{missing:,} examples are not in {config.data.name}: no texts" if missing else ""
    return texts_of(examples, config.data), example_columns(examples), said
