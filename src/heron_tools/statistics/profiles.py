"""N-gram counts of articles and summaries; novelty, compression and redundancy with intervals.

Legend: N documents.
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

WORDS, WHITESPACE, LEMMAS, MORPHEMES = "words", "whitespace", "lemmas", "morphemes"
# The same units, with punctuation marks as tokens, too.
MARKED_LEMMAS, MARKED_MORPHEMES = "lemmas and marks", "morphemes and marks"
UNITS = (WORDS, WHITESPACE, LEMMAS, MARKED_LEMMAS, MORPHEMES, MARKED_MORPHEMES)
COUNT, AVERAGE = COUNTS[0], AVERAGES[0]  # the definition that tables show
_AT_ONCE = 256  # documents per batch

Shares = Mapping[str, Interval | None]


class Pair(NamedTuple):
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
            one, more = getattr(self, name), getattr(other, name)
            setattr(self, name, None if one is None or more is None else one + more)


@dataclass(frozen=True, slots=True)
class Profile:
    """Counts of some pairs of articles and summaries."""

    tallies: dict[str, Tally]  # counts of n-grams by unit, one of `UNITS`
    articles: Side
    summaries: Side
    group_N: Ids  # the number of each pair's group

    def __len__(self) -> int:
        return len(self.group_N)


def profile(pairs: Sequence[Pair], morphology: Morphology) -> Profile:
    """Count pairs (at least one) in batches, because articles are long."""
    if not pairs:
        fix = "statistics need articles with summaries"
        raise DataError("summary statistics", "no article has a summary", fix)
    tallies: dict[str, Tally] = {}
    articles, summaries = Side(), Side()
    for start in range(0, len(pairs), _AT_ONCE):
        part = pairs[start : start + _AT_ONCE]
        first = _tokens([pair.article for pair in part], articles, morphology)
        second = _tokens([pair.summary for pair in part], summaries, morphology)
        for unit in first.keys() & second.keys():
            tally = tallies.setdefault(unit, Tally())
            for both in zip(first[unit], second[unit], strict=True):
                tally.add(*both)
    ordered = {unit: tallies[unit] for unit in UNITS if unit in tallies}
    return Profile(ordered, articles, summaries, group_ids([pair.group for pair in pairs]))


def _tokens(texts: list[str], side: Side, morphology: Morphology) -> dict[str, Sequence[Tokens]]:
    """Split texts into tokens of each unit, and add their counts to `side`."""
    analyses = morphology.analyse(texts)
    for analysis in analyses:
        side.update(_counts(analysis))
    tokens: dict[str, Sequence[Tokens]] = {
        WORDS: by_words(texts),
        WHITESPACE: by_whitespace(texts),
        LEMMAS: [analysis.lemmas for analysis in analyses],
        MARKED_LEMMAS: [with_marks(analysis.lemmas, analysis.marks) for analysis in analyses],
    }
    morphemes = [analysis.morphemes for analysis in analyses if analysis.morphemes is not None]
    if len(morphemes) == len(analyses):
        marks = [analysis.marks for analysis in analyses]
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
        side.ambiguous = sum(ways > 1 for ways in analysis.readings)
    return side


def merge(profiles: Sequence[Profile]) -> Profile:
    """Join profiles of different pairs; no group is in two of them."""
    tallies = {}
    for unit in UNITS:
        if all(unit in part.tallies for part in profiles):
            tallies[unit] = Tally.merge([part.tallies[unit] for part in profiles])
    articles, summaries = Side(), Side()
    groups, first_group = [], 0
    for part in profiles:
        groups.append(part.group_N + first_group)
        first_group += int(part.group_N.max(initial=-1)) + 1
        articles.update(part.articles)
        summaries.update(part.summaries)
    return Profile(tallies, articles, summaries, np.concatenate(groups))


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


def definitions(found: Profile) -> list[Definition]:
    """Compute the shares by every definition."""
    return [
        Definition(unit, count, average, _averages(tally.shares(count), average))
        for unit, tally in found.tallies.items()
        for count in COUNTS
        for average in AVERAGES
    ]


def _averages(shares: Mapping[str, Floats], average: str = AVERAGE) -> dict[str, float]:
    return {name: average_share(pair[0], pair[1], average) for name, pair in shares.items()}


def measure(found: Profile, seed: int = 0) -> dict[str, Shares]:
    """Compute each unit's shares with 95 % intervals, a bootstrap over documents."""
    return {
        unit: _intervals(*_drawn(tally.shares(COUNT), found.group_N, seed))
        for unit, tally in found.tallies.items()
    }


class Comparison(NamedTuple):
    """Shares of a system's summaries and of the gold ones, by unit.

    Each share is over the articles where both have something to count.
    """

    gold: dict[str, Shares]
    system: dict[str, Shares]
    differences: dict[str, Shares]  # system - gold, with the interval of the same resamples
    empty: int  # number of empty summaries of the system


def compare_profiles(system: Profile, gold: Profile, seed: int = 0) -> Comparison:
    """Compare a system's summaries with the gold ones of the same articles."""
    lengths_N = system.tallies[WHITESPACE].lengths()[1]
    compared = Comparison({}, {}, {}, int((lengths_N == 0).sum()))
    for unit in system.tallies:
        own = system.tallies[unit].shares(COUNT)
        right = gold.tallies[unit].shares(COUNT)
        own_shares, gold_shares = {}, {}
        for name in SHARES:
            both_N = (own[name][1] > 0) & (right[name][1] > 0)
            own_shares[name] = own[name] * both_N
            gold_shares[name] = right[name] * both_N
        own_means, own_draws = _drawn(own_shares, gold.group_N, seed)
        gold_means, gold_draws = _drawn(gold_shares, gold.group_N, seed)
        compared.system[unit] = _intervals(own_means, own_draws)
        compared.gold[unit] = _intervals(gold_means, gold_draws)
        compared.differences[unit] = _intervals(
            {name: own_means[name] - gold_means[name] for name in SHARES},
            {name: own_draws[name] - gold_draws[name] for name in SHARES},
        )
    return compared


def _drawn(
    shares: Mapping[str, Floats], group_N: Ids, seed: int
) -> tuple[dict[str, float], dict[str, Floats]]:
    """Average shares over all documents, and over the documents of each resample."""
    return _averages(shares), draw_shares(shares, group_N, seed)


def draw_shares(
    shares: Mapping[str, Floats], group_N: Ids, seed: int = 0, resamples: int = RESAMPLES
) -> dict[str, Floats]:
    """Average shares over bootstrap resamples of the documents, float64 `[R]` each.

    All shares (of `Tally.shares`) use the same resamples, and so do two systems on the same
    documents and seed. Groups, numbered from 0, are drawn whole. NaN: undefined in a resample.
    """
    columns = [c for pair in shares.values() for c in fractions(pair[0], pair[1], AVERAGE)]
    sums_GK = np.stack([np.bincount(group_N, column) for column in columns], axis=1)
    over_KR, under_KR = (
        resample_groups(sums_GK, resamples, seed).T.reshape(-1, 2, resamples).swapaxes(0, 1)
    )
    nothing = np.full_like(over_KR, np.nan)
    drawn_KR = np.divide(over_KR, under_KR, out=nothing, where=under_KR > 0)
    return dict(zip(shares, drawn_KR, strict=True))


def _intervals(values: Mapping[str, float], drawn: Mapping[str, Floats]) -> Shares:
    intervals: dict[str, Interval | None] = dict.fromkeys(values)
    for name, value in values.items():
        if not np.isnan(value):
            low, high = np.nanquantile(drawn[name], [0.025, 0.975])
            intervals[name] = Interval(value, float(low), float(high))
    return intervals
