"""Inter-annotator agreement: Cohen's, Fleiss' and Krippendorff's measures, ratings, majority.

Legend: R raters, U units (items), G groups of units, F features of a value, K sums, C labels.

Source: statsmodels for the kappas; TRC, section 3.4 and the authors' code, for the relaxed variant;
LCHAIM, section 2.2, for the mean absolute difference of ratings; Krippendorff 2011, "Computing
Krippendorff's Alpha-Reliability", and HeSum, section 4.1 (interval alpha of seven raters).
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, compress

import numpy as np
import numpy.typing as npt
from scipy import stats
from statsmodels.stats.inter_rater import aggregate_raters, cohens_kappa, fleiss_kappa

from heron.base.cells import Cell, Interval, Row, Table
from heron.base.errors import Problem, raise_all
from heron.metrics.intervals import number_groups, percentile_intervals, resample_groups
from heron_tools.annotation.labels import Labels

RESAMPLES = 1000
_NOTHING = 1e-9  # expected disagreement below this share of n squared is rounding error

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
    low: float | None = None
    high: float | None = None
    n: int = 0  # items used
    labels: int = 0  # of these items; for alpha only

    @classmethod
    def of(
        cls, measure: str, value: float, draws: npt.ArrayLike, n: int, labels: int = 0
    ) -> Agreement:
        """Make a measure from its value and its resamples; non-finite values are undefined.

        Args:
            measure: its name.
            value: over all items.
            draws: the values of the resamples, for the interval; empty: no interval.
            n: items used.
            labels: of these items.
        """
        if not math.isfinite(value):
            return cls(measure, None, n=n, labels=labels)

        draws_R = np.asarray(draws, np.float64)
        finite_R = draws_R[np.isfinite(draws_R)]
        if not finite_R.size:
            return cls(measure, value, n=n, labels=labels)

        ends = percentile_intervals({"value": finite_R})
        return cls(measure, value, ends["value_low"], ends["value_high"], n, labels)

    @property
    def cell(self) -> Cell:
        """The value, with its interval if it has one."""
        if self.value is None or self.low is None or self.high is None:
            return self.value

        # Resamples may all lie on one side of the value.
        low = min(self.low, self.value)
        high = max(self.high, self.value)
        return Interval(self.value, low, high)


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

    Returns:
        Raw agreement; Cohen's kappa (two raters) or Fleiss' kappa (more); Krippendorff's alpha.
    """
    several = _several(labels)
    measures = [_measure("raw agreement", _raw, several, resamples, seed)]

    if len(labels.raters) == 2:
        pairs = pairs_of(labels, 0, 1)
        measures.append(_measure("Cohen's kappa", cohen, pairs, resamples, seed))
        if relaxed:
            relaxed_pairs = relax(pairs, relaxed)
            raw = _measure("relaxed raw agreement", _raw, relaxed_pairs, resamples, seed)
            kappa = _measure("relaxed Cohen's kappa", cohen, relaxed_pairs, resamples, seed)
            measures += [raw, kappa]
    else:
        # Fleiss' kappa needs a fixed number of labels per item, not the same raters.
        equally_often = _equally_often(several)
        measures.append(_measure("Fleiss' kappa", fleiss, equally_often, resamples, seed))

    # Krippendorff's alpha takes numbers: each label is its position in the sorted labels.
    labels_UR = np.array(labels.values, dtype=str)
    _, codes_UR = np.unique(labels_UR, return_inverse=True)
    values_UR = np.where(labels_UR == "", math.nan, codes_UR.reshape(labels_UR.shape))

    alpha = krippendorff_alpha(values_UR.T, "nominal", labels.items, resamples=resamples, seed=seed)
    return [*measures, alpha]


def pairs_of(labels: Labels, first: int, second: int) -> list[tuple[str, str]]:
    """List the labels of two raters for the items that both have labelled."""
    pairs = []
    for item_labels in labels.values:
        pair = item_labels[first], item_labels[second]
        if all(pair):
            pairs.append(pair)

    return pairs


def relax(pairs: Sequence[tuple[str, str]], label: str) -> list[tuple[str, str]]:
    """Replace `label`, which agrees with every label, by the other rater's label."""
    relaxed = []
    for first, second in pairs:
        if first == label:
            first = second
        elif second == label:
            second = first

        relaxed.append((first, second))

    return relaxed


def cohen(pairs: Values, counts: Counts = None) -> float:
    """Compute Cohen's kappa of two raters.

    Args:
        pairs: the labels of both raters for each item.
        counts: how often each pair occurs; None: once.

    Returns:
        The kappa; NaN if both gave the same single label to all.
    """
    names = sorted({name for pair in pairs for name in pair})
    rows = [names.index(first) for first, _ in pairs]
    columns = [names.index(second) for _, second in pairs]

    weights = 1 if counts is None else counts
    counts_CC = np.zeros((len(names), len(names)))
    np.add.at(counts_CC, (rows, columns), weights)

    totals_C = counts_CC.sum(axis=0) + counts_CC.sum(axis=1)
    if np.count_nonzero(totals_C) < 2:
        return math.nan

    return float(cohens_kappa(counts_CC, return_results=False))


def fleiss(values: Values, counts: Counts = None) -> float:
    """Compute Fleiss' kappa of items with equally many labels.

    Args:
        values: the labels of each item.
        counts: how often each item occurs; None: once.

    Returns:
        The kappa; NaN if all labels are equal.
    """
    counts_UC, _ = aggregate_raters(np.asarray(values, dtype=str))
    if counts is not None:
        counts_UC = np.repeat(counts_UC, counts, axis=0)
    if np.count_nonzero(counts_UC.sum(axis=0)) < 2:
        return math.nan

    return float(fleiss_kappa(counts_UC))


def _several(labels: Labels) -> list[list[str]]:
    """List the labels of the items that two or more raters have labelled."""
    several = []
    for item_labels in labels.values:
        present = [label for label in item_labels if label]
        if len(present) > 1:
            several.append(present)

    return several


def _equally_often(several: Sequence[list[str]]) -> list[list[str]]:
    """Keep the items with n labels, where n is the most frequent number; the larger wins ties."""
    items_by_size = defaultdict(list)
    for item_labels in several:
        items_by_size[len(item_labels)].append(item_labels)

    largest_first = sorted(items_by_size, reverse=True)
    most_frequent = max(largest_first, key=lambda size: len(items_by_size[size]), default=0)
    return items_by_size[most_frequent]


def _raw(values: Values, counts: Counts = None) -> float:
    """Compute the share of equal pairs of labels, averaged over items."""
    shares = []
    for item_labels in values:
        equal = [first == second for first, second in combinations(item_labels, 2)]
        shares.append(sum(equal) / len(equal))

    return float(np.average(shares, weights=counts))


def _measure(name: str, compute: Measure, values: Values, resamples: int, seed: int) -> Agreement:
    """Compute a measure with its bootstrap interval over items.

    A resample draws how often each combination of labels occurs. That equals drawing items, and
    is faster because few combinations are distinct.

    Args:
        name: of the measure.
        compute: the measure.
        values: the labels of each item.
        resamples: number of resamples; with 0 there is no interval.
        seed: the same seed gives the same interval.
    """
    n = len(values)
    value = compute(values, None) if n else math.nan
    if not math.isfinite(value):
        return Agreement(name, None, n=n)

    counts = Counter(map(tuple, values))
    combinations_K = sorted(counts)
    shares_K = np.array([counts[combination] for combination in combinations_K]) / n
    counts_RK = np.random.default_rng(seed).multinomial(n, shares_K, size=resamples)

    draws = [compute(combinations_K, counts_K) for counts_K in counts_RK]
    return Agreement.of(name, value, draws, n)


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
    total_K = sums_UK.sum(axis=0)
    is_paired_U = sums_UK[:, 0] > 0  # units with two values or more

    draws = np.zeros(0)
    if groups is not None and resamples and is_paired_U.any():
        paired_groups = list(compress(groups, is_paired_U))
        sums_GK = np.zeros((len(set(paired_groups)), len(total_K)))
        np.add.at(sums_GK, number_groups(paired_groups), sums_UK[is_paired_U])
        if len(sums_GK) > 1:  # one group cannot be resampled
            draws = _alpha(resample_groups(sums_GK, resamples, seed))

    value = float(_alpha(total_K))
    units = int(is_paired_U.sum())
    return Agreement.of("Krippendorff's alpha", value, draws, units, int(total_K[0]))


def _unit_sums(values_RU: Floats, level: str) -> Floats:
    """Compute the terms of alpha for each unit; zeros for a unit without a pair of values.

    The squared differences of all ordered pairs of m vectors add up to 2 m Q - 2 |S|^2, where S is
    their sum and Q the sum of their squared lengths. Nominal categories are one-hot vectors.

    Returns:
        `[U, 3 + F]`: m, Q, disagreement (pairs' sum / (m - 1)), S.
    """
    is_rated_RU = ~np.isnan(values_RU)
    m_U = is_rated_RU.sum(axis=0)
    is_rated_RU &= m_U > 1
    m_U[m_U < 2] = 0

    ratings = values_RU[is_rated_RU]
    if level == "nominal":
        categories = np.unique(ratings)
        features_FRU = (values_RU == categories[:, None, None]).astype(np.float64)
    else:
        # Scaled to -1/2 to 1/2: sums of squares of large numbers would lose precision.
        low = ratings.min() if ratings.size else 0.0
        high = ratings.max() if ratings.size else 1.0
        middle = (low + high) / 2
        width = (high - low) or 1.0
        features_FRU = ((values_RU - middle) / width)[None]

    features_FRU = np.where(is_rated_RU, features_FRU, 0.0)

    sum_FU = features_FRU.sum(axis=1)
    squares_U = (features_FRU**2).sum(axis=(0, 1))
    pairs_U = 2 * m_U * squares_U - 2 * (sum_FU**2).sum(axis=0)
    disagreement_U = np.maximum(pairs_U, 0.0) / np.maximum(m_U - 1, 1)
    return np.column_stack([m_U, squares_U, disagreement_U, sum_FU.T])


def _alpha(sums_K: Floats) -> Floats:
    """Compute alpha from sums over units, `[..., K]` to `[...]`; NaN where it is undefined."""
    # Summed over units, the columns of `_unit_sums`.
    n = sums_K[..., 0]
    squares = sums_K[..., 1]
    observed = sums_K[..., 2]
    sums_F = sums_K[..., 3:]

    expected = 2 * n * squares - 2 * (sums_F**2).sum(axis=-1)
    is_defined = expected > _NOTHING * np.maximum(n, 1) ** 2
    divisor = np.where(is_defined, expected, 1.0)
    return np.where(is_defined, 1 - (n - 1) * observed / divisor, np.nan)


def rating_differences(labels: Labels) -> Agreement:
    """Average the absolute differences between the ratings of an item, over pairs and then items.

    Args:
        labels: ratings, as text; items with one rating are left out.

    Returns:
        The mean with a t-interval over items; without an interval for a single item.

    Raises:
        DataError: a rating is not a number.
    """
    differences = []
    problems = []
    for item, item_labels in zip(labels.items, labels.values, strict=True):
        try:
            ratings = [float(label) for label in item_labels if label]
        except ValueError:
            problems.append(Problem(item, f"ratings {', '.join(item_labels)}", "numbers"))
            continue

        if len(ratings) > 1:
            pairs = combinations(ratings, 2)
            item_differences = [abs(first - second) for first, second in pairs]
            differences.append(np.mean(item_differences))

    raise_all(problems)

    measure = "mean absolute difference"
    n = len(differences)
    if n == 0:
        return Agreement(measure, None)

    mean = float(np.mean(differences))
    if n == 1:
        return Agreement(measure, mean, n=1)

    half_width = float(stats.t.ppf(0.975, n - 1) * stats.sem(differences))
    return Agreement(measure, mean, mean - half_width, mean + half_width, n)


def agreement_table(
    named: Sequence[tuple[str, Sequence[Agreement]]], interval: str = "bootstrap interval"
) -> Table:
    """Lay out measures, a row for each.

    Args:
        named: the measures of each group of items, by its name.
        interval: the kind of their intervals.
    """
    rows = []
    for group, agreements in named:
        for agreement in agreements:
            rows.append((group, agreement.measure, agreement.cell, agreement.n))

    note = f"[low, high]: 95 % {interval} over items. n: items used."
    return Table("Agreement", ("items", "measure", "value", "n"), rows, note)


def pair_table(labels: Labels, relaxed: str = "") -> Table:
    """Lay out Cohen's kappa and raw agreement of each pair of raters.

    Args:
        labels: of all raters.
        relaxed: a label that agrees with every other, which adds relaxed measures; empty: none.
    """
    names = ["Cohen's kappa", "raw agreement"]
    if relaxed:
        names += ["relaxed Cohen's kappa", "relaxed raw agreement"]

    rows: list[Row] = []
    for first, second in combinations(range(len(labels.raters)), 2):
        pairs = pairs_of(labels, first, second)
        variants = [pairs]
        if relaxed:
            variants.append(relax(pairs, relaxed))

        cells: list[Cell] = [labels.raters[first], labels.raters[second]]
        for variant in variants:
            for compute in (cohen, _raw):
                agreement = _measure("", compute, variant, resamples=0, seed=0)
                cells.append(agreement.value)

        rows.append((*cells, len(pairs)))

    columns = ("rater", "other", *names, "n")
    return Table("Pairs of raters", columns, rows)


def confusion_table(labels: Labels) -> Table:
    """Lay out the confusion matrix of two raters, the first in rows."""
    counts = Counter(pairs_of(labels, 0, 1))
    names = sorted({name for pair in counts for name in pair})

    rows: list[Row] = []
    for row_name in names:
        row_counts = [counts[row_name, column_name] for column_name in names]
        rows.append((row_name, *row_counts))

    first, second = labels.raters
    return Table(f"{first} (rows) and {second}", (first, *names), rows)


def majority(labels: Labels) -> list[str]:
    """Choose the label that most raters gave to each item; empty for a tie or without labels."""
    chosen = []
    for item_labels in labels.values:
        counts = Counter(label for label in item_labels if label)
        largest = max(counts.values(), default=0)
        winners = [label for label, count in counts.items() if count == largest]
        is_decided = len(winners) == 1
        chosen.append(winners[0] if is_decided else "")

    return chosen


def undecided(labels: Labels) -> Iterator[int]:
    """Yield the positions of the items on which raters disagree."""
    for position, item_labels in enumerate(labels.values):
        distinct = {*item_labels} - {""}
        if len(distinct) > 1:
            yield position
