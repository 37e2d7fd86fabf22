"""`Table`: typed cells, rounded as text (`0.482 ± 0.011 (3)`)."""

import statistics
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple


class Summary(NamedTuple):
    """Mean and sample standard deviation of `n` runs; `sd` is None for a single run."""

    mean: float
    sd: float | None
    n: int


class Interval(NamedTuple):
    """A score and the bounds of its 95 % interval."""

    value: float
    low: float
    high: float


class Formatted(NamedTuple):
    """A number with a format of its own: `.2f` for what a paper printed, `+.3f` for a change."""

    value: float
    spec: str


SYNTHETIC = "synthetic data: not a research result"

Cell = str | int | float | Summary | Interval | Formatted | None


@dataclass(frozen=True, slots=True)
class Table:
    """A title, column names, rows of typed cells, and a note that must travel with them."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""


def with_synthetic(title: str, synthetic: bool) -> str:
    """Say in a title that its data is synthetic."""
    return f"{title}  ·  {SYNTHETIC}" if synthetic else title


def summarize(values: Iterable[float]) -> Summary | None:
    """Mean, sample standard deviation (n - 1) and n; None when there is no value."""
    values = list(values)
    sd = statistics.stdev(values) if len(values) > 1 else None
    return Summary(statistics.fmean(values), sd, len(values)) if values else None


def show(cell: Cell) -> str:
    """Round one cell for reading: three decimals, `mean ± sd (n)`, `value [low, high]`."""
    match cell:
        case None:
            return "–"
        case Summary(mean, None, n):
            return f"{mean:.3f} ({n})"
        case Summary(mean, sd, n):
            return f"{mean:.3f} ± {sd:.3f} ({n})"
        case Interval(value, low, high):
            return f"{value:.3f} [{low:.3f}, {high:.3f}]"
        case Formatted(value, spec):
            return format(value, spec)
        case float():
            return f"{cell:.3f}"
        case int():
            return f"{cell:,}"
        case _:
            return str(cell)


def sort_value(cell: Cell) -> float | str:
    """Return what a sortable column compares: the mean, the value, or the text."""
    if isinstance(cell, Summary | Interval | Formatted):
        return cell[0]
    return "" if cell is None else cell
