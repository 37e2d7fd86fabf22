"""The figure of a data set: lengths and shares of texts."""

from collections.abc import Mapping, Sequence
from itertools import islice

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from heron.reports.figures import png
from heron.reports.styles import FAINT, PALETTE, QUIET, STYLE

_TAIL = 0.99  # quantile at which the axis ends; values beyond it are in the last bin
_BINS = 30


def histograms(
    panels: Mapping[str, tuple[str, Mapping[str, Sequence[float] | np.ndarray]]], title: str
) -> bytes:
    """Draw histograms of numbers as PNG.

    Args:
        panels: by title, the label of the axis, and values by name. The first four sets are drawn,
            each normalised to 1, with its mean. Without a label, values are at most 1 with the
            tail on the left.
        title: of the figure.
    """
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(4 * len(panels), 3.6), layout="constrained")
        all_axes = figure.subplots(1, len(panels), squeeze=False)[0]

        for axes, (panel_title, (label, values)) in zip(all_axes, panels.items(), strict=True):
            arrays = {}
            for name, numbers in islice(values.items(), len(PALETTE)):
                if len(numbers):
                    arrays[name] = np.asarray(numbers)

            _draw_histogram(axes, label, arrays)
            axes.set_title(panel_title)

        handles, labels = axes.get_legend_handles_labels()
        if len(labels) > 1:
            figure.legend(handles, labels, loc="outside lower center", ncols=len(labels))

        figure.suptitle(title, x=0.01, ha="left", fontsize=10, color=QUIET)
        return png(figure)


def _draw_histogram(axes: Axes, label: str, values: Mapping[str, np.ndarray]) -> None:
    """Draw one panel; see `histograms`."""
    numbers = np.concatenate(list(values.values()) or [np.zeros(1)])
    edges = _length_edges(numbers) if label else _share_edges(numbers)
    for (name, set_values), colour in zip(values.items(), PALETTE, strict=False):
        size = len(set_values)
        inside = np.clip(set_values, edges[0], edges[-1])
        counts, _ = np.histogram(inside, edges)
        axes.stairs(counts / size, edges, color=colour, label=f"{name} (n={size:,})")
        axes.axvline(set_values.mean(), color=colour, linewidth=0.8, linestyle="--")

    axes.set(xlabel=f"{label or '1 - summary / article'} (dashed: mean)", ylabel="share")
    axes.grid(axis="y", color=FAINT, linewidth=0.8)
    axes.set_axisbelow(True)


def _length_edges(numbers: np.ndarray) -> np.ndarray:
    """Place the edges of a histogram's bars from no words to the longest texts, without the tail.

    Short texts have a bar for each number of words.
    """
    high = np.quantile(numbers, _TAIL)
    if high <= 2 * _BINS:
        return np.arange(0.5, max(high, 1) + 1.5)
    return np.linspace(0, high, _BINS + 1)


def _share_edges(numbers: np.ndarray) -> np.ndarray:
    """Place the edges of a histogram's bars from the smallest shares, without the tail, to 1."""
    low = min(np.quantile(numbers, 1 - _TAIL), 0.999999)
    return np.linspace(low, 1, _BINS + 1)
