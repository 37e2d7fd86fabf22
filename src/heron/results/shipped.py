"""A data set's examples as they were shipped, for the audit and beside a run's predictions."""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from heron.base.errors import DataError, Problem, raise_all
from heron.base.files import sha256_file
from heron.data.config import (
    JOIN,
    SPLITS,
    TEST,
    VALIDATION,
    DataConfig,
    FoldsConfig,
    HoldoutConfig,
    SampleConfig,
    ValidationConfig,
)
from heron.data.examples import Example
from heron.data.readers import data_set, load_with_report
from heron.data.sources import State, inspect, locate
from heron.tasks.config import Config


@dataclass(frozen=True, slots=True)
class Shipped:
    """The split files of a data set that are there."""

    config: DataConfig  # the data set, without the files that are missing
    splits: dict[str, list[Example]]  # examples of each split, in file order
    missing: dict[str, Path]  # paths of the files that are not there, by name
    sha256: dict[str, str]  # hash of each split file that was read
    dropped: Mapping[str, Mapping[str, int]]  # rows left out, by split and reason

    def all_examples(self) -> list[Example]:
        """List the examples of all splits."""
        return [example for examples in self.splits.values() for example in examples]


def read_shipped(
    config: DataConfig, data_dir: Path, cache_dir: Path, carved: bool = False
) -> Shipped:
    """Read the split files that are there, each whole and as it was shipped.

    Nothing is held out, sampled or dropped as a duplicate, whatever `config` says, and no file is
    downloaded: `heron data NAME fetch=true` does that. (Data of the hub are.) With `carved`, test
    and validation are taken from train where `config` says so, as a run takes them.

    Raises:
        DataError: no split file is there, or one cannot be read; names every file or row.
    """
    sources = {} if config.generator else inspect(config, data_dir, cache_dir)
    missing = {name: s.path for name, s in sources.items() if s.state is State.MISSING}
    present = {name: file for name, file in config.files.items() if name not in missing}
    has_splits = any(split in present for split in SPLITS)
    if not (has_splits or config.generator or config.hub or config.texts.sets):
        raise DataError(_missing_files(config, missing))

    takes_test = carved and TEST not in missing
    takes_validation = carved and VALIDATION not in missing
    config = dataclasses.replace(
        config,
        files=present,
        join=None if JOIN in missing else config.join,
        duplicates="keep",
        holdout=config.holdout if takes_test else HoldoutConfig(fraction=0),
        validation=config.validation if takes_validation else ValidationConfig(fraction=0),
        folds=FoldsConfig(),
        sample=SampleConfig(),
        substitute=None,
    )
    loaded = load_with_report(config, data_dir, cache_dir)
    paths = locate(config, data_dir, cache_dir)
    sha256 = {split: sha256_file(paths[split]) for split in SPLITS if split in paths}

    return Shipped(config, loaded.examples, missing, sha256, loaded.dropped)


def _missing_files(config: DataConfig, missing: Mapping[str, Path]) -> list[Problem]:
    problems = []
    for name, path in missing.items():
        problem = "is a folder, not a file" if path.is_dir() else "missing"
        fetch = f"heron data {config.name} fetch=true, or data.files.{name}.path=FILE"
        problems.append(Problem(str(path), problem, f"{fetch}, or paths.data=DIR"))
    return problems


def known_examples(
    guids: Sequence[str], split: str, data: DataConfig, data_dir: Path, cache_dir: Path
) -> list[Example | None]:
    """Find examples by guid in the one file that has most of them; None for guids it lacks.

    A split that was taken from another, such as validation from train, is in the other's file.
    """
    splits = read_shipped(data, data_dir, cache_dir).splits
    best: list[Example | None] = []
    for name in sorted(splits, key=lambda name: name != split):
        by_guid = {example.guid: example for example in splits[name]}
        examples = [by_guid.get(guid) for guid in guids]
        if not best or examples.count(None) < best.count(None):
            best = examples

    return best


def find_examples(
    guids: Sequence[str], split: str, data: DataConfig, data_dir: Path, cache_dir: Path
) -> list[Example]:
    """Find examples as `known_examples` does; a DataError names those that are not there."""
    examples = []
    problems = []
    known = known_examples(guids, split, data, data_dir, cache_dir)
    for guid, example in zip(guids, known, strict=True):
        if example is not None:
            examples.append(example)
            continue

        fix = "is this the data that the run was scored on? paths.data=DIR names its folder"
        problems.append(Problem(guid, f"predicted, but not in {data.name}", fix))

    raise_all(problems)
    return examples


def data_of(config: Config, split: str) -> tuple[DataConfig, str]:
    """Find the data set and the split that a run's predictions are of.

    `split` is `test`, or `<data set>.test` for data that the run was only tested on. Of a run with
    stages, it is the last stage's data set.

    Raises:
        ConfigError: the data set is no longer there, or has other classes.
    """
    name, _, inner = split.rpartition(".")
    stages = config.read_stages()
    last = stages[-1].data if stages else config.data.name
    return data_set(config, name or last), inner
