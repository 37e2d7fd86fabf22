"""The figure of an analysis: scores by slice."""

import textwrap
from collections.abc import Sequence

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from heron.base.cells import Cell, Interval
from heron.reports.figures import png
from heron.reports.styles import FAINT, ORANGE, QUIET, STYLE
from heron_tools.statistics.outcome import Drawn, Slicing

_LINE = 95  # characters per line of the title


def slices_figure(
    slicings: Sequence[Slicing],
    title: str,
    overall: float,
    drawn: Sequence[Drawn],
    group: str = "article",
) -> bytes:
    """Draw scores with their intervals, one panel for each slicing, as PNG.

    Args:
        slicings: one panel each.
        title: of the figure.
        overall: the first score of the whole split, a fraction, drawn as a line.
        drawn: the scores.
        group: the unit that intervals resample.
    """
    highest = 0.0
    for slicing in slicings:
        for part in slicing.slices:
            for score in drawn:
                _, _, high = _bounds(part.cells[score.score])
                highest = max(highest, high)

    limit = min(1.0, 1.1 * highest) or 1.0  # of the axis

    with matplotlib.rc_context(STYLE):
        lines = textwrap.wrap(title, _LINE)
        heights = [1.3 + 0.42 * len(slicing.slices) for slicing in slicings]
        height = sum(heights) + 0.2 * len(lines)
        figure = Figure(figsize=(7.2, height), layout="constrained")
        panels = figure.subplots(len(heights), 1, height_ratios=heights, squeeze=False)[:, 0]

        for axes, slicing in zip(panels, slicings, strict=True):
            for score in drawn:
                _draw_score(axes, slicing, score)

            axes.axvline(overall, color=ORANGE, linewidth=0.8, zorder=0)
            _label(axes, slicing, limit)

        line = f"line: {drawn[0].label} of the whole split"
        panels[-1].set_xlabel(f"score with its 95 % interval by {group} ({line})")
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower right", ncols=3)
        figure.suptitle("\n".join(lines), x=0.01, ha="left", fontsize=10, color=QUIET)
        return png(figure)


def _bounds(cell: Cell) -> tuple[float, float, float]:
    """Return a score and the ends of its interval; all equal without an interval."""
    if isinstance(cell, Interval):
        return cell

    value = float(str(cell)) if cell is not None else 0.0
    return value, value, value


def _draw_score(axes: Axes, slicing: Slicing, drawn: Drawn) -> None:
    """Draw one score of each slice with its interval, the first slice at the top."""
    for row, part in enumerate(slicing.slices):
        cell = part.cells[drawn.score]
        if cell is None:
            continue

        value, low, high = _bounds(cell)
        axes.errorbar(
            value,
            row + drawn.shift,
            xerr=[[value - low], [high - value]],
            fmt=drawn.marker,
            color=drawn.colour,
            ms=5,
            capsize=3,
            label=drawn.label if row == 0 else None,
        )


def _label(axes: Axes, slicing: Slicing, limit: float) -> None:
    """Name the slices at the left of a panel, and set its limits.

    Args:
        axes: the panel.
        slicing: its slices, the first at the top.
        limit: the largest score shown, a fraction.
    """
    names = []
    for part in slicing.slices:
        name = part.name.replace("_", " ")
        names.append(f"{name}  (n={len(part.rows_M):,})")

    rows = len(names)
    axes.set_yticks(range(rows), names)
    axes.set_ylim(rows - 0.5, -0.5)
    axes.set_xlim(-0.02 * limit, 1.02 * limit)
    axes.set_title(slicing.title)

    axes.grid(axis="x", color=FAINT, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines["left"].set_visible(False)
    axes.tick_params(axis="y", length=0)
