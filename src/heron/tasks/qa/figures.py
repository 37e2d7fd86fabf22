"""The figure of a question answering data set: lengths of questions and answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from heron.base.plots import BLUE, FAINT, ORANGE, QUIET, STYLE, png
from heron.tasks.qa.statistics import SIMPLE, SplitStatistics

_TAIL = 0.995  # share of rows with a bar of their own length; the longest share the last bar


def lengths_figure(described: SplitStatistics, title: str) -> bytes:
    """Draw how many questions and answers have how many words.

    Source: ParaShoot, Figure 2.
    """
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(9.5, 3.6), layout="constrained")
        left, right = figure.subplots(1, 2)
        _draw_lengths(left, described.question_lengths, "Questions")
        _draw_lengths(right, described.answer_lengths, "Answers")
        if described.complex is not None:
            left.axvline(SIMPLE + 0.5, color=ORANGE, linewidth=1, linestyle="--")
            said = f"more than {SIMPLE} words: {described.complex:.1%}"
            left.text(1, 0.97, said, ha="right", va="top", transform=left.transAxes, color=ORANGE)
        figure.suptitle(title, x=0.01, ha="left", fontsize=10, color=QUIET)
        return png(figure)


def _draw_lengths(axes: Axes, lengths: Sequence[int], title: str) -> None:
    axes.set_title(title)
    if not lengths:
        axes.text(0.5, 0.5, "none", ha="center", color=QUIET, transform=axes.transAxes)
        return
    last = max(int(np.quantile(lengths, _TAIL)), 1)
    counts = Counter(min(length, last + 1) for length in lengths)
    axes.bar([*counts], [*counts.values()], color=BLUE, width=0.85)
    axes.set(xlabel=f"words (the last bar: more than {last})", ylabel="number")
    axes.set_xlim(0.3, last + 1.7)
    axes.grid(axis="y", color=FAINT, linewidth=0.8)
    axes.set_axisbelow(True)
