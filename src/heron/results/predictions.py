"""Prediction files: one reader and one record type for every command that looks at predictions.

A file is a run's `predictions/<split>.parquet` or a table of any system (.csv, .tsv, .jsonl, .json
or .parquet) with the columns guid, gold and prediction.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from heron.base.errors import ConfigError, DataError, Problem, nearest
from heron.base.run_folder import RunFolder
from heron.base.tables import Table, cell_text, is_missing, read_table
from heron.config.data import DataConfig
from heron.data.predictions import Prediction

_GOLDS = "golds"


@dataclass(frozen=True, slots=True)
class Names:
    """What the columns of a file may be called; the first that is there counts.

    Args:
        guid: ids.
        gold: gold labels or texts.
        prediction: predicted labels or texts.
        needs_gold: whether a file without a column of golds is refused.
    """

    guid: tuple[str, ...] = ("guid",)
    gold: tuple[str, ...] = ("gold",)
    prediction: tuple[str, ...] = ("prediction",)
    needs_gold: bool = True


NAMES = Names()


@dataclass(frozen=True)
class Predictions:
    """The rows of one file, in file order; each guid is there once.

    Args:
        path: the file.
        columns: names of the columns that were read.
        rows: N.
        unlabelled: how many rows `labelled` has left out.
    """

    path: Path
    columns: tuple[str, ...]
    rows: tuple[Prediction, ...]
    unlabelled: int = 0

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def guids(self) -> list[str]:
        """N ids."""
        return [row.guid for row in self.rows]

    @cached_property
    def by_guid(self) -> dict[str, Prediction]:
        """The rows by guid."""
        return {row.guid: row for row in self.rows}

    @property
    def has_all_golds(self) -> bool:
        """Whether the file lists all right texts of a row, not only one."""
        return _GOLDS in self.columns

    def require(self, *columns: str) -> None:
        """Check that columns are there.

        Raises:
            DataError: names those that are not.
        """
        if missing := [name for name in columns if name not in self.columns]:
            fix = f"it has {', '.join(self.columns)}"
            raise DataError([Problem(str(self.path), f"no column '{n}'", fix) for n in missing])

    def labelled(self, *, texts: bool = False, empty: bool = False) -> Predictions:
        """Leave out the rows without a gold label or text.

        Args:
            texts: golds are texts, so `nan` is one.
            empty: an empty text is a gold one: "no answer" is right.
        """
        kept = tuple(row for row in self.rows if _is_gold(row.gold, texts, empty))
        return replace(self, rows=kept, unlabelled=self.unlabelled + len(self.rows) - len(kept))


def _is_gold(gold: str | None, texts: bool, empty: bool) -> bool:
    if texts:
        return gold is not None and bool(gold or empty)
    return not is_missing(gold)


def predictions_file(folder: Path, split: str) -> Path:
    """Find a run's predictions.

    Args:
        folder: the run folder.
        split: `test`, or `<data set>.test` for those it was only tested on.

    Raises:
        ConfigError: the run has none of this split; says which it has.
    """
    path = RunFolder(folder).predictions(split)
    if path.is_file():
        return path
    have = ", ".join(sorted(file.stem for file in path.parent.glob("*.parquet"))) or "none"
    raise ConfigError(f"split={split}: {folder} has no such predictions; the run has: {have}")


def read_predictions(
    path: Path, *, names: Names = NAMES, only: Collection[str] | None = None
) -> Predictions:
    """Read one file of predictions.

    Args:
        path: the file.
        names: what its columns may be called.
        only: further columns to read of a Parquet file; None: all. Texts are most of a file.

    Raises:
        DataError: everything wrong with the file: unreadable rows, missing columns, guids that are
            empty or there twice, golds that are no list.
    """
    wanted = None if only is None else (*names.guid, *names.gold, *names.prediction, *only)
    return from_table(read_table(path, own=True, only=wanted), names)


def from_table(table: Table, names: Names = NAMES) -> Predictions:
    """Turn the rows of a table into predictions; raises DataError as `read_predictions` does."""
    needed = [names.guid, *([names.gold] if names.needs_gold else []), names.prediction]
    if lacking := [each for each in needed if table.find(each) is None]:
        raise DataError([_lacking(table, each) for each in lacking])
    guid, prediction = table.find(names.guid) or "", table.find(names.prediction) or ""
    gold = table.find(names.gold)
    problems = [*table.missing_values(guid), *table.duplicates(guid)]
    rows = []
    for index, cells in enumerate(table.rows):
        own = _text(cells[gold]) if gold else None
        try:
            golds = _text_list(cells.get(_GOLDS)) or ((own,) if own else ())
        except ValueError:
            what = f"golds is '{cell_text(cells[_GOLDS]):.60}', no list of texts"
            fix = 'a JSON list: ["one", "another"]'
            problems.append(Problem(f"{table.where(index)}, {cell_text(cells[guid])}", what, fix))
            golds = ()
        group = cells.get("group")
        rows.append(
            Prediction(
                cell_text(cells[guid]),
                own,
                _text(cells[prediction]) or "",
                golds,
                "" if is_missing(group) else cell_text(group),
                cells,
            )
        )
    if problems:
        raise DataError(problems)
    return Predictions(table.path, table.columns, tuple(rows))


def _lacking(table: Table, names: Sequence[str]) -> Problem:
    named = " or ".join(f"'{name}'" for name in names)
    return Problem(str(table.path), f"no column {named}.{nearest(names[0], table.columns)}")


def _text(cell: Any) -> str | None:
    """Read a cell as text; None where there is none, which an empty text is not."""
    return None if cell is None or cell != cell else cell_text(cell)


def _text_list(cell: Any) -> tuple[str, ...]:
    """Read a list of texts, or JSON that holds one.

    Raises:
        ValueError: it is neither.
    """
    found = json.loads(cell) if isinstance(cell, str) and cell.strip() else cell or []
    if not isinstance(found, list) or not all(isinstance(text, str) for text in found):
        raise ValueError(cell)
    return tuple(text.strip() for text in found)


def join_examples(
    predictions: Predictions, split: str, data: DataConfig, data_dir: Path, cache_dir: Path
) -> Predictions:
    """Add to each row the example that was predicted.

    Args:
        predictions: of a run.
        split: the split of `data` that they are of.
        data: the data set, perhaps with more columns than the run read.
        data_dir: where data sets lie.
        cache_dir: where downloads and generated corpora lie.

    Raises:
        DataError: the data cannot be read, or some guids are in no split; names them.
    """
    from heron.results.reading import find_examples  # which loads the data sets' readers

    found = find_examples(predictions.guids, split, data, data_dir, cache_dir)
    pairs = zip(predictions.rows, found, strict=True)
    return replace(predictions, rows=tuple(replace(row, example=example) for row, example in pairs))
