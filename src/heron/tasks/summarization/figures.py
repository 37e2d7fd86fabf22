"""The figure of a set of articles and summaries: lengths and compression, as PNG bytes."""

from __future__ import annotations

from collections.abc import Mapping

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from heron.base.plots import FAINT, PALETTE, QUIET, STYLE, png
from heron.metrics.summary_statistics import Floats
from heron.tasks.summarization.profile import WHITESPACE, Profile

_TAIL = 0.99  # share of documents that is drawn at its place; the rest share the last bin
_BINS = 30


def summaries_figure(found: Mapping[str, Profile], title: str) -> bytes:
    """Draw how long articles and summaries are and how much shorter summaries are.

    Args:
        found: profiles by name; the first four are drawn, as shares of their own documents.
        title: of the sheet.
    """
    drawn = dict(list(found.items())[: len(PALETTE)])
    lengths = {name: one.tallies[WHITESPACE].lengths() for name, one in drawn.items()}
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(12, 3.6), layout="constrained")
        panels = figure.subplots(1, 3)
        _draw(panels[0], {n: pair[0] for n, pair in lengths.items()}, "Articles", "words")
        _draw(panels[1], {n: pair[1] for n, pair in lengths.items()}, "Summaries", "words")
        _draw(panels[2], {n: _compression(*p) for n, p in lengths.items()}, "Compression", "")
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=len(labels))
        figure.suptitle(title, x=0.01, ha="left", fontsize=10, color=QUIET)
        return png(figure)


def _compression(article_N: Floats, summary_N: Floats) -> Floats:
    counted = article_N > 0
    shares: Floats = 1 - summary_N[counted] / article_N[counted]
    return shares


def _draw(axes: Axes, values: Mapping[str, Floats], title: str, unit: str) -> None:
    every = np.concatenate(list(values.values()))
    # Long tails are at the right of lengths, and at the left of compression.
    low, high = (0.0, np.quantile(every, _TAIL)) if unit else (np.quantile(every, 1 - _TAIL), 1.0)
    edges = np.linspace(low, max(high, low + 1e-6), _BINS + 1)
    for (name, one), colour in zip(values.items(), PALETTE, strict=False):
        counts, _ = np.histogram(np.clip(one, edges[0], edges[-1]), edges)
        axes.stairs(
            counts / max(len(one), 1), edges, color=colour, label=f"{name} (n={len(one):,})"
        )
        axes.axvline(float(np.mean(one)), color=colour, linewidth=0.8, linestyle="--")
    axes.set_title(title)
    said = f"{unit} between spaces" if unit else "1 - summary / article"
    axes.set(xlabel=f"{said} (dashed: mean)", ylabel="share of documents")
    axes.grid(axis="y", color=FAINT, linewidth=0.8)
    axes.set_axisbelow(True)
