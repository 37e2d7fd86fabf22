"""Drift: differences between splits in labels, lengths and vocabulary."""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
from scipy.stats import chi2_contingency, ks_2samp

from heron.languages.words import word_count
from heron_tools.audit.findings import Finding, Measure
from heron_tools.audit.texts import Splits, fields, words

_CHANCE = 0.001
_LABEL_SHIFT = 0.05  # total variation, a fraction
_LENGTH_SHIFT = 0.15  # Kolmogorov-Smirnov distance, a fraction


def find_drift(splits: Splits, labels: Sequence[str]) -> list[Finding]:
    """Compare each pair of splits: `label_drift`, `length_drift` and `vocabulary_drift`.

    Args:
        splits: the rows.
        labels: the classes' names.

    Returns:
        These findings if there are several splits; always `rows`, the class counts of each split.
    """
    counts = {}
    for split, examples in splits.items():
        counts[split] = Counter(example.label for example in examples)

    findings = [_rows(counts, labels)]
    if len(splits) > 1:
        findings += [_labels(counts, labels), _lengths(splits), _vocabulary(splits)]

    return findings


def total_variation(counts: Sequence[float], other_counts: Sequence[float]) -> float:
    """Compute the total variation distance of two distributions, given as counts.

    It is half the sum of absolute differences: the smallest fraction of one split's rows that would
    have to change class.
    """
    shares = np.asarray(counts, float) / max(sum(counts), 1)
    other_shares = np.asarray(other_counts, float) / max(sum(other_counts), 1)
    differences = np.abs(shares - other_shares)
    return float(differences.sum() / 2)


def _rows(counts: Mapping[str, Counter[str | None]], labels: Sequence[str]) -> Finding:
    """Count the rows of each split, by class."""
    measures: list[Measure] = []
    sizes = []
    for split, split_counts in counts.items():
        rows = split_counts.total()
        sizes.append(f"{split} {rows:,}")
        by_label = {label: split_counts[label] for label in labels}
        measures.append(
            {
                "split": split,
                "rows": rows,
                **by_label,
                "unlabelled": split_counts[None],
            }
        )

    return Finding(
        id="rows",
        severity="info",
        title=f"rows as shipped: {', '.join(sizes)}",
        measures=measures,
    )


def _labels(counts: Mapping[str, Counter[str | None]], labels: Sequence[str]) -> Finding:
    """Compare the class shares of each pair of splits by a chi-squared test."""
    measures: list[Measure] = []
    has_drifted = False
    for first, second in combinations(counts, 2):
        first_C = [counts[first][label] for label in labels]
        second_C = [counts[second][label] for label in labels]
        distance = total_variation(first_C, second_C)

        p = None
        both = np.array([first_C, second_C])
        both = both[:, both.any(0)]  # the test needs classes that occur
        if min(both.shape) > 1 and both.any(1).all():
            p = float(chi2_contingency(both).pvalue)
            if p < _CHANCE and distance >= _LABEL_SHIFT:
                has_drifted = True

        measures.append(
            {
                "splits": f"{first}, {second}",
                "total variation": distance,
                "chi-squared p": p,
            }
        )

    if not has_drifted:
        return Finding("label_drift", "info", "the class shares agree", measures)

    return Finding(
        id="label_drift",
        severity="warning",
        title="the splits differ in their class shares",
        measures=measures,
        advice="a majority class or a prior learned on one split misleads on another",
    )


def _lengths(splits: Splits) -> Finding:
    """Compare the lengths of each pair of splits by a Kolmogorov-Smirnov test."""
    lengths: dict[str, dict[str, list[int]]] = {}
    for split, examples in splits.items():
        lengths[split] = {}
        for example in examples:
            for field, text in fields(example).items():
                lengths[split].setdefault(field, []).append(word_count(text))

    measures: list[Measure] = []
    drifted = []
    for first, second in combinations(splits, 2):
        for field, first_lengths in lengths[first].items():
            second_lengths = lengths[second].get(field)
            if not second_lengths:
                continue

            test = ks_2samp(first_lengths, second_lengths)
            if test.pvalue < _CHANCE and test.statistic >= _LENGTH_SHIFT:
                drifted.append(f"{field} ({first}, {second})")

            measures.append(
                {
                    "splits": f"{first}, {second}",
                    "text": field,
                    "mean words": float(np.mean(first_lengths)),
                    "mean words, second": float(np.mean(second_lengths)),
                    "Kolmogorov-Smirnov D": float(test.statistic),
                    "p": float(test.pvalue),
                }
            )

    title = "lengths agree"
    if drifted:
        title = f"lengths differ between splits: {', '.join(drifted)}"

    return Finding(
        id="length_drift",
        severity="warning" if drifted else "info",
        title=title,
        measures=measures,
        meaning="Lengths in words.",
    )


def _vocabulary(splits: Splits) -> Finding:
    """Count the words of the other splits that the first split lacks."""
    counts = {}
    for split, examples in splits.items():
        counts[split] = Counter[str]()
        for example in examples:
            counts[split].update(words(example.text))
            counts[split].update(words(example.text_pair or ""))

    first, *others = splits
    measures: list[Measure] = []
    shares = []
    for split in others:
        split_counts = counts[split]
        unseen = split_counts.keys() - counts[first].keys()
        unseen_tokens = sum(split_counts[word] for word in unseen)
        share = unseen_tokens / max(split_counts.total(), 1)
        shares.append(f"{split} {share:.1%}")
        measures.append(
            {
                "split": split,
                "word types": len(split_counts),
                f"types not in {first}": len(unseen) / max(len(split_counts), 1),
                f"words not in {first}": share,
            }
        )

    return Finding(
        id="vocabulary_drift",
        severity="info",
        title=f"words that are not in {first}: {', '.join(shares)}",
        measures=measures,
        meaning="Shares are fractions.",
    )
