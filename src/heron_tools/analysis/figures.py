"""The figures of an analysis: scores by slice, and lengths and shares of texts."""

import textwrap
from collections.abc import Mapping, Sequence

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from heron.base.cells import Cell, Interval
from heron.reports.figures import FAINT, ORANGE, PALETTE, QUIET, STYLE, png
from heron_tools.analysis.outcome import Drawn, Slicing

_TAIL = 0.99  # share of values at their place; the rest is in the last bin
_BINS = 30
_LINE = 95  # characters of the title in one line


def slices_figure(
    slicings: Sequence[Slicing],
    title: str,
    overall: float,
    drawn: Sequence[Drawn],
    group: str = "article",
    zoomed: bool = False,
) -> bytes:
    """Draw scores with their intervals, one panel for each slicing, as PNG.

    Args:
        slicings: one panel each.
        title: of the figure.
        overall: the first score of the whole split, a fraction, drawn as a line.
        drawn: the scores.
        group: the unit that intervals resample.
        zoomed: whether the axis ends above the largest score instead of at 1.
    """
    largest = 1.0
    if zoomed:
        slices = [one for slicing in slicings for one in slicing.slices]
        highs = [_bounds(one.cells[each.score])[2] for one in slices for each in drawn]
        largest = min(1.0, 1.1 * max(highs, default=1.0)) or 1.0
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
    # matplotlib does not order right-to-left text; names of slices are Latin.
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


def histograms(
    panels: Mapping[str, tuple[str, Mapping[str, Sequence[float] | np.ndarray]]], title: str
) -> bytes:
    """Draw how numbers are distributed, one panel by title, as PNG.

    A panel has a label of its axis and values by name, of which the first four are drawn, as shares
    of their own number with their mean. Empty labels are shares of at most 1, with the tail below.
    """
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(4 * len(panels), 3.6), layout="constrained")
        for axes, (name, (label, values)) in zip(
            figure.subplots(1, len(panels), squeeze=False)[0], panels.items(), strict=True
        ):
            drawn = {n: np.asarray(one) for n, one in list(values.items())[: len(PALETTE)]}
            _draw_histogram(axes, label, {n: one for n, one in drawn.items() if one.size})
            axes.set_title(name)
        handles, labels = axes.get_legend_handles_labels()
        if len(labels) > 1:
            figure.legend(handles, labels, loc="outside lower center", ncols=len(labels))
        figure.suptitle(title, x=0.01, ha="left", fontsize=10, color=QUIET)
        return png(figure)


def _draw_histogram(axes: Axes, label: str, values: Mapping[str, np.ndarray]) -> None:
    every = np.concatenate([*values.values(), np.zeros(0 if values else 1)])
    low, high = (0.0, np.quantile(every, _TAIL)) if label else (np.quantile(every, 1 - _TAIL), 1.0)
    edges = np.linspace(low, max(high, low + 1e-6), _BINS + 1)
    if label and high <= 2 * _BINS:  # each number of words has a bar of its own
        edges = np.arange(0.5, max(high, 1) + 1.5)
    for (name, one), colour in zip(values.items(), PALETTE, strict=False):
        counts, _ = np.histogram(np.clip(one, edges[0], edges[-1]), edges)
        axes.stairs(counts / len(one), edges, color=colour, label=f"{name} (n={len(one):,})")
        axes.axvline(float(np.mean(one)), color=colour, linewidth=0.8, linestyle="--")
    axes.set(xlabel=f"{label or '1 - summary / article'} (dashed: mean)", ylabel="share")
    axes.grid(axis="y", color=FAINT, linewidth=0.8)
    axes.set_axisbelow(True)
