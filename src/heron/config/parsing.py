"""The one parser: pydantic reads YAML, words and options through the parts' own dataclasses."""

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from heron.base.errors import ConfigError

if TYPE_CHECKING:
    from pydantic import TypeAdapter

T = TypeVar("T")


# Of every adapter; numbers become names, such as 2024.
_RULES: Any = {
    "extra": "forbid",
    "allow_inf_nan": False,
    "arbitrary_types_allowed": True,
    "coerce_numbers_to_str": True,
    "revalidate_instances": "always",
    "validate_default": True,
}


@cache
def adapter(schema: Any) -> "TypeAdapter[Any]":
    """Make the reader of a type, once."""
    from pydantic import TypeAdapter, with_config  # start-up time: help needs neither

    if isinstance(schema, type):
        return TypeAdapter(with_config(_RULES)(schema))
    return TypeAdapter(schema, config=_RULES)


def parse(schema: type[T], values: Any, prefix: str = "", names: Mapping[str, str] = {}) -> T:
    """Read a dataclass from plain values, or check one again.

    Args:
        schema: the dataclass.
        values: a mapping, or an instance.
        prefix: precedes its keys in messages, `data.`.
        names: see `heron.config.errors.explain`.

    Raises:
        ConfigError: all problems, each with its key.
    """
    from pydantic import ValidationError

    kind: Any = schema
    try:
        found: T = adapter(kind).validate_python(values)
        return found
    except ValidationError as error:
        from heron.config.constraints import key_types, type_at
        from heron.config.errors import explain, place

        beside: list[Any] = [type_at(kind, each["loc"][:-1]) for each in error.errors()]
        siblings = {
            f"{place(each['loc'][:-1], prefix)}.{name}".lstrip(".")
            for each, part in zip(error.errors(), beside, strict=True)
            for name in getattr(part, "__dataclass_fields__", ())
        }
        known = {names.get(key, key) for key in (*key_types(kind, prefix), *names, *siblings)}
        raise ConfigError(explain(error, known, prefix, names)) from None


def check(config: Any, prefix: str = "") -> None:
    """Check a dataclass: each field by its type, then the combinations of fields.

    Raises:
        ConfigError: all problems, each with its key.
    """
    parse(type(config), config, prefix)
