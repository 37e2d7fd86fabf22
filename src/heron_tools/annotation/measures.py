"""Inter-annotator agreement: Cohen's, Fleiss' and Krippendorff's measures, ratings, majority.

Legend: R raters, U units (items), G groups of units, F features of a value, K sums, C labels.

Source: statsmodels for the kappas; TRC, section 3.4 and the authors' code, for the relaxed variant;
LCHAIM, section 2.2, for the mean absolute difference of ratings; Krippendorff 2011, "Computing
Krippendorff's Alpha-Reliability", and HeSum, section 4.1 (interval alpha of seven raters).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt
from scipy import stats
from statsmodels.stats.inter_rater import aggregate_raters, cohens_kappa, fleiss_kappa

from heron.base.cells import Cell, Interval, Table
from heron.base.errors import Problem, raise_all
from heron.metrics.intervals import number_groups, percentile_intervals, resample_groups
from heron_tools.annotation.labels import Labels

RESAMPLES = 1000
_NOTHING = 1e-9  # times n squared: smaller expected disagreement is rounding error

Floats = npt.NDArray[np.float64]
Values = Sequence[Sequence[str]]  # labels of each item
Counts = np.ndarray | None  # how often each item occurs; None: once
Measure = Callable[[Values, Counts], float]


@dataclass(frozen=True, slots=True)
class Agreement:
    """One measure of agreement, with its 95 % interval.

    `value` is None if it is undefined: without items, or with equal labels only.
    """

    measure: str
    value: float | None
    low: float | None
    high: float | None
    n: int  # items used
    labels: int = 0  # of these items; for alpha only

    @classmethod
    def of(
        cls, measure: str, value: float, draws: npt.ArrayLike, n: int, labels: int = 0
    ) -> Agreement:
        """Make a measure from its value and its resamples; non-finite values are undefined."""
        finite_R = np.asarray(draws, np.float64)
        finite_R = finite_R[np.isfinite(finite_R)]
        if not math.isfinite(value) or not finite_R.size:
            return cls(measure, value if math.isfinite(value) else None, None, None, n, labels)
        ends = percentile_intervals({"value": finite_R})
        return cls(measure, value, ends["value_low"], ends["value_high"], n, labels)

    @property
    def cell(self) -> Cell:
        """The value, with its interval if it has one."""
        if self.value is None or self.low is None or self.high is None:
            return self.value
        return Interval(self.value, min(self.low, self.value), max(self.high, self.value))


def agreements(
    labels: Labels, relaxed: str = "", resamples: int = RESAMPLES, seed: int = 0
) -> list[Agreement]:
    """Compute all measures that fit the number of raters.

    Args:
        labels: the labels.
        relaxed: a label that agrees with every other: if one of two raters gave it, it counts as
            the other's label. Adds relaxed measures for two raters.
        resamples: bootstrap resamples of the items.
        seed: the same seed gives the same intervals.
    """
    chosen: list[tuple[str, Measure, Values]] = [("raw agreement", _raw, _several(labels))]
    if len(labels.raters) == 2:
        pairs = pairs_of(labels, 0, 1)
        chosen.append(("Cohen's kappa", cohen, pairs))
        if relaxed:
            agreed = relax(pairs, relaxed)
            chosen.append(("relaxed raw agreement", _raw, agreed))
            chosen.append(("relaxed Cohen's kappa", cohen, agreed))
    else:
        chosen.append(("Fleiss' kappa", fleiss, _equally_often(labels)))
    names = {name: n for n, name in enumerate(sorted({x for said in labels.values for x in said}))}
    numbers = [[names[x] if x else math.nan for x in said] for said in labels.values]
    values_RU = np.array(numbers, np.float64).T
    alpha = krippendorff_alpha(values_RU, "nominal", labels.items, resamples=resamples, seed=seed)
    return [*(_measure(*each, resamples, seed) for each in chosen), alpha]


def pairs_of(labels: Labels, first: int, second: int) -> list[tuple[str, str]]:
    """List the labels of two raters for the items that both have labelled."""
    both = ((said[first], said[second]) for said in labels.values)
    return [pair for pair in both if all(pair)]


def relax(pairs: Sequence[tuple[str, str]], label: str) -> list[tuple[str, str]]:
    """Replace `label` by the other rater's label."""
    return [(b if a == label else a, a if b == label else b) for a, b in pairs]


def cohen(pairs: Values, counts: Counts = None) -> float:
    """Compute Cohen's kappa of two raters; NaN if both gave the same single label to all."""
    names = sorted({name for pair in pairs for name in pair})
    counts_CC = np.zeros((len(names), len(names)))
    places = tuple([names.index(pair[side]) for pair in pairs] for side in (0, 1))
    np.add.at(counts_CC, places, 1 if counts is None else counts)
    if (counts_CC.sum(axis=0) + counts_CC.sum(axis=1) > 0).sum() < 2:
        return math.nan
    return float(cohens_kappa(counts_CC, return_results=False))


def fleiss(values: Values, counts: Counts = None) -> float:
    """Compute Fleiss' kappa of items with equally many labels; NaN where it is undefined."""
    counts_UC, _ = aggregate_raters(np.asarray(values, dtype=str))
    counts_UC = counts_UC if counts is None else np.repeat(counts_UC, counts, axis=0)
    return math.nan if (counts_UC.sum(axis=0) > 0).sum() < 2 else float(fleiss_kappa(counts_UC))


def _several(labels: Labels) -> list[list[str]]:
    given = ([label for label in said if label] for said in labels.values)
    return [said for said in given if len(said) > 1]


def _equally_often(labels: Labels) -> list[list[str]]:
    """List the labels of the items with n labels, where n (2 or more) is the most frequent number.

    Fleiss' kappa needs a fixed number of labels per item, not the same raters. The larger number
    wins ties.
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

    Each resample draws how often each combination of labels occurs.
    """
    value = compute(values, None) if values else math.nan
    if not math.isfinite(value):
        return Agreement.of(name, value, (), len(values))
    counted = sorted(Counter(map(tuple, values)).items())
    kinds = [kind for kind, _ in counted]
    shares = np.array([count for _, count in counted]) / len(values)
    drawn_RK = np.random.default_rng(seed).multinomial(len(values), shares, size=resamples)
    return Agreement.of(name, value, [compute(kinds, row) for row in drawn_RK], len(values))


def krippendorff_alpha(
    values_RU: npt.ArrayLike,
    level: str = "interval",
    groups: Sequence[str] | None = None,
    *,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Agreement:
    """Compute Krippendorff's alpha, and its interval by resampling whole groups.

    Args:
        values_RU: numbers; NaN: a rater has not rated a unit. Units with fewer than two values are
            left out.
        level: `interval` weights a disagreement by its squared difference, `nominal` weights all
            disagreements equally.
        groups: U names: units of one group (summaries of one article) are drawn together. With
            None or a single group there is no interval.
        resamples: number of draws; with 0 there is no interval.
        seed: the same seed gives the same interval.
    """
    sums_UK = _unit_sums(np.asarray(values_RU, dtype=np.float64), level)
    counted_U = sums_UK[:, 0] > 0
    total_K, draws = sums_UK.sum(axis=0), np.zeros(0)
    if groups is not None and resamples and counted_U.any():
        of_unit = [group for group, counts in zip(groups, counted_U, strict=True) if counts]
        sums_GK = np.zeros((len(set(of_unit)), sums_UK.shape[1]))
        np.add.at(sums_GK, number_groups(of_unit), sums_UK[counted_U])
        if len(sums_GK) > 1:  # one group cannot be resampled
            draws = _alpha(resample_groups(sums_GK, resamples, seed))
    counts = int(counted_U.sum()), int(total_K[0])
    return Agreement.of("Krippendorff's alpha", float(_alpha(total_K)), draws, *counts)


def _unit_sums(values_RU: Floats, level: str) -> Floats:
    """Compute each unit's summands of alpha; zeros for a unit without a pair.

    The squared differences of all ordered pairs of m vectors add up to 2 m Q - 2 |S|^2, where S is
    their sum and Q the sum of their squared lengths. Nominal categories are one-hot vectors.

    Returns:
        `[U, 3 + F]`: m, Q, disagreement (pairs' sum / (m - 1)), S.
    """
    given_RU = ~np.isnan(values_RU)
    m_U = given_RU.sum(axis=0)
    given_RU = given_RU & (m_U > 1)
    m_U = np.where(m_U > 1, m_U, 0)
    some = values_RU[given_RU]
    if level == "nominal":
        categories = np.unique(some)
        features_FRU = (values_RU == categories[:, None, None]).astype(np.float64)
    else:
        # Scaled to -1/2 to 1/2: sums of squares of large numbers would lose precision.
        low, high = (some.min(), some.max()) if some.size else (0.0, 1.0)
        features_FRU = ((values_RU - (low + high) / 2) / ((high - low) or 1.0))[None]
    features_FRU = np.where(given_RU, features_FRU, 0.0)
    sum_FU = features_FRU.sum(axis=1)
    squares_U = (features_FRU**2).sum(axis=(0, 1))
    pairs_U = 2 * m_U * squares_U - 2 * (sum_FU**2).sum(axis=0)
    disagreement_U = np.maximum(pairs_U, 0.0) / np.maximum(m_U - 1, 1)
    return np.column_stack([m_U, squares_U, disagreement_U, sum_FU.T])


def _alpha(sums_K: Floats) -> Floats:
    """Compute alpha from sums over units, `[..., K]` to `[...]`; NaN where it is undefined."""
    n, squares, observed = sums_K[..., 0], sums_K[..., 1], sums_K[..., 2]
    expected = 2 * n * squares - 2 * (sums_K[..., 3:] ** 2).sum(axis=-1)
    defined = expected > _NOTHING * np.maximum(n, 1) ** 2
    return np.where(defined, 1 - (n - 1) * observed / np.where(defined, expected, 1.0), np.nan)


def rating_differences(labels: Labels) -> Agreement:
    """Average the absolute differences of each item's ratings, with a t-interval over items.

    Raises:
        DataError: a rating is not a number.
    """
    differences, problems = [], []
    for item, said in zip(labels.items, labels.values, strict=True):
        try:
            ratings = [float(rating) for rating in said if rating]
        except ValueError:
            problems.append(Problem(item, f"ratings {', '.join(said)}", "numbers"))
            continue
        if len(ratings) > 1:
            differences.append(np.mean([abs(a - b) for a, b in combinations(ratings, 2)]))
    raise_all(problems)
    name, n = "mean absolute difference", len(differences)
    mean = float(np.mean(differences)) if n else None
    if n < 2 or mean is None:
        return Agreement(name, mean, None, None, n)
    half = float(stats.t.ppf(0.975, n - 1) * stats.sem(differences))
    return Agreement(name, mean, mean - half, mean + half, n)


def agreement_table(
    named: Sequence[tuple[str, Sequence[Agreement]]], interval: str = "bootstrap interval"
) -> Table:
    """Lay out measures, a row for each, by group; `interval` names the kind of their intervals."""
    rows = tuple((group, e.measure, e.cell, e.n) for group, found in named for e in found)
    note = f"[low, high]: 95 % {interval} over items. n: items used."
    return Table("Agreement", ("items", "measure", "value", "n"), rows, note)


def pair_table(labels: Labels, relaxed: str = "") -> Table:
    """Show Cohen's kappa and raw agreement of each pair of raters, also relaxed."""
    rows: list[tuple[Cell, ...]] = []
    for first, second in combinations(range(len(labels.raters)), 2):
        pairs = pairs_of(labels, first, second)
        kinds = [pairs, relax(pairs, relaxed)] if relaxed else [pairs]
        found = [
            _measure("", compute, kind, 0, 0).value for kind in kinds for compute in (cohen, _raw)
        ]
        rows.append((labels.raters[first], labels.raters[second], *found, len(pairs)))
    shown = ["Cohen's kappa", "raw agreement"]
    shown += [f"relaxed {name}" for name in shown] if relaxed else []
    return Table("Pairs of raters", ("rater", "other", *shown, "n"), tuple(rows))


def confusion_table(labels: Labels) -> Table:
    """Lay out the confusion matrix of two raters, the first in rows."""
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
