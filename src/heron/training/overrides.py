"""Overrides: words `key=value` on keys of the configuration, in Hydra's grammar.

`heron train` passes them to Hydra. Commands on finished runs and on files take `data.<key>=value`,
which is laid over a data set, and a few keys of prediction (`SETTINGS`).
"""

import copy
import dataclasses
import re
from collections.abc import Mapping, Sequence
from itertools import product
from operator import attrgetter
from typing import Any, NamedTuple

from hydra.errors import HydraException
from omegaconf import OmegaConf
from omegaconf.errors import OmegaConfBaseException

from heron.base.errors import ConfigError, nearest
from heron.base.files import parse_yaml
from heron.base.folders import data_set_file, default_data_dir
from heron.config import errors
from heron.config.constraints import all_keys, flatten
from heron.config.parsing import parse
from heron.config.words import PARSER, UNREADABLE, readable
from heron.data.config import DataConfig, data_values
from heron.tasks.config import Config
from heron.training.stored import from_yaml, to_yaml

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
    """Read the one value of an override `key=value`.

    Raises:
        ConfigError: it has no value, one that cannot be read, or several.
    """
    key, equals, value = word.partition("=")
    if not equals:
        raise ConfigError(f"'{word}' is not of the form key=value")
    try:
        # Keys of mappings are the user's own, and need not be in Hydra's grammar.
        plain = key if re.fullmatch(r"[\w.]+", key, re.ASCII) else "key"
        (override,) = PARSER.parse_overrides([readable(f"{plain}={value}")])
    except HydraException as error:
        try:
            # A mapping whose keys Hydra cannot read: numbers, letters beyond ASCII.
            if isinstance(mapping := parse_yaml(value), dict):
                return mapping
        except ConfigError:
            pass
        raise ConfigError(f"{word}: {UNREADABLE}") from error
    if override.is_sweep_override():
        raise ConfigError(f"{word}: one value is needed; a list is written [a, b]")
    return override.value()


def sort_words(arguments: Sequence[str]) -> Words:
    """Separate a command's own options from overrides.

    Raises:
        ConfigError: a key that is neither; names the nearest that is.
    """
    found = Words([], [], [])
    for word in arguments:
        key, equals, value = word.partition("=")
        if "." not in key or not equals:
            found.options.append(word)
        elif key == "paths.data":
            found.options.append(f"data={value}")
        elif key == RUN_CODE:
            found = found._replace(run_code=value.lower() == "true")
        elif key in SETTINGS or key.startswith("data."):
            (found.settings if key in SETTINGS else found.data).append(word)
        else:
            known = [each for each in all_keys() if each in SETTINGS or each.startswith("data.")]
            raise ConfigError(f"{key}: cannot be set here.{nearest(key, known)}")
    return found


def read_points(words: Sequence[str]) -> list[dict[str, int | str | None]]:
    """List all combinations of the values of `SETTINGS` in overrides such as `key=10,20,30`.

    Raises:
        ConfigError: a key that is given twice.
    """
    values: dict[str, list[int | str | None]] = {}
    for word in words:
        key, _, given = word.partition("=")
        if key in values:
            raise ConfigError(f"option '{key}' is given twice")
        values[key] = [parse_yaml(part) for part in dict.fromkeys(map(str.strip, given.split(",")))]
    return [dict(zip(values, point, strict=True)) for point in product(*values.values())]


def changed(config: Config, settings: Mapping[str, Any]) -> Config:
    """Set keys of `SETTINGS` in a run's configuration, checked as in training.

    Raises:
        ConfigError: a value out of range.
    """
    if not settings:
        return config
    new = copy.deepcopy(config)
    set_keys(new, settings, "settings")
    return from_yaml(to_yaml(new))


def configure(name: str, words: Sequence[str]) -> DataConfig:
    """Read a data set's YAML and override its keys, as `heron train data=...` does.

    Raises:
        ConfigError: no such data set, an unknown key, or a value that its key cannot have.
    """
    return _override(data_values(data_set_file(name)), words)


def override(data: DataConfig, words: Sequence[str]) -> DataConfig:
    """Override keys of a data set by `data.<key>=value`; mappings are merged, lists replaced.

    Raises:
        ConfigError: an unknown key, one that is given twice or that the data set's task does not
            have, a wrong value, or values that do not work together.
    """
    return _override(OmegaConf.create(dataclasses.asdict(data)), words) if words else data


def _override(values: Any, words: Sequence[str]) -> DataConfig:
    seen = set[str]()
    try:
        for word in words:
            value = read_value(word)
            for part in reversed(word.partition("=")[0].split(".")[1:]):
                value = {part: value}
            leaves = [key for key, _ in flatten(value, "data.")]
            for name in dict.fromkeys((word.partition("=")[0], *leaves)):
                if name in seen:
                    raise ConfigError(f"option '{name}' is given twice")
                seen.add(name)
            values = OmegaConf.merge(values, OmegaConf.create(value))
        whole = OmegaConf.to_container(values, resolve=True)
    except OmegaConfBaseException as error:
        raise ConfigError(errors.explain(error, prefix="data.")) from error
    assert isinstance(whole, dict)
    from heron.data.user_files import own_files  # start-up time

    return parse(DataConfig, own_files(whole, default_data_dir()), "data.")


def set_keys(config: Config, changes: Mapping[str, Any], name: str) -> None:
    """Set dotted keys (`{"optim.lr": 1e-4}`) in place; errors call the mapping `name`."""
    known = all_keys()
    for key, value in changes.items():
        parent, _, field = key.rpartition(".")
        try:
            if key not in known:  # such as `encoder.__dict__`, an attribute of every object
                raise AttributeError(key)
            part = attrgetter(parent)(config) if parent else config
            getattr(part, field)
        except AttributeError as error:
            raise ConfigError(f"{name}: there is no key '{key}'.{nearest(key, known)}") from error
        setattr(part, field, value)
