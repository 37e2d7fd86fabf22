"""What a cell of the label column means: a class, no gold label, or a mistake."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from typing import Any

from heron.base.tables import cell_text, is_missing
from heron.config.data import DataConfig


class LabelError(Exception):
    """A value that is no class; carries what is wrong and how to fix it."""

    def __init__(self, what: str, fix: tuple[str, ...]):
        super().__init__(what)
        self.what, self.fix = what, fix


class LabelReader:
    """Reads one label column.

    Args:
        config: classes, aliases, and which values stand for "no gold label".
        column: the column's name, for messages.
    """

    def __init__(self, config: DataConfig, column: str):
        self.column = column
        self.classes = config.label_order
        self.nothing = set(config.no_label)
        self.exact = {**config.label_aliases, **{name: name for name in config.label_order}}
        self.folded = _without_case(self.exact)

    def read(self, value: Any) -> str | None:
        """Name the class of a cell; None where it says that there is no gold label.

        Raises:
            LabelError: neither a class name nor an alias, with the nearest of both.
        """
        if is_missing(value):
            return None
        text = cell_text(value)
        if text in self.nothing:
            return None
        found = self.exact.get(text) or self.folded.get(text.casefold())
        if found is None:
            raise self._unknown(text)
        return found

    def _unknown(self, text: str) -> LabelError:
        close = difflib.get_close_matches(text, self.exact, n=1)
        hint = f". Did you mean '{close[0]}'?" if close else ""
        aliases = [name for name in self.exact if name not in self.classes]
        also = f" (in the file also {_listed(aliases)})" if aliases else ""
        name = f'"{text}"' if text.isdecimal() else "NAME"
        fix = (
            f"allowed: {_listed(self.classes)}{also}",
            "data.label_order lists the classes",
            f"data.label_aliases={{{name}: CLASS}} says what else a file calls them",
            "data.columns.label=NAME names their column",
        )
        return LabelError(f"unknown {self.column} '{text}'{hint}", fix)


def _without_case(names: Mapping[str, str]) -> dict[str, str]:
    """Key names without capitals; one that would then mean two classes is left out."""
    folded: dict[str, set[str]] = {}
    for name, label in names.items():
        folded.setdefault(name.casefold(), set()).add(label)
    return {name: labels.pop() for name, labels in folded.items() if len(labels) == 1}


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names)
