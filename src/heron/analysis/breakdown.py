"""What `heron analyze run=DIR by=...` can slice by, each from a split's examples and answers.

Legend: N rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from heron.analysis.diversity import WINDOW, Diversity, diversity
from heron.analysis.pairs import Shape, shape
from heron.analysis.rates import rank_correlation
from heron.analysis.slices import (
    Answers,
    Slicing,
    category_slices,
    measure,
    quantile_bins,
)
from heron.base.cells import Cell, Table
from heron.base.errors import ConfigError, nearest
from heron.data.examples import Example
from heron.languages.morphology import Morphology

BY = ("reasoning", "ttr", "length", "overlap")

_INTERVALS = "[low, high]: 95 %, by {unit}."


@dataclass(frozen=True, slots=True)
class Subject:
    """A split as the analyses see it.

    Args:
        examples: N, in the order of the predictions.
        answers: what the system made of them.
        classes: class names, in order.
        tokenize: from a text to its words.
        morphology: loads the lemmatizer; called by those who need one.
        bins: how many bins numbers are put into.
        types: for each row its reasoning types; None where nobody named any.
        group_name: what the intervals draw, `premise` or `row`.
    """

    examples: Sequence[Example]
    answers: Answers
    classes: Sequence[str]
    tokenize: Callable[[str], list[str]]
    morphology: Callable[[], Morphology]
    bins: int = 5
    types: Sequence[Sequence[str]] | None = None
    group_name: str = "row"

    @property
    def note(self) -> str:
        """What the intervals of a table mean."""
        return _INTERVALS.format(unit=self.group_name)

    def shapes(self) -> list[Shape]:
        """Measure lengths and overlaps."""
        return [shape(example, self.tokenize) for example in self.examples]


@dataclass(frozen=True, slots=True)
class Breakdown:
    """One analysis.

    Args:
        by: what it slices by.
        slicings: what to draw.
        tables: what to print and store; the slicings among them.
        facts: definitions and versions that the numbers depend on.
    """

    by: str
    slicings: tuple[Slicing, ...]
    tables: tuple[Table, ...]
    facts: dict[str, Any] = field(default_factory=dict)


def breakdown(by: str, subject: Subject) -> Breakdown:
    """Slice a split.

    Args:
        by: `reasoning`, `ttr`, `length`, `overlap`, or a column in `Example.side`.
        subject: the split.

    Raises:
        ConfigError: no such analysis or column, or the split lacks what it needs.
    """
    known: dict[str, Callable[[Subject], Breakdown]] = {
        "ttr": by_diversity,
        "length": by_length,
        "overlap": by_overlap,
    }
    if by == "reasoning" and subject.types is not None:
        return by_category(subject, by, subject.types)
    if by in known:
        return known[by](subject)
    return by_category(subject, by, _side_column(subject.examples, by))


def by_category(subject: Subject, by: str, names: Sequence[Iterable[str]]) -> Breakdown:
    """Slice by named categories, of which a row may have several.

    Source: LCHAIM, section 5.2 (reasoning types).
    """
    slices = measure(subject.answers, category_slices(names))
    slicing = Slicing(f"Accuracy by {by}", by, slices)
    several = any(len(set(one)) > 1 for one in names)
    note = subject.note + (" A row of several categories counts in each." if several else "")
    return Breakdown(by, (slicing,), (slicing.table(note),))


def by_length(subject: Subject) -> Breakdown:
    """Slice by the number of words: of the example, and of either text of a pair."""
    shapes = subject.shapes()
    values = {"words": [one.words for one in shapes]}
    if shapes and shapes[0].second is not None:
        values |= {
            "words of the premise": [one.first for one in shapes],
            "words of the hypothesis": [one.second or 0 for one in shapes],
        }
    slicings = [_by_number(subject, name, numbers) for name, numbers in values.items()]
    tables = [slicing.table(subject.note) for slicing in slicings]
    return Breakdown("length", tuple(slicings), tuple(tables))


def by_overlap(subject: Subject) -> Breakdown:
    """Slice by the Jaccard overlap of the two texts, over all and inside each gold class."""
    shapes = subject.shapes()
    if any(one.overlap is None for one in shapes):
        raise ConfigError("by=overlap needs two texts per row; this run's data has one")
    overlap_N = np.asarray([one.overlap for one in shapes])
    slicing = _by_number(subject, "overlap", overlap_N)
    parts = quantile_bins(overlap_N, subject.bins)
    gold = np.asarray(subject.answers.gold, dtype=object)
    rows: list[tuple[Cell, ...]] = []
    for name in subject.classes:
        members = np.flatnonzero(gold == name)
        inside = [np.intersect1d(part, members) for _, part in parts]
        recalls = measure(subject.answers, [(name, chosen) for chosen in inside])
        mean = float(overlap_N[members].mean()) if len(members) else None
        rows.append((name, len(members), mean, *(one.accuracy for one in recalls)))
    columns = ("gold class", "rows", "overlap", *(part for part, _ in parts))
    note = f"The columns to the right: share of the class's rows that is right. {subject.note}"
    by_class = Table("Accuracy by gold class and overlap", columns, tuple(rows), note)
    return Breakdown("overlap", (slicing,), (slicing.table(subject.note), by_class))


def by_diversity(subject: Subject) -> Breakdown:
    """Slice by type-token ratio, and ask what is left of it when length is held fixed.

    Source: LCHAIM, section 5.1 and Figure 2.
    Deviates: the paper reports the bins alone, which a ratio that falls with length confounds.
    """
    backend = subject.morphology()
    measured = measure_diversity(subject.examples, backend)
    ttr_N = np.asarray([one.ttr for one in measured])
    tokens_N = np.asarray([one.tokens for one in measured])
    named = f"Lemmas by {backend.name}. {subject.note}"
    slicing = _by_number(subject, "type-token ratio", ttr_N)
    tables = (
        slicing.table(named),
        _correlations(subject, measured, named),
        _inside_lengths(subject, ttr_N, tokens_N, named),
    )
    facts = {
        "morphology": backend.name,
        "ttr": "lemma term alone" if measured and measured[0].pos is None else "mean of both terms",
        "mattr_window": WINDOW,
        "shorter_than_window": int((tokens_N < WINDOW).sum()),
    }
    return Breakdown("ttr", (slicing,), tables, facts)


def measure_diversity(examples: Sequence[Example], backend: Morphology) -> list[Diversity]:
    """Measure each example's texts together; a text that many rows share is analysed once."""
    texts = dict.fromkeys(t for e in examples for t in (e.text, e.text_pair) if t is not None)
    analyses = dict(zip(texts, backend.analyse(list(texts)), strict=True))
    return [
        diversity([analyses[t] for t in (example.text, example.text_pair) if t is not None])
        for example in examples
    ]


def _correlations(subject: Subject, measured: Sequence[Diversity], note: str) -> Table:
    tokens = [one.tokens for one in measured]
    values: dict[str, list[float]] = {
        "type-token ratio": [one.ttr for one in measured],
        f"moving average, {WINDOW} tokens": [one.mattr for one in measured],
    }
    if measured and measured[0].pos is not None:
        values["its lemma term"] = [one.lemma for one in measured]
        values["its part-of-speech term"] = [one.pos or 0.0 for one in measured]
    right, groups = subject.answers.correct_N, subject.answers.group_N
    rows: list[tuple[Cell, ...]] = [
        (
            name,
            rank_correlation(numbers, tokens, groups),
            rank_correlation(numbers, right, groups),
            rank_correlation(numbers, right, groups, given_N=tokens),
        )
        for name, numbers in values.items()
    ]
    rows.append(("length (tokens)", None, rank_correlation(tokens, right, groups), None))
    columns = ("measure", "with length", "with correctness", "with correctness, given length")
    title = "Diversity and correctness: Spearman's rank correlation"
    return Table(title, columns, tuple(rows), note)


def _inside_lengths(
    subject: Subject, ttr_N: npt.NDArray[np.float64], tokens_N: npt.NDArray[np.int64], note: str
) -> Table:
    """Slice by ratio inside each third of the lengths, where the ratio cannot stand for length."""
    rows: list[tuple[Cell, ...]] = []
    for length, members in quantile_bins(tokens_N, 3):
        parts = [(name, members[inside]) for name, inside in quantile_bins(ttr_N[members], 3)]
        for name, chosen in parts:
            (one,) = measure(subject.answers, [(name, chosen)], tokens_N)
            rows.append((length, name, one.rows, one.accuracy, one.largest, one.mean))
    columns = ("tokens", "type-token ratio", "rows", "accuracy", "largest class", "mean tokens")
    return Table("Accuracy by ratio inside thirds of length", columns, tuple(rows), note)


def _by_number(subject: Subject, name: str, values: npt.ArrayLike) -> Slicing:
    parts = quantile_bins(values, subject.bins)
    return Slicing(f"Accuracy by {name}", f"mean {name}", measure(subject.answers, parts, values))


def _side_column(examples: Sequence[Example], name: str) -> list[list[str]]:
    columns = {column for example in examples for column in example.side}
    if name not in columns:
        hint = nearest(name, [*BY, *columns])
        raise ConfigError(
            f"by={name}: neither an analysis nor a side column of the data.{hint} "
            f"data.columns.side=[{name}] reads the column, types=FILE adds types by guid"
        )
    return [split_types(example.side.get(name)) for example in examples]


def split_types(value: Any) -> list[str]:
    """Read a cell of categories: a list, or text with `,`, `;` or `|` between them."""
    if value is None:
        return []
    if isinstance(value, str):
        for separator in ";|":
            value = value.replace(separator, ",")
        value = value.split(",")
    elif not isinstance(value, Iterable):
        value = [value]
    return [text for one in value if (text := str(one).strip())]
