"""The papers' printed numbers, `experiments/<paper>/published.yaml`."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from heron.base.folders import experiment_roots

DECIMALS = 2  # of tables without `decimals`
Names = tuple[str, ...]  # names of a row in `published.yaml`, then its column
PublishedPart = Mapping[str, Any]  # of `published.yaml`: all of it, or one table


def all_published() -> list[Path]:
    """List the files of published numbers of all papers, those of `HERON_FORKS` first."""
    roots = experiment_roots()[::-1]
    return [path for root in roots for path in sorted(root.glob("experiments/*/published.yaml"))]


def find_published(report: str) -> Path | None:
    """Find the file of published numbers of a `report` value, `<paper>/<view>`, or None."""
    paper = report.partition("/")[0]
    for path in all_published():
        if path.parent.name == paper:
            return path
    return None


def published_value(cell: Any) -> Any:
    """Read a printed number, corrected if it has a correction; None: not printed."""
    if isinstance(cell, Mapping):
        return cell.get("corrected", cell["printed"])
    return cell


def flat_rows(rows: Any, names: Names = ()) -> Iterator[tuple[Names, Any]]:
    """Yield the rows of nested mappings.

    Args:
        rows: lists of scores, or mappings of names to such rows.
        names: of the mappings around `rows`.

    Yields:
        The names of each row, the outermost first, and its list of scores.
    """
    if isinstance(rows, Mapping):
        for name, inner in rows.items():
            yield from flat_rows(inner, (*names, str(name)))
    else:
        yield names, rows


def published_cells(table: PublishedPart) -> Iterator[tuple[Names, Any]]:
    """Yield the printed cells of a published table.

    Yields:
        Names of row and column, and the number, or a mapping with its correction.
    """
    columns = table.get("scores") or table.get("columns") or table.get("classes") or ()
    for names, row in flat_rows(table.get("rows") or table.get("groups") or {}):
        cells = row if isinstance(row, list) else [row]
        for column, cell in zip(columns, cells, strict=True):
            if cell is not None:
                yield (*names, str(column)), cell


def printed_digits(decimals: int | Mapping[str, int], column: str, value: float | None) -> int:
    """Count the decimals that a paper prints: the column's, or the number's own if more.

    Args:
        decimals: of all columns, or by column.
        column: name of the number's column.
        value: the number; without one, the column's decimals count.
    """
    if not isinstance(decimals, int):
        decimals = decimals.get(column, DECIMALS)
    return max(decimals, own_digits(value))


def own_digits(value: float | None) -> int:
    """Count the decimals of a number, without trailing zeros."""
    if not isinstance(value, float):
        return 0
    fraction = repr(value).partition(".")[2]
    return len(fraction.rstrip("0"))
