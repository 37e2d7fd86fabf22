"""`heron options`: groups, options and keys of the configuration."""

import textwrap
from collections.abc import Sequence

from heron.base.errors import ConfigError

_WIDTH = 100


def run(arguments: Sequence[str]) -> int:
    """Print groups, the options of one, or keys; returns the exit code."""
    if len(arguments) > 1:
        raise ConfigError("heron options takes one group or key, such as head or optim.lr")
    from heron.config import describe  # loads OmegaConf

    if not arguments:
        print("Groups, chosen by GROUP=NAME; `heron options GROUP` says what each is:")
        for group, names in describe.groups().items():
            _print(f"  {group:<12}", ", ".join(names))
        print("\nKeys, set by KEY=VALUE; `heron options PART` lists those of a part:")
        for key in describe.keys():  # noqa: SIM118  # a function of the module
            if "." not in key.name:
                _print(f"  {key.name:<12}", key.meaning)
        return 0
    options, keys = describe.find(arguments[0])
    if options:
        print(f"{arguments[0]}=NAME, one of:")
        width = max(map(len, options)) + 2
        for name, said in options.items():
            _print(f"  {name:<{width}}", said)
    if options and keys:
        print()
    for key in keys:
        if key.kind:
            default = f"; default {key.default}" if key.default else ""
            _print(f"{key.name}  ", key.kind + default)
            _print("    ", key.meaning)
        else:
            _print(f"{key.name}.*  ", key.meaning)
    return 0


def _print(start: str, text: str) -> None:
    """Print a line; where it is broken, the text goes on below itself."""
    indent = " " * min(len(start), 24)
    print(textwrap.fill(text, _WIDTH, initial_indent=start, subsequent_indent=indent))
