"""The figure of a data set: lengths and shares of texts."""

from collections.abc import Mapping, Sequence

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from heron.reports.figures import FAINT, PALETTE, QUIET, STYLE, png

_TAIL = 0.99  # quantile at which the axis ends; values beyond it are in the last bin
_BINS = 30


def histograms(
    panels: Mapping[str, tuple[str, Mapping[str, Sequence[float] | np.ndarray]]], title: str
) -> bytes:
    """Draw histograms of numbers, one panel by title, as PNG.

    A panel has a label of its axis and values by name; the first four sets are drawn, each
    normalised to 1, with its mean. Without a label, values are at most 1 with the tail on the left.
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
    if label and high <= 2 * _BINS:  # one bar for each number of words
        edges = np.arange(0.5, max(high, 1) + 1.5)
    for (name, one), colour in zip(values.items(), PALETTE, strict=False):
        counts, _ = np.histogram(np.clip(one, edges[0], edges[-1]), edges)
        axes.stairs(counts / len(one), edges, color=colour, label=f"{name} (n={len(one):,})")
        axes.axvline(float(np.mean(one)), color=colour, linewidth=0.8, linestyle="--")
    axes.set(xlabel=f"{label or '1 - summary / article'} (dashed: mean)", ylabel="share")
    axes.grid(axis="y", color=FAINT, linewidth=0.8)
    axes.set_axisbelow(True)
