"""The summaries of several systems, from run folders and from tables."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from heron.base.errors import ConfigError, DataError, Problem
from heron.base.files import sha256_file
from heron.base.tables import Table, cell_text, is_missing, read_table, table_format, table_stem
from heron.config.data import UnicodeOptions
from heron.languages.spelling import Spell, speller
from heron.languages.unicode import coarsest

GOLD = "gold"  # the references as a system
_GUIDS = ("guid", "id")
_SUMMARIES = ("prediction", "summary")
_ARTICLES = ("text", "article", "document")
_REFERENCES = ("gold", "reference")
_NO_METRICS = frozenset(("group", "index", "line", "row", "seed", "document", "article_id"))


@dataclass(frozen=True, slots=True)
class System:
    """What one system has written.

    Args:
        name: what tables call it.
        path: the file.
        sha256: of the file.
        summaries: by guid; may be empty texts, which are judged as well.
        articles: by guid, where the file has them.
        references: by guid, where the file has them.
        metrics: by guid, every column of numbers.
        language: ISO 639-1 code, where a run says it.
        synthetic: whether a run says that its texts are generated.
        unicode: how a run has read its articles and references.
    """

    name: str
    path: Path
    sha256: str
    summaries: Mapping[str, str]
    articles: Mapping[str, str]
    references: Mapping[str, str]
    metrics: Mapping[str, Mapping[str, float]]
    language: str | None = None
    synthetic: bool = False
    unicode: UnicodeOptions | None = None


def read_systems(words: Sequence[str], split: str, option: str = "systems") -> list[System]:
    """Read systems in the order named.

    Args:
        words: run folders or tables, each perhaps with a name of its own: `name:path`. Parts of a
            path with commas in it may come one by one.
        split: which of a run's predictions.
        option: what the words were given as, for messages.

    Raises:
        ConfigError: no such file, or two systems of one name.
        DataError: files without the columns, or with a guid twice; of all files at once.
    """
    systems: list[System] = []
    problems: list[Problem] = []
    for name, path in find_systems(words, option):
        try:
            systems.append(_read(name, path, split))
        except DataError as error:
            problems += error.problems
    if problems:
        raise DataError(problems)
    names = [system.name for system in systems]
    if repeated := sorted({name for name in names if names.count(name) > 1}):
        fix = f"name them: {option}=first:PATH,second:PATH"
        raise ConfigError(f"{option}: two are called {', '.join(repeated)}; {fix}")
    if not systems:
        raise ConfigError(f"{option}=: name at least one run folder or table")
    return systems


def shared_speller(systems: Sequence[System], language: str) -> Spell:
    """Make the function that spells texts of all systems alike, as the runs among them read."""
    return speller(language, coarsest(one.unicode for one in systems if one.unicode))


def find_systems(words: Sequence[str], option: str) -> list[tuple[str, Path]]:
    """Find each word's path; a run's folder has commas in its name, as has the list.

    Returns:
        Names, empty where a word gives none, and run folders or files; nothing is read.

    Raises:
        ConfigError: there is no such run folder or file.
    """
    found: list[tuple[str, Path]] = []
    rest = list(words)
    while rest:
        for count in range(len(rest), 0, -1):
            word = ",".join(rest[:count])
            named, colon, path = word.partition(":")
            whole = (Path(word).expanduser(), "")
            options = [whole, (Path(path).expanduser(), named)] if colon and path else [whole]
            existing = [(name, place) for place, name in options if place.exists()]
            if existing:
                found.append(existing[0])
                rest = rest[count:]
                break
        else:
            raise ConfigError(f"{option}={rest[0]}: no such run folder or file")
    return found


def _read(name: str, path: Path, split: str) -> System:
    if not path.is_dir():
        return _from_table(name or table_stem(path), path)
    from heron.base.run_folder import open_run
    from heron.config.checks import read_stored
    from heron.results.reading import data_of, missing_predictions

    run = open_run(path)
    config = read_stored(run.config)
    if config.task.name != "summarization":
        raise ConfigError(
            f"{path} is a run of task={config.task.name}, which writes no summaries to judge: "
            "name runs of task=summarization, or tables with a column 'summary'"
        )
    file = run.predictions(split)
    if not file.is_file():
        raise missing_predictions(file)
    data, _ = data_of(config, split)
    system = _from_table(name or path.resolve().name, file)
    return replace(system, language=data.language, synthetic=data.synthetic, unicode=data.unicode)


def _from_table(name: str, path: Path) -> System:
    table = read_table(path, own=True)
    guid, summary = table.find(_GUIDS), table.find(_SUMMARIES)
    lacking = [names for names, it in ((_GUIDS, guid), (_SUMMARIES, summary)) if it is None]
    if guid is None or summary is None:
        what = [f"no column {' or '.join(names)}" for names in lacking]
        fix = f"it has {', '.join(table.columns)}"
        raise DataError([Problem(str(path), one, fix) for one in what])
    if any(column.startswith("p/") for column in table.columns):
        labels = "its predictions are labels: it has their probabilities (p/...)"
        raise DataError(Problem(str(path), labels, "name predictions of task=summarization"))
    if problems := [*table.missing_values(guid), *table.duplicates(guid)]:
        raise DataError(problems)
    article, reference = table.find(_ARTICLES), table.find(_REFERENCES)
    used = {guid, summary, article, reference}
    return System(
        name,
        path,
        sha256_file(path),
        {cell_text(row[guid]): _text(row[summary]) for row in table.rows},
        _texts(table, guid, article),
        _texts(table, guid, reference),
        numbers(table, guid, [column for column in table.columns if column not in used]),
    )


def _texts(table: Table, guid: str, column: str | None) -> dict[str, str]:
    if column is None:
        return {}
    return {
        cell_text(row[guid]): _text(row[column])
        for row in table.rows
        if not is_missing(row[column])
    }


def _text(value: Any) -> str:
    return "" if is_missing(value) else str(value).strip()


def numbers(table: Table, guid: str, columns: Sequence[str]) -> dict[str, dict[str, float]]:
    """Read the columns that hold numbers (and nothing else, but for empty cells), by guid.

    Columns that number rows or name documents are no scores. Texts are numbers in CSV only, which
    has nothing else.
    """
    found: dict[str, dict[str, float]] = {cell_text(row[guid]): {} for row in table.rows}
    texts = table_format(table.path) in (".csv", ".tsv")
    for column in columns:
        if column in _NO_METRICS:
            continue
        values = table.values(column)
        if not texts and any(isinstance(value, str) for value in values):
            continue
        cells = [number(value) for value in values]
        if None in cells or all(math.isnan(value) for value in cells if value is not None):
            continue
        for row, value in zip(table.rows, cells, strict=True):
            if value is not None and math.isfinite(value):
                found[cell_text(row[guid])][column] = value
    return found


def number(value: Any) -> float | None:
    """Read one cell: NaN where it is empty, None where it holds no number."""
    if is_missing(value):
        return math.nan
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    try:
        return float(value)
    except (ValueError, OverflowError):
        return None
