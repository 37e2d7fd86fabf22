"""N-gram counts of articles and summaries; novelty, compression and redundancy with intervals.

Legend: N documents, R resamples, K columns of sums.
Source: HeSum, sections 3.2 and 3.3 (Tables 1, 2, 5 and 7).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from heron.base.cells import Interval
from heron.base.errors import DataError
from heron.metrics.intervals import resample_groups
from heron.metrics.summary import (
    AVERAGES,
    COUNTS,
    SHARES,
    Floats,
    Tally,
    Tokens,
    average_share,
    by_whitespace,
    by_words,
    fractions,
)
from heron_tools.morphology.analyses import Analysis, with_marks
from heron_tools.morphology.backends import Morphology
from heron_tools.statistics.rates import RESAMPLES, Ids, group_ids

WORDS = "words"
WHITESPACE = "whitespace"
LEMMAS = "lemmas"
MORPHEMES = "morphemes"
# The same units, with punctuation marks as tokens, too.
MARKED_LEMMAS = "lemmas and marks"
MARKED_MORPHEMES = "morphemes and marks"
UNITS = (WORDS, WHITESPACE, LEMMAS, MARKED_LEMMAS, MORPHEMES, MARKED_MORPHEMES)
# The definition that tables show.
COUNT = COUNTS[0]
AVERAGE = AVERAGES[0]
_BATCH_SIZE = 256  # documents

Shares = Mapping[str, Interval | None]


class ArticleSummary(NamedTuple):
    """An article and its summary; pairs of one `group` are not independent ("": no group)."""

    article: str
    summary: str
    group: str


@dataclass(slots=True)
class Side:
    """Sums over all articles, or over all summaries; None: the backend does not provide it."""

    texts: int = 0
    words: int = 0
    lemmas: set[str] = field(default_factory=set)
    morphemes: int | None = 0
    constructs: int | None = 0  # words in construct state
    anaphors: int | None = 0  # pronominal suffixes
    readings: int | None = 0  # number of segmentations of a word, summed over words
    ambiguous: int | None = 0  # words with several segmentations

    def update(self, other: Side) -> None:
        """Add the counts of other texts."""
        self.texts += other.texts
        self.words += other.words
        self.lemmas |= other.lemmas
        for name in ("morphemes", "constructs", "anaphors", "readings", "ambiguous"):
            count = getattr(self, name)
            added = getattr(other, name)
            is_known = count is not None and added is not None
            setattr(self, name, count + added if is_known else None)


@dataclass(frozen=True, slots=True)
class SummaryProfile:
    """Counts of some pairs of articles and summaries."""

    tallies: dict[str, Tally]  # counts of n-grams by unit, one of `UNITS`
    articles: Side
    summaries: Side
    group_N: Ids  # the number of each pair's group

    def __len__(self) -> int:
        return len(self.group_N)


def profile(pairs: Sequence[ArticleSummary], morphology: Morphology) -> SummaryProfile:
    """Count pairs in batches, because articles are long.

    Args:
        pairs: at least one.
        morphology: finds lemmas and, if it can, morphemes.

    Raises:
        DataError: there are no pairs.
    """
    if not pairs:
        fix = "statistics need articles with summaries"
        raise DataError("summary statistics", "no article has a summary", fix)

    tallies: dict[str, Tally] = {}
    articles = Side()
    summaries = Side()
    for start in range(0, len(pairs), _BATCH_SIZE):
        batch = pairs[start : start + _BATCH_SIZE]
        article_texts = [pair.article for pair in batch]
        article_tokens = _tokens(article_texts, articles, morphology)
        summary_texts = [pair.summary for pair in batch]
        summary_tokens = _tokens(summary_texts, summaries, morphology)

        for unit in article_tokens.keys() & summary_tokens.keys():
            tally = tallies.setdefault(unit, Tally())
            for article, summary in zip(article_tokens[unit], summary_tokens[unit], strict=True):
                tally.add(article, summary)

    # A set of units has no order.
    ordered = {unit: tallies[unit] for unit in UNITS if unit in tallies}
    group_N = group_ids([pair.group for pair in pairs])
    return SummaryProfile(ordered, articles, summaries, group_N)


def _tokens(texts: list[str], side: Side, morphology: Morphology) -> dict[str, Sequence[Tokens]]:
    """Split texts into tokens of each unit, and add their counts to `side`."""
    tokens: dict[str, Sequence[Tokens]] = {
        WORDS: by_words(texts),
        WHITESPACE: by_whitespace(texts),
    }
    analyses = morphology.analyse(texts)
    for analysis in analyses:
        side.update(_counts(analysis))

    marks = [analysis.marks for analysis in analyses]

    lemmas = [analysis.lemmas for analysis in analyses]
    tokens[LEMMAS] = lemmas
    tokens[MARKED_LEMMAS] = list(map(with_marks, lemmas, marks))

    morphemes = [analysis.morphemes for analysis in analyses if analysis.morphemes is not None]
    if len(morphemes) == len(analyses):
        tokens[MORPHEMES] = morphemes
        tokens[MARKED_MORPHEMES] = list(map(with_marks, morphemes, marks))

    return tokens


def _counts(analysis: Analysis) -> Side:
    """Count what one text's analysis has."""
    side = Side(
        texts=1,
        words=analysis.words,
        lemmas=set(analysis.lemmas),
        morphemes=None,
        constructs=analysis.constructs,
        anaphors=analysis.anaphors,
        readings=None,
        ambiguous=None,
    )
    if analysis.morphemes is not None:
        side.morphemes = len(analysis.morphemes)
    if analysis.readings is not None:
        side.readings = sum(analysis.readings)
        side.ambiguous = sum(readings > 1 for readings in analysis.readings)

    return side


def merge(profiles: Sequence[SummaryProfile]) -> SummaryProfile:
    """Join profiles of different pairs; no group is in two of them."""
    tallies = {}
    for unit in UNITS:
        if all(unit in part.tallies for part in profiles):
            tallies[unit] = Tally.merge([part.tallies[unit] for part in profiles])

    articles = Side()
    summaries = Side()
    groups = []
    offset = 0  # number of groups in the profiles before
    for part in profiles:
        articles.update(part.articles)
        summaries.update(part.summaries)
        groups.append(part.group_N + offset)
        offset += int(part.group_N.max(initial=-1)) + 1

    return SummaryProfile(tallies, articles, summaries, np.concatenate(groups))


class Definition(NamedTuple):
    """One way to compute the shares, and its distance from a paper's numbers."""

    unit: str  # of tokens
    counted: str  # `type` or `token`
    average: str  # `document` or `corpus`
    shares: Mapping[str, float]  # fractions by name; NaN: undefined
    row: str | None = None  # the paper's row that the unit is compared with
    mean_distance: float | None = None  # mean absolute difference, a fraction
    largest: float | None = None  # largest absolute difference, a fraction
    compared: int = 0  # number of shares compared


def definitions(profile: SummaryProfile) -> list[Definition]:
    """Compute the shares by every definition."""
    definitions = []
    for unit, tally in profile.tallies.items():
        for counted in COUNTS:
            shares = tally.shares(counted)
            for average in AVERAGES:
                means = _averages(shares, average)
                definitions.append(Definition(unit, counted, average, means))
    return definitions


def _averages(shares: Mapping[str, Floats], average: str = AVERAGE) -> dict[str, float]:
    """Average shares over all documents; see `Tally.shares`."""
    averages = {}
    for name, (part_N, whole_N) in shares.items():
        averages[name] = average_share(part_N, whole_N, average)
    return averages


def measure(profile: SummaryProfile, seed: int = 0) -> dict[str, Shares]:
    """Compute each unit's shares with 95 % intervals, a bootstrap over documents."""
    intervals = {}
    for unit, tally in profile.tallies.items():
        shares = tally.shares(COUNT)
        draws = draw_shares(shares, profile.group_N, seed)
        intervals[unit] = _intervals(_averages(shares), draws)
    return intervals


class ProfileComparison(NamedTuple):
    """Shares of a system's summaries and of the gold ones, by unit.

    Each share is over the articles where both have something to count.
    """

    gold: dict[str, Shares]
    system: dict[str, Shares]
    differences: dict[str, Shares]  # system - gold, with the interval of the same resamples
    empty: int  # number of empty summaries of the system


def compare_profiles(
    system: SummaryProfile, gold: SummaryProfile, seed: int = 0
) -> ProfileComparison:
    """Compare a system's summaries with the gold ones of the same articles.

    Args:
        system: counts of the articles and the system's summaries.
        gold: counts of the articles and the gold summaries, in the same order.
        seed: the same seed gives the same intervals.
    """
    _, lengths_N = system.tallies[WHITESPACE].lengths()
    empty = int((lengths_N == 0).sum())

    comparison = ProfileComparison({}, {}, {}, empty)
    for unit in system.tallies:
        system_shares = system.tallies[unit].shares(COUNT)
        gold_shares = gold.tallies[unit].shares(COUNT)
        for name in SHARES:
            _, system_whole_N = system_shares[name]
            _, gold_whole_N = gold_shares[name]
            is_shared_N = (system_whole_N > 0) & (gold_whole_N > 0)
            system_shares[name] = system_shares[name] * is_shared_N
            gold_shares[name] = gold_shares[name] * is_shared_N

        system_means = _averages(system_shares)
        system_draws = draw_shares(system_shares, gold.group_N, seed)
        comparison.system[unit] = _intervals(system_means, system_draws)

        gold_means = _averages(gold_shares)
        gold_draws = draw_shares(gold_shares, gold.group_N, seed)
        comparison.gold[unit] = _intervals(gold_means, gold_draws)

        mean_differences = {}
        draw_differences = {}
        for name in SHARES:
            mean_differences[name] = system_means[name] - gold_means[name]
            draw_differences[name] = system_draws[name] - gold_draws[name]

        comparison.differences[unit] = _intervals(mean_differences, draw_differences)

    return comparison


def draw_shares(
    shares: Mapping[str, Floats], group_N: Ids, seed: int = 0, resamples: int = RESAMPLES
) -> dict[str, Floats]:
    """Average shares over bootstrap resamples of the documents.

    All shares use the same resamples, and so do two systems on the same documents and seed.

    Args:
        shares: of `Tally.shares`.
        group_N: the group of each document, from 0; groups are drawn whole.
        seed: the same seed gives the same resamples.
        resamples: their number.

    Returns:
        Fractions, float64 `[R]`, by share. NaN: undefined in a resample.
    """
    sums = []  # by group: numerator and denominator of each share in turn
    for part_N, whole_N in shares.values():
        for column_N in fractions(part_N, whole_N, AVERAGE):
            sums.append(np.bincount(group_N, column_N))

    drawn_RK = resample_groups(np.stack(sums, axis=1), resamples, seed)

    draws = {}
    for number, name in enumerate(shares):
        numerator_R = drawn_RK[:, 2 * number]
        denominator_R = drawn_RK[:, 2 * number + 1]
        undefined_R = np.full(resamples, np.nan)
        draws[name] = np.divide(
            numerator_R, denominator_R, out=undefined_R, where=denominator_R > 0
        )

    return draws


def _intervals(values: Mapping[str, float], draws: Mapping[str, Floats]) -> Shares:
    """Give each value its 95 % percentile interval; None for NaN."""
    intervals = dict.fromkeys(values)
    for name, value in values.items():
        if not np.isnan(value):
            low, high = np.nanquantile(draws[name], [0.025, 0.975])
            intervals[name] = Interval(value, float(low), float(high))
    return intervals
