"""The data set as it was shipped: every split file that is there, nothing carved or dropped."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from heron.base.errors import DataError, Problem
from heron.base.files import sha256_file
from heron.config.data import SPLITS, DataConfig, HoldoutConfig, SampleConfig, ValidationConfig
from heron.data.examples import Example
from heron.data.formats import JOIN
from heron.data.readers import load_with_report
from heron.data.sources import Source, State, inspect, locate


@dataclass(frozen=True, slots=True)
class Shipped:
    """What there is of a data set.

    Args:
        config: the data set, without the files that are missing.
        splits: examples of the split files that are there, in file order.
        missing: the files that are not: name and the path where they were looked for.
        sha256: hash of each split file that was read.
        dropped: rows without a gold label that were left out, by split.
    """

    config: DataConfig
    splits: dict[str, list[Example]]
    missing: dict[str, Path]
    sha256: dict[str, str]
    dropped: Mapping[str, int]


def read_shipped(config: DataConfig, data_dir: Path, cache_dir: Path) -> Shipped:
    """Read the split files that are there, each whole and as it was shipped.

    Nothing is carved, sampled or dropped as a duplicate, whatever `config` says: that is what the
    audit is to judge. Nothing is downloaded: `heron data NAME fetch=true` does that.

    Raises:
        DataError: no split file is there, or one cannot be read; names every file or row.
    """
    sources = {} if config.generator else inspect(config, data_dir, cache_dir)
    missing = {name: s.path for name, s in sources.items() if s.state is State.MISSING}
    present = {name: file for name, file in config.files.items() if name not in missing}
    if not present and not config.generator:
        raise DataError([_missing(name, sources[name], config) for name in missing])
    config = dataclasses.replace(
        config,
        files=present,
        join=None if JOIN in missing else config.join,
        duplicates="keep",
        holdout=HoldoutConfig(fraction=0),
        validation=ValidationConfig(fraction=0),
        sample=SampleConfig(),
        substitute=None,
    )
    loaded = load_with_report(config, data_dir, cache_dir)
    paths = locate(config, data_dir, cache_dir)
    sha256 = {split: sha256_file(paths[split]) for split in SPLITS if split in paths}
    dropped = {split: sum(counts.values()) for split, counts in loaded.dropped.items()}
    return Shipped(config, loaded.examples, missing, sha256, dropped)


def _missing(name: str, source: Source, config: DataConfig) -> Problem:
    fix = f"heron data {config.name} fetch=true, or data.files.{name}.path=FILE, or paths.data=DIR"
    what = "is a folder, not a file" if source.path.is_dir() else "missing"
    return Problem(str(source.path), what, fix)
