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
    text = (answer or "").strip()
    if not text:
        return "no answer"
    are_numeric = [sign.isnumeric() for sign in text if sign.isalnum()]
    if are_numeric and all(are_numeric):
        return "number"
    return "with a number" if any(are_numeric) else "words"


def draw_texts(panels: Any, run: RunRecord, artefacts: Artefacts, colours: Sequence[str]) -> None:
    """Draw mean scores by gold length, lengths, and an answer's kind or a summary's novelty."""
    texts = artefacts.texts
    assert texts is not None
    main, other, quiet = colours
    shares = _novel_shares(run, artefacts.split)
    has_third = bool(shares or texts.right)
    upper, lower, *rest = panels.subplots(3 if has_third else 2, 1)
    gold_N = _words(artefacts.predictions["gold"])
    predicted_N = _words(artefacts.predictions["prediction"])
    _draw_means(upper, artefacts, _by_length(gold_N), main)
    upper.set_title(f"{texts.metric} by gold words (rows), {artefacts.split}")
    bins: Any = np.histogram_bin_edges(np.concatenate([gold_N, predicted_N]), 20)
    for name, words_N, colour in (("gold", gold_N, quiet), ("prediction", predicted_N, main)):
        lower.hist(words_N, bins, histtype="step", color=colour, label=name, linewidth=1.3)
    lower.set(title="Length in words", ylabel="rows")
    lower.legend(loc="upper right")
    if shares:
        bars = rest[0].bar(list(shares), list(shares.values()), 0.6, color=other)
        rest[0].bar_label(bars, fmt="%.2f", fontsize=8, padding=2)
        rest[0].set(title="Share of new n-grams, by n", ylim=(0, 1.35))
    elif texts.right:
        kind_N = np.array([kind_of(answer) for answer in artefacts.predictions["gold"]])
        _draw_means(rest[0], artefacts, {kind: kind_N == kind for kind in KINDS}, other)
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
    return np.array([len((text or "").split()) for text in texts])


def _by_length(words_N: Any) -> dict[str, Any]:
    """Divide rows into quarters by length: bool [N] by the range of words, such as `3–5`."""
    starts = np.unique(np.quantile(words_N, np.linspace(0, 1, 5), method="nearest"))
    groups = {}
    for low, end in itertools.pairwise([*starts[:-1], starts[-1] + 1]):
        name = f"{low}–{end - 1}" if end - low > 1 else f"{low}"
        groups[name] = (words_N >= low) & (words_N < end)
    return groups


def _draw_means(axes: Axes, artefacts: Artefacts, groups: Mapping[str, Any], colour: str) -> None:
    """Draw a bar for the mean score of each group of rows that has any."""
    scores_N: Any = artefacts.row_scores
    for name, rows_N in groups.items():
        scored_N = rows_N & np.isfinite(scores_N)
        if scored_N.any():
            label = f"{name}\n({scored_N.sum():,})"
            bars = axes.bar(label, scores_N[scored_N].mean(), color=colour)
            axes.bar_label(bars, fmt="%.3f", fontsize=8, padding=2)
    axes.margins(y=0.25)
