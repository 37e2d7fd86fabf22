"""Read a system's predictions and match them to gold rows, for every task of `heron score`."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from heron.base.errors import ConfigError, DataError, Problem, nearest
from heron.base.files import parse_json
from heron.base.folders import data_set_file
from heron.base.table_formats import content_format
from heron.base.tables import Table, cell_text, read_bytes, read_table
from heron.config.constraints import Seed
from heron.data.config import DataConfig, read_config
from heron.data.rows import Rows

GUIDS = ("guid", "id")


@dataclass(kw_only=True)
class ScoreOptions:
    """Options of `heron score` for every task."""

    task: str  # `relation`, `nli`, `classification`, `qa`, `summarization`, or a fork's
    # Table of gold rows (.csv, .tsv, .jsonl, .json or .parquet, perhaps .gz); of `qa` also SQuAD's
    # JSON.
    gold: Path
    predictions: Path  # table of predictions, or a JSON object `{guid: prediction}`
    # Name of a data set whose columns, labels and Unicode options the gold file has.
    data: str | None = None
    # `position` joins rows by their order; default: on the guid where both files have one, by
    # position where neither has.
    join: str | None = None
    out: Path | None = None  # JSON file for the scores, `{"<name>": {"<score>": number}}`
    # The name in that file; default: the predictions file's, without its suffix.
    name: str | None = None
    resamples: int = 1000  # bootstrap resamples; 0 computes no intervals
    seed: Seed = 0  # of the resamples
    metrics: list[str] = field(default_factory=list)  # further scores that forks have registered

    def check_resamples(self) -> None:
        """Refuse a negative number; raises ConfigError."""
        if self.resamples < 0:
            raise ConfigError(f"resamples={self.resamples}: expected 0 or more")


def read_data_set(name: str) -> DataConfig:
    """Read a data set's definition without its side columns, which scoring does not need."""
    config = read_config(data_set_file(name))
    config.columns.side = []
    return config


def typed_columns(words: Sequence[str]) -> list[str]:
    """List the columns of ids, labels and groups in `data.columns.*` words: they must exist."""
    keys = [f"data.columns.{name}" for name in ("guid", "label", "group")]
    pairs = (word.partition("=") for word in words)
    return [column for key, _, column in pairs if key in keys]


def read_predicted(path: Path, bad_rows: Literal["raise", "report"] = "raise") -> Table:
    """Read a table, or a JSON object `{guid: prediction}` as one with these two columns.

    Raises:
        DataError: as `heron.base.tables.read_table`; a guid that the object has twice.
    """
    if content_format(path) != "object":
        return read_table(path, bad_rows, own=True)
    pairs: list[tuple[str, Any]] = []

    def keep(found: list[tuple[str, Any]]) -> dict[str, Any]:
        pairs[:] = found  # the outermost object is the last to be read
        return dict(found)

    try:
        parse_json(read_bytes(path).decode("utf-8-sig"), object_pairs_hook=keep)
    except (OSError, ValueError) as error:
        raise DataError(Problem(str(path), f"cannot be read: {error}")) from error
    rows = [{"guid": guid, "prediction": value} for guid, value in pairs]
    table = Table(path, ("guid", "prediction"), rows, list(range(1, len(rows) + 1)), [])
    counts = Counter(guid for guid, _ in pairs)
    if repeated := sorted(guid for guid, count in counts.items() if count > 1):
        raise DataError([Problem(f"{path}: {guid}", "is there twice") for guid in repeated])
    return table


def refuse_itself(table: Table, column: str, gold: Path, gold_columns: Sequence[str]) -> None:
    """Refuse to score a gold file's own gold column as predictions."""
    if column in gold_columns and table.path.resolve() == gold.resolve():
        raise ConfigError(f"{gold}: its column '{column}' is the gold one: name other predictions")


def match_rows(
    table: Table,
    guid: str | None,
    rows: Rows,
    gold: Path,
    join: str | None = None,
    names: tuple[str, str] = ("prediction", "row"),
) -> tuple[list[int], str]:
    """Find the prediction of each gold row that counts; others may have predictions too.

    Args:
        table: the predictions.
        guid: its column of ids, or None.
        rows, gold: of the gold file, and its path.
        join: see `ScoreOptions`.
        names: what is predicted and for what, `("answer", "question")`.

    Returns:
        For each of `rows.examples` the number of a row of the table, and how they were joined.

    Raises:
        ConfigError: an unknown `join`; ids in the gold file alone.
        DataError: ids that are missing, extra or repeated; another number of rows.
    """
    to = names[1]
    counted = [example.guid for example in rows.examples]
    if join not in (None, "position"):
        raise ConfigError(f"join={join}.{nearest(str(join), ['position'])}")
    if guid is not None and join is None:
        return _on_guid(table, guid, rows, gold, names), f"on {guid}"
    if rows.has_ids and join is None:
        raise ConfigError(
            f"{gold} has ids, {table.path} has none: add a column guid there, or say join=position "
            "if the rows of both files stand in the same order"
        )
    places = _by_position(len(table), rows.guids, counted)
    if places is None:
        what = f"{len(table)} rows for the {len(rows.guids)} {to}s of {gold}"
        if len(counted) < len(rows.guids):
            what += f", or the {len(counted)} of them that are scored"
        raise DataError(Problem(str(table.path), what, "a column guid joins rows by name"))
    return places, "by position"


def _on_guid(table: Table, guid: str, rows: Rows, gold: Path, names: tuple[str, str]) -> list[int]:
    gives, to = names
    problems = [*table.missing_values(guid), *table.duplicates(guid)]
    places = {cell_text(value): row for row, value in enumerate(table.values(guid))}
    fix = ""
    if not rows.has_ids and rows.guids:
        fix = (
            f"{gold} has no ids: its {to}s are called {rows.guids[0]} and so on; "
            "join=position joins them by order"
        )
    for example in rows.examples:
        if example.guid not in places:
            what = f"no {gives} to it in {table.path}"
            problems.append(Problem(f"{gold}: {example.guid}", what, fix))
    for name in sorted(places.keys() - set(rows.guids)):
        problems.append(Problem(f"{table.path}: {name}", f"no such {to} in {gold}", fix))
    if problems:
        raise DataError(problems)
    return [places[example.guid] for example in rows.examples]


def _by_position(
    length: int, everything: Sequence[str], counted: Sequence[str]
) -> list[int] | None:
    """List the places of the rows that count; None if the number of rows fits neither count."""
    for guids in (everything, counted):
        if length == len(guids):
            places = {name: row for row, name in enumerate(guids)}
            return [places[name] for name in counted]
    return None
