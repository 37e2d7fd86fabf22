"""Registries of what a configuration names: heron's own entries, and those of forks; and hooks.

heron's own entries are registered by their packages (those of a registry in a lower layer in
`heron/__init__.py`) and imported when they are used: a run loads only what it needs. A fork
registers its entries when it is imported, which happens at the first name that heron itself does
not have, and where all names are listed.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any, Generic, ParamSpec, TypeVar, cast

from heron.base.errors import ConfigError, nearest
from heron.base.folders import experiment_roots

Entry = TypeVar("Entry")
Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


def load(place: str) -> Any:
    """Import what `module:attribute` names."""
    module, _, attribute = place.partition(":")
    return getattr(import_module(module), attribute)


def on_demand(place: str) -> Callable[..., Any]:
    """Make a function that imports `module:attribute` when it is called, and calls it."""

    def call(*args: Any, **kwargs: Any) -> Any:
        return load(place)(*args, **kwargs)

    call.__module__ = place.partition(":")[0]
    return call


class Hook(Generic[Arguments, Result]):
    """A function that one layer declares and calls, and a layer above it implements."""

    def implement(self, function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
        """Decorate the function that a call of the hook runs."""
        self._function = function
        return function

    def __call__(self, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        """Call the implementation."""
        return self._function(*args, **kwargs)


def _load_forks() -> None:
    from heron.base.folders import load_forks

    load_forks(experiment_roots())


@dataclass(frozen=True)
class _Late:
    """An entry that is made when it is looked up first."""

    make: Callable[[], Any]


class Registry(Generic[Entry]):
    """Entries of one kind by name, in the order in which they were added, forks' last.

    `kind`, in singular, is for messages; `key` is the configuration key that names an entry. A
    tool's own entries may be given as `module:attribute`.
    """

    def __init__(self, kind: str, builtin: Mapping[str, str] | None = None, key: str | None = None):
        self.kind = kind
        self.key = key
        self._entries: dict[str, Entry | _Late] = {
            name: _Late(partial(load, place)) for name, place in (builtin or {}).items()
        }

    def register(self, name: str, entry: Entry) -> Entry:
        """Add an entry, unless there is another one of this name; returns it."""
        if self._entries.get(name, entry) is not entry:
            raise ConfigError(f"{self.kind} '{name}' exists already: choose another name")
        self._entries[name] = entry
        return entry

    def late(self, *names: str) -> Callable[[Callable[[], Entry]], Callable[[], Entry]]:
        """Decorate a function that gives an entry, called when a name is looked up first."""

        def add(make: Callable[[], Entry]) -> Callable[[], Entry]:
            for name in names:
                self.register(name, cast(Any, _Late(make)))
            return make

        return add

    def registered(self, name: str) -> Callable[[Entry], Entry]:
        """Decorate a function or class to add it under `name`."""
        return lambda entry: self.register(name, entry)

    def __getitem__(self, name: str) -> Entry:
        """Look an entry up, forks' included; a ConfigError names the nearest if there is none."""
        if name not in self._entries:
            _load_forks()
        if name not in self._entries:
            what = f"no {self.kind} '{name}'"
            if self.key:
                what = f"{self.key}={name}: unknown {self.kind}"
            raise ConfigError(f"{what}.{nearest(name, self)}")
        entry = self._entries[name]
        if isinstance(entry, _Late):
            entry = self._entries[name] = entry.make()
        return entry

    def find(self, name: str) -> Entry | None:
        """Look an entry up, forks' included; None where there is none of this name."""
        present = name in self
        return self[name] if present else None

    def __contains__(self, name: object) -> bool:
        """Tell whether there is an entry of this name, forks' included."""
        return name in self._entries or name in tuple(self)

    def __iter__(self) -> Iterator[str]:
        """List all names: heron's own in their order, then forks'."""
        _load_forks()
        return iter(tuple(self._entries))
