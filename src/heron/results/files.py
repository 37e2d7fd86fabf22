"""One file of predictions, row by row: what is right, what was predicted, and perhaps a group."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heron.base.errors import DataError, Problem, nearest
from heron.base.tables import cell_text, is_missing, read_table
from heron.results.finding import Source

_REQUIRED = ("guid", "gold", "prediction")
_GOLDS = "golds"
_OPTIONAL = (_GOLDS, "group")

Golds = dict[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Rows:
    """One file's labelled rows, by guid.

    Args:
        source: the file.
        golds: the gold label, or all right texts; empty where "no answer" is right.
        predictions: the predicted label or text; empty for "no answer".
        groups: the groups that it names.
        knows_all: False where the file has but one right text of each row, and others may have
            more.
    """

    source: Source
    golds: Golds
    predictions: dict[str, str]
    groups: dict[str, str]
    knows_all: bool = True


def read_rows(
    source: Source,
    problems: list[Problem],
    *,
    texts: bool = False,
    may_be_empty: bool = False,
) -> Rows:
    """Read one file; rows without a gold are left out.

    Args:
        source: the file.
        problems: everything that is wrong with it is added here.
        texts: golds and predictions are texts, not labels. Right texts are those of the column
            `golds`, a JSON list, or else the one in `gold`.
        may_be_empty: an empty gold text says that "no answer" is right, not that nothing is known.
    """
    path = str(source.path)
    try:
        columns = _read_columns(source.path)
    except DataError as error:
        problems += error.problems
        return Rows(source, {}, {}, {})
    guids = [cell_text(guid) for guid in columns["guid"]]
    repeated = [guid for guid, count in Counter(guids).items() if count > 1]
    problems += [Problem(path, f"guid '{guid}' is there twice") for guid in repeated]
    if texts:
        golds = _right_texts(path, guids, columns, may_be_empty, problems)
        predictions = [_text(cell) or "" for cell in columns["prediction"]]
    else:
        labels = zip(guids, columns["gold"], strict=True)
        golds = {guid: (cell_text(gold),) for guid, gold in labels if not is_missing(gold)}
        predictions = [cell_text(cell) for cell in columns["prediction"]]
    if not golds:
        problems.append(Problem(path, "no row has a gold label"))
    groups = zip(guids, columns.get("group", ()), strict=False)
    return Rows(
        source,
        golds,
        dict(zip(guids, predictions, strict=True)),
        {guid: cell_text(group) for guid, group in groups if not is_missing(group)},
        knows_all=not texts or _GOLDS in columns,
    )


def _right_texts(
    path: str,
    guids: Sequence[str],
    columns: Mapping[str, list[Any]],
    may_be_empty: bool,
    problems: list[Problem],
) -> Golds:
    golds: Golds = {}
    lists = columns.get(_GOLDS, [None] * len(guids))
    for guid, cell, all_of_it in zip(guids, columns["gold"], lists, strict=True):
        text = _text(cell)
        if text is None or not (text or may_be_empty):
            continue
        try:
            golds[guid] = _text_list(all_of_it) or ((text,) if text else ())
        except ValueError:
            what = f"golds is '{cell_text(all_of_it):.60}', no list of texts"
            problems.append(Problem(f"{path}, {guid}", what, 'a JSON list: ["one", "another"]'))
    return golds


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


def _read_columns(path: Path) -> dict[str, list[Any]]:
    """Read the columns that count; of Parquet only these, for the texts are most of a file."""
    if path.suffix.lower() != ".parquet":
        table = read_table(path, own=True)
        table.require(*_REQUIRED)
        wanted = [name for name in (*_REQUIRED, *_OPTIONAL) if name in table.columns]
        return {name: table.values(name) for name in wanted}
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            present = file.schema_arrow.names
            wanted = [name for name in (*_REQUIRED, *_OPTIONAL) if name in present]
            columns = file.read(wanted).to_pydict()
    except (OSError, pa.ArrowException) as error:
        raise DataError(Problem(str(path), f"is not a readable Parquet file: {error}")) from error
    absent = [name for name in _REQUIRED if name not in columns]
    if absent:
        what = f"no column {', '.join(absent)}.{nearest(absent[0], present)}"
        raise DataError(Problem(str(path), what))
    return columns
