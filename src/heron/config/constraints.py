"""Constraints in the types of fields (`Annotated[int, Ge(1)]`), and the check of all of them.

OmegaConf ignores these annotations; `broken` reads them after merging. A class whose fields depend
on each other has a method `problems()`, which yields one sentence for each combination that cannot
work.
"""

import dataclasses
import math
import re
import types
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

from annotated_types import Ge, Gt, Interval, Len

from heron.base.errors import ConfigError, nearest
from heron.base.registry import load

LAST_SEED = 2**32 - 1  # NumPy, scikit-learn and Lightning take 32 bits


class OneOf:
    """One of some names.

    Args:
        names: heron's own.
        registry: `module:attribute` of a `heron.base.registry.Registry` with further names;
            imported, and its forks loaded, only for a name that is not known without them.
    """

    def __init__(self, *names: str, registry: str = ""):
        self._own, self._registry = names, registry

    def __contains__(self, name: object) -> bool:
        return name in self._own or name in self._added()

    @property
    def names(self) -> list[str]:
        """All names, those of forks included."""
        return list(dict.fromkeys((*self._own, *self._added())))

    def _added(self) -> Any:
        return load(self._registry) if self._registry else ()


@dataclasses.dataclass(frozen=True, slots=True)
class Matches:
    """A text that matches a regular expression; `allowed` describes it in messages."""

    pattern: str
    allowed: str


@dataclasses.dataclass(frozen=True, slots=True)
class Hint:
    """Advice in the message for a value out of range."""

    text: str


@dataclasses.dataclass(frozen=True, slots=True)
class Part:
    """A dataclass inside the configuration, `module:class`, imported only where it is used."""

    place: str


Count = Annotated[int, Ge(1)]
Natural = Annotated[int, Ge(0)]  # 0 included
Fraction = Annotated[float, Interval(ge=0, lt=1)]
Share = Annotated[float, Interval(gt=0, le=1)]
Positive = Annotated[float, Gt(0)]
Seed = Annotated[int, Interval(ge=0, le=LAST_SEED)]


def check(config: Any, prefix: str = "") -> None:
    """Check each field by its type, then the combinations of fields.

    Args:
        config: a dataclass, perhaps with dataclasses inside.
        prefix: precedes its keys in messages, `data.`.

    Raises:
        ConfigError: all problems of single fields, else all problems between fields.
    """
    for found in (broken(config, prefix), _combinations(config)):
        if problems := list(dict.fromkeys(found)):
            raise ConfigError("\n".join(problems))


def broken(config: Any, prefix: str = "") -> Iterator[str]:
    """List the fields whose values break a constraint of their type, one sentence each."""
    schema: Any = type(config)
    for name, hint in field_types(schema).items():
        yield from _field(prefix + name, getattr(config, name), hint)


def allowed(hint: Any) -> str:
    """Describe the values that a type's constraints allow, `at least 1`; empty without any."""
    rules = [rule for rule in _rules(hint) if not isinstance(rule, Hint | Part)]
    return ", ".join(_allowed(rule) for rule in rules)


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
        return load(rules[0].place) if isinstance(rules[0], Part) else plain(kind)
    if get_origin(hint) in (Union, types.UnionType):
        return plain(next(each for each in get_args(hint) if each is not type(None)))
    return hint


def _rules(hint: Any) -> list[Any]:
    if get_origin(hint) in (Union, types.UnionType):
        return _rules(next(each for each in get_args(hint) if each is not type(None)))
    return list(get_args(hint)[1:]) if get_origin(hint) is Annotated else []


def _field(key: str, value: Any, hint: Any, shown: Any = None) -> Iterator[str]:
    if value is None:
        return
    rules, kind = _rules(hint), plain(hint)
    hints = "".join(f"; {rule.text}" for rule in rules if isinstance(rule, Hint))
    for rule in rules:
        if said := _violation(rule, value):
            yield f"{key}={value if shown is None else shown}: {said}{hints}"
            return
    if dataclasses.is_dataclass(value):
        yield from broken(value, f"{key}.")
    elif get_origin(kind) is list:
        for each in value:
            yield from _field(key, each, get_args(kind)[0], shown=value)
    elif get_origin(kind) is dict:
        names, values = get_args(kind)
        for name, each in value.items():
            yield from _field(f"{key}: key", name, names)
            yield from _field(f"{key}.{name}", each, values)


def _violation(rule: Any, value: Any) -> str:
    """Describe how a value breaks a rule; empty where it does not."""
    if isinstance(rule, OneOf):
        return "" if value in rule else f"unknown.{nearest(str(value), rule.names)}"
    if isinstance(rule, Matches):
        return "" if re.fullmatch(rule.pattern, value) else f"allowed are {rule.allowed}"
    if isinstance(rule, Hint | Part) or _holds(rule, value):
        return ""
    if isinstance(value, float) and not math.isfinite(value):
        return f"must be finite, {_allowed(rule)}"
    return f"must {'have' if isinstance(rule, Len) else 'be'} {_allowed(rule)}"


def _holds(rule: Any, value: Any) -> bool:
    """Tell whether a list has its length, or a finite number is in range."""
    if isinstance(rule, Len):
        return rule.min_length <= len(value) <= (rule.max_length or math.inf)
    ge, gt, le, lt = (getattr(rule, name, None) for name in ("ge", "gt", "le", "lt"))
    return (
        math.isfinite(value)
        and (ge is None or value >= ge)
        and (gt is None or value > gt)
        and (le is None or value <= le)
        and (lt is None or value < lt)
    )


def _allowed(rule: Any) -> str:
    if isinstance(rule, OneOf):
        return " | ".join(rule.names)
    if isinstance(rule, Matches):
        return rule.allowed
    if isinstance(rule, Len):
        return f"{rule.min_length} entries"
    ge, gt, le, lt = (getattr(rule, name, None) for name in ("ge", "gt", "le", "lt"))
    low = f"at least {ge}" if gt is None else f"above {gt}"
    if le is None and lt is None:
        return low
    first = f"[{ge}" if gt is None else f"({gt}"
    return f"in {first}, {f'{lt})' if le is None else f'{le}]'}"


def _combinations(config: Any) -> Iterator[str]:
    """List what each class's `problems()` finds, inner classes first."""
    for field in dataclasses.fields(config):
        value = getattr(config, field.name)
        inside = value.values() if isinstance(value, dict) else [value]
        for each in inside:
            if dataclasses.is_dataclass(each):
                yield from _combinations(each)
    yield from getattr(config, "problems", lambda: ())()
