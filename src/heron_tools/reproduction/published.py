"""The papers' printed numbers, `experiments/<paper>/published.yaml`."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from heron.base.folders import experiment_roots

DECIMALS = 2  # of tables without `decimals`


def all_published() -> list[Path]:
    """List the files of published numbers of all papers, those of `HERON_FORKS` first."""
    roots = experiment_roots()[::-1]
    return [path for root in roots for path in sorted(root.glob("experiments/*/published.yaml"))]


def find_published(report: str) -> Path | None:
    """Find the file of published numbers of a `report` value, `<paper>/<view>`, or None."""
    paper = report.partition("/")[0]
    return next((path for path in all_published() if path.parent.name == paper), None)


def published_value(cell: Any) -> Any:
    """Read a printed number, corrected if it has a correction; None: not printed."""
    return cell.get("corrected", cell["printed"]) if isinstance(cell, Mapping) else cell


def flat_rows(rows: Any, names: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield the lists of scores in nested rows, with their names."""
    if isinstance(rows, Mapping):
        for name, inner in rows.items():
            yield from flat_rows(inner, (*names, str(name)))
    else:
        yield names, rows


def printed_digits(decimals: int | Mapping[str, int], column: str, value: float | None) -> int:
    """Count the decimals that a paper prints: the column's, or the number's own if more.

    Without a number, the column's.
    """
    given = decimals if isinstance(decimals, int) else decimals.get(column, DECIMALS)
    return max(given, own_digits(value))


def own_digits(value: float | None) -> int:
    """Count the decimals of a number, without trailing zeros."""
    return len(repr(value).partition(".")[2].rstrip("0")) if isinstance(value, float) else 0
