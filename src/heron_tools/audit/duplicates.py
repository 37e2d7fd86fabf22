"""Exact duplicates within and across splits, and whether their labels agree.

Two levels: identical as read, and identical but for case, punctuation and spaces (`texts.loose`).
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from heron_tools.audit.findings import Finding, FindingRow, Measure, grouped, severity
from heron_tools.audit.texts import Numbered, Splits, names_of, numbered

IDENTICAL, LOOSE = "identical", "but for case, punctuation, spaces"
_UNITS = {1: "text", 2: "pair"}  # by the number of a row's texts
_SERIOUS_SHARE = 0.005  # of a split's rows
_Levels = Mapping[str, Mapping[str, npt.NDArray[Any]]]  # by level, by split; see `numbered`
_Place = tuple[str, ...]  # one split, or two
_Copies = list[list[FindingRow]]  # groups of duplicate rows
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
    levels = {IDENTICAL: numbered(splits, str.strip).rows, LOOSE: loosely.rows}
    findings: list[Finding] = []
    for split in splits:
        findings += _in_place(splits, levels, (split,))

    for pair in combinations(splits, 2):
        findings += _in_place(splits, levels, pair)

    return findings


def _in_place(splits: Splits, levels: _Levels, place: _Place) -> Iterator[Finding]:
    """Find repeated rows, conflicting labels and repeated texts in one split, or across two."""
    names = names_of(splits)
    unit = "event pair" if names == ("window",) else _UNITS[len(names)]
    title = " and ".join(place)
    suffix = ".".join(place)
    threshold = _SERIOUS_SHARE * min(len(splits[split]) for split in place)  # rows

    copies = _copies(splits, levels, place)
    measures = [_measure(level, groups) for level, groups in copies.items()]
    if copies[LOOSE] and len(place) == 1:
        yield Finding(
            id=f"repeated_pairs.{title}",
            severity=severity(_count(copies[LOOSE]), threshold),
            title=f"{title} holds {_numbers(copies, unit)} more than once",
            measures=measures,
            rows=_listed(copies),
            advice="count each once where rows are assumed independent",
        )
    elif copies[LOOSE]:
        labels = ""
        if copies[IDENTICAL]:
            conflicting = len(_conflicting(copies[IDENTICAL]))
            agreeing = len(copies[IDENTICAL]) - conflicting
            labels = f"; {agreeing} with one label, {conflicting} with two"

        yield Finding(
            id=f"duplicates.{suffix}",
            severity=severity(len(copies[LOOSE]), 0, threshold),
            title=f"{title} share {_numbers(copies, unit)}{labels}",
            measures=measures,
            rows=_listed(copies),
            advice="data.duplicates=drop or =mark: a model can answer them from memory",
        )

    conflicts = {level: _conflicting(groups) for level, groups in copies.items()}
    if conflicts[LOOSE]:
        measures = []
        for level, groups in conflicts.items():
            measures.append(
                {
                    "level": level,
                    "groups": len(groups),
                    "rows": _count(groups),
                }
            )

        yield Finding(
            id=f"conflicts.{suffix}",
            severity=severity(_count(conflicts[LOOSE]), 0, threshold),
            title=f"{title}: {_numbers(conflicts, unit)} with different labels",
            measures=measures,
            rows=_listed(conflicts),
            advice="no system can get all of them right: decide by hand, or leave them out",
        )

    yield from _texts(splits, levels, place, names, threshold)


def _texts(
    splits: Splits, levels: _Levels, place: _Place, names: Sequence[str], threshold: float
) -> Iterator[Finding]:
    """Count texts shared by rows; within a split it is information, as many data sets intend it."""
    columns = {}
    if len(place) > 1 and len(names) > 1:
        columns["either side"] = [0, 1]

    for number, name in enumerate(names):
        columns[name] = [number]

    measures = []
    listed: list[FindingRow] = []
    largest = 0
    for name, numbers in columns.items():
        copies = _copies(splits, levels, place, numbers)
        listed = listed or _listed(copies)
        for level, groups in copies.items():
            measures.append({"text": name, **_measure(level, groups)})
            largest = max(largest, len(groups))

    if not largest:
        return

    if len(place) == 1:
        yield Finding(
            id=f"repeated_texts.{place[0]}",
            severity="info",
            title=f"{place[0]}: several rows use the same text",
            measures=measures,
            meaning=(
                "Rows of one text are not independent: keep them in one split (columns.group)."
            ),
        )
    else:
        yield Finding(
            id=f"shared_texts.{'.'.join(place)}",
            severity=severity(largest, threshold),
            title=f"{' and '.join(place)} share {measures[0]['groups']:,} identical texts",
            measures=measures,
            rows=listed,
            advice="split by document (data.validation.by=group with columns.group) where you can",
        )


def _copies(
    splits: Splits, levels: _Levels, place: _Place, columns: list[int] | None = None
) -> _ByLevel:
    """Group the rows that share a text (of `columns`), or all of their texts, in file order.

    Rows of a group are of one split, or of both.
    """
    copies = {}
    for level, text_ids in levels.items():
        keys_NK = {}
        for split in place:
            if columns is None:
                keys_NK[split] = text_ids[split].view(np.uint64)  # all texts as one number
            else:
                keys_NK[split] = text_ids[split][:, columns]

        values, counts = np.unique(np.concatenate(list(keys_NK.values())), return_counts=True)
        repeated = values[(counts > 1) & (values >= 0)]
        copies[level] = _groups_of(splits, keys_NK, repeated)

    return copies


def _groups_of(
    splits: Splits, keys_NK: Mapping[str, npt.NDArray[Any]], repeated: npt.NDArray[Any]
) -> _Copies:
    """Group the rows by the repeated keys that they have.

    Args:
        splits: the rows.
        keys_NK: K keys of each row, by split.
        repeated: the keys that occur several times.

    Returns:
        Of two splits, the groups with rows of both; of one, the groups with several rows.
    """
    rows_of = defaultdict(list)
    repeated_keys = set(repeated.tolist())
    for split, key_NK in keys_NK.items():
        has_copy_N = np.isin(key_NK, repeated).any(1)
        for row in np.flatnonzero(has_copy_N).tolist():
            example = splits[split][row]
            for key in dict.fromkeys(key_NK[row].tolist()):
                if key in repeated_keys:
                    rows_of[key].append(FindingRow(split, example.guid, example.label))

    groups = list(rows_of.values())
    if len(keys_NK) > 1:
        return [rows for rows in groups if len({row.split for row in rows}) > 1]

    return [rows for rows in groups if len({row.guid for row in rows}) > 1]


def _conflicting(copies: _Copies) -> _Copies:
    """Keep the groups whose rows have different labels."""
    return [rows for rows in copies if len({row.label for row in rows}) > 1]


def _measure(level: str, copies: _Copies) -> Measure:
    """Count the groups at one level, their rows, and the groups with conflicting labels."""
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


def _listed(copies: _ByLevel) -> list[FindingRow]:
    """List all rows: conflicting labels first, and within each part identical texts first."""
    identical = {row.place for rows in copies[IDENTICAL] for row in rows}

    def rank(rows: list[FindingRow]) -> tuple[bool, bool]:
        has_one_label = len({row.label for row in rows}) < 2
        return has_one_label, not identical.issuperset(row.place for row in rows)

    ordered = sorted(copies[LOOSE], key=rank)
    return grouped(ordered)


def _numbers(copies: _ByLevel, unit: str) -> str:
    """Count the groups of identical rows, and those that are identical only at the loose level."""
    identical = len(copies[IDENTICAL])
    loose = len(copies[LOOSE]) - identical
    text = f"{identical:,} {unit}" if identical == 1 else f"{identical:,} {unit}s"
    if loose <= 0:
        return text
    if not identical:
        return f"{loose:,} {unit}s {LOOSE}"
    return f"{text} and {loose:,} more {LOOSE}"
