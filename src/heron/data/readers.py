"""From the files of data sets to the splits of a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from heron.base.errors import ConfigError, DataError, Problem
from heron.base.folders import data_set_file
from heron.data.config import (
    SPLITS,
    TEST,
    TRAIN,
    VALIDATION,
    Columns,
    DataConfig,
    FileConfig,
    RunSettings,
    read_config,
)
from heron.data.examples import Example
from heron.data.rows import SIDE, Rows, find_format
from heron.data.sources import locate

UNLABELLED, DUPLICATE = "unlabelled", "duplicate"

Run = TypeVar("Run", bound=RunSettings)


@dataclass(frozen=True, slots=True)
class Loaded:
    """A data set as a run sees it."""

    examples: dict[str, list[Example]]  # train, validation, test, as far as it has them
    # Rows left out by split and reason, without zeros: `unlabelled` (in the file's split, before
    # validation is taken from it), `duplicate`, and those of the task's own options.
    dropped: dict[str, dict[str, int]]


def load(config: DataConfig, data_dir: Path, cache_dir: Path) -> dict[str, list[Example]]:
    """Read all splits of a data set; `load_with_report` without the report."""
    return load_with_report(config, data_dir, cache_dir).examples


def load_with_report(config: DataConfig, data_dir: Path, cache_dir: Path) -> Loaded:
    """Read all splits of a data set, downloading or generating what is absent (see `locate`).

    Without a test file, `test` is taken from train if `data.holdout` says so; then, without a
    validation file, `validation` is. A test file is never changed. With `data.folds`, validation is
    a part of train, and no other file is read.

    Raises:
        ConfigError: the configuration names no classes or no files.
        DataError: every missing file, or every problem in every file.
    """
    if not config.label_order:
        raise ConfigError("data.label_order is empty: list the classes, data.label_order=[A, B]")
    paths = locate(config, data_dir, cache_dir)
    files = _read_splits(config, paths)
    carved = {split: rows.examples for split, rows in files.items()}
    if config.folds.count and carved.get(TRAIN):
        from heron.data.splits import take_fold

        carved[TRAIN], carved[VALIDATION] = take_fold(carved[TRAIN], config.folds)
    for split, how in ((TEST, config.holdout), (VALIDATION, config.validation)):
        is_shipped = split in carved or config.folds.count > 0
        if not is_shipped and carved.get(TRAIN) and how.fraction > 0:
            from heron.data.splits import carve

            carved[TRAIN], carved[split] = carve(carved[TRAIN], how)
    splits = dict(carved)
    if config.duplicates != "keep":
        from heron.data.splits import apply_duplicates

        splits = apply_duplicates(carved, config.duplicates)
    dropped = {}
    for split, examples in carved.items():
        rows = files.get(split, Rows([], []))
        counts = Counter({UNLABELLED: sum(rows.unlabelled.values())})
        counts[DUPLICATE] = len(examples) - len(splits[split])
        counts.update(reason for reason, _ in rows.dropped)
        if +counts:
            dropped[split] = dict(+counts)
    if TRAIN in splits and config.sample.fraction < 1:
        from heron.data.splits import sample

        splits[TRAIN] = sample(splits[TRAIN], config.sample)
    return Loaded({split: splits[split] for split in SPLITS if split in splits}, dropped)


def _read_splits(config: DataConfig, paths: Mapping[str, Path]) -> dict[str, Rows]:
    """Read every file; raises all problems of all files at once."""
    read = find_format(config).open(config, paths)
    files: dict[str, Rows] = {}
    problems: list[Problem] = []
    for split in (TRAIN,) if config.folds.count else SPLITS:
        if split in paths:
            label = config.label_field.get(split, config.columns.label)
            keys = _shipped_columns(config, label)
            rows = read(paths[split], "required", label, keys)
            files[split] = rows
            problems += rows.problems or _check_counts(split, paths[split], rows, config)
    if problems:
        raise DataError(problems)
    return files


def _shipped_columns(config: DataConfig, label: str) -> dict[str, str]:
    """Name the required columns of a data set's files, and the key that names each."""
    columns = config.columns
    fields = ["text", "text_pair", "label", "guid", "group", "truth"]
    if columns.guid == Columns().guid or config.join:  # the default name may be absent
        fields.remove("guid")
    named = {field: getattr(columns, field) for field in fields} | {"label": label}
    keys = {column: f"data.columns.{field}" for field, column in named.items() if column}
    keys |= {column: SIDE for column in columns.side if column not in keys}
    return keys | ({config.join.key: "data.join.key"} if config.join else {})


def _check_counts(split: str, path: Path, rows: Rows, config: DataConfig) -> list[Problem]:
    """Compare the number of rows, in total and per class, with the pinned numbers."""
    file = config.files.get(split) or FileConfig("")
    if not config.verify or (file.unseen and file.rows is None):  # `counts` are of another file
        return []
    found = Counter(str(example.label) for example in rows.examples) + Counter(rows.unlabelled)
    found += Counter(label for _, label in rows.dropped)
    expected = dict(config.counts.get(split, {}))
    problems = [
        f"{found[label]} rows of class {label or 'nothing'}, expected {count}"
        for label, count in {**dict.fromkeys(found, 0), **expected}.items()
        if expected and found[label] != count
    ]
    if file.rows not in (None, found.total()):
        problems.insert(0, f"{found.total()} rows, expected {file.rows}")
    fix = "another revision? data.verify=false accepts it"
    return [Problem(str(path), problem, fix) for problem in problems]


def data_set(config: RunSettings, name: str, of_stage: bool = False) -> DataConfig:
    """Find a data set: the run's own (with its overrides), a stage's, or one with equal classes.

    That of a stage may also be of another task.
    """
    for known in (config.data, *config.others.values()):
        if name == known.name:
            return known
    found = read_config(data_set_file(name))
    own, is_other = config.data, of_stage and found.task != config.data.task
    if not is_other and (found.task, found.label_order) != (own.task, own.label_order):
        raise ConfigError(
            f"data set {name} (task {found.task}, classes {', '.join(found.label_order)}) does not "
            f"go with {own.name} (task {own.task}, classes {', '.join(own.label_order)}): one head "
            "needs the same classes in the same order"
        )
    return found


def every_set(config: RunSettings) -> dict[str, DataConfig]:
    """Find the data sets of a run by name: its own, those of its stages, those of `also_test`."""
    stages = {s.data: data_set(config, s.data, of_stage=True) for s in config.read_stages()}
    tested = {name: data_set(config, name) for name in config.also_test}
    return {config.data.name: config.data, **stages, **tested}


def of_split(config: Run, split: str) -> Run:
    """Replace the run's data set by that of a split `<data set>.<split>`."""
    name, dot, _ = split.rpartition(".")
    if not dot:
        return config
    found = copy(config)
    found.data = data_set(config, name)
    return found


def no_rows(name: str, split: str, what: str = "train on") -> ConfigError:
    """Make the error for a data set without rows in a split that is needed."""
    fix = f"see data.files.{split}, data.unlabelled and data.validation"
    return ConfigError(f"data={name} has no rows to {what}: {fix}")


def load_run_data(config: RunSettings) -> Loaded:
    """Read a run's own data set, and the test split (or validation) of those in `also_test`.

    The others' splits are called `<data set>.<split>`.
    """
    data, cache = Path(config.paths.data), Path(config.paths.cache)
    loaded = load_with_report(config.data, data, cache)
    for name in config.also_test:
        found = data_set(config, name)
        known = load_with_report(found, data, cache)
        split = next((split for split in (TEST, VALIDATION) if split in known.examples), None)
        if split is None:
            raise ConfigError(f"also_test={name}: it has neither a test nor a validation split")
        loaded.examples[f"{name}.{split}"] = known.examples[split]
        if split in known.dropped:
            loaded.dropped[f"{name}.{split}"] = known.dropped[split]
    return loaded
