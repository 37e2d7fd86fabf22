"""One frame of rows keyed by guid: what a system predicted, and every column beside it.

A frame is read from a run's `predictions/<split>.parquet`, or from a table of any system (.csv,
.tsv, .jsonl, .json or .parquet) with the columns guid, gold and prediction. Rows of two frames are
put side by side by guid (`Frame.at`, `on_shared_rows`). Columns are plain Python values, because
cells of other systems' files are of mixed types.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from heron.base.errors import ConfigError, DataError, Problem, first_few, raise_all
from heron.base.run_folder import RunFolder
from heron.base.tables import (
    NotTextError,
    cell_text,
    is_missing,
    plain_value,
    read_table,
    text_or_empty,
)

GOLDS = "golds"  # the column with all right texts of a row
# Accepted names of columns; a frame has each under the first one.
NAMES = {
    "guid": ("guid", "id"),
    "gold": ("gold", "reference"),
    "prediction": ("prediction", "summary"),
}


@dataclass(frozen=True)
class Frame:
    """Rows keyed by guid, in file order; each guid occurs once.

    Cells of `guid`, `gold` and `prediction` are trimmed texts: gold is None where there is none (an
    empty one means that "no answer" is right), prediction is empty where there is none. `golds`,
    if it is there, lists all right texts. Others are as stored.
    """

    path: Path  # of the (first) file
    columns: Mapping[str, Sequence[Any]]

    def __len__(self) -> int:
        return len(self.columns["guid"])

    def __getitem__(self, name: str) -> Sequence[Any]:
        return self.columns[name]

    def __contains__(self, name: str) -> bool:
        return name in self.columns

    @cached_property
    def rows(self) -> dict[str, int]:
        """The number of each guid's row."""
        return {guid: row for row, guid in enumerate(self["guid"])}

    @property
    def golds(self) -> list[tuple[str, ...]]:
        """All right texts of each row: the column `golds`, or else the gold."""
        golds = []
        listed = self.columns.get(GOLDS, [()] * len(self))
        for texts, gold in zip(listed, self["gold"], strict=True):
            if not texts:
                texts = [gold] if gold else []
            golds.append(tuple(texts))
        return golds

    @property
    def right(self) -> list[bool]:
        """Whether each prediction is the gold one."""
        pairs = zip(self["gold"], self["prediction"], strict=True)
        return [gold == prediction for gold, prediction in pairs]

    @property
    def probabilities(self) -> list[float | None]:
        """The probability of each prediction; None where it is not stored."""
        of_predictions = self.columns.get("probability", [None] * len(self))
        probabilities = []
        for row, name in enumerate(self["prediction"]):
            column = self.columns.get(f"p/{name}", of_predictions)
            probabilities.append(column[row])
        return probabilities

    def texts(self, name: str) -> list[str]:
        """Read a column as texts, empty where there is none."""
        cells = self.columns.get(name, [None] * len(self))
        try:
            return [text_or_empty(cell) for cell in cells]
        except NotTextError as error:
            raise DataError(str(self.path), f"a cell of '{name}' {error}") from error

    def take(self, rows: Iterable[int]) -> Frame:
        """Select rows by their numbers, in this order."""
        rows = list(rows)
        columns = {}
        for name, cells in self.columns.items():
            columns[name] = [cells[row] for row in rows]
        return Frame(self.path, columns)

    def at(self, guids: Iterable[str]) -> Frame:
        """Select rows by their guids, in this order."""
        return self.take(self.rows[guid] for guid in guids)

    def beside(self, guids: Sequence[str]) -> Frame:
        """Select rows by their guids, in this order; where one is absent, all cells are None."""
        rows = [self.rows.get(guid) for guid in guids]
        columns: dict[str, Sequence[Any]] = {}
        for name, cells in self.columns.items():
            columns[name] = [None if row is None else cells[row] for row in rows]
        columns["guid"] = guids
        return Frame(self.path, columns)

    def labelled(self, *, empty: bool = False) -> Frame:
        """Leave out rows without a gold.

        Args:
            empty: whether an empty text is a gold ("no answer").
        """
        rows = []
        for row, gold in enumerate(self["gold"]):
            if gold or (empty and gold is not None):
                rows.append(row)

        return self.take(rows)

    def require(self, *names: str) -> None:
        """Check that columns are there; raises DataError, which names those that are not."""
        fix = f"it has {', '.join(self.columns)}"
        problems = []
        for name in names:
            if name not in self:
                problems.append(Problem(str(self.path), f"no column '{name}'", fix))

        raise_all(problems)


def predictions_file(folder: Path, split: str) -> Path:
    """Find a run's predictions of a split.

    Args:
        folder: of the run; a file is returned as it is.
        split: such as `test`.

    Raises:
        ConfigError: the run has no such predictions; names the splits that it has.
    """
    if folder.is_file():
        return folder

    path = RunFolder(folder).predictions(split)
    if path.is_file():
        return path

    splits = sorted(file.stem for file in path.parent.glob("*.parquet"))
    have = ", ".join(splits) or "none"
    raise ConfigError(f"split={split}: {folder} has no such predictions; the run has: {have}")


def read_keyed(path: Path, *columns: str, only: Collection[str] | None = None) -> Frame:
    """Read any table whose column guid (or id) names each row once.

    Args:
        path: the file.
        columns: that it must have.
        only: the columns to read of a Parquet file; None: all.

    Raises:
        DataError: unreadable rows, missing columns, guids that are empty or repeated.
    """
    table = read_table(path, own=True, only=only)
    frame = Frame(table.path, {name: table.values(name) for name in table.columns})
    guid = table.find(NAMES["guid"]) or "guid"
    frame.require(guid, *columns)
    raise_all(table.missing_values(guid) + table.duplicates(guid))

    keyed: dict[str, Sequence[Any]] = {"guid": table.texts(guid)}
    keyed |= {name: cells for name, cells in frame.columns.items() if name != guid}
    return replace(frame, columns=keyed)


def read_frame(
    path: Path, *, only: Collection[str] | None = None, needs_gold: bool = True
) -> Frame:
    """Read one file of predictions.

    Args:
        path: the file.
        only: further columns to read of a Parquet file; None: all. Texts are most of a file.
        needs_gold: whether a file without a gold column is refused.

    Raises:
        DataError: as `read_keyed`; golds that are no list.
    """
    if only is not None:
        accepted = [name for names in NAMES.values() for name in names]
        only = [*accepted, *only]

    table = read_keyed(path, only=only)

    # The names of the own columns in this file.
    own = {}
    for name, aliases in NAMES.items():
        own[name] = next((alias for alias in aliases if alias in table), name)

    required = ("gold", "prediction") if needs_gold else ("prediction",)
    table.require(*(own[name] for name in required))

    golds = table.columns.get(own["gold"], [None] * len(table))
    columns: dict[str, Sequence[Any]] = {
        "guid": table["guid"],
        "gold": texts_of(table, golds),
        "prediction": [text or "" for text in texts_of(table, table[own["prediction"]])],
    }

    for name, cells in table.columns.items():
        if name not in own.values():
            columns[name] = cells

    if GOLDS in columns:
        pairs = zip(table["guid"], columns[GOLDS], strict=True)
        columns[GOLDS] = [_text_list(f"{path}, {guid}", cell) for guid, cell in pairs]

    return Frame(path, columns)


def text_of(cell: Any) -> str | None:
    """Read a cell as text, without changes; None for an empty cell, but not for an empty text."""
    cell = plain_value(cell)
    if isinstance(cell, str):
        return cell.strip()
    return None if is_missing(cell) else cell_text(cell)


def texts_of(table: Frame, cells: Sequence[Any]) -> list[str | None]:
    """Read a column by `text_of`; a DataError names the first cell that is no text."""
    texts = []
    for guid, cell in zip(table["guid"], cells, strict=True):
        try:
            texts.append(text_of(cell))
        except NotTextError as error:
            what = f"a gold or a prediction {error}"
            raise DataError(f"{table.path}, {guid}", what, "one text in each row") from error
    return texts


def _text_list(where: str, cell: Any) -> list[str]:
    """Read a list of texts, or JSON that holds one."""
    texts = cell or []
    if isinstance(cell, str) and cell.strip():
        try:
            texts = json.loads(cell)
        except ValueError:
            texts = None

    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        problem = f"golds is {cell!r:.60}, no list of texts"
        raise DataError(where, problem, 'a JSON list: ["one", "another"]')

    return [text.strip() for text in texts]


def joined(frames: Sequence[Frame]) -> Frame:
    """Put the rows of several frames (folds) below one another, with the columns that all have."""
    columns = {}
    for name in frames[0].columns:
        if all(name in frame for frame in frames):
            columns[name] = [cell for frame in frames for cell in frame[name]]
    return replace(frames[0], columns=columns)


def on_shared_rows(frames: Sequence[Frame], allowed: bool) -> tuple[list[Frame], int]:
    """Put frames on the rows that all of them have, in the first one's order.

    Args:
        frames: of the same data.
        allowed: whether rows that some frames lack may be left out.

    Returns:
        The frames, and how many of the rows of any of them are left out.

    Raises:
        DataError: no row is shared, or rows are left out and that is not `allowed`.
    """
    guids = dict.fromkeys(guid for frame in frames for guid in frame["guid"])
    shared = [guid for guid in guids if all(guid in frame.rows for frame in frames)]
    left_out = len(guids) - len(shared)
    if shared and (allowed or not left_out):
        return [frame.at(shared) for frame in frames], left_out

    problems = []
    fix = "are guids alike?"
    if shared:
        fix = f"rows=shared compares on the {len(shared)} rows that all have"

    for frame in frames:
        absent = [guid for guid in guids if guid not in frame.rows]
        if absent:
            examples = first_few([repr(guid) for guid in absent])
            problem = f"lacks {len(absent)} of {len(guids)} labelled guids: {examples}"
            problems.append(Problem(str(frame.path), problem, fix))

    raise DataError(problems)
