"""Exact duplicates within and across splits, and whether their labels agree.

Two levels: identical as read, and identical but for case, punctuation and spaces (`texts.loose`).
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Sequence
from itertools import combinations

from heron.data.examples import Example
from heron_tools.audit.findings import Finding, Measure, Row, grouped, severity
from heron_tools.audit.texts import Splits, loose, names_of, sides

IDENTICAL, LOOSE = "identical", "but for case, punctuation, spaces"
_LEVELS: dict[str, Callable[[str], str]] = {IDENTICAL: str.strip, LOOSE: loose}
_UNITS = {1: "text", 2: "pair"}  # by the number of a row's texts
_SERIOUS_SHARE = 0.005  # of a split's rows
_Key = Callable[[Example, Callable[[str], str]], Sequence[Hashable]]
_Place = tuple[str, ...]  # one split, or two
_Copies = list[list[Row]]  # groups of duplicate rows
_ByLevel = dict[str, _Copies]  # identical rows are in both levels


def find_duplicates(splits: Splits) -> list[Finding]:
    """Find repeated and shared rows and texts.

    Returns:
        One finding for each kind and place: `repeated_pairs` within a split, `duplicates` across
        two, `conflicts` of their labels, `repeated_texts` and `shared_texts`.
    """
    places: list[_Place] = [*((split,) for split in splits), *combinations(splits, 2)]
    return [finding for place in places for finding in _in_place(splits, place)]


def _in_place(splits: Splits, place: _Place) -> Iterator[Finding]:
    names = names_of(splits)
    unit = "event pair" if names == ("window",) else _UNITS[len(names)]
    found, title = _copies(splits, place, _whole), " and ".join(place)
    least = _SERIOUS_SHARE * min(len(splits[split]) for split in place)  # rows
    measures = [_measure(level, copies) for level, copies in found.items()]
    if any(found.values()) and len(place) == 1:
        yield Finding(
            f"repeated_pairs.{title}",
            severity(_count(found[LOOSE]), least),
            f"{title} holds {_numbers(found, unit)} more than once",
            measures,
            _listed(found),
            "count each once where rows are assumed independent",
        )
    elif any(found.values()):
        differ = len(_conflicting(found[IDENTICAL]))
        labels = f"; {len(found[IDENTICAL]) - differ} with one label, {differ} with two"
        yield Finding(
            f"duplicates.{'.'.join(place)}",
            severity(len(found[LOOSE]), 0, least),
            f"{title} share {_numbers(found, unit)}{labels * bool(found[IDENTICAL])}",
            measures,
            _listed(found),
            "data.duplicates=drop or =mark: a model can answer them from memory",
        )
    conflicts = {level: _conflicting(copies) for level, copies in found.items()}
    if rows := _count(conflicts[LOOSE]):
        yield Finding(
            f"conflicts.{'.'.join(place)}",
            severity(rows, 0, least),
            f"{title}: {_numbers(conflicts, unit)} with different labels",
            [
                {"level": level, "groups": len(copies), "rows": _count(copies)}
                for level, copies in conflicts.items()
            ],
            _listed(conflicts),
            "no system can get all of them right: decide by hand, or leave them out",
        )
    yield from _texts(splits, place, names, least)


def _texts(splits: Splits, place: _Place, names: Sequence[str], least: float) -> Iterator[Finding]:
    """Count texts shared by rows; within a split it is information, as many data sets intend it."""
    keys = {name: _side(number) for number, name in enumerate(names)}
    if len(place) > 1 and len(names) > 1:
        keys = {"either side": _any_side, **keys}
    found = {name: _copies(splits, place, key) for name, key in keys.items()}
    measures: list[Measure] = [
        {"text": name, **_measure(level, copies)}
        for name, by_level in found.items()
        for level, copies in by_level.items()
    ]
    if not (most := max(int(measure["groups"] or 0) for measure in measures)):
        return
    if len(place) == 1:
        title = f"{place[0]}: several rows use the same text"
        meaning = "Rows of one text are not independent: keep them in one split (columns.group)."
        yield Finding(f"repeated_texts.{place[0]}", "info", title, measures, meaning=meaning)
        return
    listed = next((rows for each in found.values() if (rows := _listed(each))), [])
    title = f"{' and '.join(place)} share {measures[0]['groups']:,} identical texts"
    advice = "split by document (data.validation.by=group with columns.group) where you can"
    id = f"shared_texts.{'.'.join(place)}"
    yield Finding(id, severity(most, least), title, measures, listed, advice)


def _copies(splits: Splits, place: _Place, key: _Key) -> _ByLevel:
    """Group the rows that share a key, in file order: rows of one split, or rows of both."""
    apart: Callable[[Row], str] = lambda row: row.split if len(place) > 1 else row.guid  # noqa: E731
    found: _ByLevel = {}
    for level, normalised in _LEVELS.items():
        groups: dict[Hashable, list[Row]] = defaultdict(list)
        for split in place:
            for example in splits[split]:
                for value in key(example, normalised):
                    groups[value].append(Row(split, example.guid, example.label))
        found[level] = [rows for rows in groups.values() if len(set(map(apart, rows))) > 1]
    return found


def _whole(example: Example, level: Callable[[str], str]) -> list[Hashable]:
    """Give the key of a row: its texts, or an event pair's text and event positions.

    Spans are offsets in the text as read. At the loose level offsets may differ; the key then has
    each event's words and the text before it.
    """
    texts = tuple(map(level, sides(example).values()))
    if len(texts) > 1:
        return [texts]
    text = example.text
    if level is loose:
        return [(*texts, *((loose(text[:a]), loose(text[a:b])) for a, b in example.spans))]
    lead = len(text) - len(text.lstrip())
    return [(*texts, *((start - lead, end - lead) for start, end in example.spans))]


def _side(number: int) -> _Key:
    return lambda example, level: [*map(level, [*sides(example).values()][number : number + 1])]


def _any_side(example: Example, level: Callable[[str], str]) -> list[Hashable]:
    return list(dict.fromkeys(map(level, sides(example).values())))


def _conflicting(copies: _Copies) -> _Copies:
    """Keep the groups whose rows have different labels."""
    return [rows for rows in copies if len({row.label for row in rows}) > 1]


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
    """Count the distinct rows; one may be in several groups."""
    return len({row.place for rows in copies for row in rows})


def _listed(found: _ByLevel) -> list[Row]:
    """List all rows: conflicting labels first, and within each part identical texts first."""
    identical = {row.place for rows in found[IDENTICAL] for row in rows}

    def rank(rows: list[Row]) -> tuple[bool, bool]:
        return len({row.label for row in rows}) < 2, not identical.issuperset(r.place for r in rows)

    ordered = sorted(found[LOOSE], key=rank)
    return grouped(ordered)


def _numbers(found: _ByLevel, unit: str) -> str:
    """Count the groups of identical rows, and those that are identical only at the loose level."""
    exact = len(found[IDENTICAL])
    more = len(found[LOOSE]) - exact
    parts = [f"{exact:,} {unit}{'s' if exact != 1 else ''}"] if exact or not more else []
    if more > 0:
        parts.append(f"{more:,} {'more ' if exact else unit + 's '}{LOOSE}")
    return " and ".join(parts)
