"""The figure of an analysis: scores by slice."""

import textwrap
from collections.abc import Sequence

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from heron.base.cells import Cell, Interval
from heron.reports.figures import FAINT, ORANGE, QUIET, STYLE, png
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
    slices = [one for slicing in slicings for one in slicing.slices]
    highs = [_bounds(one.cells[each.score])[2] for one in slices for each in drawn]
    largest = min(1.0, 1.1 * max(highs, default=1.0)) or 1.0  # the axis ends above it
    with matplotlib.rc_context(STYLE):
        lines = textwrap.wrap(title, _LINE)
        heights = [1.3 + 0.42 * len(slicing.slices) for slicing in slicings]
        figure = Figure(figsize=(7.2, sum(heights) + 0.2 * len(lines)), layout="constrained")
        panels = figure.subplots(len(heights), 1, height_ratios=heights, squeeze=False)[:, 0]
        for axes, slicing in zip(panels, slicings, strict=True):
            for one in drawn:
                _draw_score(axes, slicing, one)
            axes.axvline(overall, color=ORANGE, linewidth=0.8, zorder=0)
            _label(axes, slicing, largest)
        whole = f"line: {drawn[0].label} of the whole split"
        panels[-1].set_xlabel(f"score with its 95 % interval by {group} ({whole})")
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower right", ncols=3)
        figure.suptitle("\n".join(lines), x=0.01, ha="left", fontsize=10, color=QUIET)
        return png(figure)


def _bounds(cell: Cell) -> tuple[float, float, float]:
    if isinstance(cell, Interval):
        return cell
    value = float(str(cell)) if cell is not None else 0.0
    return value, value, value


def _draw_score(axes: Axes, slicing: Slicing, drawn: Drawn) -> None:
    for row, one in enumerate(slicing.slices):
        cell = one.cells[drawn.score]
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


def _label(axes: Axes, slicing: Slicing, largest: float) -> None:
    # matplotlib cannot lay out right-to-left text; names of slices are in Latin script.
    sizes = [f"(n={len(one.rows_M):,})" for one in slicing.slices]
    names = [f"{o.name.replace('_', ' ')}  {n}" for o, n in zip(slicing.slices, sizes, strict=True)]
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.set_xlim(-0.02 * largest, 1.02 * largest)
    axes.set_title(slicing.title)
    axes.grid(axis="x", color=FAINT, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines["left"].set_visible(False)
    axes.tick_params(axis="y", length=0)
