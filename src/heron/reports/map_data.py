"""The data of a map: dynamics and statistics of one or two runs, columns to colour by, texts.

Shape suffixes: E records, N examples, C classes.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from heron.base.cells import SYNTHETIC
from heron.base.errors import ConfigError, DataError, HeronError, nearest
from heron.base.tables import cell_text, is_missing, table_stem
from heron.data.config import TRAIN, DataConfig
from heron.data.examples import Example
from heron.data.markers import with_markers
from heron.dynamics.cartography import (
    NEVER_LEARNT,
    Groups,
    Statistics,
    allenai,
    forgetting,
    statistics,
    tercile_partition,
)
from heron.dynamics.difficulty import COLUMNS, difficulty
from heron.dynamics.files import Dynamics, read_dynamics, records
from heron.languages import LANGUAGES
from heron.languages.words import word_count
from heron.results.collect import collect, is_run
from heron.results.frame import Frame, read_keyed
from heron.results.shipped import data_of, known_examples
from heron.training.stored import read_stored

# A column of numbers with at most this many distinct values is shown value by value.
FEW = 7
SCORE = "eq1_swapped"
_SHOWN = ("confidence", "variability", "correctness", "forgetting", "aum", "loss", SCORE)

Places = tuple[Path | None, Path | None]  # folders of data sets and of the cache


class Numbers(NamedTuple):
    """A column of numbers: float32 [N], NaN where there is none."""

    name: str
    values_N: NDArray[np.float32]

    def take(self, rows_M: NDArray[np.int64]) -> "Numbers":
        """Take some rows."""
        return self._replace(values_N=self.values_N[rows_M])


class Categories(NamedTuple):
    """A column of names: for each example an index into `names`, int32 [N], -1 for none."""

    name: str
    names: tuple[str, ...]
    codes_N: NDArray[np.int32]

    def take(self, rows_M: NDArray[np.int64]) -> "Categories":
        """Take some rows."""
        return self._replace(codes_N=self.codes_N[rows_M])

    def name_at(self, row: int) -> str:
        """Look a row's name up; empty where it has none."""
        code = int(self.codes_N[row])
        return self.names[code] if code >= 0 else ""


Column = Numbers | Categories


class MapRun(NamedTuple):
    """One run's statistics, in the order of the map's examples."""

    name: str
    records: int  # number of records of dynamics
    # float32 [N] by statistic: `confidence`, `variability`, `correctness` (a fraction) and others;
    # NaN where the run has not seen the example.
    values: Mapping[str, NDArray[np.float32]]
    predicted: Categories | None = None  # in the last record; None without logits


class ExampleTexts(NamedTuple):
    """The examples' texts, None for unknown ones."""

    first: Sequence[str | None]
    second: Sequence[str | None] = ()  # hypotheses; empty where the data has single texts
    language: str = ""  # ISO 639 code, or empty
    direction: str = "auto"  # `rtl`, `ltr`, or `auto`


class MapData(NamedTuple):
    """Everything the interactive page holds."""

    title: str
    guids: Sequence[str]
    runs: tuple[MapRun, ...]  # one, or two to compare
    columns: tuple[Column, ...] = ()  # what points can be coloured by, beside the statistics
    texts: ExampleTexts | None = None
    notes: tuple[str, ...] = ()  # what is missing or was left out
    synthetic: str = ""  # warning of generated data


def take(data: MapData, rows_M: NDArray[np.int64]) -> MapData:
    """Take some of a map's examples.

    Args:
        data: of N examples.
        rows_M: the numbers of M of them, which stay in this order.
    """

    def cells(values: Sequence[Any]) -> list[Any]:
        return [values[row] for row in rows_M] if values else []

    runs = []
    for run in data.runs:
        values = {name: values_N[rows_M] for name, values_N in run.values.items()}
        predicted = run.predicted
        if predicted is not None:
            predicted = predicted.take(rows_M)
        runs.append(run._replace(values=values, predicted=predicted))

    texts = data.texts
    if texts is not None:
        texts = texts._replace(first=cells(texts.first), second=cells(texts.second))

    return data._replace(
        guids=cells(data.guids),
        runs=tuple(runs),
        columns=tuple(column.take(rows_M) for column in data.columns),
        texts=texts,
    )


@dataclass(frozen=True, slots=True)
class Mapped:
    """One run's dynamics and their statistics."""

    name: str
    folder: Path  # the run folder, or a folder of other tools' dynamics
    dynamics: Dynamics  # all records
    statistics: Statistics  # over the records before burn-out
    records: int  # number of records before burn-out


def read_logits(folder: Path | str, record: int) -> tuple[list[str], np.ndarray]:
    """Read the logits of one record (from 0; -1 is the last one).

    Returns:
        The guids that the record visited, and their float32 logits_NC.

    Raises:
        DataError: as `read_dynamics`; no such record; a task without classes.
    """
    tables = list(records(folder, ("guid", "logits")))
    count = len(tables)
    if not -count <= record < count:
        fix = f"there are {count}: 0 to {count - 1}"
        raise DataError(str(folder), f"no record {record}", fix)

    table = tables[record]
    logits = table["logits"].combine_chunks()
    logits_NC = logits.flatten().to_numpy().reshape(-1, logits.type.list_size)
    return table["guid"].to_pylist(), logits_NC


def read_mapped(folder: Path, burn_out: int | None = None, include_ci: bool = False) -> Mapped:
    """Read a run's dynamics and compute the statistics.

    Args:
        folder: the run folder, its `dynamics/`, or a folder of other tools' dynamics.
        burn_out: number of records to compute the statistics of; None: all.
        include_ci: as of `cartography.statistics`.
    """
    folder = Path(folder)
    if folder.name == "dynamics" and (folder.parent / "config.yaml").is_file():
        folder = folder.parent

    dynamics = read_dynamics(folder)
    of_examples = statistics(dynamics, burn_out=burn_out, include_ci=include_ci)
    count = len(dynamics.epochs_E[: burn_out or None])
    if include_ci and count < 2:
        raise ConfigError(f"include_ci=true needs two records or more; {folder} has {count}")

    return Mapped(folder.resolve().name, folder, dynamics, of_examples, count)


def shown_statistics(of: Statistics) -> dict[str, NDArray[np.float64]]:
    """List the statistics that the map's page and tables show, float64 [N] each."""
    return {name: COLUMNS[name].values(of) for name in _SHOWN}


def map_run(mapped: Mapped, guids: Sequence[str] | None = None) -> MapRun:
    """Bring a run's statistics into the order of a map's examples.

    Args:
        mapped: the run.
        guids: of the map's examples, N; None: the run's own.
    """
    dynamics = mapped.dynamics
    guids = guids or dynamics.guids
    shown = shown_statistics(mapped.statistics)
    own: dict[str, Any] = {"guid": dynamics.guids, **shown}
    frame = Frame(mapped.folder, own).beside(guids)

    values = {}
    for name in shown:
        values_N = np.array(frame[name], np.float32)
        # A task without classes has no margins: no column is clearer than an empty one.
        if not len(values_N) or not np.isnan(values_N).all():
            values[name] = values_N

    predicted = None
    if dynamics.labels:
        with suppress(DataError):  # a task without logits
            predicted = _predicted(mapped, guids)

    return MapRun(mapped.name, mapped.records, values, predicted)


def _predicted(mapped: Mapped, guids: Sequence[str]) -> Categories:
    """List the classes that a run has predicted in its last record.

    Raises:
        DataError: as `read_logits`.
    """
    visited, logits_NC = read_logits(mapped.folder, mapped.records - 1)
    classes = Frame(mapped.folder, {"guid": visited, "class": logits_NC.argmax(axis=1)})
    codes = [-1 if code is None else code for code in classes.beside(guids)["class"]]
    return Categories("predicted", mapped.dynamics.labels, np.array(codes, np.int32))


def labels_of(mapped: Mapped) -> Categories | None:
    """List the gold labels; None where the task has no classes."""
    dynamics = mapped.dynamics
    if not dynamics.labels:
        return None
    return Categories("label", dynamics.labels, dynamics.gold_N.astype(np.int32))


def group_examples(mapped: Mapped, grouping: str) -> Groups:
    """Group the examples into easy, ambiguous and hard ones.

    Args:
        mapped: the run.
        grouping: `allenai` (the extremes of each kind, which overlap) or `tercile_partition`
            (thirds by difficulty).
    """
    if grouping == "allenai":
        return allenai(mapped.statistics)

    return tercile_partition(difficulty(SCORE, mapped.statistics), mapped.statistics.guids)


def group_names(groups: Groups, examples: int) -> list[str]:
    """Name each example's groups.

    Args:
        groups: masks by name, bool [N].
        examples: their number, N.

    Returns:
        For each example its groups, joined with `+`; empty where it is in none.
    """
    names: list[list[str]] = [[] for _ in range(examples)]
    for group, mask_N in groups.items():
        for row in np.flatnonzero(mask_N):
            names[row].append(group)

    return ["+".join(of_example) for of_example in names]


def build_map(
    mapped: Mapped, other: Mapped | None, groups: Groups, table: Path | None, places: Places | None
) -> MapData:
    """Put together what the page shows.

    Args:
        mapped: the run whose examples the map has.
        other: a run to compare it with.
        groups: of the examples, as `group_examples` makes them.
        table: holds further columns to colour by.
        places: folders of data sets and of the cache; None: the page has no texts.

    Raises:
        DataError: the two runs have no example in common, or `table` cannot be used.
    """
    guids = mapped.dynamics.guids
    label = labels_of(mapped)
    notes = []
    columns: list[Column] = [] if label is None else [label]
    columns.append(categories("group", [name or None for name in group_names(groups, len(guids))]))

    if mapped.records < 2:
        notes.append(
            "one record only: variability is 0 for every example, and correctness is 0 or 1; "
            "train for more epochs, or record several times an epoch"
        )

    runs = [map_run(mapped)]
    folders = [mapped.folder]
    if other is not None:
        notes += _compare(mapped, other)
        runs.append(map_run(other, guids))
        folders.append(other.folder)

    texts = None
    if places is not None:
        texts = _find_texts(mapped.folder, guids, places, columns, notes)

    if table is not None:
        names = {*runs[0].values, "predicted", *(column.name for column in columns)}
        for column in _read_columns(table, guids, notes):
            if column.name in names:
                column = column._replace(name=f"{column.name} ({table_stem(table)})")
            columns.append(column)

    title = "Data map: " + " and ".join(run.name for run in runs)
    is_synthetic = any(is_run(folder) and collect(folder)[0].synthetic for folder in folders)
    synthetic = SYNTHETIC if is_synthetic else ""
    return MapData(title, guids, tuple(runs), tuple(columns), texts, tuple(notes), synthetic)


def map_table(mapped: Mapped, groups: Groups) -> dict[str, Any]:
    """List each example's statistics, as `map.csv` and `map.parquet` hold them.

    Statistics that the published tool defines otherwise stand beside heron's: correctness as a
    count, forgetfulness with 1000 for an example that was never right, and threshold closeness.
    """
    guids = mapped.dynamics.guids
    label = labels_of(mapped)
    of_examples = mapped.statistics
    correct_EN = mapped.dynamics.correct_EN[: mapped.records]
    count = len(guids)

    return {
        "guid": guids,
        "label": [label.name_at(row) if label else "" for row in range(count)],
        **shown_statistics(of_examples),
        "correctness_count": of_examples.correctness_count_N,
        "forgetfulness": forgetting(correct_EN, NEVER_LEARNT),
        "threshold_closeness": of_examples.threshold_closeness_N,
        "groups": group_names(groups, count),
    }


def _compare(mapped: Mapped, other: Mapped) -> list[str]:
    """Describe how two runs differ in their examples, classes and gold labels.

    Raises:
        DataError: they have no example in common.
    """
    dynamics_a = mapped.dynamics
    dynamics_b = other.dynamics
    golds_b = dict(zip(dynamics_b.guids, dynamics_b.gold_N, strict=True))

    shared = 0
    changed = 0
    for guid, gold in zip(dynamics_a.guids, dynamics_a.gold_N, strict=True):
        if guid in golds_b:
            shared += 1
            changed += gold != golds_b[guid]

    if not shared:
        guids = f"guids like {dynamics_b.guids[:1]} and {dynamics_a.guids[:1]}"
        problem = f"no example in common with {mapped.folder}: {guids}"
        raise DataError(str(other.folder), problem, "compare two runs over the same data")

    notes = []
    only_a = len(dynamics_a.guids) - shared
    only_b = len(dynamics_b.guids) - shared
    if only_a or only_b:
        notes.append(
            f"{shared:,} examples are in both runs; {only_a:,} are only in A ({mapped.name}), "
            f"{only_b:,} only in B ({other.name}), which the map leaves out"
        )

    if dynamics_a.labels != dynamics_b.labels:
        notes.append("the two runs have different classes: predictions cannot be compared")
    elif changed:
        notes.append(f"{changed:,} examples have another gold label in B; those of A are shown")

    return notes


def find_colour(data: MapData, name: str) -> Column:
    """Find the column or statistic to colour by; a ConfigError names the nearest one."""
    run = data.runs[0]
    columns: dict[str, Column] = {
        statistic: Numbers(statistic, values_N) for statistic, values_N in run.values.items()
    }

    for column in (*data.columns, run.predicted):
        if column is not None:
            columns[column.name] = column

    if name not in columns:
        raise ConfigError(f"colour={name}: there is no such column.{nearest(name, columns)}")

    return columns[name]


def as_column(name: str, values: Sequence[Any]) -> Column:
    """Make a column of N cells: of numbers if all cells that are not missing are numbers.

    Otherwise, and for at most `FEW` distinct numbers (0 and 1, say), a column of names.
    """
    numbers_N = [math.nan if is_missing(value) else _finite(value) for value in values]
    if None not in numbers_N:
        distinct = np.unique(np.array(numbers_N, np.float64))
        if np.isfinite(distinct).sum() > FEW:
            return Numbers(name, np.array(numbers_N, np.float32))

    return categories(name, [None if is_missing(value) else cell_text(value) for value in values])


def categories(name: str, values: Sequence[str | None]) -> Categories:
    """Make a column of names, the most frequent first (ties in alphabetical order)."""
    counts = Counter(value for value in values if value is not None)
    names = sorted(counts, key=lambda value: (-counts[value], value))
    code_of: dict[str | None, int] = {value: code for code, value in enumerate(names)}
    codes = [code_of.get(value, -1) for value in values]
    return Categories(name, tuple(names), np.array(codes, np.int32))


def _finite(value: Any) -> float | None:
    """Read a finite number, or `nan`; None for anything else. True and False are names."""
    try:
        number = math.inf if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        return None
    return None if math.isinf(number) else number


def _read_columns(path: Path, guids: Sequence[str], notes: list[str]) -> list[Column]:
    """Read further columns in the order of `guids`; notes guids that are not among them."""
    table = read_keyed(path)
    unknown = len(table.rows.keys() - set(guids))
    if unknown:
        notes.append(f"{path.name}: {unknown:,} of {len(table):,} guids have no dynamics")
    rows = table.beside(guids)
    columns = []
    for name in table.columns:
        if name != "guid" and _is_plain(rows[name]):
            columns.append(as_column(name, rows[name]))
    return columns


def _is_plain(cells: Sequence[Any]) -> bool:
    """Tell whether all cells are texts, numbers or empty."""
    return all(is_missing(cell) or isinstance(cell, str | int | float) for cell in cells)


def _find_texts(
    folder: Path, guids: Sequence[str], places: Places, columns: list[Column], notes: list[str]
) -> ExampleTexts | None:
    """Find the texts of a run's examples, in whichever split they are; nothing is downloaded.

    Adds the data's columns, and notes what is missing.
    """
    path = folder / "config.yaml"
    if not path.is_file():
        notes.append("no texts: the folder has no config.yaml that names a data set")
        return None

    try:
        config = read_stored(path)
        data_dir = Path(places[0] or config.paths.data)
        cache_dir = Path(places[1] or config.paths.cache)
        data, _ = data_of(config, TRAIN)
        examples = known_examples(guids, TRAIN, data, data_dir, cache_dir)
    except (HeronError, OSError) as error:
        reason, *_ = str(error).splitlines()
        notes.append(f"no texts: {reason}")
        return None

    missing = examples.count(None)
    if missing:
        notes.append(f"{missing:,} examples are not in {data.name}: no texts")
    if missing == len(examples):
        return None

    columns += _example_columns(examples)
    return texts_of(examples, data)


def texts_of(examples: Sequence[Example | None], data: DataConfig) -> ExampleTexts:
    """Take the examples' texts, with events marked."""
    first: list[str | None] = []
    second: list[str | None] = []
    for example in examples:
        if example is None:
            first.append(None)
            second.append(None)
            continue

        has_events = len(example.spans) == 2
        first.append(with_markers(example, data) if has_events else example.text)
        second.append(example.text_pair)

    language = LANGUAGES.find(data.language)
    if language is None:
        return ExampleTexts(first, second)

    return ExampleTexts(first, second, language.code, language.direction)


def _example_columns(examples: Sequence[Example | None]) -> list[Column]:
    """Make columns of the number of words and of the data set's side columns."""
    words = []
    names: dict[str, None] = {}
    for example in examples:
        if example is None:
            words.append(math.nan)
            continue

        text = f"{example.text} {example.text_pair or ''}"
        words.append(word_count(text))
        names |= dict.fromkeys(example.side)

    columns: list[Column] = [Numbers("words", np.array(words, np.float32))]
    for name in names:
        cells = []
        for example in examples:
            cells.append(None if example is None else example.side.get(name))
        present = [cell for cell in cells if not is_missing(cell)]
        # A column with one value for all examples, such as the file's name, is useless.
        if _is_plain(present) and len(set(present)) > 1:
            columns.append(as_column(name, cells))

    return columns
