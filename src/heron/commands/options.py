"""`heron options`: groups, options and keys of the configuration."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from heron.base.cells import Row, Table
from heron.base.folders import shortened
from heron.base.terminal import print_tables


def run(arguments: Sequence[str]) -> int:
    """Print all groups, or the options and keys that words name; returns the exit code."""
    from heron.config import describe  # loads OmegaConf

    if not arguments:
        groups = []
        for group, names in describe.groups().items():
            groups.append((group, ", ".join(names)))

        parts = []
        for key in describe.keys():  # noqa: SIM118
            if "." not in key.name:
                parts.append((key.name, key.meaning))

        about_groups = "Chosen by GROUP=NAME; `heron options GROUP` says what each is."
        about_keys = "Set by KEY=VALUE; `heron options PART` lists those of a part."
        print_tables(
            [
                Table("groups", ("group", "names"), groups, about_groups),
                Table("keys", ("key", "meaning"), parts, about_keys),
            ]
        )
        return 0

    tables = []
    for word in arguments:
        files, keys = describe.find(word)
        tables += _option_tables(word, files)
        if keys:
            rows = [(key.name, key.kind, key.default, key.meaning) for key in keys]
            tables.append(Table("keys", ("key", "values", "default", "meaning"), rows))

    print_tables(tables)
    return 0


def _option_tables(group: str, files: Mapping[str, Path]) -> list[Table]:
    """List a group's options by the `conf/` folder in which their files lie."""
    from heron.config import describe  # loads OmegaConf

    rows_by_folder: dict[Path, list[Row]] = {}
    for name, file in files.items():
        depth = len(Path(group, name).parts)
        conf = file.parents[depth - 1]
        meaning = describe.first_comment(file)
        rows_by_folder.setdefault(conf, []).append((name, meaning))

    tables = []
    for conf, rows in rows_by_folder.items():
        title = f"{group}=NAME, in {shortened(conf)}"
        tables.append(Table(title, ("name", "meaning"), rows))

    return tables
