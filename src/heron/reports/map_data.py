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


class Categories(NamedTuple):
    """A column of names: for each example an index into `names`, int32 [N], -1 for none."""

    name: str
    names: tuple[str, ...]
    codes_N: NDArray[np.int32]

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


class Texts(NamedTuple):
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
    texts: Texts | None = None
    notes: tuple[str, ...] = ()  # what is missing or was left out
    synthetic: str = ""  # warning of generated data


def take(data: MapData, rows_M: NDArray[np.int64]) -> MapData:
    """Take some of a map's examples."""

    def some(column: Any) -> Any:
        name = "values_N" if isinstance(column, Numbers) else "codes_N"
        return column and column._replace(**{name: getattr(column, name)[rows_M]})

    def cells(values: Sequence[Any]) -> list[Any]:
        return [values[row] for row in rows_M] if values else []

    runs = [
        run._replace(
            values={name: each_N[rows_M] for name, each_N in run.values.items()},
            predicted=some(run.predicted),
        )
        for run in data.runs
    ]
    texts = data.texts
    if texts is not None:
        texts = texts._replace(first=cells(texts.first), second=cells(texts.second))
    columns = tuple(map(some, data.columns))
    return MapData(data.title, cells(data.guids), tuple(runs), columns, texts, *data[5:])


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
    if not -len(tables) <= record < len(tables):
        fix = f"there are {len(tables)}: 0 to {len(tables) - 1}"
        raise DataError(str(folder), f"no record {record}", fix)
    logits = tables[record]["logits"].combine_chunks()
    width = logits.type.list_size
    return tables[record]["guid"].to_pylist(), logits.flatten().to_numpy().reshape(-1, width)


def read_mapped(folder: Path, burn_out: int | None = None, include_ci: bool = False) -> Mapped:
    """Read a run's dynamics and compute the statistics."""
    folder = Path(folder)
    if folder.name == "dynamics" and (folder.parent / "config.yaml").is_file():
        folder = folder.parent
    dynamics = read_dynamics(folder)
    found = statistics(dynamics, burn_out=burn_out, include_ci=include_ci)
    records = len(dynamics.epochs_E[: burn_out or None])
    if include_ci and records < 2:
        raise ConfigError(f"include_ci=true needs two records or more; {folder} has {records}")
    return Mapped(folder.resolve().name, folder, dynamics, found, records)


def shown_statistics(of: Statistics) -> dict[str, NDArray[np.float64]]:
    """List the statistics that the map's page and tables show, float64 [N] each."""
    return {name: COLUMNS[name].values(of) for name in _SHOWN}


def map_run(mapped: Mapped, guids: Sequence[str] | None = None) -> MapRun:
    """Bring a run's statistics into the order of `guids` (default: the run's own)."""
    guids = guids or mapped.dynamics.guids
    own: dict[str, Any] = {"guid": mapped.dynamics.guids, **shown_statistics(mapped.statistics)}
    frame = Frame(mapped.folder, own).beside(guids)
    taken = {name: np.array(frame[name], np.float32) for name in own if name != "guid"}
    # A task without classes has no margins: no column is clearer than an empty one.
    values = {name: one for name, one in taken.items() if not len(one) or not np.isnan(one).all()}
    labels, predicted = mapped.dynamics.labels, None
    with suppress(DataError):  # a task without logits
        if labels:
            seen, logits_NC = read_logits(mapped.folder, mapped.records - 1)
            chosen = Frame(mapped.folder, {"guid": seen, "class": logits_NC.argmax(axis=1)})
            codes = (-1 if code is None else code for code in chosen.beside(guids)["class"])
            predicted = Categories("predicted", labels, np.fromiter(codes, np.int32, len(guids)))
    return MapRun(mapped.name, mapped.records, values, predicted)


def labels_of(mapped: Mapped) -> Categories | None:
    """List the gold labels; None where the task has no classes."""
    labels = mapped.dynamics.labels
    return Categories("label", labels, mapped.dynamics.gold_N.astype(np.int32)) if labels else None


def group_examples(mapped: Mapped, grouping: str) -> Groups:
    """Group as `allenai` (extremes of each kind) or `tercile_partition` (thirds of difficulty)."""
    if grouping == "allenai":
        return allenai(mapped.statistics)
    return tercile_partition(difficulty(SCORE, mapped.statistics), mapped.statistics.guids)


def group_names(groups: Groups, examples: int) -> list[str]:
    """Name each example's groups, joined with `+`; empty where it is in none."""
    named = {name: mask_N.tolist() for name, mask_N in groups.items()}
    return ["+".join(name for name, mask in named.items() if mask[row]) for row in range(examples)]


def build_map(
    mapped: Mapped, other: Mapped | None, groups: Groups, table: Path | None, places: Places | None
) -> MapData:
    """Put together what the page shows.

    `table` holds further columns to colour by; without `places` the page has no texts.

    Raises:
        DataError: the two runs have no example in common, or `table` cannot be used.
    """
    guids, label, notes = mapped.dynamics.guids, labels_of(mapped), list[str]()
    columns: list[Column] = [] if label is None else [label]
    columns.append(categories("group", [name or None for name in group_names(groups, len(guids))]))
    if mapped.records < 2:
        notes.append(
            "one record only: variability is 0 for every example, and correctness is 0 or 1; "
            "train for more epochs, or record several times an epoch"
        )
    runs, folders = [map_run(mapped)], [mapped.folder]
    if other is not None:
        notes += _compare(mapped, other)
        runs.append(map_run(other, guids))
        folders.append(other.folder)
    texts = _find_texts(mapped.folder, guids, places, columns, notes) if places else None
    if table is not None:
        taken = {*runs[0].values, "predicted", *(column.name for column in columns)}
        for column in _read_columns(table, guids, notes):
            name = f"{column.name} ({table_stem(table)})" if column.name in taken else column.name
            columns.append(column._replace(name=name))
    title = "Data map: " + " and ".join(run.name for run in runs)
    synthetic = any(is_run(folder) and collect(folder)[0].synthetic for folder in folders)
    shown = SYNTHETIC if synthetic else ""
    return MapData(title, guids, tuple(runs), tuple(columns), texts, tuple(notes), shown)


def map_table(mapped: Mapped, groups: Groups) -> dict[str, Any]:
    """List each example's statistics, as `map.csv` and `map.parquet` hold them.

    Statistics that the published tool defines otherwise stand beside heron's: correctness as a
    count, forgetfulness with 1000 for an example that was never right, and threshold closeness.
    """
    label, guids, of = labels_of(mapped), mapped.dynamics.guids, mapped.statistics
    correct_EN = mapped.dynamics.correct_EN[: mapped.records]
    return {
        "guid": guids,
        "label": [label.name_at(row) if label else "" for row in range(len(guids))],
        **shown_statistics(of),
        "correctness_count": of.correctness_count_N,
        "forgetfulness": forgetting(correct_EN, NEVER_LEARNT),
        "threshold_closeness": of.threshold_closeness_N,
        "groups": group_names(groups, len(guids)),
    }


def _compare(mapped: Mapped, other: Mapped) -> list[str]:
    """Say which examples are in both runs, and differences; one must be in both."""
    mine, theirs = mapped.dynamics, other.dynamics
    golds = theirs.gold_N.tolist()
    beside = Frame(other.folder, {"guid": theirs.guids, "gold": golds}).beside(mine.guids)
    pairs = zip(mine.gold_N, beside["gold"], strict=True)
    shared = [(gold, its) for gold, its in pairs if its is not None]
    if not shared:
        guids = f"guids like {theirs.guids[:1]} and {mine.guids[:1]}"
        what = f"no example in common with {mapped.folder}: {guids}"
        raise DataError(str(other.folder), what, "compare two runs over the same data")
    notes = []
    only_a, only_b = len(mine.guids) - len(shared), len(theirs.guids) - len(shared)
    if only_a or only_b:
        notes.append(
            f"{len(shared):,} examples are in both runs; {only_a:,} are only in A ({mapped.name}), "
            f"{only_b:,} only in B ({other.name}), which the map leaves out"
        )
    if mine.labels != theirs.labels:
        notes.append("the two runs have different classes: predictions cannot be compared")
    elif changed := sum(gold != its for gold, its in shared):
        notes.append(f"{changed:,} examples have another gold label in B; those of A are shown")
    return notes


def find_colour(data: MapData, name: str) -> Column:
    """Find the column or statistic to colour by."""
    shown = data.runs[0]
    found: dict[str, Column] = {
        statistic: Numbers(statistic, values_N) for statistic, values_N in shown.values.items()
    }
    found |= {column.name: column for column in (*data.columns, shown.predicted) if column}
    if name not in found:
        raise ConfigError(f"colour={name}: there is no such column.{nearest(name, found)}")
    return found[name]


def as_column(name: str, values: Sequence[Any]) -> Column:
    """Make a column of N cells: of numbers if all cells that are not missing are numbers.

    Otherwise, and for at most `FEW` distinct numbers (0 and 1, say), a column of names.
    """
    numbers = [math.nan if is_missing(value) else _finite(value) for value in values]
    if None not in numbers and len({each for each in numbers if each == each}) > FEW:
        return Numbers(name, np.array(numbers, np.float32))
    return categories(name, [None if is_missing(value) else cell_text(value) for value in values])


def categories(name: str, values: Sequence[str | None]) -> Categories:
    """Make a column of names, the most frequent first (ties in alphabetical order)."""
    counts = Counter(value for value in values if value is not None)
    names = tuple(sorted(counts, key=lambda value: (-counts[value], value)))
    code = {value: number for number, value in enumerate(names)}
    codes = (-1 if value is None else code[value] for value in values)
    return Categories(name, names, np.fromiter(codes, np.int32, len(values)))


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
    if unknown := len(table.rows.keys() - {*guids}):
        notes.append(f"{path.name}: {unknown:,} of {len(table):,} guids have no dynamics")
    found = table.beside(guids)
    return [as_column(name, found[name]) for name in table.columns if name != "guid"]


def _find_texts(
    folder: Path, guids: Sequence[str], places: Places, columns: list[Column], notes: list[str]
) -> Texts | None:
    """Find the texts of a run's examples, in whichever split they are; nothing is downloaded.

    Adds the data's columns, and notes what is missing.
    """
    path = folder / "config.yaml"
    if not path.is_file():
        notes.append("no texts: the folder has no config.yaml that names a data set")
        return None
    try:
        config = read_stored(path)
        data_dir, cache_dir = places[0] or config.paths.data, places[1] or config.paths.cache
        data, _ = data_of(config, TRAIN)
        examples = known_examples(guids, TRAIN, data, Path(data_dir), Path(cache_dir))
    except (HeronError, OSError) as error:
        notes.append(f"no texts: {str(error).splitlines()[0]}")
        return None
    if missing := examples.count(None):
        notes.append(f"{missing:,} examples are not in {data.name}: no texts")
    if missing == len(examples):
        return None
    columns += _example_columns(examples)
    return texts_of(examples, data)


def texts_of(examples: Sequence[Example | None], data: DataConfig) -> Texts:
    """Take the examples' texts, with events marked."""
    language = LANGUAGES.find(data.language)

    def shown(example: Example) -> str:
        return with_markers(example, data) if len(example.spans) == 2 else example.text

    return Texts(
        [None if example is None else shown(example) for example in examples],
        [None if example is None else example.text_pair for example in examples],
        *((language.code, language.direction) if language else ()),
    )


def _example_columns(examples: Sequence[Example | None]) -> list[Column]:
    """Make columns of the number of words and of the data set's side columns."""
    words = [
        np.nan if one is None else len(f"{one.text} {one.text_pair or ''}".split())
        for one in examples
    ]
    columns: list[Column] = [Numbers("words", np.array(words, np.float32))]
    for name in dict.fromkeys(name for one in examples if one is not None for name in one.side):
        cells = [None if one is None else one.side.get(name) for one in examples]
        present = [cell for cell in cells if not is_missing(cell)]
        plain = all(isinstance(cell, str | int | float) for cell in present)
        # A column with one value for all examples, such as the file's name, is useless.
        if plain and len(set(present)) > 1:
            columns.append(as_column(name, cells))
    return columns
