"""Constraints in the types of fields (`Annotated[int, Ge(1)]`), and the keys that fields make.

pydantic checks them, OmegaConf ignores them. A class whose fields depend on each other is
`ConstrainedConfig`.
"""

import dataclasses
import re
import types
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
        self._own = names
        self._registry = registry

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
    """A mapping whose own key is left out: the entry `flags.x` of `trainer` is `trainer.x`."""


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
        bases: dict[Any, None] = {}  # each once, in order
        for name in self.registry:
            options = getattr(self.registry[name], "options", None)
            if options:
                bases[options] = None
        members = {"__doc__": self.base.__doc__}
        return dataclasses.dataclass(type(self.base.__name__, (*bases, self.base), members))

    def schema(self, name: str) -> Any:
        """Find the dataclass that has the keys of an entry."""
        entry = None if name == NO_ENTRY else self.registry.find(name)
        if entry is None or entry.options is None:
            return self.base
        return entry.options

    def check(self, value: Any) -> Any:
        """Read the value by the dataclass of its entry."""
        keys = value if isinstance(value, Mapping) else vars(value)
        name = keys.get("name", self.base.name)
        schema = self.schema(name)
        return adapter(schema).validate_python(value if isinstance(value, schema) else keys)


class ConstrainedConfig:
    """A dataclass with fields that cannot have all combinations of values."""

    def problems(self) -> Iterable[str]:
        """List which fields cannot work together, a sentence for each that names their keys."""
        return ()

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        """Check the whole after its fields."""
        from pydantic_core import core_schema

        return core_schema.no_info_after_validator_function(_check_fields, handler(source))


def _check_fields(part: Any) -> Any:
    """Check that no field lacks a value, and that the fields can work together."""
    from pydantic_core import ValidationError

    lines: list[Any] = []
    for name, value in vars(part).items():
        if value == MISSING:
            lines.append({"type": "missing", "loc": (name,), "input": MISSING})
    if lines:
        raise ValidationError.from_exception_data(type(part).__name__, lines)

    problems = dict.fromkeys(part.problems())
    if problems:
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
    for rule in _rules(hint):
        if isinstance(rule, OneOf):
            return rule.names
    return []


@cache
def field_types(schema: Any) -> Mapping[str, Any]:
    """Read the types of a dataclass's fields with their constraints."""
    return get_type_hints(schema, include_extras=True)


def plain(hint: Any) -> Any:
    """Strip constraints and `None` from a type."""
    if get_origin(hint) is Annotated:
        kind, *rules = get_args(hint)
        return rules[0].type() if isinstance(rules[0], Chosen) else plain(kind)
    inner = _without_none(hint)
    return hint if inner is hint else plain(inner)


def _without_none(hint: Any) -> Any:
    """Return X of `X | None`; other types are kept."""
    if get_origin(hint) not in (Union, types.UnionType):
        return hint
    return next(kind for kind in get_args(hint) if kind is not type(None))


def allowed(hint: Any) -> str:
    """Describe the values that a type's constraints allow, `at least 1`; empty without any."""
    ranges = [_allowed(rule) for rule in _rules(hint)]
    return ", ".join(text for text in ranges if text)


def _rules(hint: Any) -> Sequence[Any]:
    """List the constraints of a type."""
    hint = _without_none(hint)
    return get_args(hint)[1:] if get_origin(hint) is Annotated else ()


def _allowed(rule: Any) -> str:
    """Describe one constraint; a range as mathematics writes it, `[0, 1)`."""
    if isinstance(rule, OneOf):
        return " | ".join(rule.names)
    if isinstance(rule, Constraint):
        return str(getattr(rule, "allowed", ""))
    if isinstance(rule, Len):
        return f"{rule.min_length} entries"

    ge = getattr(rule, "ge", None)
    gt = getattr(rule, "gt", None)
    le = getattr(rule, "le", None)
    lt = getattr(rule, "lt", None)
    if le is None and lt is None:
        return f"at least {ge}" if gt is None else f"above {gt}"

    first = f"[{ge}" if gt is None else f"({gt}"
    last = f"{lt})" if le is None else f"{le}]"
    return f"in {first}, {last}"


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
        kind = plain(hint)
        # The keys of a mapping are the user's own: data.files.<split>, data.counts.<split>.
        if _has_fields(kind):
            types |= key_types(kind, f"{prefix}{name}.")
    return types


def chosen_type(key: str, name: str) -> Any:
    """Find the dataclass of a part whose key `name` has this value (`task`, `qa`), or None."""
    for rule in _rules(key_types().get(key)):
        if isinstance(rule, Chosen) and (name == NO_ENTRY or name in rule.registry):
            return rule.schema(name)
    return None


def _has_fields(kind: Any) -> bool:
    return dataclasses.is_dataclass(kind)


def _fields(schema: Any) -> Mapping[str, Any]:
    """List the fields of a dataclass; of the root (None), those of tools' and forks' parts too."""
    if schema is not None:
        return field_types(schema)
    parts = {name: PARTS[name] for name in PARTS}
    return {**field_types(root_schema()), **parts}


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


def type_of(key: str) -> Any:
    """Find a key's type, without constraints and `None`; None for an unknown key."""
    names = key.split(".")
    if len(names) > 1 and names[0] not in field_types(root_schema()):
        part = PARTS.find(names[0])
        if part:
            return type_at(part, names[1:])
    return type_at(root_schema(), names)


def type_at(schema: Any, path: Sequence[str | int]) -> Any:
    """Follow a path of fields, keys of mappings and indices to a type; None where there is none."""
    kind = schema
    for place, name in enumerate(path):
        if get_origin(kind) in (dict, list):
            kind = plain(get_args(kind)[-1])
        elif _has_fields(kind):
            hint = field_types(kind).get(str(name))
            following = str(path[place + 1]) if place + 1 < len(path) else ""
            kind = _base_with(hint, following) or plain(hint)
        else:
            return None
    return kind


def _base_with(hint: Any, name: str) -> Any:
    """Return the base of a `Chosen` if it has a field of this name, without loading forks."""
    for rule in _rules(hint):
        if isinstance(rule, Chosen) and name in field_types(rule.base):
            return rule.base
    return None
