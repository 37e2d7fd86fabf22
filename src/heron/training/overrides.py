"""Overrides that commands on finished runs and on files take: words `key=value` in Hydra's grammar.

`data.<key>=value` is laid over a data set; a few keys of prediction (`SETTINGS`) are changed in a
run's configuration.
"""

import dataclasses
from collections.abc import Sequence
from itertools import product
from typing import Any, NamedTuple

from hydra.errors import HydraException
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from heron.base.errors import ConfigError
from heron.base.files import parse_yaml
from heron.base.folders import data_set_file, default_data_dir
from heron.config import errors
from heron.config.parsing import parse
from heron.config.words import PARSER, UNREADABLE, readable
from heron.data.config import DataConfig, data_values

# The search for answers (the threshold of "no answer" stays the one that training tuned), further
# scores, and the tokens of a batch, which decide how much memory is taken.
SETTINGS = ("task.max_answer_tokens", "task.metrics", "encoder.stride", "batching.tokens")
# Whether code that comes with a run's weights may run.
RUN_CODE = "encoder.trust_remote_code"


class Words(NamedTuple):
    """A command's overrides by kind."""

    options: list[str]  # the command's own; `paths.data=DIR` is one of them as `data=DIR`
    settings: list[str]  # overrides of keys in `SETTINGS`
    data: list[str]  # overrides of the data set
    run_code: bool = False  # whether `encoder.trust_remote_code=true` is given


def read_value(word: str) -> Any:
    """Read the value of an override `key=value`, several as a list.

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


def sort_words(arguments: Sequence[str]) -> Words:
    """Separate a command's own options from overrides."""
    found = Words([], [], [])
    for word in arguments:
        key, _, value = word.partition("=")
        if key == RUN_CODE:
            found = found._replace(run_code=value.lower() == "true")
        elif key in SETTINGS:
            found.settings.append(word)
        elif key.startswith("data."):
            found.data.append(word)
        else:
            found.options.append(f"data={value}" if key == "paths.data" else word)
    return found


def read_points(words: Sequence[str]) -> list[dict[str, int | str | None]]:
    """List all combinations of the values of `SETTINGS` in overrides such as `key=10,20,30`."""
    given = {key: value.split(",") for key, _, value in (word.partition("=") for word in words)}
    values = [dict.fromkeys(map(parse_yaml, each)) for each in given.values()]
    return [dict(zip(given, point, strict=True)) for point in product(*values)]


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
        raise ConfigError(errors.explain(error, prefix="data.")) from error
    from heron.data.user_files import own_files  # start-up time

    return parse(DataConfig, own_files(whole, default_data_dir()), "data.")
