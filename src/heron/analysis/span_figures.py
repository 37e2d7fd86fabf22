"""Figures as PNG bytes: lengths of questions and answers, and scores of a run by slice."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from heron.analysis.question_statistics import SIMPLE, QuestionStatistics
from heron.analysis.score_slices import ScoreBreakdown
from heron.base.cells import Interval
from heron.base.plots import BLUE, FAINT, GREEN, ORANGE, QUIET, STYLE, png

_LINE = 95  # letters of a sheet's title in one line
_TAIL = 0.995  # share of rows with a bar of their own length; the longest share the last bar


class Drawn(NamedTuple):
    """How a score is drawn: its name, what it is called, marker, colour, and place in a row."""

    score: str
    label: str
    marker: str
    colour: str
    shift: float


_DRAWN = (
    Drawn("f1", "F1", "D", BLUE, -0.14),
    Drawn("exact_match", "exact match", "o", GREEN, 0.14),
)


def lengths_figure(described: QuestionStatistics, title: str) -> bytes:
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


def scores_figure(
    found: ScoreBreakdown,
    title: str,
    overall: float,
    drawn: Sequence[Drawn] = _DRAWN,
    largest: float = 1.0,
) -> bytes:
    """Draw scores with their intervals, slice by slice.

    Args:
        found: the analysis.
        title: of the sheet.
        overall: the first score of the whole split, a fraction, drawn as a line.
        drawn: which scores, and how.
        largest: where the axis ends, a fraction.
    """
    with matplotlib.rc_context(STYLE):
        lines = textwrap.wrap(title, _LINE)
        height = 1.3 + 0.2 * len(lines) + 0.42 * len(found.slices)
        figure = Figure(figsize=(7.2, height), layout="constrained")
        axes = figure.subplots()
        for one in drawn:
            _draw_scores(axes, found, one)
        axes.axvline(overall, color=ORANGE, linewidth=0.8, zorder=0)
        # Latin names only beside digits: matplotlib does not order right-to-left text.
        names = [f"{one.name.replace('_', ' ')}  (n={len(one.rows_M):,})" for one in found.slices]
        axes.set_yticks(range(len(names)), names)
        axes.set_ylim(len(names) - 0.5, -0.5)
        axes.set_xlim(-0.02 * largest, 1.02 * largest)
        axes.set_title(f"By {found.title}")
        whole = f"line: {drawn[0].label} of the whole split"
        axes.set_xlabel(f"score with its 95 % interval by article ({whole})")
        axes.grid(axis="x", color=FAINT, linewidth=0.8)
        axes.set_axisbelow(True)
        axes.spines["left"].set_visible(False)
        axes.tick_params(axis="y", length=0)
        figure.legend(loc="outside lower right", ncols=3)
        figure.suptitle("\n".join(lines), x=0.01, ha="left", fontsize=10, color=QUIET)
        return png(figure)


def _draw_scores(axes: Axes, found: ScoreBreakdown, drawn: Drawn) -> None:
    for row, one in enumerate(found.slices):
        score = one.scores[drawn.score]
        if score is None:
            continue
        value, low, high = score if isinstance(score, Interval) else (score, score, score)
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
