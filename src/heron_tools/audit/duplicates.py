"""Exact duplicates within and across splits, and whether their labels agree.

Two levels: identical as read, and identical but for case, punctuation and spaces (`texts.loose`).
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from heron_tools.audit.findings import Finding, Measure, Row, grouped, severity
from heron_tools.audit.texts import Numbered, Splits, names_of, numbered

IDENTICAL, LOOSE = "identical", "but for case, punctuation, spaces"
_UNITS = {1: "text", 2: "pair"}  # by the number of a row's texts
_SERIOUS_SHARE = 0.005  # of a split's rows
_Levels = Mapping[str, Mapping[str, npt.NDArray[Any]]]  # by level, by split; see `numbered`
_Place = tuple[str, ...]  # one split, or two
_Copies = list[list[Row]]  # groups of duplicate rows
_ByLevel = dict[str, _Copies]  # identical rows are in both levels


def find_duplicates(splits: Splits, loosely: Numbered) -> list[Finding]:
    """Find repeated and shared rows and texts.

    Args:
        splits: the rows.
        loosely: their texts at the level of `texts.loose`.

    Returns:
        One finding for each kind and place: `repeated_pairs` within a split, `duplicates` across
        two, `conflicts` of their labels, `repeated_texts` and `shared_texts`.
    """
    places: list[_Place] = [*((split,) for split in splits), *combinations(splits, 2)]
    levels = {IDENTICAL: numbered(splits, str.strip).rows, LOOSE: loosely.rows}
    return [finding for place in places for finding in _in_place(splits, levels, place)]


def _in_place(splits: Splits, levels: _Levels, place: _Place) -> Iterator[Finding]:
    names = names_of(splits)
    unit = "event pair" if names == ("window",) else _UNITS[len(names)]
    found, title = _copies(splits, levels, place), " and ".join(place)
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
    yield from _texts(splits, levels, place, names, least)


def _texts(
    splits: Splits, levels: _Levels, place: _Place, names: Sequence[str], least: float
) -> Iterator[Finding]:
    """Count texts shared by rows; within a split it is information, as many data sets intend it."""
    sides = {name: slice(number, number + 1) for number, name in enumerate(names)}
    if len(place) > 1 and len(names) > 1:
        sides = {"either side": slice(2), **sides}
    found = {name: _copies(splits, levels, place, side) for name, side in sides.items()}
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


def _copies(splits: Splits, levels: _Levels, place: _Place, sides: slice | None = None) -> _ByLevel:
    """Group the rows that share a side, or both, in file order: of one split, or of two."""
    apart: Callable[[Row], str] = lambda row: row.split if len(place) > 1 else row.guid  # noqa: E731
    found: _ByLevel = {}
    for level, rows_of in levels.items():
        both = sides is None  # as one number
        keys = {s: rows_of[s].view(np.uint64) if both else rows_of[s][:, sides] for s in place}
        values, counts = np.unique(np.concatenate([*keys.values()]), return_counts=True)
        repeated = values[(counts > 1) & (values >= 0)]
        known, groups = set(repeated.tolist()), defaultdict(list)
        for split, key_NK in keys.items():
            for row in np.flatnonzero(np.isin(key_NK, repeated).any(1)).tolist():
                example = splits[split][row]
                for value in dict.fromkeys(key_NK[row].tolist()):
                    if value in known:
                        groups[value].append(Row(split, example.guid, example.label))
        found[level] = [rows for rows in groups.values() if len(set(map(apart, rows))) > 1]
    return found


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
