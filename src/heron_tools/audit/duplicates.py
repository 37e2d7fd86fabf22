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

IDENTICAL = "identical"
LOOSE = "but for case, punctuation, spaces"
_UNITS = {1: "text", 2: "pair"}  # by the number of a row's texts
_SERIOUS_SHARE = 0.005  # of a split's rows

_TextIds = Mapping[str, Mapping[str, npt.NDArray[Any]]]  # by level, by split; see `numbered`
_Names = tuple[str, ...]  # of one split, or of two
_Groups = list[list[FindingRow]]  # groups of duplicate rows
_ByLevel = dict[str, _Groups]  # identical rows are in both levels


def find_duplicates(splits: Splits, loose_texts: Numbered) -> list[Finding]:
    """Find repeated and shared rows and texts.

    Args:
        splits: the rows.
        loose_texts: their texts at the level of `texts.loose`.

    Returns:
        For each split, `repeated_pairs` and `repeated_texts`; for each two splits, `duplicates` and
        `shared_texts`; for both, `conflicts` of the labels of duplicates.
    """
    text_ids = {
        IDENTICAL: numbered(splits, str.strip).rows,
        LOOSE: loose_texts.rows,
    }
    findings: list[Finding] = []
    for split in splits:
        findings += _compare(splits, text_ids, (split,))

    for pair in combinations(splits, 2):
        findings += _compare(splits, text_ids, pair)

    return findings


def _compare(splits: Splits, text_ids: _TextIds, names: _Names) -> Iterator[Finding]:
    """Find repeated rows, conflicting labels and repeated texts in one split, or across two.

    Args:
        splits: the rows.
        text_ids: the numbers of their texts, by level and split.
        names: one split, or two.
    """
    texts = names_of(splits)
    unit = "event pair" if texts == ("window",) else _UNITS[len(texts)]
    title = " and ".join(names)
    suffix = ".".join(names)
    smallest = min(len(splits[split]) for split in names)
    threshold = _SERIOUS_SHARE * smallest  # rows

    copies = _copies(splits, text_ids, names)
    measures = [_measure(level, groups) for level, groups in copies.items()]
    if copies[LOOSE] and len(names) == 1:
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

    yield from _compare_texts(splits, text_ids, names, texts, threshold)


def _compare_texts(
    splits: Splits, text_ids: _TextIds, names: _Names, texts: Sequence[str], threshold: float
) -> Iterator[Finding]:
    """Count the single texts that rows share.

    Within a split that is information only, because many data sets intend it.

    Args:
        splits: the rows.
        text_ids: the numbers of their texts, by level and split.
        names: one split, or two.
        texts: the names of a row's texts.
        threshold: minimum number of shared texts for a warning.
    """
    columns = {}
    if len(names) > 1 and len(texts) > 1:
        columns["either side"] = [0, 1]

    for number, text in enumerate(texts):
        columns[text] = [number]

    measures = []
    listed: list[FindingRow] = []
    largest = 0
    for text, numbers in columns.items():
        copies = _copies(splits, text_ids, names, numbers)
        listed = listed or _listed(copies)
        for level, groups in copies.items():
            measures.append({"text": text, **_measure(level, groups)})
            largest = max(largest, len(groups))

    if not largest:
        return

    if len(names) == 1:
        yield Finding(
            id=f"repeated_texts.{names[0]}",
            severity="info",
            title=f"{names[0]}: several rows use the same text",
            measures=measures,
            meaning=(
                "Rows of one text are not independent: keep them in one split (columns.group)."
            ),
        )
    else:
        yield Finding(
            id=f"shared_texts.{'.'.join(names)}",
            severity=severity(largest, threshold),
            title=f"{' and '.join(names)} share {measures[0]['groups']:,} identical texts",
            measures=measures,
            rows=listed,
            advice="split by document (data.validation.by=group with columns.group) where you can",
        )


def _copies(
    splits: Splits, text_ids: _TextIds, names: _Names, columns: list[int] | None = None
) -> _ByLevel:
    """Group the rows that share their texts.

    Args:
        splits: the rows.
        text_ids: the numbers of their texts, by level and split.
        names: one split, or two.
        columns: rows share a text if it is in one of these columns; None: they share all texts.

    Returns:
        Groups of rows of the split, or of both, in the order of the files.
    """
    copies = {}
    for level, ids_of_split in text_ids.items():
        keys_NK = {}
        for split in names:
            ids_N2 = ids_of_split[split]
            if columns is None:
                keys_NK[split] = ids_N2.view(np.uint64)  # both texts as one number
            else:
                keys_NK[split] = ids_N2[:, columns]

        all_keys = np.concatenate(list(keys_NK.values()))
        values, counts = np.unique(all_keys, return_counts=True)
        repeated = values[(counts > 1) & (values >= 0)]
        copies[level] = _groups_of(splits, keys_NK, repeated)

    return copies


def _groups_of(
    splits: Splits, keys_NK: Mapping[str, npt.NDArray[Any]], repeated: npt.NDArray[Any]
) -> _Groups:
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

    groups = []
    for rows in rows_of.values():
        splits_of_rows = {row.split for row in rows}
        guids = {row.guid for row in rows}
        distinct = splits_of_rows if len(keys_NK) > 1 else guids
        if len(distinct) > 1:
            groups.append(rows)

    return groups


def _conflicting(groups: _Groups) -> _Groups:
    """Keep the groups whose rows have different labels."""
    conflicting = []
    for rows in groups:
        labels = {row.label for row in rows}
        if len(labels) > 1:
            conflicting.append(rows)

    return conflicting


def _measure(level: str, groups: _Groups) -> Measure:
    """Count the groups at one level, their rows, and the groups with conflicting labels."""
    conflicts = len(_conflicting(groups))
    return {
        "level": level,
        "groups": len(groups),
        "rows": _count(groups),
        "one label": len(groups) - conflicts,
        "conflicting labels": conflicts,
    }


def _count(groups: _Groups) -> int:
    """Count the distinct rows; one may be in several groups."""
    keys = {row.key for rows in groups for row in rows}
    return len(keys)


def _listed(copies: _ByLevel) -> list[FindingRow]:
    """List the rows of all groups.

    Groups with conflicting labels come first, and within each part those of identical texts.
    """
    identical = {row.key for rows in copies[IDENTICAL] for row in rows}

    def rank(rows: list[FindingRow]) -> tuple[bool, bool]:
        labels = {row.label for row in rows}
        are_identical = all(row.key in identical for row in rows)
        return len(labels) == 1, not are_identical

    ordered = sorted(copies[LOOSE], key=rank)
    return grouped(ordered)


def _numbers(copies: _ByLevel, unit: str) -> str:
    """Count the groups of identical rows, and those that are identical only at the loose level."""
    identical = len(copies[IDENTICAL])
    loose = len(copies[LOOSE]) - identical
    text = f"{identical:,} {unit}"
    if identical != 1:
        text += "s"

    if loose <= 0:
        return text

    if not identical:
        return f"{loose:,} {unit}s {LOOSE}"

    return f"{text} and {loose:,} more {LOOSE}"
