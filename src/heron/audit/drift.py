"""Drift: differences between splits in labels, lengths and vocabulary."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations

import numpy as np

from heron.audit.findings import Finding, Measure, Severity
from heron.audit.texts import Splits, fields, words

_CHANCE = 0.001
_LABEL_SHIFT = 0.05  # total variation, a fraction
_LENGTH_SHIFT = 0.15  # Kolmogorov-Smirnov distance, a fraction


def find_drift(splits: Splits, labels: Sequence[str]) -> list[Finding]:
    """Compare every two splits.

    Returns:
        `rows` with the class counts of each split; of several splits also `label_drift`,
        `length_drift` and `vocabulary_drift`.
    """
    findings = [_counts(splits, labels)]
    if len(splits) > 1:
        findings += [_labels(splits, labels), _lengths(splits), _vocabulary(splits)]
    return findings


def total_variation(one: Sequence[float], other: Sequence[float]) -> float:
    """Compute half the sum of the differences of two distributions, given as counts.

    It is the smallest fraction of one split's rows that would have to change class.
    """
    first, second = (np.asarray(counts, float) / max(sum(counts), 1) for counts in (one, other))
    return float(np.abs(first - second).sum() / 2)


def _counts(splits: Splits, labels: Sequence[str]) -> Finding:
    measures: list[Measure] = []
    for split, examples in splits.items():
        found = Counter(e.label for e in examples)
        known = {label: found[label] for label in labels}
        measures.append({"split": split, "rows": len(examples), **known, "unlabelled": found[None]})
    sizes = ", ".join(f"{split} {len(examples):,}" for split, examples in splits.items())
    return Finding("rows", "info", f"rows as shipped: {sizes}", measures)


def _labels(splits: Splits, labels: Sequence[str]) -> Finding:
    from scipy.stats import chi2_contingency

    measures: list[Measure] = []
    drifted = False
    for one, other in combinations(splits, 2):
        counts = [
            [Counter(e.label for e in splits[s])[label] for label in labels] for s in (one, other)
        ]
        present = np.array(counts)[:, np.sum(counts, 0) > 0]
        comparable = min(present.shape) > 1 and present.sum(1).all()
        p = float(chi2_contingency(present).pvalue) if comparable else None
        distance = total_variation(*counts)
        drifted |= p is not None and p < _CHANCE and distance >= _LABEL_SHIFT
        measures.append(
            {"splits": f"{one}, {other}", "total variation": distance, "chi-squared p": p}
        )
    said = "the splits differ in their class shares" if drifted else "the class shares agree"
    advice = (
        "a majority class or a prior learned on one split misleads on another" if drifted else ""
    )
    severity: Severity = "warning" if drifted else "info"
    return Finding("label_drift", severity, said, measures, advice=advice)


def _lengths(splits: Splits) -> Finding:
    from scipy.stats import ks_2samp

    lengths = {split: _word_counts(splits, split) for split in splits}
    measures: list[Measure] = []
    drifted = []
    for one, other in combinations(splits, 2):
        for field in lengths[one]:
            first, second = lengths[one][field], lengths[other].get(field, [])
            if not first or not second:
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
    severity: Severity = "warning" if drifted else "info"
    return Finding("length_drift", severity, title, measures, meaning="Lengths in words.")


def _word_counts(splits: Splits, split: str) -> dict[str, list[int]]:
    counts: dict[str, list[int]] = {}
    for example in splits[split]:
        for field, text in fields(example).items():
            counts.setdefault(field, []).append(len(text.split()))
    return counts


def _vocabulary(splits: Splits) -> Finding:
    """Count the words of later splits that the first split never has."""
    first, *others = splits
    known = {word for e in splits[first] for word in _words(e.text, e.text_pair)}
    measures: list[Measure] = []
    for split in others:
        found = Counter(word for e in splits[split] for word in _words(e.text, e.text_pair))
        unseen = [word for word in found if word not in known]
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
    title = f"words that {first} never has: {shares}"
    return Finding("vocabulary_drift", "info", title, measures, meaning="Shares are fractions.")


def _words(text: str, text_pair: str | None) -> list[str]:
    return words(text) + words(text_pair or "")
