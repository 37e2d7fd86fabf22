"""`heron options`: groups, options and keys of the configuration."""

from collections.abc import Mapping, Sequence
from pathlib import Path

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
        files, keys = describe.find(word)
        tables += _option_tables(word, files)
        every = tuple((key.name, key.kind, key.default, key.meaning) for key in keys)
        tables.append(Table("keys", ("key", "values", "default", "meaning"), every))
    print_tables([table for table in tables if table.rows])
    return 0


def _option_tables(group: str, files: Mapping[str, Path]) -> list[Table]:
    """List a group's options by the `conf/` folder in which their files lie."""
    from heron.config import describe  # loads OmegaConf

    rows_by_folder: dict[Path, list[tuple[Cell, ...]]] = {}
    for name, file in files.items():
        depth = len(Path(group, name).parts)
        conf = file.parents[depth - 1]
        rows_by_folder.setdefault(conf, []).append((name, describe.first_comment(file)))
    return [
        Table(f"{group}=NAME, in {_shortened(conf)}", ("name", "meaning"), tuple(rows))
        for conf, rows in rows_by_folder.items()
    ]


def _shortened(folder: Path) -> str:
    """Name a folder from the current one where it lies below it."""
    here = Path.cwd()
    return str(folder.relative_to(here) if folder.is_relative_to(here) else folder)
