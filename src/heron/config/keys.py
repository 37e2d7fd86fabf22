"""The schema's keys: all of them, and their types."""

import dataclasses
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, get_args, get_origin

from omegaconf import DictConfig, OmegaConf

from heron.base.errors import ConfigError, nearest
from heron.config.constraints import field_types, plain
from heron.config.schema import Config


def all_keys(schema: Any = Config, prefix: str = "") -> list[str]:
    """List every dotted key of the schema."""
    return list(key_types(schema, prefix))


@cache
def key_types(schema: Any = Config, prefix: str = "") -> Mapping[str, Any]:
    """Map every dotted key of the schema to its type with its constraints."""
    types: dict[str, Any] = {}
    for name, hint in field_types(schema).items():
        types[prefix + name] = hint
        if inner := _part(hint):
            types |= key_types(inner, f"{prefix}{name}.")
    return types


def flatten(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """List nested values by dotted key."""
    for key, value in values.items():
        if isinstance(value, Mapping) and value:
            yield from flatten(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def is_under(key: str, parent: str) -> bool:
    """Tell whether a key is `parent` or below it, as `data.qa.trim` is below `data.qa`."""
    return f"{key}.".startswith(f"{parent}.")


def refuse_unknown(config: DictConfig, schema: Any, prefix: str) -> None:
    """Refuse keys that a schema does not have; keys of mappings are the user's own."""
    hints = field_types(schema)
    for key in map(str, config):
        name = prefix + key
        if key not in hints:
            known = [*all_keys(), *(prefix + field for field in hints)]
            raise ConfigError(f"unknown key '{name}'.{nearest(name, known)}")
        if not OmegaConf.is_dict(config._get_node(key)) or config[key] is None:
            continue
        if inner := _part(hints[key]):
            refuse_unknown(config[key], inner, f"{name}.")
        elif dataclasses.is_dataclass(entry := (get_args(plain(hints[key])) or (None,))[-1]):
            for each in map(str, config[key]):
                refuse_unknown(config[key][each], entry, f"{name}.{each}.")


def _part(hint: Any) -> Any:
    """Find the dataclass of a field (perhaps optional); None for a value.

    A mapping's keys are the user's own: data.files.<split>, data.counts.<split>.
    """
    kind = plain(hint)
    return kind if dataclasses.is_dataclass(kind) else None


def type_of(key: str) -> Any:
    """Find a key's type, without constraints and `None`; None for an unknown key."""
    found: Any = Config
    for part in key.split("."):
        if get_origin(found) is dict:
            found = get_args(found)[1]
        elif dataclasses.is_dataclass(found):
            schema: Any = found
            found = field_types(schema).get(part)
        else:
            return None
        found = plain(found)
    return found
