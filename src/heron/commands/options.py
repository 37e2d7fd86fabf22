"""`heron options`: groups, options and keys of the configuration."""

from collections.abc import Sequence

from heron.base.cells import Cell, Table
from heron.base.terminal import print_tables


def run(arguments: Sequence[str]) -> int:
    """Print all groups, or the options and keys that words name; returns the exit code."""
    from heron.config import describe  # loads OmegaConf

    tables = []
    if not arguments:
        groups: tuple[tuple[Cell, ...], ...] = tuple(
            (group, ", ".join(names)) for group, names in describe.groups().items()
        )
        note = "Chosen by GROUP=NAME; `heron options GROUP` says what each is."
        tables.append(Table("groups", ("group", "names"), groups, note))
        parts = [key for key in describe.keys() if "." not in key.name]  # noqa: SIM118
        note = "Set by KEY=VALUE; `heron options PART` lists those of a part."
        rows = tuple((key.name, key.meaning) for key in parts)
        tables.append(Table("keys", ("key", "meaning"), rows, note))
    for word in arguments:
        options, keys = describe.find(word)
        named = Table(f"{word}=NAME", ("name", "meaning"), tuple(options.items()))
        every = tuple((key.name, key.kind, key.default, key.meaning) for key in keys)
        tables += [named, Table("keys", ("key", "values", "default", "meaning"), every)]
    print_tables([table for table in tables if table.rows])
    return 0
