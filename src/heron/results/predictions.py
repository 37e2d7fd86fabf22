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
from heron.data.examples import PredictedRow

_GOLDS = "golds"


@dataclass(frozen=True, slots=True)
class Names:
    """Accepted names of a file's columns; the first that is there counts.

    With `needs_gold`, a file without a gold column is refused.
    """

    guid: tuple[str, ...] = ("guid",)
    gold: tuple[str, ...] = ("gold",)
    prediction: tuple[str, ...] = ("prediction",)
    needs_gold: bool = True


NAMES = Names()


@dataclass(frozen=True)
class Predictions:
    """The rows of one file, in file order; each guid occurs once.

    `unlabelled` counts the rows that `labelled` has left out; `paths` are those of joined folds.
    """

    path: Path
    columns: tuple[str, ...]
    rows: tuple[PredictedRow, ...]
    unlabelled: int = 0
    paths: tuple[Path, ...] = ()

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def guids(self) -> list[str]:
        """N ids."""
        return [row.guid for row in self.rows]

    @cached_property
    def by_guid(self) -> dict[str, PredictedRow]:
        """The rows by guid."""
        return {row.guid: row for row in self.rows}

    @property
    def has_all_golds(self) -> bool:
        """Whether the file lists all right texts of a row, not only one."""
        return _GOLDS in self.columns

    def require(self, *columns: str) -> None:
        """Check that columns are there; raises DataError, which names those that are not."""
        if missing := [name for name in columns if name not in self.columns]:
            fix = f"it has {', '.join(self.columns)}"
            raise DataError([Problem(str(self.path), f"no column '{n}'", fix) for n in missing])

    def labelled(self, *, empty: bool = False) -> Predictions:
        """Leave out rows without a gold; with `empty`, an empty text is one ("no answer")."""
        kept = tuple(row for row in self.rows if row.gold or (empty and row.gold is not None))
        return replace(self, rows=kept, unlabelled=self.unlabelled + len(self.rows) - len(kept))


def predictions_file(folder: Path, split: str) -> Path:
    """Find a run's predictions of a split; a ConfigError says which splits it has."""
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
        names: accepted names of its columns.
        only: further columns to read of a Parquet file; None: all. Texts are most of a file.

    Raises:
        DataError: everything wrong with the file: unreadable rows, missing columns, guids that are
            empty or repeated, golds that are no list.
    """
    wanted = None if only is None else (*names.guid, *names.gold, *names.prediction, *only)
    table = read_table(path, own=True, only=wanted)
    needed = [names.guid, *([names.gold] if names.needs_gold else []), names.prediction]
    if lacking := [each for each in needed if table.find(each) is None]:
        raise DataError([_lacking(table, each) for each in lacking])
    guid, prediction = table.find(names.guid) or "", table.find(names.prediction) or ""
    gold = table.find(names.gold)
    problems = [*table.missing_values(guid), *table.duplicates(guid)]
    rows = []
    for index, cells in enumerate(table.rows):
        own = _text(cells[gold]) if gold else None
        name = cell_text(cells[guid])
        try:
            golds = _text_list(cells.get(_GOLDS)) or ((own,) if own else ())
        except ValueError:
            what = f"golds is '{cell_text(cells[_GOLDS]):.60}', no list of texts"
            fix = 'a JSON list: ["one", "another"]'
            problems.append(Problem(f"{table.where(index)}, {name}", what, fix))
            golds = ()
        group = cells.get("group")
        group = "" if is_missing(group) else cell_text(group)
        rows.append(PredictedRow(name, own, _text(cells[prediction]) or "", golds, group, cells))
    if problems:
        raise DataError(problems)
    return Predictions(table.path, table.columns, tuple(rows))


def _lacking(table: Table, names: Sequence[str]) -> Problem:
    named = " or ".join(f"'{name}'" for name in names)
    return Problem(str(table.path), f"no column {named}.{nearest(names[0], table.columns)}")


def _text(cell: Any) -> str | None:
    """Read a cell as text, for metrics as it stands; None for an empty cell, no empty text."""
    is_text = isinstance(cell, str)
    return cell.strip() if is_text else None if cell is None or cell != cell else cell_text(cell)


def _text_list(cell: Any) -> tuple[str, ...]:
    """Read a list of texts, or JSON that holds one; raises ValueError if it is neither."""
    found = json.loads(cell) if isinstance(cell, str) and cell.strip() else cell or []
    if not isinstance(found, list) or not all(isinstance(text, str) for text in found):
        raise ValueError(cell)
    return tuple(text.strip() for text in found)
