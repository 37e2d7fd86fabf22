"""`data.<key>=value` words laid over a data set, one at a time: errors name the word at fault."""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Union, get_args, get_origin, get_type_hints

import yaml
from omegaconf import MISSING, DictConfig, OmegaConf
from omegaconf.errors import KeyValidationError, MissingMandatoryValue, OmegaConfBaseException

from heron.base.errors import ConfigError
from heron.base.folders import data_set_file
from heron.config.data import DataConfig
from heron.config.keys import refuse_unknown
from heron.config.schema import Config
from heron.config.tasks import tasks_with

# What to say of a value that is no YAML, or not of Hydra's grammar.
UNREADABLE = "its value cannot be read: close brackets and quotes, put signs into quotes"

_SCALARS: dict[Any, str] = {
    bool: "true or false is needed",
    int: "a whole number is needed",
    float: "a number is needed",
    str: "a text is needed",
}


def configure(name: str, words: Sequence[str]) -> DataConfig:
    """Read a data set's YAML and override its keys, as `heron train data=...` does.

    Args:
        name: a file of `conf/data`, of heron or of a fork.
        words: `data.<key>=value`; entries of `data.files` may be new ones.

    Raises:
        ConfigError: no such data set, an unknown key, or a value that its key cannot have.
    """
    path = data_set_file(name)
    try:
        known = OmegaConf.merge(OmegaConf.structured(DataConfig), OmegaConf.load(path))
    except (OmegaConfBaseException, yaml.YAMLError) as error:
        raise ConfigError(f"{path}: {str(error).splitlines()[0]}") from error
    assert isinstance(known, DictConfig)
    return to_data(merge_words(known, words))


def merge_words(value: DictConfig, words: Sequence[str]) -> DictConfig:
    """Lay words over a data set; its own checks come later, when all of them are in.

    Args:
        value: the data set, typed by `DataConfig`.
        words: `data.<key>=value`; mappings are added to, lists replaced.

    Raises:
        ConfigError: names the word: an unknown key, one that is given twice or means nothing for
            the data set's task, or a value that its key cannot have.
    """
    tasks = [word.partition("=")[2] for word in words if word.startswith("data.task=")]
    task = tasks[0] if tasks else value.task
    seen: set[str] = set()
    for word in words:
        key, given = word.partition("=")[0], _parse(word)
        refuse_unknown(given, DataConfig, "data.")
        leaves = dict(_leaves(OmegaConf.to_container(given), "data."))
        for name in dict.fromkeys((key, *leaves)):
            if name in seen:
                raise ConfigError(f"option '{name}' is given twice")
            seen.add(name)
        for leaf, each in leaves.items():
            _refuse_of_others(leaf, task)
            _refuse_nested(word, leaf, each)
        value = _merge(value, given, word)
    return value


def stands_for(name: str, key: str) -> bool:
    """Tell whether a key is the one named, or one below it: `data.qa` stands for `data.qa.trim`."""
    return f"{key}.".startswith(f"{name}.")


def to_data(value: DictConfig) -> DataConfig:
    """Make a data set of what words were laid over, with all of its checks.

    Raises:
        ConfigError: a key that must be given and is not; values that do not go together.
    """
    try:
        data = OmegaConf.to_object(value)
    except MissingMandatoryValue as error:
        raise ConfigError(f"missing key data.{error.full_key}=...") from error
    assert isinstance(data, DataConfig)
    return data


def needed(key: str, given: str = "") -> str:
    """Say what kind of value a key needs, where possible with what was probably meant.

    Args:
        key: dotted, such as `data.no_label`.
        given: the value that does not fit.

    Returns:
        `a list is needed: data.no_label=[NONE]`; empty for an unknown key.
    """
    kind = _type_of(key)
    if get_origin(kind) is list:
        written = "" if given in ("", "null", "Null", "NULL", "~") else given
        if any(sign in written for sign in "[]{}'\""):
            written = "A, B"
        return f"a list is needed: {key}=[{written}]"
    if get_origin(kind) is dict:
        return f"a mapping is needed, numbers in quotes: {key}={{NAME: VALUE}}"
    if dataclasses.is_dataclass(kind):
        names = ", ".join(f"{key}.{field.name}" for field in dataclasses.fields(kind))
        return f"it has keys of its own: {names}"
    return _SCALARS.get(kind, "")


def _parse(word: str) -> DictConfig:
    key, equals, value = word.partition("=")
    if not equals:
        raise ConfigError(f"'{word}' is not of the form key=value")
    try:
        return OmegaConf.from_dotlist([word.removeprefix("data.")])
    except (OmegaConfBaseException, yaml.YAMLError) as error:
        hint = f"; {needed(key, value)}" if needed(key) else ""
        raise ConfigError(f"{word}: {UNREADABLE}{hint}") from error


def _merge(value: DictConfig, given: DictConfig, word: str) -> DictConfig:
    try:
        merged = OmegaConf.merge(value, given)
        OmegaConf.to_container(merged, resolve=True)  # ${...} that leads nowhere
    except OmegaConfBaseException as error:
        key, _, written = word.partition("=")
        where = f"data.{getattr(error, 'full_key', None) or ''}"
        raise ConfigError(f"{word}: {_reason(error, key, where, written)}") from error
    assert isinstance(merged, DictConfig)
    return merged


def _reason(error: Exception, key: str, where: str, written: str) -> str:
    """Say what the key needs; what OmegaConf says where it is not the kind of value.

    Args:
        error: OmegaConf's.
        key: the word's.
        where: OmegaConf's idea of the key that is wrong; perhaps one inside of the word's.
        written: the word's value.
    """
    if "${" not in written:
        is_inside = where.startswith(f"{key}.") and needed(where)
        inner = where if is_inside and not isinstance(error, KeyValidationError) else key
        while inner and not needed(inner):  # data.no_label.0, where data.no_label is a list
            inner = inner.rpartition("[" if inner.endswith("]") else ".")[0]
        if "." in inner:
            return needed(key, written) if inner == key else f"{inner}: {needed(inner)}"
    return str(error).splitlines()[0]


def _refuse_of_others(key: str, task: str) -> None:
    tasks = tasks_with(key)
    if tasks and task not in tasks:
        raise ConfigError(
            f"{key}: says something about data of task={' or task='.join(tasks)}; "
            f"these are of task={task}"
        )


def _refuse_nested(word: str, key: str, value: Any) -> None:
    """Refuse what OmegaConf lets pass: lists in lists, and its sign for a missing value."""
    if value == MISSING:
        raise ConfigError(f"{word}: {MISSING} is no value")
    if isinstance(value, list) and any(isinstance(each, list | dict) for each in value):
        raise ConfigError(f"{word}: {needed(key, '[')}")


def _leaves(values: Any, prefix: str) -> Iterator[tuple[str, Any]]:
    """List dotted key and value of everything that is no mapping."""
    for key, value in values.items():
        if isinstance(value, Mapping) and value:
            yield from _leaves(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _type_of(key: str) -> Any:
    """Find a key's type in the schema, without `| None`; None for an unknown key."""
    found: Any = Config
    for part in key.split("."):
        if get_origin(found) is dict:
            found = get_args(found)[1]
        elif dataclasses.is_dataclass(found):
            found = get_type_hints(found).get(part)
        else:
            return None
        if get_origin(found) in (Union, types.UnionType):
            found = next(each for each in get_args(found) if each is not type(None))
    return found
