"""The figure of an analysis: accuracy by slice, as PNG bytes, drawn without a display."""

from __future__ import annotations

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from heron.analysis.breakdown import Breakdown
from heron.analysis.slices import Slicing
from heron.base.plots import BLUE, FAINT, ORANGE, QUIET, STYLE, png


def breakdown_figure(found: Breakdown, title: str, overall: float) -> bytes:
    """Draw a panel per slicing: accuracy with its interval, and what the largest class would get.

    Args:
        found: the analysis.
        title: of the sheet.
        overall: accuracy of the whole split, a fraction, drawn as a line.

    Returns:
        PNG bytes.
    """
    with matplotlib.rc_context(STYLE):
        heights = [1.1 + 0.36 * len(slicing.slices) for slicing in found.slicings]
        figure = Figure(figsize=(7.2, 0.5 + sum(heights)), layout="constrained")
        panels = figure.subplots(len(heights), 1, height_ratios=heights, squeeze=False)[:, 0]
        for axes, slicing in zip(panels, found.slicings, strict=True):
            _draw(axes, slicing, overall)
        figure.suptitle(title, x=0.01, ha="left", fontsize=10, color=QUIET)
        return png(figure)


def _draw(axes: Axes, slicing: Slicing, overall: float) -> None:
    for row, one in enumerate(slicing.slices):
        if one.accuracy is None:
            continue
        value, low, high = one.accuracy
        axes.errorbar(
            value, row, xerr=[[value - low], [high - value]], fmt="D", color=BLUE, ms=5, capsize=3
        )
        axes.plot(one.largest, row, "|", color=QUIET, markersize=12)
    axes.axvline(overall, color=ORANGE, linewidth=0.8, zorder=0)
    # Latin digits beside names in any script: matplotlib does not order right-to-left text.
    names = [f"{one.name}  (n={one.rows:,})" for one in slicing.slices]
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.set_xlim(0, 1)
    axes.set_title(slicing.title)
    axes.set_xlabel("accuracy (line: the whole split; |: the slice's largest class)")
    axes.grid(axis="x", color=FAINT, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines["left"].set_visible(False)
    axes.tick_params(axis="y", length=0)
