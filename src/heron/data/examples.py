"""`Example`: one row of any data set, as text. The first of heron's five boundary types."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

MENDED = "mended"  # the name in `Example.side` of what its reader has put right


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
        group: what a split must not cut (document, article); empty when each row stands alone.
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
    """Count what readers have put right, in examples by deed; empty where nothing was."""
    return dict(Counter(deed for example in examples for deed in example.side.get(MENDED, ())))
