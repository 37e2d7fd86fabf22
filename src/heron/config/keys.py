"""The schema's keys: all of them, and their types."""

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any, get_args, get_origin

from heron.base.terminal import say
from heron.config.constraints import field_types, plain
from heron.config.schema import Config

# Keys of earlier versions, for one release: in words, YAML files and stored configurations.
RENAMED = {
    "optim.accumulate": "trainer.accumulate_grad_batches",
    "optim.clip": "trainer.gradient_clip_val",
    "trainer.progress": "trainer.enable_progress_bar",
}


def say_renamed(old: str, new: str) -> None:
    """Say that a word or key of earlier versions has another name."""
    say(f"{old} is now {new}; the old word goes with the next release")


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


def _part(hint: Any) -> Any:
    """Find the dataclass of a field (perhaps optional); None for a value.

    A mapping's keys are the user's own: data.files.<split>, data.counts.<split>.
    """
    kind = plain(hint)
    return kind if dataclasses.is_dataclass(kind) else None


def type_of(key: str) -> Any:
    """Find a key's type, without constraints and `None`; None for an unknown key."""
    return type_at(Config, key.split("."))


def type_at(schema: Any, parts: Iterable[str | int]) -> Any:
    """Follow names of fields, of mappings and of lists to a type; None where there is none."""
    found: Any = schema
    for part in parts:
        if get_origin(found) in (dict, list):
            found = plain(get_args(found)[-1])
        elif dataclasses.is_dataclass(found):
            kind: Any = found
            found = plain(field_types(kind).get(str(part)))
        else:
            return None
    return found
