"""`heron options`: groups, options and keys of the configuration."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from heron.base.errors import ConfigError

if TYPE_CHECKING:
    from heron.config.describe import Key

_WIDTH = 100


def run(arguments: Sequence[str]) -> int:
    """Print groups, the options of one, or keys; returns the exit code.

    Raises:
        ConfigError: a word that names neither a group nor a key; or several words.
    """
    if len(arguments) > 1:
        raise ConfigError("heron options takes one group or key, such as head or optim.lr")
    from heron.config import describe  # loads OmegaConf

    if not arguments:
        print(_overview(describe.groups(), describe.keys()))
        return 0
    options, keys = describe.find(arguments[0])
    if options:
        print(f"{arguments[0]}=NAME, one of:\n{_options(options)}")
    if options and keys:
        print()
    if keys:
        print("\n".join(_key(key) for key in keys))
    return 0


def _overview(groups: Mapping[str, Mapping[str, str]], keys: Sequence[Key]) -> str:
    lines = ["Groups, chosen by GROUP=NAME; `heron options GROUP` says what each is:"]
    lines += [_wrapped(f"  {group:<12}", ", ".join(names)) for group, names in groups.items()]
    lines += ["", "Keys, set by KEY=VALUE; `heron options PART` lists those of a part:"]
    for key in keys:
        if "." not in key.name:
            lines.append(_wrapped(f"  {key.name:<12}", key.meaning))
    return "\n".join(lines)


def _options(options: Mapping[str, str]) -> str:
    width = max(map(len, options)) + 2
    return "\n".join(_wrapped(f"  {name:<{width}}", said) for name, said in options.items())


def _key(key: Key) -> str:
    if not key.kind:
        return _wrapped(f"{key.name}.*  ", key.meaning)
    default = f"; default {key.default}" if key.default else ""
    return f"{_wrapped(f'{key.name}  ', key.kind + default)}\n{_wrapped('    ', key.meaning)}"


def _wrapped(start: str, text: str) -> str:
    return textwrap.fill(
        text, _WIDTH, initial_indent=start, subsequent_indent=" " * min(len(start), 24)
    )
