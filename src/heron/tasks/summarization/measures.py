"""Shares of a profile with their intervals, and the definitions of them that a paper may have used.

Legend: N documents, R resamples.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from heron.base.cells import Interval
from heron.metrics.rates import RESAMPLES, Ids
from heron.metrics.summary_statistics import (
    AVERAGES,
    COUNTS,
    SHARES,
    Floats,
    average_share,
    draw_shares,
)
from heron.tasks.summarization.profile import WHITESPACE, Profile

Shares = Mapping[str, Interval | None]
COUNT, AVERAGE = COUNTS[0], AVERAGES[0]  # what tables show, unless they say otherwise


@dataclass(frozen=True, slots=True)
class PublishedStatistics:
    """What a paper printed, as fractions, counts and lengths; None where it printed nothing.

    Args:
        paper: its authors and name.
        texts: for each split, statistics of its texts by name (`article_length`, ...).
        summaries: for each data set that it names, the shares `novel_1` to `redundancy_2`.
        systems: the same of systems' summaries.
        beside: which of `summaries` a unit of heron's is compared with.
    """

    paper: str
    texts: Mapping[str, Mapping[str, float | None]]
    summaries: Mapping[str, Mapping[str, float | None]]
    systems: Mapping[str, Mapping[str, float | None]]
    beside: Mapping[str, str]


class Definition(NamedTuple):
    """One way to compute the shares, and how far it is from what a paper printed.

    Args:
        unit: what a token is.
        counted: `type` or `token`.
        average: `document` or `corpus`.
        shares: fractions by name; nan where nothing could be counted.
        row: the paper's row that it is compared with; None without a paper.
        mean_distance: mean of the absolute differences, a fraction.
        largest: the largest of them.
        compared: how many shares both have.
    """

    unit: str
    counted: str
    average: str
    shares: Mapping[str, float]
    row: str | None = None
    mean_distance: float | None = None
    largest: float | None = None
    compared: int = 0


class Comparison(NamedTuple):
    """Shares of two sets of summaries of the same articles, by unit.

    Each share is over the documents where both sets have something to count, so the difference of
    the first two is the third.

    Args:
        gold: of one set.
        system: of the other.
        differences: system - gold, with the 95 % interval of the same draws for both.
        empty: how many summaries of the system hold nothing.
    """

    gold: dict[str, Shares]
    system: dict[str, Shares]
    differences: dict[str, Shares]
    empty: int


def measure(found: Profile, seed: int = 0) -> dict[str, Shares]:
    """Compute each unit's shares (types, means over documents) with their 95 % intervals.

    Args:
        found: the profile.
        seed: of the draws of documents.
    """
    measured: dict[str, Shares] = {}
    for unit, tally in found.tallies.items():
        counts = tally.shares(COUNT)
        values, drawn = _averages(counts), _draws(counts, found.group_N, seed)
        measured[unit] = _intervals(values, drawn)
    return measured


def compare_profiles(system: Profile, gold: Profile, seed: int = 0) -> Comparison:
    """Compare the shares of one set of summaries with those of another, of the same articles.

    Args:
        system: one set.
        gold: the other.
        seed: of the draws of documents.
    """
    lengths_N = system.tallies[WHITESPACE].lengths()[1]
    compared = Comparison({}, {}, {}, int((lengths_N == 0).sum()))
    for unit in system.tallies:
        theirs, ours = _common(*(each.tallies[unit].shares(COUNT) for each in (gold, system)))
        one, other = _averages(ours), _averages(theirs)
        ours_R, theirs_R = (_draws(counts, gold.group_N, seed) for counts in (ours, theirs))
        compared.gold[unit] = _intervals(other, theirs_R)
        compared.system[unit] = _intervals(one, ours_R)
        compared.differences[unit] = _intervals(
            {name: one[name] - other[name] for name in SHARES},
            {name: ours_R[name] - theirs_R[name] for name in SHARES},
        )
    return compared


def _common(
    one: Mapping[str, Floats], other: Mapping[str, Floats]
) -> tuple[dict[str, Floats], dict[str, Floats]]:
    """Leave the documents out of both where either has nothing to count."""
    both_N = {name: (one[name][1] > 0) & (other[name][1] > 0) for name in SHARES}
    return (
        {name: one[name] * both_N[name] for name in SHARES},
        {name: other[name] * both_N[name] for name in SHARES},
    )


def _intervals(values: Mapping[str, float], drawn: Mapping[str, Floats]) -> Shares:
    return {
        name: None if np.isnan(value) else Interval(value, *_middle(drawn[name]))
        for name, value in values.items()
    }


def shares_of(
    found: Profile, unit: str, count: str = COUNT, average: str = AVERAGE
) -> dict[str, float]:
    """Average one unit's shares; fractions, nan where nothing can be counted."""
    return _averages(found.tallies[unit].shares(count), average)


def _averages(shares: Mapping[str, Floats], average: str = AVERAGE) -> dict[str, float]:
    return {name: average_share(pair[0], pair[1], average) for name, pair in shares.items()}


def definitions(found: Profile, published: PublishedStatistics | None) -> list[Definition]:
    """Compute the shares in every way; the nearest to the paper first, where there is one."""
    all_ways = [
        _define(found, unit, count, average, published)
        for unit in found.tallies
        for count in COUNTS
        for average in AVERAGES
    ]
    return sorted(all_ways, key=lambda one: (one.mean_distance is None, one.mean_distance or 0.0))


def _define(
    found: Profile, unit: str, count: str, average: str, published: PublishedStatistics | None
) -> Definition:
    shares = shares_of(found, unit, count, average)
    if published is None or unit not in published.beside:
        return Definition(unit, count, average, shares)
    row = published.beside[unit]
    # Summaries that are shorter than n have no n-grams, and a paper may leave a share out.
    distances = [
        abs(shares[name] - value)
        for name, value in published.summaries[row].items()
        if value is not None and not np.isnan(shares[name])
    ]
    if not distances:
        return Definition(unit, count, average, shares, row)
    mean, largest = float(np.mean(distances)), max(distances)
    return Definition(unit, count, average, shares, row, mean, largest, len(distances))


def _draws(shares: Mapping[str, Floats], group_N: Ids, seed: int) -> dict[str, Floats]:
    return draw_shares(shares, group_N, AVERAGE, RESAMPLES, seed)


def _middle(drawn_R: Floats) -> tuple[float, float]:
    low, high = np.nanquantile(drawn_R, [0.025, 0.975])
    return float(low), float(high)
