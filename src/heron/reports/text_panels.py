"""Panels of a run whose predictions are texts: answers, or summaries."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from heron.reports.artefacts import Artefacts
from heron.results.collect import RunRecord

KINDS = ("number", "with a number", "words", "no answer")


def kind_of(answer: str | None) -> str:
    """Tell numbers from dates and measures, and these from names and phrases, in any script."""
    signs = [sign.isnumeric() for sign in answer or "" if sign.isalnum()]
    if not signs:
        return "no answer" if not (answer or "").strip() else "words"
    return "number" if all(signs) else "with a number" if any(signs) else "words"


def draw_texts(panels: Any, run: RunRecord, artefacts: Artefacts, colours: Sequence[str]) -> None:
    """Draw mean scores by gold length, lengths, and an answer's kind or a summary's novelty."""
    assert artefacts.texts is not None
    split, texts, (main, other, quiet) = artefacts.split, artefacts.texts, colours
    novel = {str(n): run.score(split, f"novel_{n}") for n in range(1, 5)}
    shares = {name: share for name, share in novel.items() if share is not None}
    upper, lower, *rest = panels.subplots(3 if shares or texts.right else 2, 1)
    words = {
        name: np.array([len((text or "").split()) for text in artefacts.predictions[name]])
        for name in ("gold", "prediction")
    }
    edges = np.unique(np.quantile(words["gold"], np.linspace(0, 1, 5), method="nearest"))
    lengths = {
        f"{low}–{high - 1}" if high - low > 1 else f"{low}": (words["gold"] >= low)
        & (words["gold"] < high)
        for low, high in itertools.pairwise([*edges[:-1], edges[-1] + 1])
    }
    _draw_means(upper, artefacts, lengths, main)
    upper.set_title(f"{texts.metric} by gold words (rows), {split}")
    bins: Any = np.histogram_bin_edges(np.concatenate([*words.values()]), 20)
    for (name, words_N), colour in zip(words.items(), (quiet, main), strict=True):
        lower.hist(words_N, bins, histtype="step", color=colour, label=name, linewidth=1.3)
    lower.set(title="Length in words", ylabel="rows")
    lower.legend(loc="upper right")
    for axes in rest:
        if shares:
            bars = axes.bar(list(shares), list(shares.values()), 0.6, color=other)
            axes.bar_label(bars, fmt="%.2f", fontsize=8, padding=2)
            axes.set(title="Share of new n-grams, by n", ylim=(0, 1.35))
        else:
            kinds = np.array([*map(kind_of, artefacts.predictions["gold"])])
            _draw_means(axes, artefacts, {kind: kinds == kind for kind in KINDS}, other)
            axes.set_title(f"{texts.metric} by the gold answer (rows)")


def _draw_means(axes: Axes, artefacts: Artefacts, groups: Mapping[str, Any], colour: str) -> None:
    """Draw a bar for the mean score of each group of rows that has any."""
    scores_N: Any = artefacts.row_scores
    for name, rows_N in groups.items():
        here_N = rows_N & np.isfinite(scores_N)
        if here_N.any():
            bars = axes.bar(f"{name}\n({here_N.sum():,})", scores_N[here_N].mean(), color=colour)
            axes.bar_label(bars, fmt="%.3f", fontsize=8, padding=2)
    axes.margins(y=0.25)
