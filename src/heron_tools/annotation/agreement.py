"""Agreement of people: Cohen's, Fleiss' and Krippendorff's measures, majority, adjudication.

Source: statsmodels for the kappas; TRC, section 3.4 and the authors' code, for the relaxed variant;
LCHAIM, section 2.2, for the mean absolute difference of ratings.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy import stats
from statsmodels.stats.inter_rater import aggregate_raters, cohens_kappa, fleiss_kappa

from heron.base.cells import Cell, Interval, Table
from heron.base.errors import DataError, Problem
from heron.metrics.agreement import krippendorff_alpha
from heron_tools.annotation.labels import Labels

RESAMPLES = 1000
_TAILS = (0.025, 0.975)

Values = Sequence[Sequence[str]]  # labels of each item
Counts = np.ndarray | None  # how often each of them occurs; None: once
Measure = Callable[[Values, Counts], float]


@dataclass(frozen=True, slots=True)
class Agreement:
    """One measure of agreement."""

    measure: str
    value: float | None  # None where it is undefined, such as with one label only
    low: float | None  # 95 % interval
    high: float | None
    n: int  # items that count


def agreements(
    labels: Labels, relaxed: str = "", resamples: int = RESAMPLES, seed: int = 0
) -> list[Agreement]:
    """Compute all measures that fit the number of raters.

    Args:
        labels: the labels.
        relaxed: a label that agrees with every other: where one of two raters gave it, it counts as
            the other's label. Adds relaxed measures of two raters.
        resamples: draws of items for the intervals.
        seed: the same seed gives the same intervals.
    """
    found = [_measure("raw agreement", _raw, _several(labels), resamples, seed)]
    if len(labels.raters) == 2:
        pairs = pairs_of(labels, 0, 1)
        found.append(_measure("Cohen's kappa", cohen, pairs, resamples, seed))
        if relaxed:
            agreed = relax(pairs, relaxed)
            found.append(_measure("relaxed raw agreement", _raw, agreed, resamples, seed))
            found.append(_measure("relaxed Cohen's kappa", cohen, agreed, resamples, seed))
    else:
        found.append(_measure("Fleiss' kappa", fleiss, _equally_often(labels), resamples, seed))
    return [*found, _alpha(labels, resamples, seed)]


def pairs_of(labels: Labels, first: int, second: int) -> list[tuple[str, str]]:
    """List what two raters said of the items that both have labelled."""
    both = ((said[first], said[second]) for said in labels.values)
    return [pair for pair in both if all(pair)]


def relax(pairs: Sequence[tuple[str, str]], label: str) -> list[tuple[str, str]]:
    """Replace `label` by the other rater's label."""
    return [(b if a == label else a, a if b == label else b) for a, b in pairs]


def cohen(pairs: Values, counts: Counts = None) -> float:
    """Compute Cohen's kappa of two raters; NaN where both gave one label to everything."""
    names = sorted({name for pair in pairs for name in pair})
    index = {name: number for number, name in enumerate(names)}
    counts_CC = np.zeros((len(names), len(names)))
    places = [[index[a] for a, _ in pairs], [index[b] for _, b in pairs]]
    np.add.at(counts_CC, tuple(places), 1 if counts is None else counts)
    if (counts_CC.sum(axis=0) + counts_CC.sum(axis=1) > 0).sum() < 2:
        return math.nan
    return float(cohens_kappa(counts_CC, return_results=False))


def fleiss(values: Values, counts: Counts = None) -> float:
    """Compute Fleiss' kappa of items with equally many labels; NaN where it is undefined."""
    counts_IC, _ = aggregate_raters(np.asarray(values, dtype=str))
    counts_IC = counts_IC if counts is None else np.repeat(counts_IC, counts, axis=0)
    return math.nan if (counts_IC.sum(axis=0) > 0).sum() < 2 else float(fleiss_kappa(counts_IC))


def _several(labels: Labels) -> list[list[str]]:
    given = ([label for label in said if label] for said in labels.values)
    return [said for said in given if len(said) > 1]


def _equally_often(labels: Labels) -> list[list[str]]:
    """List the labels of the items that have the most frequent number of them, 2 or more.

    Fleiss' kappa needs a fixed number of labels of each item, not the same raters. Of equally
    frequent numbers, the larger counts.
    """
    given = _several(labels)
    sizes = Counter(map(len, given))
    most = max(sizes, key=lambda size: (sizes[size], size), default=0)
    return [said for said in given if len(said) == most]


def _raw(values: Values, counts: Counts = None) -> float:
    """Compute the share of equal pairs of labels, averaged over items."""
    pairs = ([a == b for a, b in combinations(said, 2)] for said in values)
    return float(np.average([sum(same) / len(same) for same in pairs], weights=counts))


def _measure(name: str, compute: Measure, values: Values, resamples: int, seed: int) -> Agreement:
    """Compute a measure with its bootstrap interval over items.

    Draws say how often each combination of labels occurs.
    """
    value = compute(values, None) if values else math.nan
    if not math.isfinite(value) or not resamples:
        return Agreement(name, value if math.isfinite(value) else None, None, None, len(values))
    counted = sorted(Counter(map(tuple, values)).items())
    kinds = [kind for kind, _ in counted]
    shares = np.array([count for _, count in counted]) / len(values)
    drawn_RK = np.random.default_rng(seed).multinomial(len(values), shares, size=resamples)
    draws = [compute(kinds, row) for row in drawn_RK]
    low, high = np.quantile([draw for draw in draws if math.isfinite(draw)], _TAILS)
    return Agreement(name, value, float(low), float(high), len(values))


def _alpha(labels: Labels, resamples: int, seed: int) -> Agreement:
    """Compute Krippendorff's alpha of names, over all items with two labels or more."""
    names = {name: n for n, name in enumerate(sorted({x for said in labels.values for x in said}))}
    values_RU = np.array(
        [[names[x] if x else math.nan for x in said] for said in labels.values], dtype=np.float64
    ).T
    found = krippendorff_alpha(values_RU, "nominal", labels.items, resamples=resamples, seed=seed)
    return Agreement("Krippendorff's alpha", found.value, found.low, found.high, found.units)


def agreement_table(
    named: Sequence[tuple[str, Sequence[Agreement]]], interval: str = "bootstrap interval"
) -> Table:
    """Lay out measures, a row for each, by group; `interval` is the kind that they have."""
    rows: list[tuple[Cell, ...]] = [
        (group, each.measure, each.value if each.low is None else _interval(each), each.n)
        for group, found in named
        for each in found
    ]
    note = f"[low, high]: 95 % {interval} over items. n: items that count."
    return Table("Agreement", ("items", "measure", "value", "n"), tuple(rows), note)


def _interval(found: Agreement) -> Cell:
    assert found.value is not None
    assert found.low is not None
    assert found.high is not None
    return Interval(found.value, found.low, found.high)


def pair_table(labels: Labels, relaxed: str = "") -> Table:
    """Show Cohen's kappa and raw agreement of every two raters, and both relaxed."""
    rows: list[tuple[Cell, ...]] = []
    for first, second in combinations(range(len(labels.raters)), 2):
        pairs = pairs_of(labels, first, second)
        found = _two(pairs) + (_two(relax(pairs, relaxed)) if relaxed else ())
        rows.append((labels.raters[first], labels.raters[second], *found, len(pairs)))
    shown = ["Cohen's kappa", "raw agreement"]
    shown += [f"relaxed {name}" for name in shown] if relaxed else []
    return Table("Every two raters", ("rater", "other", *shown, "n"), tuple(rows))


def _two(pairs: Values) -> tuple[Cell, ...]:
    kappa = cohen(pairs) if pairs else math.nan
    return (kappa if math.isfinite(kappa) else None), (_raw(pairs) if pairs else None)


def confusion_table(labels: Labels) -> Table:
    """Count what two raters said, the first in rows."""
    pairs = Counter(pairs_of(labels, 0, 1))
    names = sorted({name for pair in pairs for name in pair})
    first, second = labels.raters
    rows: tuple[tuple[Cell, ...], ...] = tuple((a, *(pairs[a, b] for b in names)) for a in names)
    return Table(f"{first} (rows) and {second}", (first, *names), rows)


def majority(labels: Labels) -> list[str]:
    """Choose the label that most raters gave to each item; empty for a tie or without labels."""
    chosen = []
    for said in labels.values:
        (best, count), *others = Counter(filter(None, said)).most_common() or [("", 0)]
        chosen.append("" if others and others[0][1] == count else best)
    return chosen


def undecided(labels: Labels) -> Iterator[int]:
    """Yield the positions of the items on which raters disagree."""
    return (n for n, said in enumerate(labels.values) if len(set(filter(None, said))) > 1)


def rating_differences(labels: Labels) -> Agreement:
    """Average the absolute difference of ratings of an item, with a t-interval over items.

    Raises:
        DataError: a rating is no number; names each item.
    """
    problems, differences = [], []
    for item, said in zip(labels.items, labels.values, strict=True):
        try:
            ratings = [float(rating) for rating in said if rating]
        except ValueError:
            problems.append(Problem(item, f"ratings {', '.join(said)}", "numbers"))
            continue
        if len(ratings) > 1:
            differences.append(np.mean([abs(a - b) for a, b in combinations(ratings, 2)]))
    if problems:
        raise DataError(problems)
    if len(differences) < 2:
        value = float(differences[0]) if differences else None
        return Agreement("mean absolute difference", value, None, None, len(differences))
    mean = float(np.mean(differences))
    half = float(stats.t.ppf(0.975, len(differences) - 1) * stats.sem(differences))
    return Agreement("mean absolute difference", mean, mean - half, mean + half, len(differences))
