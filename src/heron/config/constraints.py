"""Constraints in the types of fields (`Annotated[int, Ge(1)]`), and the keys that fields make.

pydantic checks them, OmegaConf ignores them. A class whose fields depend on each other is
`Checked`.
"""

import dataclasses
import re
import types
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, Union, get_args, get_origin, get_type_hints

from annotated_types import Ge, Gt, Interval, Len

from heron.base.errors import nearest
from heron.base.registry import Hook, Registry

if TYPE_CHECKING:
    from pydantic import TypeAdapter

LAST_SEED = 2**32 - 1  # NumPy, scikit-learn and Lightning take 32 bits
MISSING = "???"  # of a field that has no default, as OmegaConf writes it
# Settings of every adapter; a number such as 2024 may be a name.
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


class Constraint:
    """A condition on a value that has its type already: `check` raises ValueError otherwise."""

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        """Check after pydantic has read the value."""
        from pydantic_core import core_schema

        return core_schema.no_info_after_validator_function(self.check, handler(source))

    def check(self, value: Any) -> Any:
        """Return the value; raises ValueError where it is not allowed."""
        raise NotImplementedError


class OneOf(Constraint):
    """One of some names, or of a registry's; forks are loaded for unknown names only."""

    def __init__(self, *names: str, registry: Iterable[str] = ()):
        self._own, self._registry = names, registry

    @property
    def names(self) -> list[str]:
        """All names, those of forks included."""
        return list(dict.fromkeys((*self._own, *self._registry)))

    def check(self, value: Any) -> Any:
        """Allow None, too, for `str | None`."""
        if value is not None and value not in self._own and value not in self._registry:
            raise ValueError(f"unknown.{nearest(value, self.names)}")
        return value


class OfTask(OneOf):
    """One of the names that a task has; `heron.tasks.checks` checks it, which knows the task."""

    def __init__(self, *registries: Iterable[str]):
        super().__init__()
        self._registries = registries

    @property
    def names(self) -> list[str]:
        """The names of all tasks, those of forks included."""
        return list(dict.fromkeys(name for registry in self._registries for name in registry))

    def check(self, value: Any) -> Any:
        """Accept any name here."""
        return value


@dataclasses.dataclass(frozen=True)
class Matches(Constraint):
    """A text that matches a regular expression; `allowed` describes it in messages."""

    pattern: str
    allowed: str

    def check(self, value: Any) -> Any:
        """Match the whole text."""
        if not re.fullmatch(self.pattern, value):
            raise ValueError(f"allowed are {self.allowed}")
        return value


# Dataclasses of tools' and forks' own parts of a run's configuration, by their key. Those of their
# keys that cannot change a result are in the class attribute `NEUTRAL`.
PARTS: Registry[Any] = Registry("part of the configuration")


class InlineMapping(Constraint):
    """A mapping whose own key is left out on the command line: its entries are typed alone."""


@dataclasses.dataclass(frozen=True)
class AsWritten(Constraint):
    """A value that is checked by a dataclass, and kept as it is written."""

    schema: Any

    def check(self, value: Any) -> Any:
        """Read the value only to check it."""
        adapter(self.schema).validate_python(value)
        return value


NO_ENTRY = "none"  # the name that chooses no entry


@dataclasses.dataclass(frozen=True)
class Chosen(Constraint):
    """A dataclass whose key `name` chooses an entry of a registry: the entry's `options`.

    `base` has the keys of all entries; one whose `options` are None has no others.
    """

    registry: Registry[Any]
    base: Any

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        """Read the value by the chosen dataclass alone."""
        from pydantic_core import core_schema

        return core_schema.no_info_plain_validator_function(self.check)

    def type(self) -> Any:
        """Make a dataclass with the keys of all entries, to find and describe them."""
        every = [getattr(self.registry[name], "options", None) for name in self.registry]
        bases = (*dict.fromkeys(filter(None, every)), self.base)
        return dataclasses.dataclass(
            type(self.base.__name__, bases, {"__doc__": self.base.__doc__})
        )

    def schema(self, name: str) -> Any:
        """Find the dataclass that has the keys of an entry."""
        entry = None if name == NO_ENTRY else self.registry.find(name)
        if entry is None or entry.options is None:
            return self.base
        return entry.options

    def check(self, value: Any) -> Any:
        """Read the value by the dataclass of its entry."""
        given = value if isinstance(value, Mapping) else vars(value)
        name = given.get("name", self.base.name)
        schema = self.schema(name)
        return adapter(schema).validate_python(value if isinstance(value, schema) else given)


class ConstrainedConfig:
    """A dataclass with fields that cannot have all combinations of values."""

    def problems(self) -> Iterable[str]:
        """List which fields cannot work together, a sentence for each that names their keys."""
        return ()

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        """Check the whole after its fields."""
        from pydantic_core import core_schema

        return core_schema.no_info_after_validator_function(_whole, handler(source))


def _whole(part: Any) -> Any:
    from pydantic_core import ValidationError

    if lacking := [name for name, value in vars(part).items() if value == MISSING]:
        lines: Any = [{"type": "missing", "loc": (name,), "input": MISSING} for name in lacking]
        raise ValidationError.from_exception_data(type(part).__name__, lines)
    if problems := list(dict.fromkeys(part.problems())):
        raise ValueError("\n".join(problems))
    return part


Count = Annotated[int, Ge(1)]
Natural = Annotated[int, Ge(0)]  # 0 included
Fraction = Annotated[float, Interval(ge=0, lt=1)]
Share = Annotated[float, Interval(gt=0, le=1)]
Positive = Annotated[float, Gt(0)]
Seed = Annotated[int, Interval(ge=0, le=LAST_SEED)]


def choices(hint: Any) -> list[str]:
    """List the names that a type allows; empty where it is not a choice of names."""
    return next((rule.names for rule in _rules(hint) if isinstance(rule, OneOf)), [])


@cache
def field_types(schema: Any) -> Mapping[str, Any]:
    """Read the types of a dataclass's fields with their constraints."""
    return get_type_hints(schema, include_extras=True)


def plain(hint: Any) -> Any:
    """Strip constraints and `None` from a type."""
    if get_origin(hint) is Annotated:
        kind, *rules = get_args(hint)
        return rules[0].type() if isinstance(rules[0], Chosen) else plain(kind)
    if get_origin(hint) in (Union, types.UnionType):
        return plain(next(each for each in get_args(hint) if each is not type(None)))
    return hint


def allowed(hint: Any) -> str:
    """Describe the values that a type's constraints allow, `at least 1`; empty without any."""
    return ", ".join(filter(None, map(_allowed, _rules(hint))))


def _rules(hint: Any) -> list[Any]:
    if get_origin(hint) in (Union, types.UnionType):
        return _rules(next(each for each in get_args(hint) if each is not type(None)))
    return list(get_args(hint)[1:]) if get_origin(hint) is Annotated else []


def _allowed(rule: Any) -> str:
    if isinstance(rule, OneOf):
        return " | ".join(rule.names)
    if isinstance(rule, Constraint):
        return str(getattr(rule, "allowed", ""))
    if isinstance(rule, Len):
        return f"{rule.min_length} entries"
    ge, gt, le, lt = (getattr(rule, name, None) for name in ("ge", "gt", "le", "lt"))
    low = f"at least {ge}" if gt is None else f"above {gt}"
    if le is None and lt is None:
        return low
    first = f"[{ge}" if gt is None else f"({gt}"
    return f"in {first}, {f'{lt})' if le is None else f'{le}]'}"


# Returns the dataclass of a whole run, which a higher layer makes of the parts of all layers.
root_schema: Hook[[], Any] = Hook()


def all_keys(schema: Any = None, prefix: str = "") -> list[str]:
    """List every dotted key of a dataclass, by default of the root."""
    return list(key_types(schema, prefix))


@cache
def key_types(schema: Any = None, prefix: str = "") -> Mapping[str, Any]:
    """Map every dotted key of a dataclass to its type with its constraints."""
    types: dict[str, Any] = {}
    for name, hint in _fields(schema).items():
        if any(isinstance(rule, InlineMapping) for rule in _rules(hint)):
            continue
        types[prefix + name] = hint
        if inner := _part(hint):
            types |= key_types(inner, f"{prefix}{name}.")
    return types


def chosen_type(key: str, name: str) -> Any:
    """Find the dataclass of a part whose key `name` has this value (`task`, `qa`), or None."""
    for rule in _rules(key_types().get(key)):
        if isinstance(rule, Chosen) and (name == NO_ENTRY or name in rule.registry):
            return rule.schema(name)
    return None


def _fields(schema: Any) -> Mapping[str, Any]:
    """List the fields of a dataclass; of the root, tools' parts in place of `parts`."""
    if schema is not None:
        return field_types(schema)
    return {**field_types(root_schema()), **{name: PARTS[name] for name in PARTS}}


def flatten(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """List nested values by dotted key."""
    for key, value in values.items():
        if isinstance(value, Mapping) and value:
            yield from flatten(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def key_of(word: str) -> str:
    """Read the key of an override, without `+`, `~` and `@package`."""
    return word.lstrip("+~").partition("=")[0].partition("@")[0]


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
    first, *rest = key.split(".")
    own = rest and first not in field_types(root_schema()) and PARTS.find(first)
    return type_at(own, rest) if own else type_at(root_schema(), [first, *rest])


def type_at(schema: Any, parts: Iterable[str | int]) -> Any:
    """Follow names of fields, of mappings and of lists to a type; None where there is none."""
    found: Any = schema
    names = list(parts)
    for part, following in zip(names, [*names, ""][1:], strict=True):
        if get_origin(found) in (dict, list):
            found = plain(get_args(found)[-1])
        elif dataclasses.is_dataclass(found):
            kind: Any = found
            hint = field_types(kind).get(str(part))
            bases = [each.base for each in _rules(hint) if isinstance(each, Chosen)]
            known = bases and str(following) in field_types(bases[0])  # without loading forks
            found = bases[0] if known else plain(hint)
        else:
            return None
    return found
