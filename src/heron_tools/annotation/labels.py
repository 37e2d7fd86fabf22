"""Labels that several people gave to the same items, from any layout of files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heron.base.errors import ConfigError, DataError, Problem
from heron.base.tables import Table, cell_text, is_missing, read_table, table_stem
from heron.languages import get_language
from heron.languages.unicode import UnicodeOptions, normalise
from heron_tools.annotation.people import filled_rows

CASES = ("ignore", "keep")
KEYS = ("guid", "id", "item")  # columns that may name an item, in this order


@dataclass(frozen=True, slots=True)
class Labels:
    """What each rater said of each item; empty where one said nothing."""

    items: Sequence[str]  # their names, each once
    raters: Sequence[str]
    values: Sequence[Sequence[str]]  # [items, raters]
    groups: Sequence[str]  # of the items; empty for those in none
    texts: Sequence[str]  # of the items, for people who decide; empty where files have none

    def of_group(self, group: str) -> Labels:
        """Choose the items of a group."""
        return self.where(lambda index: self.groups[index] == group)

    def where(self, keep: Callable[[int], bool]) -> Labels:
        """Choose items by their positions."""
        rows = [index for index in range(len(self.items)) if keep(index)]
        items, groups, texts = (
            [part[row] for row in rows] for part in (self.items, self.groups, self.texts)
        )
        return Labels(items, self.raters, [self.values[row] for row in rows], groups, texts)


@dataclass(frozen=True, slots=True)
class Layout:
    """Which columns of a file are what; empty: by their usual names."""

    key: str = ""  # of the item; empty: guid, id or item, else the position of the row
    label: str = "label"
    rater: str = ""  # of the rater, where each row is one rater's label of one item
    raters: Sequence[str] = ()  # columns with a rater's labels each
    by: str = ""  # of the group
    text: str = "text"
    ignore: Sequence[str] = ()  # values that mean that nothing was said
    # Labels that differ only in case or Unicode form: `ignore` or `keep`; empty: refused.
    case: str = ""


def read_labels(files: Sequence[Path], layout: Layout) -> Labels:
    """Read labels: a column for each rater, a row for each label, or a file for each rater.

    Raises:
        ConfigError: the files say of no two raters what they said, or labels differ only in case
            or Unicode form.
        DataError: missing columns, a row without item or rater, an item that one rater has twice;
            names file and line.
    """
    _check_names(files, layout)
    tables = [read_table(path) for path in files]
    found: dict[str, dict[str, str]] = {}
    facts: dict[str, tuple[str, str]] = {}
    problems: list[Problem] = []
    for table in tables:
        key = _key_of(table, layout)
        # Without a key, the position of a row names its item.
        table = filled_rows(table) if key else table
        columns = list(layout.raters) or [layout.label]
        columns += [each for each in (layout.rater, layout.by) if each]
        table.require(*columns)
        named = filter(None, (key, layout.rater))
        if missing := [each for name in named for each in table.missing_values(name)]:
            problems += missing
            continue
        for index, row in enumerate(table.rows):
            item = cell_text(row[key]) if key else str(index)
            rater = cell_text(row[layout.rater]) if layout.rater else table_stem(table.path)
            said = {name: row[name] for name in layout.raters} or {rater: row[layout.label]}
            facts.setdefault(item, _facts(row, layout))
            for rater, value in said.items():
                of_item = found.setdefault(item, {})
                if rater in of_item:
                    what = f"{rater} has labelled '{item}' already"
                    problems.append(Problem(table.where(index), what, "one label of each rater"))
                text = _text(value)
                of_item[rater] = "" if text in layout.ignore else text
    if problems:
        raise DataError(problems)
    raters = list(dict.fromkeys(rater for said in found.values() for rater in said))
    if len(raters) < 2:
        raise ConfigError(
            f"labels of one rater only ({', '.join(raters)}): name a file for each, "
            "raters=COLUMN,COLUMN or rater=COLUMN"
        )
    values = [[said.get(rater, "") for rater in raters] for said in found.values()]
    values = _same_case(values, layout.case)
    groups, texts = zip(*(facts[item] for item in found), strict=True)
    return Labels(list(found), raters, values, groups, texts)


def _check_names(files: Sequence[Path], layout: Layout) -> None:
    """Refuse two files of one name where the name is the rater's."""
    names = Counter(table_stem(path) for path in files)
    twice = [str(path) for path in files if names[table_stem(path)] > 1]
    if twice and not (layout.raters or layout.rater):
        raise ConfigError(
            f"files={','.join(twice)}: one name, which is the rater's; name each file after its "
            "rater, or rater=COLUMN"
        )


def _same_case(values: Sequence[Sequence[str]], case: str) -> list[list[str]]:
    """Write labels that differ only in case or Unicode form as the most frequent, if asked to."""
    counts = Counter(label for said in values for label in said if label)
    same: dict[str, list[str]] = {}
    for label, _ in counts.most_common():
        same.setdefault(_folded(label), []).append(label)
    if not case and (several := next((of for of in same.values() if len(of) > 1), None)):
        listed = " and ".join(f"'{label}' ({counts[label]:,})" for label in several)
        raise ConfigError(
            f"labels {listed} differ only in case or Unicode form: case=ignore makes them one, "
            "case=keep keeps them"
        )
    if case != "ignore":
        return [list(said) for said in values]
    return [[same[_folded(label)][0] if label else "" for label in said] for said in values]


def _folded(label: str) -> str:
    """Unify case, composed and decomposed letters, Romanian's cedillas, and direction marks."""
    return normalise(label, get_language("ro"), UnicodeOptions()).casefold()


def _key_of(table: Table, layout: Layout) -> str:
    if layout.key:
        table.require(layout.key)
        return layout.key
    return next((key for key in KEYS if key in table.columns), "")


def _facts(row: Mapping[str, Any], layout: Layout) -> tuple[str, str]:
    """Read an item's group and its text."""
    return _text(row[layout.by]) if layout.by else "", _text(row.get(layout.text))


def _text(value: Any) -> str:
    return "" if is_missing(value) else cell_text(value)
