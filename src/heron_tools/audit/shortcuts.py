"""Shortcuts: single features that predict the label, compared with the most frequent class."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import compress
from typing import NamedTuple

import numpy as np
from scipy.stats import norm

from heron.base.terminal import tracked
from heron.languages import LANGUAGES
from heron_tools.audit.features import (
    Feature,
    best_words,
    measure,
    typical_words,
    vocabulary,
    word_feature,
)
from heron_tools.audit.findings import Finding, FindingRow, Measure, rows_of, severity
from heron_tools.audit.rules import (
    FeatureRule,
    Ids,
    Labelled,
    Score,
    Values,
    fit,
    folds,
    list_scores,
    predict_splits,
    score,
)
from heron_tools.audit.texts import EVIDENCE, WINDOW, fields

# Accuracy above the majority class.
SERIOUS_GAIN = 0.05
WARNING_GAIN = 0.02
_CHANCE = 0.01  # family-wise error rate over all rules
_LISTED = 25

_ADVICE = {
    "casing": "data.normalize_case=capitalize gives all classes one casing; report both variants",
}
_ADVICE_ELSE = "also report this rule, and a baseline that sees only that text"


class ScoredRule(NamedTuple):
    """A feature, and what its rule achieves."""

    feature: Feature
    rule: FeatureRule
    scores: list[Score]  # on every split
    given_away: list[FindingRow]  # rows that the rule gets right and the majority class does not

    @property
    def gain(self) -> float:
        """Accuracy minus the majority's, on the first split."""
        return self.scores[0].gain


def find_shortcuts(
    parts: Mapping[str, Labelled], labels: Sequence[str], language: str
) -> list[Finding]:
    """Find single features that predict the label better than the majority class.

    Rules are fitted on the first split.

    Args:
        parts: the labelled rows by split.
        labels: the classes' names.
        language: ISO 639 code, for the words of negation.

    Returns:
        One finding for each kind of feature (`casing`, `length`, ...) with a significant rule;
        those on legitimate evidence (`EVIDENCE`, as `casing.between`) are `info`. Also
        `words.<field>`, the words typical of each class, and `rules`, the best of all rules tried.
    """
    if not parts:
        return []

    features = {split: measure(part.examples, language) for split, part in parts.items()}
    word_findings, tried_words = _add_words(features, parts, labels)

    judged = []
    same_features = list(zip(*features.values(), strict=True))  # one feature in all splits
    for in_splits in tracked(same_features, "rules"):
        is_constant = len(np.unique(in_splits[0].values_N)) < 2
        if is_constant:
            continue

        by_split = dict(zip(parts, in_splits, strict=True))
        judged.append(_judge(by_split, parts, len(labels)))

    judged.sort(key=lambda rule: -rule.gain)

    # The critical value of z for that many rules (Bonferroni).
    tried = max(len(judged) + tried_words, 1)
    critical_z = float(norm.isf(_CHANCE / tried))

    families: dict[str, list[ScoredRule]] = {}
    for rule in judged:
        id = rule.feature.family
        if rule.feature.field in EVIDENCE:
            id += f".{rule.feature.field}"

        for split_score in rule.scores:
            if split_score.z >= critical_z and split_score.gain >= WARNING_GAIN / 2:
                families.setdefault(id, []).append(rule)
                break

    findings = [_finding(id, rules, labels) for id, rules in families.items()]
    findings += _unknown_negation(language)
    findings += word_findings
    findings += _overview(judged, labels)
    return findings


def _judge(
    features: Mapping[str, Feature], parts: Mapping[str, Labelled], classes: int
) -> ScoredRule:
    """Fit the rule of one feature on the first split; score it and list its rows on every split.

    Args:
        features: the feature by split.
        parts: the labelled rows of the same splits.
        classes: number of classes.
    """

    def predict(fitted_N: Values, gold_N: Ids, values_N: Values) -> Ids:
        return fit(fitted_N, gold_N, classes).predict(values_N)

    first = next(iter(parts))
    rule = fit(features[first].values_N, parts[first].gold_N, classes)
    values = {split: feature.values_N for split, feature in features.items()}
    predicted = predict_splits(values, parts, predict)

    scores = []
    rows = []
    for split, (examples, gold_N) in parts.items():
        predicted_N = predicted[split]
        scores.append(score(split, gold_N, predicted_N, rule.other, classes))

        # Rows of the majority class need no rule.
        is_given_away_N = (predicted_N == gold_N) & (gold_N != rule.other)
        given_away = compress(examples, is_given_away_N)
        rows += rows_of(split, given_away)

    return ScoredRule(features[first], rule, scores, rows)


def _add_words(
    features: Mapping[str, list[Feature]], parts: Mapping[str, Labelled], labels: Sequence[str]
) -> tuple[list[Finding], int]:
    """Find each field's typical words; add its best words to the features of each split.

    Args:
        features: by split; changed in place.
        parts: the labelled rows of the same splits.
        labels: the classes' names.

    Returns:
        The findings, and the number of words tried.
    """
    first = next(iter(parts))
    gold_N = parts[first].gold_N
    fold_N = folds(parts[first].examples)

    rows = {}
    for split, part in parts.items():
        rows[split] = [fields(example) for example in part.examples]

    names = list(rows[first][0])
    if names != [WINDOW]:
        names = [name for name in names if name != WINDOW]

    findings: list[Finding] = []
    tried = 0
    for field in names:
        texts = {}
        for split in parts:
            texts[split] = [row.get(field, "") for row in rows[split]]

        frequent = vocabulary(texts[first])
        tried += len(frequent.words)
        findings += typical_words(first, field, frequent, gold_N, labels)
        for word in best_words(frequent, gold_N, fold_N, len(labels)):
            for split in parts:
                features[split].append(word_feature(field, word, texts[split]))

    return findings, tried


def _finding(id: str, rules: Sequence[ScoredRule], labels: Sequence[str]) -> Finding:
    """Describe the significant rules of one family of features; the first is the best."""
    best = rules[0]
    description = f"{best.feature.name}: {best.rule.describe(labels)}"
    gain = max(score.gain for score in best.scores)
    is_evidence = best.feature.field in EVIDENCE
    return Finding(
        id=id,
        severity="info" if is_evidence else severity(gain, WARNING_GAIN, SERIOUS_GAIN),
        title=f"{description}. This rule alone scores {list_scores(best.scores)}",
        measures=_measures(rules, labels),
        rows=best.given_away,
        advice=_ADVICE.get(best.feature.family, _ADVICE_ELSE),
        meaning=(
            "Rows listed: those that the first rule gets right and the majority class does not."
        ),
    )


def _measures(rules: Sequence[ScoredRule], labels: Sequence[str]) -> list[Measure]:
    """Lay out the scores of rules, one row for each split."""
    measures: list[Measure] = []
    for feature, rule, scores, _ in rules:
        prefix = {"rule": feature.name, "predicts": rule.describe(labels)}
        for split_score in scores:
            measures.append({**prefix, **split_score.measure()})

    return measures


def _overview(judged: Sequence[ScoredRule], labels: Sequence[str]) -> Iterator[Finding]:
    """Show the best rules, significant or not."""
    if not judged:
        return

    yield Finding(
        id="rules",
        severity="info",
        title=f"{len(judged)} rules of one feature were tried; the best of them",
        measures=_measures(judged[:_LISTED], labels),
        meaning=(
            "First split: scored by five folds; others: by the rule of the first. "
            "z: standard deviations above the majority class."
        ),
    )


def _unknown_negation(language: str) -> Iterator[Finding]:
    """Report that the rule of negation could not be tried, for a language without a word list."""
    profile = LANGUAGES.find(language)
    if profile and profile.negation:
        return

    yield Finding(
        id="negation.unknown",
        severity="info",
        title=f"'{language}' has no list of negation words: that rule was not tried",
        advice="add them to its Language (negation=)",
    )
