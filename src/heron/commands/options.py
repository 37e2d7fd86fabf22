"""`heron options`: groups, options and keys of the configuration."""

import textwrap
from collections.abc import Mapping, Sequence

from heron.base.cells import Table
from heron.base.columns import terminal_width
from heron.base.errors import ConfigError
from heron.base.terminal import print_lines

_WIDTH = 100


def run(arguments: Sequence[str]) -> int:
    """Print groups, the options of one, or keys; returns the exit code."""
    if len(arguments) > 1:
        raise ConfigError("name one group or key, such as head or optim.lr")
    from heron.config import describe  # loads OmegaConf

    if not arguments:
        groups = {group: ", ".join(names) for group, names in describe.groups().items()}
        print("Groups, chosen by GROUP=NAME; `heron options GROUP` says what each is:")
        _print_names("groups", groups, 12)
        print("\nKeys, set by KEY=VALUE; `heron options PART` lists those of a part:")
        parts = [key for key in describe.keys() if "." not in key.name]  # noqa: SIM118
        _print_names("keys", {key.name: key.meaning for key in parts}, 12)
        return 0
    options, keys = describe.find(arguments[0])
    if options:
        print(f"{arguments[0]}=NAME, one of:")
        _print_names(arguments[0], options, max(map(len, options)) + 2)
    if options and keys:
        print()
    lines = []
    for key in keys:
        if key.kind:
            default = f"; default {key.default}" if key.default else ""
            lines += [_line(f"{key.name}  ", key.kind + default), _line("    ", key.meaning)]
        else:
            lines.append(_line(f"{key.name}.*  ", key.meaning))
    if keys:
        rows = tuple((key.name, key.kind, key.default, key.meaning) for key in keys)
        table = Table("keys", ("key", "values", "default", "meaning"), rows)
        print_lines(*lines, tables=[table])
    return 0


def _print_names(title: str, meanings: Mapping[str, str], width: int) -> None:
    lines = [_line(f"  {name:<{width}}", said) for name, said in meanings.items()]
    table = Table(title, ("name", "meaning"), tuple(meanings.items()))
    print_lines(*lines, tables=[table])


def _line(start: str, text: str) -> str:
    """Write a line; where it is broken, the text is indented below itself."""
    indent = " " * min(len(start), 24)
    width = min(_WIDTH, terminal_width() or _WIDTH)
    return textwrap.fill(text, width, initial_indent=start, subsequent_indent=indent)
