"""Scores as pure functions over whole splits; `torch_metrics` wraps those that modules log."""

from collections.abc import Callable, Mapping, Sequence, Sized
from dataclasses import dataclass
from typing import Any

from heron.base.errors import DataError
from heron.base.registry import Registry

TableColumns = Mapping[str, Sequence[Any]]  # of a table, by name


def require_rows(what: str, *columns: Sized) -> None:
    """Check that columns are of the same rows; a DataError counts them where they are not."""
    rows = [len(column) for column in columns]
    if len(set(rows)) > 1:
        counted = " and ".join(map(str, rows))
        raise DataError(what, f"{counted} rows", "each column needs one value per row")


@dataclass(frozen=True, slots=True)
class Metric:
    """Further scores of a split (`task.metrics`); more is better.

    Both functions get the columns of `predictions/<split>.parquet`, labelled rows only: `guid`,
    `gold`, `prediction`, and what else the task writes.
    """

    # Values of rows; their mean is the score, under the metric's name. `heron compare` tests
    # such scores, too.
    of_rows: Callable[[TableColumns], Sequence[float]] | None = None
    # Scores by name, for scores that are not a mean over rows.
    of_split: Callable[[TableColumns], Mapping[str, float]] | None = None
    tasks: tuple[str, ...] = ()  # tasks whose predictions it can score; empty: all


METRICS: Registry[Metric] = Registry("metric")
