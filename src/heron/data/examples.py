"""`Example`, one row of any data set as text."""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

# Keys in `Example.side`: the kinds of repairs that its reader has made; and of each answer that it
# has moved or that is spelt otherwise, the text, the place in the file, and that in the text.
REPAIRS = "repairs"
MOVED = "moved"


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
    spans: tuple[Span, ...] = ()  # in `text`: event 1 and event 2, or the gold answers
    label: str | None = None  # class name, one of `label_order`; None where unlabelled
    target: str | None = None  # text to generate (a summary)
    group: str = ""  # what a split must not cut (document, article); empty: rows are independent
    # Columns that models never see (annotators, flipped-label marks, source line).
    side: Mapping[str, Any] = field(default_factory=dict)


Splits = dict[str, list[Example]]  # by the name of the split


def count_repairs(examples: Iterable[Example]) -> dict[str, int]:
    """Count the repaired examples by kind of repair."""
    counts: Counter[str] = Counter()
    for example in examples:
        counts.update(example.side.get(REPAIRS, ()))
    return dict(counts)


def list_moved(splits: Mapping[str, Iterable[Example]]) -> dict[str, list[Any]]:
    """Lay out the answers that are not where their file says; empty where there are none."""
    columns: dict[str, list[Any]] = {}
    for split, examples in splits.items():
        for example in examples:
            for answer in example.side.get(MOVED, ()):
                row = {"split": split, "guid": example.guid, **answer}
                for name, value in row.items():
                    columns.setdefault(name, []).append(value)
    return columns


def text_key(example: Example) -> Hashable:
    """Identify a model's input: texts, whatever their spacing, and spans (pairs share texts)."""
    text = " ".join(example.text.split())
    text_pair = " ".join((example.text_pair or "").split())
    return text, text_pair, example.spans
