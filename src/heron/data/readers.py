"""From files to `Example`s: `load` for training, `read_rows` for anyone's own file.

Every row is checked before anything is used, and everything wrong is reported at once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from heron.base.errors import ConfigError, DataError, Problem
from heron.base.folders import default_cache_dir, default_data_dir
from heron.base.tables import read_chunks
from heron.config.data import SPLITS, TEST, TRAIN, VALIDATION, Columns, DataConfig
from heron.data.duplicates import apply_duplicates
from heron.data.examples import Example
from heron.data.formats import PHRASES, SIDE, Labels, Reader, Rows, find_format
from heron.data.sources import locate, locate_phrases
from heron.data.splits import carve, sample

UNLABELLED, DUPLICATE = "unlabelled", "duplicate"


@dataclass(frozen=True, slots=True)
class Loaded:
    """A data set as a run sees it.

    Args:
        examples: `train`, `validation` and `test`, as far as the data set has them.
        dropped: number of rows that were left out by split and reason: `unlabelled` (counted for
            the file's split, before anything is carved out of it), `duplicate`, and those of
            the task's own options. Reasons and splits without any are absent.
    """

    examples: dict[str, list[Example]]
    dropped: dict[str, dict[str, int]]


def load(config: DataConfig, data_dir: Path, cache_dir: Path) -> dict[str, list[Example]]:
    """Read all splits of a data set; `load_with_report` without the report."""
    return load_with_report(config, data_dir, cache_dir).examples


def load_with_report(config: DataConfig, data_dir: Path, cache_dir: Path) -> Loaded:
    """Read all splits of a data set, downloading or generating what is absent.

    Args:
        config: the data set.
        data_dir: `paths.data`, where its files are looked up first.
        cache_dir: `paths.cache`, for downloads and generated corpora.

    Returns:
        The splits. Where there is no test file, `test` is carved out of train if `data.holdout`
        says so; where there is no validation file, `validation` then is. A test file is never
        touched.

    Raises:
        ConfigError: the configuration names no classes or no files.
        DataError: every missing file, or every problem in every file.
    """
    if not config.label_order:
        raise ConfigError("data.label_order is empty: list the classes, data.label_order=[A, B]")
    paths = locate(config, data_dir, cache_dir)
    files = _read_splits(config, paths)
    shipped = {split: rows.examples for split, rows in files.items()}
    carved = _carve(shipped, config)
    splits = apply_duplicates(carved, config.duplicates)
    dropped = _count_dropped(files, carved, splits)
    if TRAIN in splits:
        splits[TRAIN] = sample(splits[TRAIN], config.sample)
    return Loaded({split: splits[split] for split in SPLITS if split in splits}, dropped)


def read_rows(
    path: Path,
    config: DataConfig,
    labels: Labels = "optional",
    bad_rows: Literal["raise", "report"] = "raise",
    data_dir: Path | None = None,
    cache_dir: Path | None = None,
) -> Rows:
    """Read a file of the user's own, in the form of the data set `config`.

    Only the text columns must be there; guid, label and group are read where they exist.

    Args:
        path: .csv, .tsv, .jsonl, .json or .parquet, or what the task's formats are.
        config: column names, markers, classes and Unicode options.
        labels: `required`, `optional` (an empty cell is an unlabelled row) or `ignored`. Under
            `required`, `data.unlabelled` says what becomes of rows without a gold label.
        bad_rows: `report` returns the good rows and the problems, `raise` stops at any problem.
        data_dir, cache_dir: where the list of linking phrases lies, if some are to be removed.

    Raises:
        DataError: nothing in the file can be used, or with `raise` anything cannot.
    """
    read = _own_reader(config, data_dir, cache_dir)
    rows = read(path, labels, config.columns.label, _own_columns(config, labels))
    if rows.problems and (bad_rows == "raise" or not rows.examples):
        raise DataError(rows.problems)
    return rows


def read_parts(
    path: Path,
    config: DataConfig,
    size: int,
    data_dir: Path | None = None,
    cache_dir: Path | None = None,
) -> Iterator[Rows]:
    """Read texts without labels from a file of the user's own, some rows at a time.

    What `read_rows(..., "ignored", "report")` gives at once: ids that are there twice are found
    wherever they stand. The file's own ids are all that stays in memory of the rows before.

    Args:
        path, config, data_dir, cache_dir: as for `read_rows`. JSON is in memory as a whole.
        size: rows at most in each part.

    Yields:
        At least one part; some may have no examples.

    Raises:
        DataError: the file cannot be read or lacks a column, before the first part; or, behind the
            last, no row can be used.
    """
    read = _own_reader(config, data_dir, cache_dir)
    problems: list[Problem] = []
    usable = False
    for rows in _read_parts(path, config, size, read):
        problems += rows.problems
        usable = usable or bool(rows.examples)
        yield rows
    if problems and not usable:
        raise DataError(problems)


def _read_parts(path: Path, config: DataConfig, size: int, read: Reader) -> Iterator[Rows]:
    label, keys = config.columns.label, _own_columns(config, "ignored")
    if find_format(config).is_whole(path):
        rows = read(path, "ignored", label, keys)
        yield replace(rows, examples=rows.examples[:size])
        for start in range(size, len(rows.examples), size):
            yield Rows(rows.examples[start : start + size], [])
        return
    for table in read_chunks(path, size):
        if config.columns.guid not in table.columns and table.ids is not None:
            table.ids.clear()  # lines name the rows: none is there twice
        if len(table):
            yield read(table, "ignored", label, keys)
        else:
            yield Rows([], table.problems)


def _own_columns(config: DataConfig, labels: Labels) -> dict[str, str]:
    """Name the columns that a file of the user's own must have, and the key that names each."""
    columns = config.columns
    keys = {columns.text: "data.columns.text"}
    if columns.text_pair:
        keys[columns.text_pair] = "data.columns.text_pair"
    if labels == "required":
        keys[columns.label] = "data.columns.label"
    return keys


def _own_reader(config: DataConfig, data_dir: Path | None, cache_dir: Path | None) -> Reader:
    places = data_dir or default_data_dir(), cache_dir or default_cache_dir()
    phrases = locate_phrases(config, *places)
    return find_format(config).open(config, {PHRASES: phrases} if phrases else {})


def _read_splits(config: DataConfig, paths: Mapping[str, Path]) -> dict[str, Rows]:
    """Read every file; raises all problems of all files at once."""
    read = find_format(config).open(config, paths)
    files: dict[str, Rows] = {}
    problems: list[Problem] = []
    for split in SPLITS:
        if split in paths:
            label = config.label_field.get(split, config.columns.label)
            keys = _shipped_columns(config, label)
            rows = read(paths[split], "required", label, keys)
            files[split] = rows
            problems += rows.problems or _check_counts(split, paths[split], rows, config)
    if problems:
        raise DataError(problems)
    return files


def _carve(splits: Mapping[str, list[Example]], config: DataConfig) -> dict[str, list[Example]]:
    """Carve a test split, then a validation split, out of train, where they are lacking."""
    carved = dict(splits)
    for split, how in ((TEST, config.holdout), (VALIDATION, config.validation)):
        if split not in carved and TRAIN in carved and how.fraction > 0:
            carved[TRAIN], carved[split] = carve(carved[TRAIN], how)
    return carved


def _count_dropped(
    files: Mapping[str, Rows],
    before: Mapping[str, Sequence[Example]],
    after: Mapping[str, Sequence[Example]],
) -> dict[str, dict[str, int]]:
    dropped = {}
    for split in before:
        unlabelled = sum(files[split].unlabelled.values()) if split in files else 0
        reasons = {UNLABELLED: unlabelled, DUPLICATE: len(before[split]) - len(after[split])}
        reasons |= Counter(reason for reason, _ in files[split].dropped) if split in files else {}
        if any(reasons.values()):
            dropped[split] = {reason: count for reason, count in reasons.items() if count}
    return dropped


def _shipped_columns(config: DataConfig, label: str) -> dict[str, str]:
    """Name the columns that a data set's own files must have, and the key that names each."""
    columns = config.columns
    own_guid = columns.guid != Columns().guid and not config.join  # the default name may be absent
    needed = {
        "text": columns.text,
        "text_pair": columns.text_pair,
        "label": label,
        "guid": columns.guid if own_guid else None,
        "group": columns.group,
        "truth": columns.truth,
    }
    keys = {column: f"data.columns.{field}" for field, column in needed.items() if column}
    keys |= {column: SIDE for column in columns.side if column not in keys}
    return keys | ({config.join.key: "data.join.key"} if config.join else {})


def _check_counts(split: str, path: Path, rows: Rows, config: DataConfig) -> list[Problem]:
    """Compare the number of rows, in all and per class, with the pinned ones."""
    if not config.verify:
        return []
    found = Counter(str(example.label) for example in rows.examples) + Counter(rows.unlabelled)
    found += Counter(label for _, label in rows.dropped)
    expected = dict(config.counts.get(split, {}))
    problems = [
        f"{found[label]} rows of class {label or 'nothing'}, expected {count}"
        for label, count in {**dict.fromkeys(found, 0), **expected}.items()
        if expected and found[label] != count
    ]
    pinned = config.files[split].rows if split in config.files else None
    if pinned not in (None, found.total()):
        problems.insert(0, f"{found.total()} rows, expected {pinned}")
    fix = "another revision? data.verify=false accepts it"
    return [Problem(str(path), problem, fix) for problem in problems]
