"""Exact duplicates inside and across splits, and whether their labels agree.

Two levels: identical as read, and identical but for case, punctuation and spaces (`texts.loose`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from itertools import combinations

from heron.audit.findings import Finding, Measure, Row, Severity
from heron.audit.texts import (
    ARTICLE,
    HYPOTHESIS,
    PREMISE,
    SUMMARY,
    TEXT,
    WINDOW,
    Splits,
    every,
    has_summaries,
    is_pair,
    loose,
    second_of,
)
from heron.data.examples import Example

IDENTICAL, LOOSE = "identical", "but for case, punctuation, spaces"
LEVELS: dict[str, Callable[[str], str]] = {IDENTICAL: str.strip, LOOSE: loose}
_SERIOUS_SHARE = 0.005  # of a split's rows
_Key = Callable[[Example, Callable[[str], str]], Sequence[Hashable]]
_Copies = list[list[Row]]
_ByLevel = dict[str, _Copies]  # what is identical is in both levels


def find_duplicates(splits: Splits) -> list[Finding]:
    """Find repeated and shared rows and texts.

    Args:
        splits: the data set as it was shipped.

    Returns:
        One finding for each kind and place: `repeated_pairs` inside a split, `duplicates` across
        two, `conflicts` where copies differ in label, `repeated_texts` and `shared_texts`.
    """
    findings = []
    unit = "pair" if is_pair(splits) or has_summaries(splits) else "event pair"
    for split in splits:
        findings += _inside(splits, split, unit)
    for one, other in combinations(splits, 2):
        findings += _across(splits, one, other, unit)
    return findings


def repeated(splits: Splits, split: str, key: _Key, level: str) -> _Copies:
    """Group the rows of one split that share a key; groups of at least two, in file order."""
    groups = _group(splits, (split,), key, level)
    return [rows for rows in groups if len({row.guid for row in rows}) > 1]


def shared(splits: Splits, one: str, other: str, key: _Key, level: str) -> _Copies:
    """Group the rows of two splits that share a key which both have."""
    groups = _group(splits, (one, other), key, level)
    return [rows for rows in groups if len({row.split for row in rows}) > 1]


def whole(example: Example, level: Callable[[str], str]) -> list[Hashable]:
    """The key of a row: both its texts; of an event pair the text and where its events are.

    Spans are offsets in the text as read. A loose copy moves them, so there the events' own words
    and their order stand in.
    """
    if (second := second_of(example)) is not None:
        return [(level(example.text), level(second))]
    if level is loose:
        marks: tuple[Hashable, ...] = tuple(
            (loose(example.text[:start]), loose(example.text[start:end]))
            for start, end in example.spans
        )
    else:
        lead = len(example.text) - len(example.text.lstrip())
        marks = tuple((start - lead, end - lead) for start, end in example.spans)
    return [(level(example.text), *marks)]


def first_text(example: Example, level: Callable[[str], str]) -> list[Hashable]:
    """The key of a premise, a window or an article."""
    return [level(example.text)]


def second_text(example: Example, level: Callable[[str], str]) -> list[Hashable]:
    """The key of a hypothesis, or of a summary."""
    return [] if (second := second_of(example)) is None else [level(second)]


def any_text(example: Example, level: Callable[[str], str]) -> list[Hashable]:
    """The keys of all texts of a row, whichever side they are on."""
    return list(dict.fromkeys([*first_text(example, level), *second_text(example, level)]))


def conflicting(copies: _Copies) -> _Copies:
    """Keep the groups whose rows carry different labels."""
    return [rows for rows in copies if len({row.label for row in rows}) > 1]


def _group(splits: Splits, names: Sequence[str], key: _Key, level: str) -> _Copies:
    groups: dict[Hashable, list[Row]] = defaultdict(list)
    for split in names:
        for example in splits[split]:
            for value in key(example, LEVELS[level]):
                groups[value].append(Row(split, example.guid, example.label, 0))
    copies = [rows for rows in groups.values() if len(rows) > 1]
    return [[row._replace(group=i) for row in rows] for i, rows in enumerate(copies, 1)]


def _inside(splits: Splits, split: str, unit: str) -> list[Finding]:
    size = len(splits[split])
    found = {level: repeated(splits, split, whole, level) for level in LEVELS}
    findings = []
    if any(found.values()):
        findings.append(
            Finding(
                f"repeated_pairs.{split}",
                "warning" if _rows(found[LOOSE]) >= _SERIOUS_SHARE * size else "info",
                f"{split} holds {_said(found, unit)} more than once",
                [_measure(level, copies) for level, copies in found.items()],
                _listed(found),
                "count each once where rows are assumed independent",
            )
        )
    return [*findings, *_conflicts(split, split, found, unit, size), *_texts(splits, split)]


def _across(splits: Splits, one: str, other: str, unit: str) -> list[Finding]:
    smaller = min(len(splits[one]), len(splits[other]))
    found = {level: shared(splits, one, other, whole, level) for level in LEVELS}
    findings = []
    if any(found.values()):
        serious = len(found[LOOSE]) >= _SERIOUS_SHARE * smaller
        differ = len(conflicting(found[IDENTICAL]))
        same = len(found[IDENTICAL]) - differ
        findings.append(
            Finding(
                f"duplicates.{one}.{other}",
                "serious" if serious else "warning",
                f"{one} and {other} share {_said(found, unit)}"
                + (f"; {same} with one label, {differ} with two" if found[IDENTICAL] else ""),
                [_measure(level, copies) for level, copies in found.items()],
                _listed(found),
                "data.duplicates=drop or =mark: a model that saw them is scored on memory",
            )
        )
    findings += _conflicts(f"{one}.{other}", f"{one} and {other}", found, unit, smaller)
    return findings + _shared_texts(splits, one, other)


def _conflicts(id: str, place: str, found: _ByLevel, unit: str, size: int) -> list[Finding]:
    conflicts = {level: conflicting(copies) for level, copies in found.items()}
    rows = _rows(conflicts[LOOSE])
    if not rows:
        return []
    return [
        Finding(
            f"conflicts.{id}",
            "serious" if rows >= _SERIOUS_SHARE * size else "warning",
            f"{place}: {_said(conflicts, unit)} with different labels",
            [
                {"level": level, "groups": len(copies), "rows": _rows(copies)}
                for level, copies in conflicts.items()
            ],
            _listed(conflicts),
            "no system can get all of them right: decide by hand, or leave them out",
        )
    ]


def _texts(splits: Splits, split: str) -> list[Finding]:
    """Count texts that several rows of a split use; by design in many data sets, so only noted."""
    measures = []
    for name, key in _sides(splits).items():
        for level in LEVELS:
            copies = repeated(splits, split, key, level)
            measures.append({"text": name, **_measure(level, copies)})
    if not any(measure["groups"] for measure in measures):
        return []
    title = f"{split}: several rows use the same text"
    meaning = "Rows of one text are not independent: keep them in one split (columns.group)."
    return [Finding(f"repeated_texts.{split}", "info", title, measures, meaning=meaning)]


def _shared_texts(splits: Splits, one: str, other: str) -> list[Finding]:
    measures: list[Measure] = []
    rows: list[Row] = []
    sides = _sides(splits)
    if len(sides) > 1:
        sides = {"either side": any_text, **sides}
    for name, key in sides.items():
        found = {level: shared(splits, one, other, key, level) for level in LEVELS}
        measures += [{"text": name, **_measure(level, found[level])} for level in LEVELS]
        rows = rows or _listed(found)
    most = max(int(measure["groups"] or 0) for measure in measures)
    if not most:
        return []
    smaller = min(len(splits[one]), len(splits[other]))
    severity: Severity = "warning" if most >= _SERIOUS_SHARE * smaller else "info"
    title = f"{one} and {other} share {measures[0]['groups']:,} identical texts"
    advice = "split by document (data.validation.by=group with columns.group) where you can"
    return [Finding(f"shared_texts.{one}.{other}", severity, title, measures, rows, advice)]


def _sides(splits: Splits) -> dict[str, _Key]:
    if is_pair(splits):
        return {PREMISE: first_text, HYPOTHESIS: second_text}
    if has_summaries(splits):
        return {ARTICLE: first_text, SUMMARY: second_text}
    has_events = any(example.spans for example in every(splits))
    return {WINDOW if has_events else TEXT: first_text}


def _measure(level: str, copies: _Copies) -> Measure:
    conflicts = len(conflicting(copies))
    return {
        "level": level,
        "groups": len(copies),
        "rows": _rows(copies),
        "one label": len(copies) - conflicts,
        "conflicting labels": conflicts,
    }


def _rows(copies: _Copies) -> int:
    return len({(row.split, row.guid) for rows in copies for row in rows})


def _listed(found: _ByLevel) -> list[Row]:
    """List all rows: conflicting labels first, of those the identical texts first."""
    identical = {(row.split, row.guid) for rows in found[IDENTICAL] for row in rows}

    def rank(rows: list[Row]) -> tuple[bool, bool]:
        exact = all((row.split, row.guid) in identical for row in rows)
        return len({row.label for row in rows}) < 2, not exact

    ordered = sorted(found[LOOSE], key=rank)
    return [row._replace(group=i) for i, rows in enumerate(ordered, 1) for row in rows]


def _said(found: _ByLevel, unit: str) -> str:
    """Count the identical ones, and those that are so but for case, punctuation and spaces."""
    exact = len(found[IDENTICAL])
    more = len(found[LOOSE]) - exact
    parts = [f"{exact:,} {unit}{'s' if exact != 1 else ''}"] if exact or not more else []
    if more > 0:
        parts.append(f"{more:,} {'more ' if exact else unit + 's '}{LOOSE}")
    return " and ".join(parts)
