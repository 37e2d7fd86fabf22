"""What `heron analyze run=DIR by=...` can slice the summaries of a run by.

Slices are made of the article and of its gold summary, never of what a system wrote: the same
rows are then in a slice for every system.

Legend: N articles, M of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from heron.analysis.answered import RESAMPLES
from heron.analysis.score_slices import (
    NOTE,
    Rows,
    ScoreBreakdown,
    ScoredSlice,
    score_slice,
    score_table,
    side_values,
)
from heron.analysis.slices import category_slices, quantile_bins
from heron.analysis.summarized import SummarizedSplit
from heron.base.cells import Interval
from heron.metrics.paired_units import Floats
from heron.metrics.rouge import MEASURES
from heron.metrics.summary import copied_names
from heron.metrics.summary_counts import Tally
from heron.metrics.summary_statistics import by_whitespace, by_words
from heron.results.copied import COPIED_NOTE, is_copied

# What a slicing is called, and which figure of each pair it goes by, of those that
# `heron.metrics.summary_statistics` names.
_STATISTICS = {
    "article_length": ("words of the article", "article_length"),
    "summary_length": ("words of the gold summary", "summary_length"),
    "compression": ("compression: 1 - words of the gold summary / of its article", "compression"),
    "novelty": ("share of the gold summary's word pairs that its article lacks", "novel_2"),
}
BY = tuple(_STATISTICS)
UNKNOWN = "(too short)"
SEGMENTS = {"words": by_words, "whitespace": by_whitespace}


def summary_breakdown(
    by: str,
    split: SummarizedSplit,
    bins: int = 5,
    words: str = "words",
    sides: Sequence[Mapping[str, object]] = (),
    seed: int = 0,
) -> ScoreBreakdown:
    """Slice a split's summaries.

    Args:
        by: one of `BY`, or a side column.
        split: the summaries; the first system is looked at.
        bins: into how many bins of about equal size numbers are put.
        words: what a word is, see `heron.languages.words`.
        sides: side columns of the N articles, where `by` is one.
        seed: of the draws behind intervals.

    Returns:
        ROUGE of the run with intervals, behind each what copying reaches on the same articles.

    Raises:
        ConfigError: neither an analysis nor a side column.
    """
    title, _ = _STATISTICS.get(by, (by, ""))
    if by in _STATISTICS:
        parts = _bins(statistics_of_golds(split, by, words), bins)
    else:
        parts = category_slices(side_values(sides or [{}], by, [*BY, "statistics", "summaries"]))
    scores = _shown(split)
    slices = tuple(_slice(name, rows_M, scores, split, seed) for name, rows_M in parts)
    everything = _slice("(all)", np.arange(len(split.guids)), scores, split, seed)
    table = score_table(f"ROUGE by {title}", slices, everything, f"{NOTE} {COPIED_NOTE}")
    facts = {
        "resamples": RESAMPLES,
        "seed": seed,
        "intervals": "articles",
        "words": words,
        "bins": bins,
    }
    return ScoreBreakdown(by, title, slices, (table,), facts)


def statistics_of_golds(split: SummarizedSplit, by: str, words: str = "words") -> Floats:
    """Compute what each article is sliced by, float64 `[N]`; NaN where a text is too short."""
    name, counted = _STATISTICS[by][1], _tally(split, words)
    article_N, summary_N = counted.lengths()
    lengths = {"article_length": article_N, "summary_length": summary_N}
    if name in lengths:
        return lengths[name]
    part_N, whole_N = counted.shares()[name]
    return np.divide(part_N, whole_N, out=np.full_like(part_N, np.nan), where=whole_N > 0)


def _tally(split: SummarizedSplit, words: str) -> Tally:
    """Count articles and gold summaries, once for all slicings of a split."""
    if words not in split.tallies:
        found = Tally(("type",))
        for article, gold in zip(split.articles, split.golds, strict=True):
            found.add(*SEGMENTS[words]([article, gold]))
        split.tallies[words] = found
    return split.tallies[words]


def _bins(values_N: Floats, bins: int) -> list[tuple[str, Rows]]:
    """Part rows into bins; those without a value come last."""
    known = np.flatnonzero(np.isfinite(values_N))
    parts = [(name, known[rows]) for name, rows in quantile_bins(values_N[known], bins)]
    unknown = np.flatnonzero(~np.isfinite(values_N))
    return [*parts, (UNKNOWN, unknown)] if len(unknown) else parts


def _shown(split: SummarizedSplit) -> dict[str, Floats]:
    """Take the scores that papers report, behind each what copying reaches."""
    scores = split.scores()
    return {name: scores[name] for each in MEASURES for name in (each, *copied_names(each))}


def _slice(
    name: str, rows_M: Rows, scores: Mapping[str, Floats], split: SummarizedSplit, seed: int
) -> ScoredSlice:
    """Compute a slice's means; what copying reaches stands without its interval."""
    found = score_slice(name, rows_M, scores, split.groups, seed)
    means = {
        name: cell.value if is_copied(name) and isinstance(cell, Interval) else cell
        for name, cell in found.scores.items()
    }
    return replace(found, scores=means)
