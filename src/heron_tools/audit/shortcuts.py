"""Shortcuts: single features that predict the label, compared with the most frequent class."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import norm

from heron.languages import LANGUAGES
from heron_tools.audit.features import (
    Feature,
    best_words,
    measure,
    typical_words,
    vocabulary,
    word_feature,
)
from heron_tools.audit.findings import Finding, Measure, Row, Severity
from heron_tools.audit.rules import (
    Ids,
    Labelled,
    Rule,
    Score,
    fit,
    folds,
    predict_splits,
    say_scores,
    score,
)
from heron_tools.audit.texts import EVIDENCE, WINDOW, Splits, fields

SERIOUS_GAIN, WARNING_GAIN = 0.05, 0.02  # accuracy above the majority class
_CHANCE = 0.01  # of one false alarm in all rules together
_LISTED = 25

_ADVICE = {
    "casing": "data.normalize_case=capitalize writes all classes alike; report both variants",
}
_ADVICE_ELSE = "report this rule, and a system that sees only that text, beside every score"


@dataclass(frozen=True, slots=True)
class Judged:
    """A feature, its rule, the rule's score on every split, and the rows that it gives away.

    Those are the rows that the rule gets right and the most frequent class does not.
    """

    feature: Feature
    rule: Rule
    scores: list[Score]
    given_away: list[Row]


def labelled(splits: Splits, labels: Sequence[str]) -> dict[str, Labelled]:
    """Keep the rows with a gold label; splits without any are left out."""
    index = {label: i for i, label in enumerate(labels)}
    kept = {split: [e for e in examples if e.label in index] for split, examples in splits.items()}
    return {
        split: Labelled(rows, np.array([index[str(e.label)] for e in rows], np.int64))
        for split, rows in kept.items()
        if rows
    }


def find_shortcuts(
    parts: Mapping[str, Labelled], labels: Sequence[str], language: str
) -> list[Finding]:
    """Find single features that predict the label better than the most frequent class.

    Rules are chosen on the first split. Returns one finding for each kind of feature (`casing`,
    `length`, ...) with a rule that is better than chance allows; those on the evidence of an event
    relation (`casing.between`) are never more than information. Also `words.<field>`, the words
    typical of each class, and `rules`, the best of all rules that were tried.
    """
    if not parts:
        return []
    first = next(iter(parts))
    fold_N = folds(parts[first].examples)
    by_split = {split: measure(part.examples, language) for split, part in parts.items()}
    findings, word_features, tried = _words(parts, labels, fold_N)
    for split, found in word_features.items():
        by_split[split] += found
    judged = [
        _judge({split: by_split[split][i] for split in parts}, parts, labels, fold_N)
        for i, feature in enumerate(by_split[first])
        if len(np.unique(feature.values_N)) > 1
    ]
    # The standard deviations that are certain for so many rules (Bonferroni).
    certain = float(norm.isf(_CHANCE / max(len(judged) + tried, 1)))
    families: dict[str, list[Judged]] = {}
    for each in sorted(judged, key=lambda each: -each.scores[0].gain):
        if any(s.z >= certain and s.gain >= WARNING_GAIN / 2 for s in each.scores):
            field = each.feature.field  # features of the evidence have findings of their own
            id = each.feature.family + (f".{field}" if field in EVIDENCE else "")
            families.setdefault(id, []).append(each)
    found_rules = [_finding(id, rules, labels) for id, rules in families.items()]
    return [*found_rules, *_unknown_negation(language), *findings, *_overview(judged, labels)]


def _judge(
    features: Mapping[str, Feature],
    parts: Mapping[str, Labelled],
    labels: Sequence[str],
    fold_N: Ids,
) -> Judged:
    """Find the rule of one feature on the first split, and its scores and rows on every split."""
    classes = len(labels)
    first = next(iter(parts))
    feature, gold_N = features[first], parts[first].gold_N
    rule = fit(feature.values_N, gold_N, classes)
    predicted = predict_splits(
        {split: each.values_N for split, each in features.items()},
        parts,
        fold_N,
        lambda known, gold_N, values_N: fit(known, gold_N, classes).predict(values_N),
    )
    scores, rows = [], list[Row]()
    for split, part in parts.items():
        named_N = predicted[split]
        scores.append(score(split, part.gold_N, named_N, rule.other, classes))
        given = np.flatnonzero((named_N == part.gold_N) & (part.gold_N != rule.other)).tolist()
        examples = [part.examples[i] for i in given]
        rows += [Row(split, e.guid, e.label, i) for i, e in enumerate(examples, 1)]
    return Judged(feature, rule, scores, rows)


def _words(
    parts: Mapping[str, Labelled], labels: Sequence[str], fold_N: Ids
) -> tuple[list[Finding], dict[str, list[Feature]], int]:
    """Find each field's typical words, the best as features, and count all words tried."""
    by_split = {split: [fields(e) for e in part.examples] for split, part in parts.items()}
    first = next(iter(parts))
    gold_N = parts[first].gold_N
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
    gain = max(s.gain for s in best.scores)
    level: Severity = "info"
    if gain >= WARNING_GAIN and best.feature.field not in EVIDENCE:
        level = "serious" if gain >= SERIOUS_GAIN else "warning"
    return Finding(
        id,
        level,
        f"{best.feature.name}: {best.rule.describe(labels)}. This rule alone scores "
        + say_scores(best.scores),
        [line for each in rules for line in _measures(each, labels)],
        best.given_away,
        _ADVICE.get(best.feature.family, _ADVICE_ELSE),
        "Rows listed: those that the first rule gets right and the most frequent class does not.",
    )


def _measures(judged: Judged, labels: Sequence[str]) -> list[Measure]:
    rule = {"rule": judged.feature.name, "predicts": judged.rule.describe(labels)}
    return [rule | s.measure() for s in judged.scores]


def _overview(judged: Sequence[Judged], labels: Sequence[str]) -> list[Finding]:
    ordered = sorted(judged, key=lambda each: -each.scores[0].gain)[:_LISTED]
    title = f"{len(judged)} rules of one feature were tried; the best of them"
    meaning = (
        "Inside the first split by five folds; on the others the rule of the first. "
        "z: standard deviations above the most frequent class."
    )
    measures = [line for each in ordered for line in _measures(each, labels)]
    return [Finding("rules", "info", title, measures, meaning=meaning)] if judged else []


def _unknown_negation(language: str) -> list[Finding]:
    known = LANGUAGES.find(language)
    if known and known.negation:
        return []
    title = f"no words of negation are known for '{language}': that rule was not tried"
    return [
        Finding("negation.unknown", "info", title, advice="add them to its Language (negation=)")
    ]
