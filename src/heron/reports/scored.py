"""Print the scores of `heron score`: intervals, classes, and the confusion matrix."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table as Grid


def print_scores(
    title: str,
    scores: Mapping[str, float],
    labels: Sequence[str],
    matrix: Sequence[Sequence[int]],
    drawn: str = "",
) -> None:
    """Print one split's scores; confusion matrices have gold classes as rows.

    `drawn` says what the intervals resample; empty without intervals.
    """
    from rich.console import Console

    console = Console(markup=False, emoji=False, highlight=False)
    console.print(_overall(title, scores, drawn))
    console.print(_per_class(labels, scores))
    console.print(_confusion(labels, matrix))


def _overall(title: str, scores: Mapping[str, float], drawn: str) -> Grid:
    grid = _grid(title, "score", ["value"])
    if drawn:
        grid.add_column("95 % interval", justify="center")
        grid.caption = drawn
    for name, value in scores.items():
        if "/" in name or name.endswith(("_low", "_high")):
            continue
        cells = [name, f"{value:.3f}"]
        if f"{name}_low" in scores:
            cells.append(f"{scores[f'{name}_low']:.3f} to {scores[f'{name}_high']:.3f}")
        grid.add_row(*cells)
    return grid


def _per_class(labels: Sequence[str], scores: Mapping[str, float]) -> Grid:
    names = ("precision", "recall", "f1", "predicted")
    grid = _grid("labels", "label", [*names, "support"])
    for label in labels:
        fractions = [f"{scores[f'{name}/{label}']:.3f}" for name in names]
        grid.add_row(label, *fractions, str(scores[f"support/{label}"]))
    return grid


def _confusion(labels: Sequence[str], matrix: Sequence[Sequence[int]]) -> Grid:
    grid = _grid("confusion matrix", "gold \\ predicted", labels)
    for label, counts in zip(labels, matrix, strict=True):
        grid.add_row(label, *map(str, counts))
    return grid


def _grid(title: str, first: str, numbers: Sequence[str]) -> Grid:
    from rich.table import Table as Grid

    grid = Grid(first, title=title)
    for heading in numbers:
        grid.add_column(heading, justify="right")
    return grid
