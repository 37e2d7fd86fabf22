"""Panels of a run whose predictions are texts: answers, or summaries."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from heron.languages.words import word_count
from heron.reports.artefacts import Artefacts
from heron.reports.styles import COUNT
from heron.results.collect import RunRecord

KINDS = ("number", "with a number", "words", "no answer")


def kind_of(answer: str | None) -> str:
    """Tell numbers from dates and measures, and these from names and phrases, in any script."""
    text = (answer or "").strip()
    if not text:
        return "no answer"
    are_numeric = [sign.isnumeric() for sign in text if sign.isalnum()]
    if are_numeric and all(are_numeric):
        return "number"
    return "with a number" if any(are_numeric) else "words"


def draw_texts(panels: Any, run: RunRecord, artefacts: Artefacts, colours: Sequence[str]) -> None:
    """Draw mean scores by gold length, lengths, and an answer's kind or a summary's novelty.

    Args:
        panels: the subfigure to divide into panels.
        run: whose scores name the shares of new n-grams.
        artefacts: with predictions of texts, and the score of each row.
        colours: of scores, of the third panel, and of what is less important.
    """
    texts = artefacts.texts
    assert texts is not None
    main, other, quiet = colours
    golds = artefacts.predictions["gold"]
    shares = _novel_shares(run, artefacts.split)
    has_third = bool(shares or texts.right)
    upper, lower, *rest = panels.subplots(3 if has_third else 2, 1)

    gold_N = _words(golds)
    _draw_means(upper, artefacts, _by_length(gold_N), main)
    upper.set_title(f"{texts.metric} by gold words (rows), {artefacts.split}")

    predicted_N = _words(artefacts.predictions["prediction"])
    bins: Any = np.histogram_bin_edges(np.concatenate([gold_N, predicted_N]), 20)
    style: Any = {"histtype": "step", "linewidth": 1.3}
    lower.hist(gold_N, bins, color=quiet, label="gold", **style)
    lower.hist(predicted_N, bins, color=main, label="prediction", **style)
    lower.set(title="Length in words", ylabel="rows")
    lower.legend(loc="upper right")

    if shares:
        axes = rest[0]
        bars = axes.bar(list(shares), list(shares.values()), 0.6, color=other)
        axes.bar_label(bars, fmt="%.2f", **COUNT)
        axes.set(title="Share of new n-grams, by n", ylim=(0, 1.35))
    elif texts.right:
        kind_N = np.array([kind_of(answer) for answer in golds])
        groups = {kind: kind_N == kind for kind in KINDS}
        _draw_means(rest[0], artefacts, groups, other)
        rest[0].set_title(f"{texts.metric} by the gold answer (rows)")


def _novel_shares(run: RunRecord, split: str) -> dict[str, float]:
    """List the shares of new n-grams that a run has, by n."""
    shares = {}
    for n in range(1, 5):
        share = run.score(split, f"novel_{n}")
        if share is not None:
            shares[str(n)] = share
    return shares


def _words(texts: Sequence[str | None]) -> Any:
    """Count the words of each text; int [N]."""
    return np.array([word_count(text or "") for text in texts])


def _by_length(words_N: Any) -> dict[str, Any]:
    """Divide rows into quarters by length: bool [N] by the range of words, such as `3–5`."""
    starts = np.unique(np.quantile(words_N, np.linspace(0, 1, 5), method="nearest"))
    edges = [*starts[:-1], starts[-1] + 1]
    groups = {}
    for low, end in itertools.pairwise(edges):
        high = end - 1
        name = f"{low}–{high}" if high > low else f"{low}"
        groups[name] = (words_N >= low) & (words_N <= high)

    return groups


def _draw_means(axes: Axes, artefacts: Artefacts, groups: Mapping[str, Any], colour: str) -> None:
    """Draw a bar for the mean score of each group of rows that has any."""
    scores_N: Any = artefacts.row_scores
    for name, rows_N in groups.items():
        scored_N = rows_N & np.isfinite(scores_N)
        count = scored_N.sum()
        if count:
            label = f"{name}\n({count:,})"
            bars = axes.bar(label, scores_N[scored_N].mean(), color=colour)
            axes.bar_label(bars, fmt="%.3f", **COUNT)

    axes.margins(y=0.25)
