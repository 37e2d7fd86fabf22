"""YAML with Hydra's numbers (`1e-5` is a number, not text), read by libyaml."""

import re
from pathlib import Path
from typing import Any

import yaml

from heron.base.errors import ConfigError

_DEEPEST = 100
_EXPONENT = re.compile(r"[-+]?[0-9][0-9_]*(\.[0-9_]*)?[eE][-+]?[0-9]+$")


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """PyYAML's safe loader with Hydra's numbers."""


class _Dumper(getattr(yaml, "CSafeDumper", yaml.SafeDumper)):  # type: ignore[misc]
    """PyYAML's safe dumper; quotes text that a reader would take for such a number."""

    def ignore_aliases(self, data: Any) -> bool:
        """Write repeated values in full, without aliases."""
        return True


for _each in (_Loader, _Dumper):
    _each.add_implicit_resolver("tag:yaml.org,2002:float", _EXPONENT, list("-+0123456789"))


def dump_yaml(value: Any) -> str:
    """Write plain dictionaries, lists, texts and numbers as YAML; keys keep their order."""
    return str(yaml.dump(value, Dumper=_Dumper, sort_keys=False, allow_unicode=True))


def parse_yaml(text: str) -> Any:
    """Read YAML; raises a ConfigError if it is invalid, nested too deeply, or holds aliases."""
    depth = 0
    try:
        for event in yaml.parse(text, Loader=_Loader):
            depth += isinstance(event, yaml.CollectionStartEvent)
            depth -= isinstance(event, yaml.CollectionEndEvent)
            if depth > _DEEPEST:  # libyaml crashes somewhere beyond 10,000
                raise ConfigError(f"not valid YAML: nested more than {_DEEPEST} times")
            if isinstance(event, yaml.AliasEvent):  # a few can expand to billions of values
                what = f"YAML aliases are not allowed: replace *{event.anchor} by its value"
                raise ConfigError(what)
        return yaml.load(text, Loader=_Loader)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise ConfigError(f"not valid YAML: {' '.join(str(error).split())}") from error


def read_yaml(path: Path) -> Any:
    """Read a YAML file as `parse_yaml` does; its errors name the file."""
    try:
        return parse_yaml(Path(path).read_text(encoding="utf-8"))
    except (ConfigError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: {error}") from error
