"""Texts as they are written: where a field is a text, `no`, `01` and `1e1` are words.

YAML 1.1, which Hydra reads, and Hydra's grammar take them for truth values and numbers.
"""

from collections.abc import Mapping
from dataclasses import is_dataclass
from functools import partial
from typing import Any, get_args, get_origin

import yaml

from heron.base.errors import ConfigError
from heron.base.files import parse_yaml
from heron.config.constraints import field_types, plain

_TEXT = "tag:yaml.org,2002:str"
_NOT_TEXT = tuple(f"tag:yaml.org,2002:{kind}" for kind in ("bool", "int", "float"))


def keep_texts(node: yaml.Node, hint: Any) -> None:
    """Make texts of the scalars of a YAML tree that stand where a type has texts.

    Args:
        node: of the tree; changed in place.
        hint: the type of its value.
    """
    kind = plain(hint)
    inner = get_args(kind)
    if isinstance(node, yaml.ScalarNode):
        if kind is str and node.tag in _NOT_TEXT:
            node.tag = _TEXT
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            keep_texts(item, inner[0] if inner else None)
    elif isinstance(node, yaml.MappingNode):
        schema: Any = kind
        fields = field_types(schema) if is_dataclass(kind) else {}
        for key, value in node.value:
            if get_origin(kind) is dict:
                keep_texts(key, inner[0])
                keep_texts(value, inner[1])
            else:
                keep_texts(value, fields.get(key.value))


def read_written(text: str, hint: Any) -> Any:
    """Read one value of YAML for a field of this type.

    Raises:
        ConfigError: it is no YAML.
    """
    return parse_yaml(text, partial(keep_texts, hint=hint))


def has_texts(value: Any, hint: Any) -> bool:
    """Tell whether a value has texts, or null, wherever its type has them."""
    kind = plain(hint)
    inner = get_args(kind)
    if kind is str:
        return value is None or isinstance(value, str)
    if isinstance(value, list) and inner:
        return all(has_texts(item, inner[0]) for item in value)
    if isinstance(value, Mapping) and get_origin(kind) is dict:
        return all(has_texts(key, str) and has_texts(value[key], inner[1]) for key in value)
    return True


def is_mapping(hint: Any) -> bool:
    """Tell whether a type is a mapping from a user's names to texts or numbers."""
    kind = plain(hint)
    if get_origin(kind) is not dict:
        return False
    inner = get_args(kind)[1]
    return plain(inner) in (str, int, float, bool) or is_mapping(inner)


def as_written(value: Any, text: str, hint: Any) -> Any:
    """Return what Hydra has read, or else the texts as they are written.

    Args:
        value: Hydra's value of the text.
        text: the word after `=`.
        hint: the type of the key.
    """
    if has_texts(value, hint) or "${" in text:
        return value
    if plain(hint) is str:
        return text.strip()
    try:
        return read_written(text, hint)
    except ConfigError:
        return value
