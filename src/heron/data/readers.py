"""From the files of data sets to the splits of a run; and users' own files in the same formats."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeVar

from heron.base.errors import ConfigError, Problem, raise_all
from heron.base.folders import data_set_file, default_cache_dir, default_data_dir
from heron.base.tables import FileTable, read_chunks
from heron.data.annotation_tools import plain_table
from heron.data.config import (
    PHRASES,
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
from heron.data.examples import Splits
from heron.data.manifests import read_manifest
from heron.data.rows import SIDE, Labels, Rows, find_format, with_cells
from heron.data.sources import locate, locate_phrases
from heron.data.splits import apply_duplicates, carve, sample, take_fold

UNLABELLED = "unlabelled"
DUPLICATE = "duplicate"

Run = TypeVar("Run", bound=RunSettings)


@dataclass(frozen=True, slots=True)
class Loaded:
    """A data set as a run sees it."""

    examples: Splits  # train, validation, test, as far as it has them
    # Rows left out by split and reason, without zeros: `unlabelled` (in the file's split, before
    # validation is taken from it), `duplicate`, and those of the task's own options.
    dropped: dict[str, dict[str, int]]


def load(config: DataConfig, data_dir: Path, cache_dir: Path) -> Splits:
    """Read all splits of a data set; `load_with_report` without the report."""
    return load_with_report(config, data_dir, cache_dir).examples


def load_with_report(config: DataConfig, data_dir: Path, cache_dir: Path) -> Loaded:
    """Read all splits of a data set; files that are absent are downloaded or generated.

    Without a test file, `test` is taken from train if `data.holdout` says so; then, without a
    validation file, `validation` is. A test file is never divided. With `data.folds`, validation is
    a part of train, and no other file is read.

    Raises:
        ConfigError: the configuration names no classes or no files.
        DataError: every missing file, or every problem in every file.
    """
    require_classes(config)
    files = _read_splits(config, locate(config, data_dir, cache_dir))
    examples = {split: rows.examples for split, rows in files.items()}

    if config.folds.count and examples.get(TRAIN):
        examples[TRAIN], examples[VALIDATION] = take_fold(examples[TRAIN], config.folds)

    for split, part in ((TEST, config.holdout), (VALIDATION, config.validation)):
        is_absent = split not in examples and not config.folds.count
        if is_absent and part.fraction > 0 and examples.get(TRAIN):
            examples[TRAIN], examples[split] = carve(examples[TRAIN], part)
    splits = apply_duplicates(examples, config.duplicates)

    dropped = {}
    for split in splits:
        counts = Counter[str]()
        if split in files:
            counts.update(reason for reason, _ in files[split].dropped)
            counts[UNLABELLED] = sum(files[split].unlabelled.values())

        counts[DUPLICATE] = len(examples[split]) - len(splits[split])
        counts = +counts  # without zeros
        if counts:
            dropped[split] = dict(counts)

    if TRAIN in splits and config.sample.fraction < 1:
        splits[TRAIN] = sample(splits[TRAIN], config.sample)
    return Loaded({split: splits[split] for split in SPLITS if split in splits}, dropped)


def require_classes(config: DataConfig) -> None:
    """Raise a ConfigError where a data set names no classes."""
    if not config.label_order:
        raise ConfigError("data.label_order is empty: list the classes, data.label_order=[A, B]")


def _read_splits(config: DataConfig, paths: Mapping[str, Path]) -> dict[str, Rows]:
    """Read every file; raises all problems of all files at once."""
    read = find_format(config).open(config, paths)
    wanted = [TRAIN] if config.folds.count else SPLITS
    files: dict[str, Rows] = {}
    problems: list[Problem] = []
    for split in wanted:
        if split not in paths:
            continue

        path = paths[split]
        label = config.label_field.get(split, config.columns.label)
        required = _shipped_columns(config, label)
        rows = read(path, "required", label, required)
        problems += rows.problems or _check_counts(split, path, rows, config)
        files[split] = rows

    raise_all(problems)
    return files


def _required(config: DataConfig, *fields: str, **named: str) -> dict[str, str]:
    """Name required columns, and the key that names each."""
    columns = {field: getattr(config.columns, field) for field in fields} | named
    return {column: f"data.columns.{field}" for field, column in columns.items() if column}


def _shipped_columns(config: DataConfig, label: str) -> dict[str, str]:
    """Name the required columns of a data set's files."""
    columns = config.columns
    join = config.join
    fields = ["text", "text_pair", "group", "truth"]
    if columns.guid != Columns.guid and not join:  # otherwise there may be no ids
        fields.insert(2, "guid")
    keys = _required(config, *fields, label=label)
    for column in columns.side:
        keys.setdefault(column, SIDE)
    if join:
        keys[join.key] = "data.join.key"
    return keys


def _check_counts(split: str, path: Path, rows: Rows, config: DataConfig) -> list[Problem]:
    """Compare the number of rows, in total and per class, with the pinned numbers.

    A file with a manifest has been verified by its hash.

    Returns:
        A problem for each number that differs.
    """
    file = config.files.get(split) or FileConfig("")
    is_subset = file.unseen and file.rows is None  # `counts` are those of the whole file
    if not config.verify or is_subset or read_manifest(path):
        return []

    rows_of = Counter(str(example.label) for example in rows.examples)  # by class
    rows_of.update(rows.unlabelled)
    rows_of.update(label for _, label in rows.dropped)

    compared = [("rows", rows_of.total(), file.rows)]
    pinned = config.counts.get(split)
    if pinned:
        for label in dict.fromkeys([*rows_of, *pinned]):
            what = f"rows of class {label or 'nothing'}"
            compared.append((what, rows_of[label], pinned.get(label, 0)))

    problems = []
    for what, number, expected in compared:
        if expected not in (None, number):
            difference = f"{number} {what}, expected {expected}"
            fix = "another revision? data.verify=false accepts it"
            problems.append(Problem(str(path), difference, fix))
    return problems


def read_rows(
    path: Path,
    config: DataConfig,
    labels: Labels = "optional",
    bad_rows: Literal["raise", "report"] = "raise",
    data_dir: Path | None = None,
    cache_dir: Path | None = None,
) -> Rows:
    """Read a user's own file in the format of a data set; a DataError where all rows are bad.

    Only texts are required, and labels if "required"; guid and group are read where they exist.

    Args:
        path: a table, or a file in a format of the task.
        config: column names, markers, classes and Unicode options.
        labels: `required` (see `data.unlabelled`), `optional` (an empty cell is an unlabelled row)
            or `ignored`.
        bad_rows: `report` returns the good rows and the problems, `raise` stops at any problem.
        data_dir, cache_dir: where the phrases that `data.phrases` removes are listed.
    """
    rows = _own_reader(config, labels, data_dir, cache_dir)(path)
    if bad_rows == "raise" or not rows.examples:
        raise_all(rows.problems)
    return rows


def read_parts(
    path: Path,
    config: DataConfig,
    size: int,
    data_dir: Path | None = None,
    cache_dir: Path | None = None,
) -> Iterator[Rows]:
    """Read texts without labels, `size` rows at a time, like `read_rows(..., "ignored", "report")`.

    Of earlier rows only the file's own ids stay in memory; JSON is in memory as a whole.

    Args:
        path: a table, or a file in a format of the task.
        config: column names, markers, classes and Unicode options.
        size: rows of a part.
        data_dir, cache_dir: where the phrases that `data.phrases` removes are listed.

    Yields:
        The parts, with the cells of tables; some may have no examples.

    Raises:
        DataError: before the first part where the file cannot be read or lacks a column, after the
            last one where no row can be used.
    """
    read = _own_reader(config, "ignored", data_dir, cache_dir)
    sources: Iterable[Path | FileTable] = [path]
    if not find_format(config).is_whole(path):
        sources = read_chunks(path, size, config.quoting)

    problems: list[Problem] = []
    is_usable = False
    for source in sources:
        if isinstance(source, FileTable):
            source = plain_table(source)
            if config.columns.guid not in source.columns and source.ids:
                source.ids.clear()  # ids are made of line numbers: unique
            rows = Rows([], source.problems)
            if len(source):
                rows = with_cells(read(source), source)
        else:
            rows = read(source)

        problems += rows.problems
        is_usable = is_usable or bool(rows.examples)
        for start in range(0, len(rows.examples) or 1, size):
            yield rows.part(start, size)
    if not is_usable:
        raise_all(problems)


def _own_reader(
    config: DataConfig, labels: Labels, data_dir: Path | None, cache_dir: Path | None
) -> Callable[[Path | FileTable], Rows]:
    """Make the reader of users' own files, which need only texts, and labels if required."""
    data_dir = data_dir or default_data_dir()
    cache_dir = cache_dir or default_cache_dir()
    phrases = locate_phrases(config, data_dir, cache_dir)
    read = find_format(config).open(config, {PHRASES: phrases} if phrases else {})
    keys = _required(config, "text", "text_pair")
    if labels == "required":
        keys |= _required(config, "label")
    return lambda source: read(source, labels, config.columns.label, keys)


def data_set(config: RunSettings, name: str, of_stage: bool = False) -> DataConfig:
    """Find a data set of a run.

    Args:
        config: the run's; its own data set, and those of its stages, have their overrides.
        name: of the data set.
        of_stage: whether it is a stage's, which may be of another task.

    Raises:
        ConfigError: its classes, or their order, are not those of the run's own data set.
    """
    own = config.data
    for known in (own, *config.others.values()):
        if name == known.name:
            return known

    other = read_config(data_set_file(name))
    may_differ = of_stage and other.task != own.task
    if not may_differ and (other.task, other.label_order) != (own.task, own.label_order):
        classes = ", ".join(other.label_order)
        own_classes = ", ".join(own.label_order)
        raise ConfigError(
            f"data set {name} (task {other.task}, classes {classes}) does not "
            f"go with {own.name} (task {own.task}, classes {own_classes}): one head "
            "needs the same classes in the same order"
        )
    return other


def every_set(config: RunSettings) -> dict[str, DataConfig]:
    """Find the data sets that a run reads, by name.

    Returns:
        Those that it trains on (its own or, if it has stages, theirs) and those of `also_test`.
    """
    stages = config.read_stages()
    trained = {stage.data: data_set(config, stage.data, of_stage=True) for stage in stages}
    tested = {name: data_set(config, name) for name in config.also_test}
    return (trained or {config.data.name: config.data}) | tested


def of_split(config: Run, split: str) -> Run:
    """Replace the run's data set by that of a split `<data set>.<split>`."""
    name, dot, _ = split.rpartition(".")
    if not dot:
        return config
    other = copy(config)
    other.data = data_set(config, name)
    return other


def no_rows(name: str, split: str, what: str = "train on") -> ConfigError:
    """Make the error for a data set without rows in a split that is needed."""
    fix = f"see data.files.{split}, data.unlabelled and data.validation"
    return ConfigError(f"data={name} has no rows to {what}: {fix}")


def load_run_data(config: RunSettings) -> Loaded:
    """Read a run's own data set, and the test split (or validation) of those in `also_test`.

    Returns:
        The examples by split; the others' splits are called `<data set>.<split>`.

    Raises:
        ConfigError: a data set in `also_test` has neither split.
        DataError: as `load_with_report`.
    """
    data_dir, cache_dir = config.paths.folders
    loaded = load_with_report(config.data, data_dir, cache_dir)
    for name in config.also_test:
        other = load_with_report(data_set(config, name), data_dir, cache_dir)
        split = TEST if TEST in other.examples else VALIDATION
        if split not in other.examples:
            raise ConfigError(f"also_test={name}: it has neither a test nor a validation split")

        full_name = f"{name}.{split}"
        loaded.examples[full_name] = other.examples[split]
        if split in other.dropped:
            loaded.dropped[full_name] = other.dropped[split]
    return loaded
