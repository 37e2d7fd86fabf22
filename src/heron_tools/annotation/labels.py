"""Labels of several raters for the same items, from any layout of files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from heron.base.errors import ConfigError, Problem, raise_all
from heron.base.tables import cell_text, is_missing, read_table, table_stem
from heron.base.terminal import say
from heron.languages import get_language
from heron.languages.unicode import UnicodeOptions, normalise
from heron_tools.annotation.sheets import filled_rows

KEYS = ("guid", "id", "item")  # columns that may name an item, in this order


@dataclass(frozen=True, slots=True)
class Labels:
    """The label of each rater for each item; empty where there is none."""

    items: Sequence[str]  # their distinct names
    raters: Sequence[str]
    values: Sequence[Sequence[str]]  # [items, raters]
    groups: Sequence[str] = ()  # of the items; "" for items in no group
    texts: Sequence[str] = ()  # of the items, for adjudication; empty if files have none

    def of_group(self, group: str) -> Labels:
        """Select the items of a group."""
        rows = [index for index, other in enumerate(self.groups) if other == group]
        items = [self.items[row] for row in rows]
        return Labels(items, self.raters, [self.values[row] for row in rows])


@dataclass(kw_only=True)
class Layout:
    """The roles of a file's columns."""

    key: str = ""  # column of the item; empty: guid, id, item, or else the position of the row
    label: str = "label"  # column of the label
    rater: str = ""  # column of the rater, if a row is one rater's label
    raters: list[str] = field(default_factory=list)  # columns, one per rater
    by: str = ""  # column of groups to show separately
    text: str = "text"  # column of the text, for the list of items to decide
    ignore: list[str] = field(default_factory=list)  # values that mean "not labelled", such as NONE


def read_labels(files: Sequence[Path], layout: Layout) -> Labels:
    """Read labels: a column for each rater, a row for each label, or a file for each rater.

    Labels that differ only in case or Unicode form are merged into the most frequent of them.

    Raises:
        ConfigError: labels of one rater only.
        DataError: missing columns, a row without item or rater, an item that a rater labelled
            twice; names file and line.
    """
    found: dict[str, dict[str, str]] = {}
    facts: dict[str, tuple[str, str]] = {}  # group and text of each item
    problems: list[Problem] = []
    for table in map(read_table, files):
        key = layout.key or next((key for key in KEYS if key in table.columns), "")
        # Without a key, the position of a row names its item.
        table = filled_rows(table) if key else table
        named = [name for name in (key, layout.rater) if name]
        table.require(*named, *(layout.raters or [layout.label]), *filter(None, [layout.by]))
        if missing := [each for name in named for each in table.missing_values(name)]:
            problems += missing
            continue
        for index, row in enumerate(table.rows):
            item = cell_text(row[key]) if key else str(index)
            rater = cell_text(row[layout.rater]) if layout.rater else table_stem(table.path)
            said = {name: row[name] for name in layout.raters} or {rater: row[layout.label]}
            facts.setdefault(item, (_text(row.get(layout.by)), _text(row.get(layout.text))))
            for rater, value in said.items():
                of_item = found.setdefault(item, {})
                if rater in of_item:
                    what = f"{rater} has labelled '{item}' already"
                    problems.append(Problem(table.where(index), what, "one label of each rater"))
                text = _text(value)
                of_item[rater] = "" if text in layout.ignore else text
    raise_all(problems)
    raters = list(dict.fromkeys(rater for said in found.values() for rater in said))
    if len(raters) < 2:
        raise ConfigError(
            f"labels of one rater only ({', '.join(raters)}): name a file for each, "
            "raters=COLUMN,COLUMN or rater=COLUMN"
        )
    values = _unified([[said.get(rater, "") for rater in raters] for said in found.values()])
    groups, texts = zip(*(facts[item] for item in found), strict=True)
    return Labels(list(found), raters, values, groups, texts)


def _unified(values: Sequence[Sequence[str]]) -> list[list[str]]:
    """Replace labels that differ only in case or Unicode form by the most frequent of them."""
    counts = Counter(label for said in values for label in said if label)
    same: dict[str, list[str]] = {}
    for label, _ in counts.most_common():
        same.setdefault(_folded(label), []).append(label)
    for best, *others in same.values():
        for label in others:
            what = f"'{label}' ({counts[label]:,}) counts as '{best}' ({counts[best]:,})"
            say(what)
    return [[same[_folded(label)][0] if label else "" for label in said] for said in values]


def _folded(label: str) -> str:
    """Unify case, composed and decomposed letters, Romanian's cedillas, and direction marks."""
    return normalise(label, get_language("ro"), UnicodeOptions()).casefold()


def _text(value: Any) -> str:
    return "" if is_missing(value) else cell_text(value)
