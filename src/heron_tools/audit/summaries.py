"""Problems of summarization data: copied, short or too long summaries, truncated articles."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from heron.data.examples import Example
from heron.languages.words import folded_words
from heron.metrics.summary import LEAD, lead_text, split_sentences
from heron_tools.audit.findings import Finding, Measure, rows_of, severity
from heron_tools.audit.texts import Splits, loose

SHORT = 10  # words; shorter summaries are listed
_COPIED_SERIOUS, _COPIED_WARNING = 0.2, 0.05  # of a split's rows
_SHORT_WARNING = 0.01
_CUT_WIDTH = 1.1  # ratio of a peak's longest to shortest length
# Minimum share of all rows in a peak, and minimum ratio of its size to its neighbours'.
_CUT_SHARE, _CUT_RATIO = 0.1, 2.0
_CUT_CERTAIN = 4.0  # minimum z of the difference of counts
_CUT_ELSEWHERE = 0.1  # minimum share of rows far from the peak; else all texts have similar lengths


def find_in_summaries(splits: Splits) -> list[Finding]:
    """Check articles and summaries of each split; rows without a summary are left out.

    `copied.<split>` (summaries that occur in their article) is always included; `short`, `long` (as
    long as the article) and `cut` (articles of nearly one length) only if there are any.
    """
    findings = []
    for split, examples in splits.items():
        rows = [example for example in examples if example.target is not None]
        if rows:
            findings.append(_copied(split, rows))
            findings += [*_short(split, rows), *_long(split, rows), *_cut(split, rows)]
    return findings


def fragments(article: Sequence[str], summary: Sequence[str]) -> list[int]:
    """Cover a summary, from the left, with the longest word sequences of its article.

    Returns the lengths of the sequences in words.

    Source: Grusky, Naaman and Artzi 2018 (Newsroom), Figure 3: divided by the words of the
    summary, their sum is the coverage and the sum of their squares the density.
    """
    places: dict[str, list[int]] = {}
    for place, word in enumerate(article):
        places.setdefault(word, []).append(place)
    found: list[int] = []
    start = 0
    while start < len(summary):
        here = places.get(summary[start], ())
        longest = max((_common(article, place, summary, start) for place in here), default=0)
        found += [longest] * bool(longest)
        start += max(longest, 1)
    return found


def _common(article: Sequence[str], place: int, summary: Sequence[str], start: int) -> int:
    """Count the equal words from two positions on."""
    places = zip(range(place, len(article)), range(start, len(summary)), strict=False)
    differ = (n for n, (a, b) in enumerate(places) if article[a] != summary[b])
    return next(differ, min(len(article) - place, len(summary) - start))


def _copied(split: str, rows: Sequence[Example]) -> Finding:
    whole, first = list[Example](), 0
    coverage, density, from_lead = list[float](), list[float](), list[float]()
    for example in rows:
        summary = folded_words(str(example.target))
        beginning = lead_text(split_sentences(example.text))
        if _occurs_in(str(example.target), example.text):
            whole.append(example)
            first += _occurs_in(str(example.target), beginning)
        lengths = fragments(folded_words(example.text), summary)
        size = max(len(summary), 1)
        coverage.append(sum(lengths) / size)
        density.append(sum(length**2 for length in lengths) / size)
        known = set(pairwise(folded_words(beginning)))
        bigrams = list(pairwise(summary))
        from_lead.append(sum(bigram in known for bigram in bigrams) / max(len(bigrams), 1))
    share = len(whole) / len(rows)
    measures: list[Measure] = [
        {
            "rows": len(rows),
            "occur in the article": len(whole),
            "share": share,
            f"in its first {LEAD} sentences": first,
            "mean coverage": float(np.mean(coverage)),
            "mean density": float(np.mean(density)),
            f"mean share of bigrams in the first {LEAD}": float(np.mean(from_lead)),
        }
    ]
    return Finding(
        f"copied.{split}",
        severity(share, _COPIED_WARNING, _COPIED_SERIOUS),
        f"{split}: {len(whole):,} of {len(rows):,} summaries occur in their article word by word",
        measures,
        rows_of(split, whole),
        "compare with baseline=lead and baseline=oracle: extractive systems score high"
        * bool(whole),
        "Coverage: share of a summary's words in sequences copied from the article; density: "
        "mean length of a word's sequence.",
    )


def _occurs_in(text: str, other: str) -> bool:
    """Tell whether the words of one text occur in another contiguously, in order."""
    return f" {loose(text)} " in f" {loose(other)} "


def _short(split: str, rows: Sequence[Example]) -> list[Finding]:
    short = [example for example in rows if len(folded_words(str(example.target))) < SHORT]
    if not short:
        return []
    short.sort(key=lambda example: len(str(example.target)))
    level = severity(len(short) / len(rows), _SHORT_WARNING)
    title = f"{split}: {len(short):,} of {len(rows):,} summaries have fewer than {SHORT} words"
    advice = f"data.summaries.min_summary_tokens={SHORT} leaves them out"
    return [Finding(f"short.{split}", level, title, rows=rows_of(split, short), advice=advice)]


def _long(split: str, rows: Sequence[Example]) -> list[Finding]:
    long = [e for e in rows if len(folded_words(str(e.target))) >= len(folded_words(e.text))]
    if not long:
        return []
    title = f"{split}: {len(long):,} summaries are as long as their article, or longer"
    advice = "is the article whole, and in the right column (data.columns)?"
    return [Finding(f"long.{split}", "warning", title, rows=rows_of(split, long), advice=advice)]


def _cut(split: str, rows: Sequence[Example]) -> list[Finding]:
    """Find a peak in the lengths of articles: many of nearly one length, few just below and above.

    Natural lengths are spread out; truncation to a number of words, or to whole sentences up to
    it, leaves such a peak.
    """
    lengths = np.sort([max(len(example.text.split()), 1) for example in rows])
    start, size = densest(lengths)
    low = float(lengths[start])
    high = low * _CUT_WIDTH
    below = int(((lengths >= low / _CUT_WIDTH) & (lengths < low)).sum())
    above = int(((lengths >= high) & (lengths < high * _CUT_WIDTH)).sum())
    beside, share = max(below, above), size / len(lengths)
    elsewhere = 1 - (below + size + above) / len(lengths)
    certain = (size - beside) / np.sqrt(size + beside) >= _CUT_CERTAIN
    is_large = share >= _CUT_SHARE and elsewhere >= _CUT_ELSEWHERE
    if not (certain and is_large and size >= _CUT_RATIO * beside):
        return []
    peak = [e for e in rows if low <= len(e.text.split()) < high]
    title = f"{split}: {size:,} of {len(rows):,} articles have {low:.0f} to {high:.0f} words"
    meaning = f"The lengths just below and just above have at most {beside:,} articles each."
    advice = "probably truncated: their summaries may be about the missing part"
    numbers: list[Measure] = [{"articles": size, "share": share, "neighbours": beside}]
    return [
        Finding(f"cut.{split}", "warning", title, numbers, rows_of(split, peak), advice, meaning)
    ]


def densest(lengths: np.ndarray) -> tuple[int, int]:
    """Find the 10 % wide range with the largest number of lengths.

    Returns its first index and the number of lengths in it.
    """
    ends = np.searchsorted(lengths, lengths * _CUT_WIDTH, side="left")
    sizes = ends - np.arange(len(lengths))
    start = int(sizes.argmax())
    return start, int(sizes[start])
