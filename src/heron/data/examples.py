"""`Example`, one row of any data set as text, and `Prediction`, one predicted row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from heron.base.tables import cell_text, is_missing

MENDED = "mended"  # key in `Example.side` of the repairs that its reader has made


class Span(NamedTuple):
    """A stretch of `Example.text`, in characters; `end` is exclusive."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Example:
    """One labelled or unlabelled example, before any tokenization.

    Args:
        guid: stable id, unique in its split; everything recorded per sample is keyed by it.
        text: the text (window, premise, context or article), already normalised, without markers.
        text_pair: the second text (hypothesis or question), or None.
        spans: event mentions or gold answers in `text`, in task order (event 1, event 2).
        label: class name, one of the data set's `label_order`; None where unlabelled.
        target: text to generate (a summary), or None.
        group: what a split must not cut (document, article); empty where each row is independent.
        side: columns that models never see (annotators, flipped-label marks, source line).
    """

    guid: str
    text: str
    text_pair: str | None = None
    spans: tuple[Span, ...] = ()
    label: str | None = None
    target: str | None = None
    group: str = ""
    side: Mapping[str, Any] = field(default_factory=dict)


def count_mended(examples: Iterable[Example]) -> dict[str, int]:
    """Count the repaired examples by kind of repair."""
    return dict(Counter(deed for example in examples for deed in example.side.get(MENDED, ())))


@dataclass(frozen=True, slots=True)
class Prediction:
    """One predicted row of a predictions file.

    Args:
        guid: its id.
        gold: the gold label or text; None where there is none. An empty gold text means that "no
            answer" is right.
        prediction: the predicted label or text, stripped; empty for none.
        golds: all right texts, from the column `golds` (a JSON list); else `gold`, unless empty.
        group: what the row belongs to, such as its document; empty for none.
        cells: all columns that were read, as stored.
    """

    guid: str
    gold: str | None
    prediction: str
    golds: tuple[str, ...] = ()
    group: str = ""
    cells: Mapping[str, Any] = field(default_factory=dict)

    @property
    def probability(self) -> float | None:
        """Probability of the prediction; None where it is not stored."""
        return self.cells.get(f"p/{self.prediction}", self.cells.get("probability"))

    def text(self, column: str) -> str:
        """Read a cell as text; empty where there is none."""
        cell = self.cells.get(column)
        return "" if is_missing(cell) else cell_text(cell)
