"""`heron compare`: scores, intervals and tests of systems, from stored predictions."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

from heron.base.cells import to_csv, to_markdown
from heron.base.errors import ConfigError, nearest
from heron.base.files import write_file, write_json
from heron.base.terminal import print_tables
from heron.config.options import parse_options
from heron.results.comparing import CompareOptions, compare
from heron.results.comparison import Comparison
from heron.results.comparison_tables import tables, to_json
from heron.results.finding import find_systems


def run(arguments: Sequence[str]) -> int:
    """Compare, print and, with `out=`, write; returns the exit code.

    Raises:
        ConfigError: unknown options, systems, metrics; one system only; no predictions.
        DataError: everything wrong with the prediction files.
    """
    words, rest = _split_words(arguments)
    options = parse_options(CompareOptions, rest)
    if not words:
        raise ConfigError("name the systems: heron compare runs/<sweep>, or two runs or files")
    systems, notes = find_systems(words, options.split)
    comparison = compare(systems, notes, options)
    shown = tables(comparison, options.split)
    print_tables(shown)
    if options.out:
        print(*write_comparison(comparison, options.split, options.out), sep="\n")
    else:
        print("out=DIR writes compare.md, compare.csv and compare.json")
    return 0


def write_comparison(comparison: Comparison, split: str, folder: Path) -> list[Path]:
    """Write compare.md (all tables), compare.csv (the systems) and compare.json (everything)."""
    shown = tables(comparison, split)
    paths = [Path(folder) / f"compare.{suffix}" for suffix in ("md", "csv", "json")]
    texts = "\n".join(to_markdown(table) for table in shown if table.rows), to_csv(shown[0])
    for path, text in zip(paths, texts, strict=False):
        write_file(path, text)
    write_json(paths[2], to_json(comparison, split))
    return paths


def _split_words(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """Separate systems from options: names of runs contain "=" as well (seed=0-1a2b3c4d)."""
    known = {field.name for field in dataclasses.fields(CompareOptions)}
    words: list[str] = []
    options: list[str] = []
    for word in arguments:
        key, equals, _ = word.partition("=")
        is_path = not equals or "/" in key or Path(word).expanduser().exists()
        if not is_path and key not in known and not any(Path.cwd().glob(f"{key}=*")):
            raise ConfigError(f"unknown option '{key}', and no such path.{nearest(key, known)}")
        (options if key in known and not is_path else words).append(word)
    return words, options
