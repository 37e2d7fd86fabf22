"""Exact duplicates within and across splits, and whether their labels agree.

Two levels: identical as read, and identical but for case, punctuation and spaces (`texts.loose`).
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
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
    title, dotted = " and ".join(place), ".".join(place)
    least = _SERIOUS_SHARE * min(len(splits[split]) for split in place)  # rows
    copies = _copies(splits, levels, place)
    measures = [_measure(level, groups) for level, groups in copies.items()]
    if copies[LOOSE] and len(place) == 1:
        yield Finding(
            f"repeated_pairs.{title}",
            severity(_count(copies[LOOSE]), least),
            f"{title} holds {_numbers(copies, unit)} more than once",
            measures,
            _listed(copies),
            "count each once where rows are assumed independent",
        )
    elif copies[LOOSE]:
        labels = ""
        if copies[IDENTICAL]:
            differ = len(_conflicting(copies[IDENTICAL]))
            labels = f"; {len(copies[IDENTICAL]) - differ} with one label, {differ} with two"
        yield Finding(
            f"duplicates.{dotted}",
            severity(len(copies[LOOSE]), 0, least),
            f"{title} share {_numbers(copies, unit)}{labels}",
            measures,
            _listed(copies),
            "data.duplicates=drop or =mark: a model can answer them from memory",
        )
    conflicts = {level: _conflicting(groups) for level, groups in copies.items()}
    if conflicts[LOOSE]:
        yield Finding(
            f"conflicts.{dotted}",
            severity(_count(conflicts[LOOSE]), 0, least),
            f"{title}: {_numbers(conflicts, unit)} with different labels",
            [
                {"level": level, "groups": len(groups), "rows": _count(groups)}
                for level, groups in conflicts.items()
            ],
            _listed(conflicts),
            "no system can get all of them right: decide by hand, or leave them out",
        )
    yield from _texts(splits, levels, place, names, least)


def _texts(
    splits: Splits, levels: _Levels, place: _Place, names: Sequence[str], least: float
) -> Iterator[Finding]:
    """Count texts shared by rows; within a split it is information, as many data sets intend it."""
    columns = {name: slice(number, number + 1) for number, name in enumerate(names)}
    if len(place) > 1 and len(names) > 1:
        columns = {"either side": slice(2), **columns}
    measures: list[Measure] = []
    listed: list[Row] = []
    for name, columns_of_text in columns.items():
        copies = _copies(splits, levels, place, columns_of_text)
        listed = listed or _listed(copies)
        for level, groups in copies.items():
            measures.append({"text": name, **_measure(level, groups)})
    most = max(int(measure["groups"] or 0) for measure in measures)
    if not most:
        return
    if len(place) == 1:
        title = f"{place[0]}: several rows use the same text"
        meaning = "Rows of one text are not independent: keep them in one split (columns.group)."
        yield Finding(f"repeated_texts.{place[0]}", "info", title, measures, meaning=meaning)
        return
    title = f"{' and '.join(place)} share {measures[0]['groups']:,} identical texts"
    advice = "split by document (data.validation.by=group with columns.group) where you can"
    id = f"shared_texts.{'.'.join(place)}"
    yield Finding(id, severity(most, least), title, measures, listed, advice)


def _copies(
    splits: Splits, levels: _Levels, place: _Place, columns: slice | None = None
) -> _ByLevel:
    """Group the rows that share a text (of `columns`), or all of their texts, in file order.

    Rows of a group are of one split, or of both.
    """
    copies: _ByLevel = {}
    for level, text_ids in levels.items():
        keys_NK = {
            split: text_ids[split].view(np.uint64)  # all texts as one number
            if columns is None
            else text_ids[split][:, columns]
            for split in place
        }
        values, counts = np.unique(np.concatenate(list(keys_NK.values())), return_counts=True)
        repeated = values[(counts > 1) & (values >= 0)]
        copies[level] = _groups_of(splits, keys_NK, repeated)
    return copies


def _groups_of(
    splits: Splits, keys_NK: Mapping[str, npt.NDArray[Any]], repeated: npt.NDArray[Any]
) -> _Copies:
    """Group the rows by the repeated keys that they have."""
    rows_of = defaultdict(list)
    wanted = set(repeated.tolist())
    for split, key_NK in keys_NK.items():
        for row in np.flatnonzero(np.isin(key_NK, repeated).any(1)).tolist():
            example = splits[split][row]
            for key in dict.fromkeys(key_NK[row].tolist()):
                if key in wanted:
                    rows_of[key].append(Row(split, example.guid, example.label))
    if len(keys_NK) > 1:
        return [rows for rows in rows_of.values() if len({row.split for row in rows}) > 1]
    return [rows for rows in rows_of.values() if len({row.guid for row in rows}) > 1]


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


def _listed(copies: _ByLevel) -> list[Row]:
    """List all rows: conflicting labels first, and within each part identical texts first."""
    identical = {row.place for rows in copies[IDENTICAL] for row in rows}

    def rank(rows: list[Row]) -> tuple[bool, bool]:
        has_one_label = len({row.label for row in rows}) < 2
        return has_one_label, not identical.issuperset(row.place for row in rows)

    ordered = sorted(copies[LOOSE], key=rank)
    return grouped(ordered)


def _numbers(copies: _ByLevel, unit: str) -> str:
    """Count the groups of identical rows, and those that are identical only at the loose level."""
    exact = len(copies[IDENTICAL])
    more = len(copies[LOOSE]) - exact
    same = f"{exact:,} {unit}" if exact == 1 else f"{exact:,} {unit}s"
    if more <= 0:
        return same
    if not exact:
        return f"{more:,} {unit}s {LOOSE}"
    return f"{same} and {more:,} more {LOOSE}"
