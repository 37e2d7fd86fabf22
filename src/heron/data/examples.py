"""`Example`, one row of any data set as text, and `PredictedRow`, one predicted row."""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
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
    """One labelled or unlabelled example, before any tokenization."""

    guid: str  # stable id, unique in its split; everything recorded per sample is keyed by it
    text: str  # window, premise, context or article, already normalised, without markers
    text_pair: str | None = None  # hypothesis or question
    spans: tuple[Span, ...] = ()  # event mentions or gold answers in `text`, in task order
    label: str | None = None  # class name, one of `label_order`; None where unlabelled
    target: str | None = None  # text to generate (a summary)
    group: str = ""  # what a split must not cut (document, article); empty: rows are independent
    # Columns that models never see (annotators, flipped-label marks, source line).
    side: Mapping[str, Any] = field(default_factory=dict)


def count_mended(examples: Iterable[Example]) -> dict[str, int]:
    """Count the repaired examples by kind of repair."""
    return dict(Counter(deed for example in examples for deed in example.side.get(MENDED, ())))


@dataclass(frozen=True, slots=True)
class PredictedRow:
    """One predicted row of a predictions file."""

    guid: str
    gold: str | None  # label or text; None where there is none. An empty text: "no answer" is right
    prediction: str  # label or text, stripped; empty for none
    golds: tuple[str, ...] = ()  # all right texts: column `golds` (JSON), else `gold` unless empty
    group: str = ""  # what the row belongs to, such as its document; empty for none
    cells: Mapping[str, Any] = field(default_factory=dict)  # all columns that were read, as stored

    @property
    def probability(self) -> float | None:
        """Probability of the prediction; None where it is not stored."""
        return self.cells.get(f"p/{self.prediction}", self.cells.get("probability"))

    def text(self, column: str) -> str:
        """Read a cell as text; empty where there is none."""
        cell = self.cells.get(column)
        return "" if is_missing(cell) else cell_text(cell)


def text_key(example: Example) -> Hashable:
    """Identify a model's input: texts, whatever their spacing, and spans (pairs share texts)."""
    text, text_pair = (" ".join(text.split()) for text in (example.text, example.text_pair or ""))
    return text, text_pair, example.spans
