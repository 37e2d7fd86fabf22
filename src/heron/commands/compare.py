"""`heron compare`: scores, intervals and tests of systems, from stored predictions."""

import dataclasses
from collections.abc import Sequence
from pathlib import Path

from heron.base.cells import to_csv, to_markdown
from heron.base.errors import ConfigError, nearest
from heron.base.files import write_file, write_json
from heron.base.terminal import print_lines, print_tables
from heron.config.parsing import parse_options
from heron.results.comparing import CompareOptions, compare
from heron.results.comparison import tables, to_json
from heron.results.systems import find_systems


def run(arguments: Sequence[str]) -> int:
    """Compare, print and, with `out=`, write; returns the exit code."""
    words, rest = _split_words(arguments)
    options = parse_options(CompareOptions, rest)
    if not words:
        raise ConfigError("name the systems: heron compare runs/<sweep>, or two runs or files")
    comparison = compare(find_systems(words), options)
    shown = tables(comparison, options.split)
    print_tables(shown)
    if not options.out:
        print("out=DIR writes compare.md, compare.csv and compare.json")
        return 0
    markdown = "\n".join(to_markdown(table) for table in shown if table.rows)
    print_lines(write_file(options.out / "compare.md", markdown))
    print_lines(write_file(options.out / "compare.csv", to_csv(shown[0])))
    print_lines(path := options.out / "compare.json")
    write_json(path, to_json(comparison, options.split))
    return 0


def _split_words(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """Separate systems from options: names of runs contain "=" as well (seed=0-1a2b3c4d)."""
    known = {field.name for field in dataclasses.fields(CompareOptions)}
    words, options = list[str](), list[str]()
    for word in arguments:
        key, equals, _ = word.partition("=")
        is_path = not equals or "/" in key or Path(word).expanduser().exists()
        if not is_path and key not in known and not any(Path.cwd().glob(f"{key}=*")):
            raise ConfigError(f"unknown option '{key}', and no such path.{nearest(key, known)}")
        (options if key in known and not is_path else words).append(word)
    return words, options
