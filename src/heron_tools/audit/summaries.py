"""Problems of summarization data: copied, short or too long summaries, truncated articles."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from heron.data.examples import Example
from heron.languages.words import folded_words, word_count
from heron.metrics.summary import LEAD, lead_text, split_sentences
from heron_tools.audit.findings import Finding, Measure, rows_of, severity
from heron_tools.audit.texts import Splits, loose

SHORT = 10  # words; shorter summaries are listed
# Shares of a split's rows.
_COPIED_SERIOUS = 0.2
_COPIED_WARNING = 0.05
_SHORT_WARNING = 0.01
_CUT_WIDTH = 1.1  # ratio of a peak's longest to shortest length
# Minimum share of all rows in a peak, and minimum ratio of its size to its neighbours'.
_CUT_SHARE = 0.1
_CUT_RATIO = 2.0
_CUT_CERTAIN = 4.0  # minimum z of the difference of counts
_CUT_ELSEWHERE = 0.1  # minimum share of rows far from the peak; else all texts have similar lengths


def find_in_summaries(splits: Splits) -> list[Finding]:
    """Check articles and summaries of each split; rows without a summary are left out.

    `copied.<split>` (summaries that occur in their article) is always included; `short`, `long` (as
    long as the article) and `cut` (articles of nearly one length) only if there are any.
    """
    findings: list[Finding] = []
    for split, examples in splits.items():
        rows = [example for example in examples if example.target is not None]
        if rows:
            findings.append(_copied(split, rows))
            findings += _short(split, rows)
            findings += _long(split, rows)
            findings += _cut(split, rows)

    return findings


def fragments(article: Sequence[str], summary: Sequence[str]) -> list[int]:
    """Cover a summary, from the left, with the longest word sequences of its article.

    Args:
        article: its words.
        summary: its words.

    Returns:
        The lengths of the sequences in words.

    Source: Grusky, Naaman and Artzi 2018 (Newsroom), Figure 3: divided by the words of the
    summary, their sum is the coverage and the sum of their squares the density.
    """
    positions: dict[str, list[int]] = {}
    for position, word in enumerate(article):
        positions.setdefault(word, []).append(position)

    lengths = []
    start = 0
    while start < len(summary):
        longest = 0
        for position in positions.get(summary[start], ()):
            longest = max(longest, _common(article, position, summary, start))

        if longest:
            lengths.append(longest)

        start += max(longest, 1)

    return lengths


def _common(article: Sequence[str], position: int, summary: Sequence[str], start: int) -> int:
    """Count the equal words from a position in the article and a start in the summary on."""
    limit = min(len(article) - position, len(summary) - start)
    for length in range(limit):
        if article[position + length] != summary[start + length]:
            return length

    return limit


def _copied(split: str, rows: Sequence[Example]) -> Finding:
    """Measure how much of the summaries is copied from their articles; see `fragments`."""
    copied = []
    copied_from_lead = 0
    coverage = []
    density = []
    from_lead = []
    for example in rows:
        summary = str(example.target)
        lead = lead_text(split_sentences(example.text))
        if _occurs_in(summary, example.text):
            copied.append(example)
            copied_from_lead += _occurs_in(summary, lead)

        summary_words = folded_words(summary)
        lengths = fragments(folded_words(example.text), summary_words)
        size = max(len(summary_words), 1)
        coverage.append(sum(lengths) / size)
        density.append(sum(length**2 for length in lengths) / size)

        bigrams = list(pairwise(summary_words))
        lead_bigrams = set(pairwise(folded_words(lead)))
        in_lead = sum(bigram in lead_bigrams for bigram in bigrams)
        from_lead.append(in_lead / max(len(bigrams), 1))

    share = len(copied) / len(rows)
    measures: list[Measure] = [
        {
            "rows": len(rows),
            "occur in the article": len(copied),
            "share": share,
            f"in its first {LEAD} sentences": copied_from_lead,
            "mean coverage": float(np.mean(coverage)),
            "mean density": float(np.mean(density)),
            f"mean share of bigrams in the first {LEAD}": float(np.mean(from_lead)),
        }
    ]
    counts = f"{len(copied):,} of {len(rows):,}"
    advice = ""
    if copied:
        advice = "compare with baseline=lead and baseline=oracle: extractive systems score high"

    return Finding(
        id=f"copied.{split}",
        severity=severity(share, _COPIED_WARNING, _COPIED_SERIOUS),
        title=f"{split}: {counts} summaries occur in their article word by word",
        measures=measures,
        rows=rows_of(split, copied),
        advice=advice,
        meaning=(
            "Coverage: share of a summary's words in sequences copied from the article; density: "
            "mean length of a word's sequence."
        ),
    )


def _occurs_in(text: str, other: str) -> bool:
    """Tell whether the words of one text are a contiguous part of another."""
    return f" {loose(text)} " in f" {loose(other)} "


def _short(split: str, rows: Sequence[Example]) -> Iterator[Finding]:
    """List the summaries of fewer than `SHORT` words, the shortest first."""
    short = []
    for example in rows:
        if len(folded_words(str(example.target))) < SHORT:
            short.append(example)

    if not short:
        return

    short.sort(key=lambda example: len(str(example.target)))
    share = len(short) / len(rows)
    yield Finding(
        id=f"short.{split}",
        severity=severity(share, _SHORT_WARNING),
        title=f"{split}: {len(short):,} of {len(rows):,} summaries have fewer than {SHORT} words",
        rows=rows_of(split, short),
        advice=f"data.summaries.min_summary_tokens={SHORT} leaves them out",
    )


def _long(split: str, rows: Sequence[Example]) -> Iterator[Finding]:
    """List the summaries that have at least as many words as their article."""
    long = []
    for example in rows:
        summary_length = len(folded_words(str(example.target)))
        if summary_length >= len(folded_words(example.text)):
            long.append(example)

    if not long:
        return

    yield Finding(
        id=f"long.{split}",
        severity="warning",
        title=f"{split}: {len(long):,} summaries are as long as their article, or longer",
        rows=rows_of(split, long),
        advice="is the article whole, and in the right column (data.columns)?",
    )


def _cut(split: str, rows: Sequence[Example]) -> Iterator[Finding]:
    """Find a peak in the lengths of articles: many of nearly one length, few just below and above.

    Natural lengths are spread out. Articles that were truncated to a number of words, or to the
    whole sentences within it, make such a peak.
    """
    lengths = np.sort([max(word_count(example.text), 1) for example in rows])
    start, size = densest(lengths)
    low = float(lengths[start])
    high = low * _CUT_WIDTH

    # The neighbouring ranges are as wide as the peak, in ratio.
    below = np.count_nonzero((lengths >= low / _CUT_WIDTH) & (lengths < low))
    above = np.count_nonzero((lengths >= high) & (lengths < high * _CUT_WIDTH))
    neighbours = int(max(below, above))
    share = size / len(lengths)
    elsewhere = 1 - (below + size + above) / len(lengths)

    is_large = share >= _CUT_SHARE and elsewhere >= _CUT_ELSEWHERE
    is_peak = size >= _CUT_RATIO * neighbours
    z = (size - neighbours) / np.sqrt(size + neighbours)
    if not (is_large and is_peak and z >= _CUT_CERTAIN):
        return

    peak = [example for example in rows if low <= word_count(example.text) < high]
    yield Finding(
        id=f"cut.{split}",
        severity="warning",
        title=f"{split}: {size:,} of {len(rows):,} articles have {low:.0f} to {high:.0f} words",
        measures=[{"articles": size, "share": share, "neighbours": neighbours}],
        rows=rows_of(split, peak),
        advice="probably truncated: their summaries may be about the missing part",
        meaning=(
            f"The lengths just below and just above have at most {neighbours:,} articles each."
        ),
    )


def densest(lengths: np.ndarray) -> tuple[int, int]:
    """Find the range of lengths, each at most 10 % above its first, that holds most of them.

    Args:
        lengths: in ascending order.

    Returns:
        The position of its first length, and the number of lengths in it.
    """
    limits = lengths * _CUT_WIDTH
    ends = np.searchsorted(lengths, limits, side="left")
    sizes = ends - np.arange(len(lengths))
    start = int(sizes.argmax())
    return start, int(sizes[start])
