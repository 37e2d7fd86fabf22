"""A run's stored predictions beside the examples that they are of; no model is needed.

Legend: N rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from heron.base.errors import ConfigError, DataError, Problem
from heron.data.examples import Example

if TYPE_CHECKING:
    from heron.config.data import DataConfig
    from heron.config.schema import Config


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
