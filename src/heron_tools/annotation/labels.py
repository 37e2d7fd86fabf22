"""Labels of several raters for the same items, from any layout of files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import compress
from pathlib import Path

from heron.base.errors import ConfigError, Problem, raise_all
from heron.base.tables import read_table, table_stem
from heron.base.terminal import say
from heron.languages import get_language
from heron.languages.unicode import UnicodeOptions, normalise
from heron_tools.annotation.sheets import filled_rows

KEYS = ("guid", "id", "item")  # columns that may name an item, in this order


@dataclass(frozen=True, slots=True)
class Labels:
    """The label of each rater for each item; empty where there is none."""

    items: Sequence[str]  # distinct names
    raters: Sequence[str]
    values: Sequence[Sequence[str]]  # [items, raters]
    groups: Sequence[str] = ()  # of the items; "" for items in no group
    texts: Sequence[str] = ()  # of the items, for adjudication; empty if files have none

    def of_group(self, group: str) -> Labels:
        """Select the items of a group; the selection has no groups or texts."""
        is_member = [item_group == group for item_group in self.groups]
        items = list(compress(self.items, is_member))
        values = list(compress(self.values, is_member))
        return Labels(items, self.raters, values)


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

    Args:
        files: one file with all labels, or one for each rater, named after its rater.
        layout: the roles of the files' columns.

    Returns:
        The labels by item and rater, both in the order in which they first occur.

    Raises:
        ConfigError: labels of one rater only.
        DataError: missing columns, a row without item or rater, an item that a rater labelled
            twice; names file and line.
    """
    labels: dict[str, dict[str, str]] = {}  # by item and rater
    groups: dict[str, str] = {}
    texts: dict[str, str] = {}
    problems = []
    for path in files:
        table = read_table(path)
        key = layout.key or next((name for name in KEYS if name in table.columns), "")
        # Without a key, the position of a row names its item: empty rows count.
        if key:
            table = filled_rows(table)

        names = [name for name in (key, layout.rater) if name]
        label_columns = list(dict.fromkeys(layout.raters)) or [layout.label]
        group_columns = [layout.by] if layout.by else []
        table.require(*names, *label_columns, *group_columns)

        missing = []
        for name in names:
            missing += table.missing_values(name)
        if missing:
            problems += missing
            continue

        columns = {}
        for name in (*names, *label_columns, layout.by, layout.text):
            cells = [""] * len(table)
            columns[name] = table.texts(name) if name in table.columns else cells

        for index in range(len(table)):
            item = columns[key][index] if key else str(index)
            item_labels = labels.setdefault(item, {})
            groups.setdefault(item, columns[layout.by][index])
            texts.setdefault(item, columns[layout.text][index])

            for column in label_columns:
                if layout.raters:
                    rater = column
                elif layout.rater:
                    rater = columns[layout.rater][index]
                else:
                    rater = table_stem(path)

                if rater in item_labels:
                    problem = f"{rater} has labelled '{item}' already"
                    problems.append(Problem(table.where(index), problem, "one label of each rater"))

                label = columns[column][index]
                item_labels[rater] = "" if label in layout.ignore else label

    raise_all(problems)

    raters = list(dict.fromkeys(rater for item_labels in labels.values() for rater in item_labels))
    if len(raters) < 2:
        raise ConfigError(
            f"labels of one rater only ({', '.join(raters)}): name a file for each, "
            "raters=COLUMN,COLUMN or rater=COLUMN"
        )

    values = []
    for item_labels in labels.values():
        item_values = [item_labels.get(rater, "") for rater in raters]
        values.append(item_values)

    return Labels(
        items=list(labels),
        raters=raters,
        values=_unify(values),
        groups=list(groups.values()),
        texts=list(texts.values()),
    )


def _unify(values: Sequence[Sequence[str]]) -> list[list[str]]:
    """Replace labels that differ only in case or Unicode form by the most frequent of them.

    Each replacement is reported.

    Args:
        values: the labels of each item by rater; "" without a label.

    Returns:
        The same with the replacements.
    """
    counts = Counter(label for item_labels in values for label in item_labels if label)

    variants: dict[str, list[str]] = {}  # by folded label, the most frequent first
    for label, _ in counts.most_common():
        variants.setdefault(_fold(label), []).append(label)

    replacement_of = {}
    for best, *others in variants.values():
        for label in others:
            replacement_of[label] = best
            say(f"'{label}' ({counts[label]:,}) counts as '{best}' ({counts[best]:,})")

    unified = []
    for item_labels in values:
        replaced = [replacement_of.get(label, label) for label in item_labels]
        unified.append(replaced)

    return unified


def _fold(label: str) -> str:
    """Unify case, composed and decomposed letters, Romanian's cedillas, and direction marks."""
    return normalise(label, get_language("ro"), UnicodeOptions()).casefold()
