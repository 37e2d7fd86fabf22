"""A run's stored predictions beside the examples that they are of; no model is needed.

Legend: N rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from heron.base.errors import ConfigError, DataError, Problem
from heron.base.tables import cell_text, read_table
from heron.data.examples import Example

if TYPE_CHECKING:
    from heron.config.data import DataConfig
    from heron.config.schema import Config


@dataclass(frozen=True, slots=True)
class Predicted:
    """The labelled rows of one split that were predicted.

    Args:
        examples: N, in the order of the predictions.
        gold: N class names.
        prediction: N class names.
        unlabelled: predicted rows without a gold label, which are left out.
    """

    examples: list[Example]
    gold: list[str]
    prediction: list[str]
    unlabelled: int


def read_predicted(
    path: Path, split: str, data: DataConfig, data_dir: Path, cache_dir: Path
) -> Predicted:
    """Join one split's predictions with its examples, on guid.

    Args:
        path: the predictions, Parquet.
        split: the split of `data` that they are of.
        data: the data set, perhaps with more columns than the run read.
        data_dir: where data sets lie.
        cache_dir: where downloads and generated corpora lie.

    Raises:
        ConfigError: there are no such predictions.
        DataError: the data cannot be read, or has no such rows.
    """
    if not path.is_file():
        raise missing_predictions(path)
    table = read_table(path)
    table.require("guid", "gold", "prediction")
    rows = [row for row in table.rows if row["gold"] is not None]
    found = find_examples([row["guid"] for row in rows], split, data, data_dir, cache_dir)
    return Predicted(
        found,
        [str(row["gold"]) for row in rows],
        [str(row["prediction"]) for row in rows],
        len(table) - len(rows),
    )


def missing_predictions(path: Path) -> ConfigError:
    """Say which predictions a run has instead of those at `path`."""
    have = ", ".join(sorted(file.stem for file in path.parent.glob("*.parquet"))) or "none"
    return ConfigError(f"split={path.stem}: no such predictions; the run has: {have}")


def find_examples(
    guids: Sequence[str], split: str, data: DataConfig, data_dir: Path, cache_dir: Path
) -> list[Example]:
    """Find the examples of these guids; only the files that are there are read.

    Raises:
        DataError: some are in no split; the message names them.
    """
    from heron.results.shipped import read_shipped

    splits = read_shipped(data, data_dir, cache_dir).splits
    # A split that was carved out is a part of another's file.
    order = [split, *(name for name in splits if name != split)]
    by_split = [{e.guid: e for e in splits[name]} for name in order if name in splits]
    missing: list[str] = list(guids)
    for by_guid in by_split:
        absent = [guid for guid in guids if guid not in by_guid]
        if not absent:
            return [by_guid[guid] for guid in guids]
        missing = min(missing, absent, key=len)
    fix = "is this the data that the run was scored on? paths.data=DIR says where it lies"
    raise DataError([Problem(guid, f"predicted, but not in {data.name}", fix) for guid in missing])


def data_of(config: Config, split: str) -> tuple[DataConfig, str]:
    """Find the data set and the split that a run's predictions are of.

    Args:
        config: the run's.
        split: `test`, or `<data set>.test` for those it was only tested on.

    Returns:
        The data set (of the last stage, where the run had stages) and the split's name in it.

    Raises:
        ConfigError: the data set is no longer there, or has other classes.
    """
    from heron.config.checks import resolve_stages
    from heron.data.other_sets import data_set

    name, _, inner = split.rpartition(".")
    stages = resolve_stages(config)
    last = stages[-1].data if stages else config.data.name
    return data_set(config, name or last), inner


def read_types(path: Path, guids: Sequence[str]) -> list[list[str]]:
    """Read each row's reasoning types from a table with the columns `guid` and `types`.

    Returns:
        Types of each guid; none for those that the table lacks.

    Raises:
        DataError: the columns are missing, a guid is there twice, or none of `guids` is in it.
    """
    from heron.analysis.breakdown import split_types

    table = read_table(path)
    table.require("guid", "types")
    if repeated := table.duplicates("guid"):
        raise DataError(repeated)
    types = {cell_text(row["guid"]): split_types(row["types"]) for row in table.rows}
    if not types.keys() & set(guids):
        what = "none of its guids is among the predictions'"
        raise DataError(Problem(str(path), what, f"those look like '{guids[0]}'" if guids else ""))
    return [types.get(guid, []) for guid in guids]
