"""Shares of a profile with their intervals, and the definitions of them that a paper may have used.

Legend: N documents, R resamples.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from heron.analysis.published_statistics import PublishedStatistics
from heron.analysis.summary_profile import Profile
from heron.metrics.summary_counts import (
    AVERAGES,
    COUNTS,
    SHARES,
    Floats,
    average_share,
    draw_shares,
)
from heron.reporting.cells import Interval

Shares = Mapping[str, Interval | None]
COUNT, AVERAGE = COUNTS[0], AVERAGES[0]  # what tables show, unless they say otherwise
_RESAMPLES = 1000


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


def measure(found: Profile, seed: int = 0) -> dict[str, Shares]:
    """Compute each unit's shares (types, means over documents) with their 95 % intervals.

    Args:
        found: the profile.
        seed: of the draws of documents.
    """
    return {unit: _intervals(found, unit, seed) for unit in found.tallies}


def _intervals(found: Profile, unit: str, seed: int) -> dict[str, Interval | None]:
    values = shares_of(found, unit)
    drawn = _draws(found, unit, seed)
    return {
        name: None if np.isnan(value) else Interval(value, *_middle(drawn[name]))
        for name, value in values.items()
    }


def compare_profiles(system: Profile, gold: Profile, seed: int = 0) -> dict[str, Shares]:
    """Subtract the shares of one set of summaries from those of another, of the same articles.

    Returns:
        For each unit system - gold, with the 95 % interval of the same draws for both.
    """
    differences: dict[str, Shares] = {}
    for unit in system.tallies:
        ours, theirs = shares_of(system, unit), shares_of(gold, unit)
        one, other = (_draws(each, unit, seed) for each in (system, gold))
        differences[unit] = {
            name: None
            if np.isnan(ours[name] - theirs[name])
            else Interval(ours[name] - theirs[name], *_middle(one[name] - other[name]))
            for name in SHARES
        }
    return differences


def shares_of(
    found: Profile, unit: str, count: str = COUNT, average: str = AVERAGE
) -> dict[str, float]:
    """Average one unit's shares; fractions, nan where nothing can be counted."""
    shares = found.tallies[unit].shares(count)
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


def _draws(found: Profile, unit: str, seed: int) -> dict[str, Floats]:
    shares = found.tallies[unit].shares(COUNT)
    return draw_shares(shares, found.group_N, AVERAGE, _RESAMPLES, seed)


def _middle(drawn_R: Floats) -> tuple[float, float]:
    low, high = np.nanquantile(drawn_R, [0.025, 0.975])
    return float(low), float(high)
