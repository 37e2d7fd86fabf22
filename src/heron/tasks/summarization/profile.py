"""What articles and their summaries are like, counted in one pass over their texts.

Legend: N documents.
Source: HeSum, sections 3.2 and 3.3 (Tables 1, 2, 5 and 7).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from heron.base.errors import DataError, Problem
from heron.languages.analysis import Analysis, with_marks
from heron.languages.morphology import Morphology
from heron.metrics.rates import Ids, group_ids
from heron.metrics.summary_statistics import Tally, Tokens, by_whitespace, by_words

WORDS, WHITESPACE, LEMMAS, MORPHEMES = "words", "whitespace", "lemmas", "morphemes"
# The same with punctuation marks as tokens among them.
MARKED_LEMMAS, MARKED_MORPHEMES = "lemmas and marks", "morphemes and marks"
UNITS = (WORDS, WHITESPACE, LEMMAS, MARKED_LEMMAS, MORPHEMES, MARKED_MORPHEMES)
_AT_ONCE = 256  # documents


class Pair(NamedTuple):
    """An article and its summary; pairs of one group are not independent ("" stands alone)."""

    article: str
    summary: str
    group: str


@dataclass(slots=True)
class Side:
    """The articles, or the summaries: what a morphological backend says of them, summed up.

    Args:
        texts: how many.
        words: of all of them, as the backend counts words.
        lemmas: distinct ones.
        morphemes: of all of them; None where the backend does not take words apart.
        constructs: words in construct state; None where it does not know.
        anaphors: pronominal suffixes; None where it does not know.
        readings: ways to take words apart, summed over words; None where it does not know.
        ambiguous: words that have several.
    """

    texts: int = 0
    words: int = 0
    lemmas: set[str] = field(default_factory=set)
    morphemes: int | None = 0
    constructs: int | None = 0
    anaphors: int | None = 0
    readings: int | None = 0
    ambiguous: int | None = 0

    def add(self, one: Analysis) -> None:
        """Count one text."""
        self.texts += 1
        self.words += one.words
        self.lemmas.update(one.lemmas)
        known = one.readings
        self.morphemes = _sum(self.morphemes, None if one.morphemes is None else len(one.morphemes))
        self.constructs = _sum(self.constructs, one.constructs)
        self.anaphors = _sum(self.anaphors, one.anaphors)
        self.readings = _sum(self.readings, None if known is None else sum(known))
        several = None if known is None else sum(ways > 1 for ways in known)
        self.ambiguous = _sum(self.ambiguous, several)

    def update(self, other: Side) -> None:
        """Count the texts of another side, too."""
        self.texts += other.texts
        self.words += other.words
        self.lemmas |= other.lemmas
        for name in ("morphemes", "constructs", "anaphors", "readings", "ambiguous"):
            setattr(self, name, _sum(getattr(self, name), getattr(other, name)))


def _sum(so_far: int | None, more: int | None) -> int | None:
    return None if so_far is None or more is None else so_far + more


@dataclass(frozen=True, slots=True)
class Profile:
    """Pairs of articles and summaries.

    Args:
        tallies: n-grams counted by each of `UNITS`, without those that the backend lacks.
        articles: what the backend says of them.
        summaries: likewise.
        group_N: number of each pair's group.
    """

    tallies: dict[str, Tally]
    articles: Side
    summaries: Side
    group_N: Ids

    def __len__(self) -> int:
        return len(self.group_N)


def profile(pairs: Sequence[Pair], morphology: Morphology) -> Profile:
    """Count everything about some pairs.

    Raises:
        DataError: there is none, or the backend has no analysis of a text.
    """
    if not pairs:
        fix = "statistics need articles with summaries"
        raise DataError(Problem("summary statistics", "no article has a summary", fix))
    tallies: dict[str, Tally] = {}
    articles, summaries = Side(), Side()
    # Long articles are analysed and forgotten part by part.
    for start in range(0, len(pairs), _AT_ONCE):
        part = pairs[start : start + _AT_ONCE]
        first = _cut([pair.article for pair in part], articles, morphology)
        second = _cut([pair.summary for pair in part], summaries, morphology)
        for unit in first.keys() & second.keys():
            tally = tallies.setdefault(unit, Tally())
            for article, summary in zip(first[unit], second[unit], strict=True):
                tally.add(article, summary)
    ordered = {unit: tallies[unit] for unit in UNITS if unit in tallies}
    return Profile(ordered, articles, summaries, group_ids([pair.group for pair in pairs]))


def _cut(texts: list[str], side: Side, morphology: Morphology) -> dict[str, Sequence[Tokens]]:
    """Cut texts into each unit, and count what the backend says of them."""
    analyses = morphology.analyse(texts)
    for one in analyses:
        side.add(one)
    cut: dict[str, Sequence[Tokens]] = {WORDS: by_words(texts), WHITESPACE: by_whitespace(texts)}
    cut[LEMMAS] = [one.lemmas for one in analyses]
    cut[MARKED_LEMMAS] = [with_marks(one.lemmas, one.marks) for one in analyses]
    if all(one.morphemes is not None for one in analyses):
        cut[MORPHEMES] = [one.morphemes or () for one in analyses]
        cut[MARKED_MORPHEMES] = [with_marks(one.morphemes or (), one.marks) for one in analyses]
    return cut


def merge(profiles: Sequence[Profile]) -> Profile:
    """Put profiles of different pairs together, as if they had been counted at once.

    Groups of the same number in two of them stay two groups.
    """
    units = [unit for unit in UNITS if all(unit in one.tallies for one in profiles)]
    groups, first = [], 0
    for one in profiles:
        groups.append(one.group_N + first)
        first += int(one.group_N.max(initial=-1)) + 1
    articles, summaries = Side(), Side()
    for one in profiles:
        articles.update(one.articles)
        summaries.update(one.summaries)
    return Profile(
        {unit: Tally.merge([one.tallies[unit] for one in profiles]) for unit in units},
        articles,
        summaries,
        np.concatenate(groups),
    )
