"""Registries: what a configuration names, heron's own and what forks add.

heron's own entries are written as `module:attribute` and imported when they are used, so that a run
loads only what it needs, and a lower layer does not import a higher one. A fork registers its
entries when it is imported, which happens at the first name that heron itself does not have, and
where all names are listed.
"""

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import Any, Generic, TypeVar, cast

from heron.base.errors import ConfigError, nearest
from heron.base.folders import experiment_roots

Entry = TypeVar("Entry")


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


def _load_forks() -> None:
    from heron.base.forks import load_forks

    load_forks(experiment_roots())


class Registry(Generic[Entry]):
    """Entries of one kind by name; heron's own are `module:attribute`, or registered at once.

    `kind`, in singular, is for messages; `key` is the configuration key that names an entry.
    """

    def __init__(self, kind: str, builtin: Mapping[str, str] | None = None, key: str | None = None):
        self.kind, self.key = kind, key
        self._builtin = dict(builtin or {})
        self._added: dict[str, Entry] = {}
        self._late: dict[str, Callable[[], Entry]] = {}

    def register(self, name: str, entry: Entry) -> Entry:
        """Add an entry, unless there is another one of this name; returns it."""
        taken = name in self._builtin or name in self._late
        if taken or self._added.get(name, entry) is not entry:
            raise ConfigError(f"{self.kind} '{name}' exists already: choose another name")
        self._added[name] = entry
        return entry

    def late(self, name: str) -> Callable[[Callable[[], Entry]], Callable[[], Entry]]:
        """Decorate a function that gives the entry `name`, called when it is looked up first."""

        def add(make: Callable[[], Entry]) -> Callable[[], Entry]:
            if name in self._builtin or name in self._added or name in self._late:
                raise ConfigError(f"{self.kind} '{name}' exists already: choose another name")
            self._late[name] = make
            return make

        return add

    def registered(self, name: str) -> Callable[[Entry], Entry]:
        """Decorate a function or class to add it under `name`."""
        return lambda entry: self.register(name, entry)

    def __getitem__(self, name: str) -> Entry:
        """Look an entry up, forks' included; a ConfigError names the nearest if there is none."""
        if name in self._builtin:
            return cast(Entry, load(self._builtin[name]))
        if name not in self._added and name not in self._late:
            _load_forks()
        if name in self._late:
            self._added[name] = self._late.pop(name)()
        if name not in self._added:
            what = f"no {self.kind} '{name}'"
            if self.key:
                what = f"{self.key}={name}: unknown {self.kind}"
            raise ConfigError(f"{what}.{nearest(name, self)}")
        return self._added[name]

    def find(self, name: str) -> Entry | None:
        """Look an entry up, forks' included; None where there is none of this name."""
        present = name in self
        return self[name] if present else None

    def __contains__(self, name: object) -> bool:
        """Tell whether there is an entry of this name, forks' included."""
        known = name in self._builtin or name in self._added or name in self._late
        return known or name in tuple(self)

    def __iter__(self) -> Iterator[str]:
        """List all names: heron's own in their order, then forks'."""
        _load_forks()
        return iter([*self._builtin, *self._added, *self._late])
