"""Drift: differences between splits in labels, lengths and vocabulary."""

from collections import Counter
from collections.abc import Sequence
from itertools import combinations

import numpy as np
from scipy.stats import chi2_contingency, ks_2samp

from heron_tools.audit.findings import Finding, Measure
from heron_tools.audit.texts import Splits, fields, words

_CHANCE = 0.001
_LABEL_SHIFT = 0.05  # total variation, a fraction
_LENGTH_SHIFT = 0.15  # Kolmogorov-Smirnov distance, a fraction


def find_drift(splits: Splits, labels: Sequence[str]) -> list[Finding]:
    """Compare each pair of splits: `label_drift`, `length_drift` and `vocabulary_drift`.

    The finding `rows`, with each split's class counts, is always included.
    """
    counts = {split: Counter(e.label for e in examples) for split, examples in splits.items()}
    findings = [_counts(counts, labels)]
    if len(splits) > 1:
        by_label = {split: [found[label] for label in labels] for split, found in counts.items()}
        findings += [_labels(by_label), _lengths(splits), _vocabulary(splits)]
    return findings


def total_variation(one: Sequence[float], other: Sequence[float]) -> float:
    """Compute half the sum of absolute differences of two distributions, given as counts.

    It is the smallest fraction of one split's rows that would have to change class.
    """
    first, second = (np.asarray(counts, float) / max(sum(counts), 1) for counts in (one, other))
    return float(np.abs(first - second).sum() / 2)


def _counts(counts: dict[str, Counter[str | None]], labels: Sequence[str]) -> Finding:
    measures: list[Measure] = []
    for split, found in counts.items():
        known = {label: found[label] for label in labels}
        measures.append({"split": split, "rows": found.total(), **known, "unlabelled": found[None]})
    sizes = ", ".join(f"{split} {found.total():,}" for split, found in counts.items())
    return Finding("rows", "info", f"rows as shipped: {sizes}", measures)


def _labels(counts: dict[str, list[int]]) -> Finding:
    measures: list[Measure] = []
    drifted = False
    for one, other in combinations(counts, 2):
        both = [counts[one], counts[other]]
        present = np.array(both)[:, np.sum(both, 0) > 0]
        comparable = min(present.shape) > 1 and present.sum(1).all()
        p = float(chi2_contingency(present).pvalue) if comparable else None
        distance = total_variation(*both)
        drifted |= p is not None and p < _CHANCE and distance >= _LABEL_SHIFT
        measures.append(
            {"splits": f"{one}, {other}", "total variation": distance, "chi-squared p": p}
        )
    if not drifted:
        return Finding("label_drift", "info", "the class shares agree", measures)
    title = "the splits differ in their class shares"
    advice = "a majority class or a prior learned on one split misleads on another"
    return Finding("label_drift", "warning", title, measures, advice=advice)


def _lengths(splits: Splits) -> Finding:
    lengths: dict[str, dict[str, list[int]]] = {split: {} for split in splits}
    for split, examples in splits.items():
        for example in examples:
            for field, text in fields(example).items():
                lengths[split].setdefault(field, []).append(len(text.split()))
    measures: list[Measure] = []
    drifted = []
    for one, other in combinations(splits, 2):
        for field, first in lengths[one].items():
            second = lengths[other].get(field)
            if not second:
                continue
            test = ks_2samp(first, second)
            if test.pvalue < _CHANCE and test.statistic >= _LENGTH_SHIFT:
                drifted.append(f"{field} ({one}, {other})")
            measures.append(
                {
                    "splits": f"{one}, {other}",
                    "text": field,
                    "mean words": float(np.mean(first)),
                    "mean words, second": float(np.mean(second)),
                    "Kolmogorov-Smirnov D": float(test.statistic),
                    "p": float(test.pvalue),
                }
            )
    title = "lengths differ between splits: " + ", ".join(drifted) if drifted else "lengths agree"
    meaning = "Lengths in words."
    return Finding(
        "length_drift", "warning" if drifted else "info", title, measures, meaning=meaning
    )


def _vocabulary(splits: Splits) -> Finding:
    """Count the words of the other splits that the first split lacks."""
    first, *others = splits
    counts = {
        split: Counter(word for e in examples for word in words(e.text) + words(e.text_pair or ""))
        for split, examples in splits.items()
    }
    measures: list[Measure] = []
    for split in others:
        found = counts[split]
        unseen = found.keys() - counts[first].keys()
        tokens = sum(found[word] for word in unseen)
        measures.append(
            {
                "split": split,
                "word types": len(found),
                f"types not in {first}": len(unseen) / max(len(found), 1),
                f"words not in {first}": tokens / max(found.total(), 1),
            }
        )
    shares = ", ".join(f"{m['split']} {m[f'words not in {first}']:.1%}" for m in measures)
    title = f"words that are not in {first}: {shares}"
    return Finding("vocabulary_drift", "info", title, measures, meaning="Shares are fractions.")
