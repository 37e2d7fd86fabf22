"""Further data sets of one run: those of its stages, and those it is only tested on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from heron.base.errors import ConfigError
from heron.base.folders import data_set_file
from heron.config.data import TEST, VALIDATION, DataConfig, read_config
from heron.config.schema import Config
from heron.data.readers import Loaded, load_with_report


def data_set(config: Config, name: str) -> DataConfig:
    """Find a data set by name; the run's own comes with what the command line changed.

    Raises:
        ConfigError: no such data set, or one with other classes or for another task.
    """
    for known in (config.data, *config.others.values()):
        if name == known.name:
            return known
    found = read_config(data_set_file(name))
    own = config.data
    if (found.task, found.label_order) != (own.task, own.label_order):
        raise ConfigError(
            f"data set {name} (task {found.task}, classes {', '.join(found.label_order)}) does not "
            f"go with {own.name} (task {own.task}, classes {', '.join(own.label_order)}): one head "
            "needs the same classes in the same order"
        )
    return found


def of_split(config: Config, split: str) -> Config:
    """Put the data set that a split is of in the place of the run's own: its language scores it."""
    name, dot, _ = split.rpartition(".")
    return replace(config, data=data_set(config, name)) if dot else config


def load_run_data(config: Config) -> Loaded:
    """Read what a run reads: its own data set, and what `config.also_test` adds.

    Returns:
        The run's splits, and `<data set>.<split>` of the others: their test split, or validation
        where there is none.

    Raises:
        ConfigError: as `data_set`, or a data set with neither split.
        DataError: files that are missing or wrong.
    """
    data, cache = Path(config.paths.data), Path(config.paths.cache)
    loaded = load_with_report(config.data, data, cache)
    for name in config.also_test:
        found = data_set(config, name)
        known = load_with_report(found, data, cache)
        split = next((split for split in (TEST, VALIDATION) if split in known.examples), None)
        if split is None:
            raise ConfigError(f"also_test={name}: it has neither a test nor a validation split")
        loaded.examples[f"{name}.{split}"] = known.examples[split]
        if split in known.dropped:
            loaded.dropped[f"{name}.{split}"] = known.dropped[split]
    return loaded
