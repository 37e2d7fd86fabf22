"""Exact duplicates inside and across splits, and whether their labels agree.

Two levels: identical as read, and identical but for case, punctuation and spaces (`texts.loose`).
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from itertools import combinations

from heron.data.examples import Example
from heron_tools.audit.findings import Finding, Measure, Row, Severity
from heron_tools.audit.texts import (
    ARTICLE,
    HYPOTHESIS,
    PREMISE,
    SUMMARY,
    TEXT,
    WINDOW,
    Splits,
    every,
    has_events,
    has_summaries,
    is_pair,
    loose,
    second_of,
)

IDENTICAL, LOOSE = "identical", "but for case, punctuation, spaces"
LEVELS: dict[str, Callable[[str], str]] = {IDENTICAL: str.strip, LOOSE: loose}
_SERIOUS_SHARE = 0.005  # of a split's rows
_Key = Callable[[Example, Callable[[str], str]], Sequence[Hashable]]
_Place = tuple[str, ...]  # one split, or two
_Copies = list[list[Row]]  # rows that copy each other
_ByLevel = dict[str, _Copies]  # identical rows are in both levels


def find_duplicates(splits: Splits) -> list[Finding]:
    """Find repeated and shared rows and texts.

    Returns:
        One finding for each kind and place: `repeated_pairs` inside a split, `duplicates` across
        two, `conflicts` where copies differ in label, `repeated_texts` and `shared_texts`.
    """
    places: list[_Place] = [*((split,) for split in splits), *combinations(splits, 2)]
    return [finding for place in places for finding in _in_place(splits, place)]


def _in_place(splits: Splits, place: _Place) -> list[Finding]:
    unit = "pair" if is_pair(splits) or has_summaries(splits) else "text"
    unit = "event pair" if has_events(splits) else unit
    found = {level: _copies(splits, place, _whole, level) for level in LEVELS}
    size = min(len(splits[split]) for split in place)
    findings = []
    if any(found.values()):
        describe = _shared if len(place) > 1 else _repeated
        findings.append(describe(place, found, unit, size))
    findings += _conflicts(place, found, unit, size)
    return findings + (_shared_texts if len(place) > 1 else _repeated_texts)(splits, place)


def _copies(splits: Splits, place: _Place, key: _Key, level: str) -> _Copies:
    """Group the rows that share a key, in file order: rows of one split, or rows of both."""
    groups: dict[Hashable, list[Row]] = defaultdict(list)
    for split in place:
        for example in splits[split]:
            for value in key(example, LEVELS[level]):
                groups[value].append(Row(split, example.guid, example.label, 0))
    copies = [rows for rows in groups.values() if len(rows) > 1]
    numbered = [[row._replace(group=i) for row in rows] for i, rows in enumerate(copies, 1)]
    apart = "split" if len(place) > 1 else "guid"
    return [rows for rows in numbered if len({getattr(row, apart) for row in rows}) > 1]


def _whole(example: Example, level: Callable[[str], str]) -> list[Hashable]:
    """Give the key of a row: both its texts; of an event pair the text and where its events are.

    Spans are offsets in the text as read. A loose copy moves them; its key has the events' own
    words and the text before each.
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


def _first_text(example: Example, level: Callable[[str], str]) -> list[Hashable]:
    return [level(example.text)]


def _second_text(example: Example, level: Callable[[str], str]) -> list[Hashable]:
    return [] if (second := second_of(example)) is None else [level(second)]


def _any_text(example: Example, level: Callable[[str], str]) -> list[Hashable]:
    return list(dict.fromkeys([*_first_text(example, level), *_second_text(example, level)]))


def _sides(splits: Splits) -> dict[str, _Key]:
    if is_pair(splits):
        return {PREMISE: _first_text, HYPOTHESIS: _second_text}
    if has_summaries(splits):
        return {ARTICLE: _first_text, SUMMARY: _second_text}
    has_events = any(example.spans for example in every(splits))
    return {WINDOW if has_events else TEXT: _first_text}


def _conflicting(copies: _Copies) -> _Copies:
    """Keep the groups whose rows have different labels."""
    return [rows for rows in copies if len({row.label for row in rows}) > 1]


def _repeated(place: _Place, found: _ByLevel, unit: str, size: int) -> Finding:
    (split,) = place
    return Finding(
        f"repeated_pairs.{split}",
        "warning" if _count(found[LOOSE]) >= _SERIOUS_SHARE * size else "info",
        f"{split} holds {_numbers(found, unit)} more than once",
        [_measure(level, copies) for level, copies in found.items()],
        _listed(found),
        "count each once where rows are assumed independent",
    )


def _shared(place: _Place, found: _ByLevel, unit: str, size: int) -> Finding:
    differ = len(_conflicting(found[IDENTICAL]))
    labels = f"; {len(found[IDENTICAL]) - differ} with one label, {differ} with two"
    return Finding(
        f"duplicates.{'.'.join(place)}",
        "serious" if len(found[LOOSE]) >= _SERIOUS_SHARE * size else "warning",
        f"{' and '.join(place)} share {_numbers(found, unit)}{labels * bool(found[IDENTICAL])}",
        [_measure(level, copies) for level, copies in found.items()],
        _listed(found),
        "data.duplicates=drop or =mark: a model that saw them is scored on memory",
    )


def _conflicts(place: _Place, found: _ByLevel, unit: str, size: int) -> list[Finding]:
    conflicts = {level: _conflicting(copies) for level, copies in found.items()}
    rows = _count(conflicts[LOOSE])
    if not rows:
        return []
    return [
        Finding(
            f"conflicts.{'.'.join(place)}",
            "serious" if rows >= _SERIOUS_SHARE * size else "warning",
            f"{' and '.join(place)}: {_numbers(conflicts, unit)} with different labels",
            [
                {"level": level, "groups": len(copies), "rows": _count(copies)}
                for level, copies in conflicts.items()
            ],
            _listed(conflicts),
            "no system can get all of them right: decide by hand, or leave them out",
        )
    ]


def _repeated_texts(splits: Splits, place: _Place) -> list[Finding]:
    """Count texts that several rows of a split use: by design in many data sets, so only noted."""
    measures = [
        {"text": name, **_measure(level, _copies(splits, place, key, level))}
        for name, key in _sides(splits).items()
        for level in LEVELS
    ]
    if not any(measure["groups"] for measure in measures):
        return []
    title = f"{place[0]}: several rows use the same text"
    meaning = "Rows of one text are not independent: keep them in one split (columns.group)."
    return [Finding(f"repeated_texts.{place[0]}", "info", title, measures, meaning=meaning)]


def _shared_texts(splits: Splits, place: _Place) -> list[Finding]:
    measures: list[Measure] = []
    rows: list[Row] = []
    sides = _sides(splits)
    if len(sides) > 1:
        sides = {"either side": _any_text, **sides}
    for name, key in sides.items():
        found = {level: _copies(splits, place, key, level) for level in LEVELS}
        measures += [{"text": name, **_measure(level, found[level])} for level in LEVELS]
        rows = rows or _listed(found)
    most = max(int(measure["groups"] or 0) for measure in measures)
    if not most:
        return []
    smaller = min(len(splits[split]) for split in place)
    severity: Severity = "warning" if most >= _SERIOUS_SHARE * smaller else "info"
    title = f"{' and '.join(place)} share {measures[0]['groups']:,} identical texts"
    advice = "split by document (data.validation.by=group with columns.group) where you can"
    return [Finding(f"shared_texts.{'.'.join(place)}", severity, title, measures, rows, advice)]


def _measure(level: str, copies: _Copies) -> Measure:
    conflicts = len(_conflicting(copies))
    return {
        "level": level,
        "groups": len(copies),
        "rows": _count(copies),
        "one label": len(copies) - conflicts,
        "conflicting labels": conflicts,
    }


def _count(copies: _Copies) -> int:
    """Count the rows; one may be in several groups."""
    return len({(row.split, row.guid) for rows in copies for row in rows})


def _listed(found: _ByLevel) -> list[Row]:
    """List all rows: conflicting labels first, of those the identical texts first."""
    identical = {(row.split, row.guid) for rows in found[IDENTICAL] for row in rows}

    def rank(rows: list[Row]) -> tuple[bool, bool]:
        exact = all((row.split, row.guid) in identical for row in rows)
        return len({row.label for row in rows}) < 2, not exact

    ordered = sorted(found[LOOSE], key=rank)
    return [row._replace(group=i) for i, rows in enumerate(ordered, 1) for row in rows]


def _numbers(found: _ByLevel, unit: str) -> str:
    """Count the groups of identical rows, and those that are identical only at the loose level."""
    exact = len(found[IDENTICAL])
    more = len(found[LOOSE]) - exact
    parts = [f"{exact:,} {unit}{'s' if exact != 1 else ''}"] if exact or not more else []
    if more > 0:
        parts.append(f"{more:,} {'more ' if exact else unit + 's '}{LOOSE}")
    return " and ".join(parts)
