"""Shortcuts: single features that predict the label, compared with the most frequent class."""

from collections.abc import Iterator, Mapping, Sequence
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
from heron_tools.audit.findings import Finding, Measure, Row, rows_of, severity
from heron_tools.audit.rules import (
    Labelled,
    Rule,
    Score,
    fit,
    folds,
    predict_splits,
    say_scores,
    score,
)
from heron_tools.audit.texts import EVIDENCE, WINDOW, fields

SERIOUS_GAIN, WARNING_GAIN = 0.05, 0.02  # accuracy above the majority class
_CHANCE = 0.01  # family-wise error rate over all rules
_LISTED = 25

_ADVICE = {
    "casing": "data.normalize_case=capitalize gives all classes one casing; report both variants",
}
_ADVICE_ELSE = "also report this rule, and a baseline that sees only that text"


class Judged(NamedTuple):
    """A feature, its rule, the rule's score on every split, and rows that it gets right.

    Those are rows that the rule gets right and the majority class does not.
    """

    feature: Feature
    rule: Rule
    scores: list[Score]
    given_away: list[Row]

    @property
    def gain(self) -> float:
        """Accuracy minus the majority's, on the first split."""
        return self.scores[0].gain


def find_shortcuts(
    parts: Mapping[str, Labelled], labels: Sequence[str], language: str
) -> list[Finding]:
    """Find single features that predict the label better than the majority class.

    Rules are fitted on the first split. Returns one finding for each kind of feature (`casing`,
    `length`, ...) with a significant rule; those on legitimate evidence (`EVIDENCE`,
    as `casing.between`) are `info`. Also `words.<field>`, the words typical of each class, and
    `rules`, the best of all rules that were tried.
    """
    if not parts:
        return []
    by_split = {split: measure(part.examples, language) for split, part in parts.items()}
    findings, word_features, tried = _words(parts, labels)
    for split, found in word_features.items():
        by_split[split] += found
    judged = [
        _judge(dict(zip(parts, features, strict=True)), parts, len(labels))
        for features in tracked(list(zip(*by_split.values(), strict=True)), "rules")
        if len(np.unique(features[0].values_N)) > 1
    ]
    judged.sort(key=lambda each: -each.gain)
    # The critical value of z for so many rules (Bonferroni).
    certain = float(norm.isf(_CHANCE / max(len(judged) + tried, 1)))
    families: dict[str, list[Judged]] = {}
    for each in judged:
        if any(s.z >= certain and s.gain >= WARNING_GAIN / 2 for s in each.scores):
            field = each.feature.field  # features of the evidence have findings of their own
            id = each.feature.family + (f".{field}" if field in EVIDENCE else "")
            families.setdefault(id, []).append(each)
    found_rules = [_finding(id, rules, labels) for id, rules in families.items()]
    return [*found_rules, *_unknown_negation(language), *findings, *_overview(judged, labels)]


def _judge(features: Mapping[str, Feature], parts: Mapping[str, Labelled], classes: int) -> Judged:
    """Fit the rule of one feature on the first split; score it and list its rows on every split."""
    first = next(iter(parts))
    rule = fit(features[first].values_N, parts[first].gold_N, classes)
    predicted = predict_splits(
        {split: each.values_N for split, each in features.items()},
        parts,
        lambda known, gold_N, values_N: fit(known, gold_N, classes).predict(values_N),
    )
    scores, rows = [], list[Row]()
    for split, (examples, gold_N) in parts.items():
        named_N = predicted[split]
        scores.append(score(split, gold_N, named_N, rule.other, classes))
        given = np.flatnonzero((named_N == gold_N) & (gold_N != rule.other)).tolist()
        rows += rows_of(split, (examples[i] for i in given))
    return Judged(features[first], rule, scores, rows)


def _words(
    parts: Mapping[str, Labelled], labels: Sequence[str]
) -> tuple[list[Finding], dict[str, list[Feature]], int]:
    """Find each field's typical words and its best words as features; count all words tried."""
    by_split = {split: [fields(e) for e in part.examples] for split, part in parts.items()}
    first = next(iter(parts))
    gold_N, fold_N = parts[first].gold_N, folds(parts[first].examples)
    findings: list[Finding] = []
    features: dict[str, list[Feature]] = {split: [] for split in parts}
    tried = 0
    names = by_split[first][0]
    for field in [name for name in names if name != WINDOW] or names:
        texts = {s: [row.get(field, "") for row in rows] for s, rows in by_split.items()}
        found = vocabulary(texts[first])
        tried += len(found.words)
        findings += typical_words(first, field, found, gold_N, labels)
        for word in best_words(found, gold_N, fold_N, len(labels)):
            for split in parts:
                features[split].append(word_feature(field, word, texts[split]))
    return findings, features, tried


def _finding(id: str, rules: Sequence[Judged], labels: Sequence[str]) -> Finding:
    best = rules[0]
    level = severity(max(s.gain for s in best.scores), WARNING_GAIN, SERIOUS_GAIN)
    return Finding(
        id,
        "info" if best.feature.field in EVIDENCE else level,
        f"{best.feature.name}: {best.rule.describe(labels)}. This rule alone scores "
        + say_scores(best.scores),
        list(_measures(rules, labels)),
        best.given_away,
        _ADVICE.get(best.feature.family, _ADVICE_ELSE),
        "Rows listed: those that the first rule gets right and the majority class does not.",
    )


def _measures(rules: Sequence[Judged], labels: Sequence[str]) -> Iterator[Measure]:
    for each in rules:
        rule = {"rule": each.feature.name, "predicts": each.rule.describe(labels)}
        yield from ({**rule, **s.measure()} for s in each.scores)


def _overview(judged: Sequence[Judged], labels: Sequence[str]) -> list[Finding]:
    title = f"{len(judged)} rules of one feature were tried; the best of them"
    meaning = (
        "First split: scored by five folds; others: by the rule of the first. "
        "z: standard deviations above the majority class."
    )
    measures = list(_measures(judged[:_LISTED], labels))
    return [Finding("rules", "info", title, measures, meaning=meaning)] if judged else []


def _unknown_negation(language: str) -> list[Finding]:
    known = LANGUAGES.find(language)
    if known and known.negation:
        return []
    title = f"'{language}' has no list of negation words: that rule was not tried"
    return [
        Finding("negation.unknown", "info", title, advice="add them to its Language (negation=)")
    ]
