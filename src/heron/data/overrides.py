"""Overrides of a data set without a run: words `data.<key>=value` in Hydra's grammar."""

import dataclasses
from collections.abc import Sequence
from typing import Any

from hydra.errors import HydraException
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from heron.base.errors import ConfigError
from heron.base.files import parse_yaml
from heron.base.folders import data_set_file, default_data_dir
from heron.config.parsing import explain, parse
from heron.config.words import PARSER, UNREADABLE, readable
from heron.data.config import DataConfig, data_values


def configure(name: str, words: Sequence[str]) -> DataConfig:
    """Read a data set's YAML and override its keys, as `heron train data=...` does.

    Raises:
        ConfigError: no such data set, an unknown key, or a value that its key cannot have.
    """
    return _laid_over(data_values(data_set_file(name)), words)


def override(data: DataConfig, words: Sequence[str]) -> DataConfig:
    """Override keys of a data set by `data.<key>=value`; mappings are merged, lists replaced.

    Raises:
        ConfigError: an unknown key, or one that the data set's task does not have, a wrong value,
            or values that do not work together.
    """
    return _laid_over(OmegaConf.create(dataclasses.asdict(data)), words) if words else data


def _laid_over(values: Any, words: Sequence[str]) -> DataConfig:
    try:
        for word in words:
            key = word.partition("=")[0].removeprefix("data.")
            OmegaConf.update(values, key, read_value(word), merge=True, force_add=True)
        whole: Any = OmegaConf.to_container(values, resolve=True)
    except OmegaConfBaseException as error:
        raise ConfigError(explain(error, prefix="data.")) from error
    from heron.data.user_files import own_files  # start-up time

    return parse(DataConfig, own_files(whole, default_data_dir()), "data.")


def read_value(word: str) -> Any:
    """Read the value of an override `key=value`; a list for `key=a,b`.

    Raises:
        ConfigError: it cannot be read.
    """
    value = readable(word).partition("=")[2]
    try:
        # Keys of mappings are the user's own, and need not be in Hydra's grammar.
        (override,) = PARSER.parse_overrides([f"key={value}"])
    except HydraException as error:
        if value[:1] == "{":  # a mapping with other keys: numbers, letters beyond ASCII
            return parse_yaml(value)
        raise ConfigError(f"{word}: {UNREADABLE}") from error
    several = override.is_sweep_override() and override.is_discrete_sweep()
    return list(override.sweep_string_iterator()) if several else override.value()
