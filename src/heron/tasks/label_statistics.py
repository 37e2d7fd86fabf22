"""Statistics of a labelled data set by split and class: rows, lengths, overlap, diversity."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import ClassVar, NamedTuple

from heron.base.cells import Cell, Table
from heron.config.analyze_options import AnalyzeOptions
from heron.config.data import DataConfig
from heron.data.examples import Example
from heron.languages import get_language
from heron.languages.morphology import Morphology, load_morphology
from heron.metrics.diversity import WINDOW, Diversity, diversity
from heron.tasks.analysis import SLICES_A_RUN, DataStatistics, Outcome, Shipped
from heron.tasks.slices import Words, find_tokenizer

OVERALL, NO_LABEL = "overall", "(no label)"


class Shape(NamedTuple):
    """Lengths and overlap of one example; None where it has one text."""

    first: int  # words of the premise, or of the only text
    second: int | None  # words of the hypothesis
    overlap: float | None  # Jaccard overlap of the two sets of words, a fraction


def shape(example: Example, words: Words) -> Shape:
    """Measure one example."""
    first = words(example.text)
    if example.text_pair is None:
        return Shape(len(first), None, None)
    second = words(example.text_pair)
    return Shape(len(first), len(second), jaccard(first, second))


def jaccard(one: Sequence[str], other: Sequence[str]) -> float:
    """Divide the number of distinct words in both texts by that in either; 0 without words."""
    first, second = set(one), set(other)
    return len(first & second) / max(len(first | second), 1)


def measure_diversity(examples: Sequence[Example], backend: Morphology) -> list[Diversity]:
    """Measure the texts of each example together; each distinct text is analysed once."""
    texts = dict.fromkeys(t for e in examples for t in (e.text, e.text_pair) if t is not None)
    analyses = dict(zip(texts, backend.analyse(list(texts)), strict=True))
    return [
        diversity([analyses[t] for t in (example.text, example.text_pair) if t is not None])
        for example in examples
    ]


@dataclass(frozen=True, slots=True)
class ClassStatistics:
    """One class of one split; means over rows, None without rows."""

    rows: int  # number of rows
    share: float  # of the split's rows, a fraction
    # first, second, overlap: see `Shape`.
    first: float | None
    second: float | None
    overlap: float | None
    ttr: float | None  # type-token ratio of both texts together, a fraction
    mattr: float | None  # its moving average, a fraction


class LabelStatistics(DataStatistics):
    """Rows, lengths, overlap and diversity by class; see `DataStatistics`."""

    unused: ClassVar = {
        SLICES_A_RUN: ("by", "types", "bins", "split"),
        "not for a data set of task={task}": ("published", "texts", "sample"),
    }

    def __init__(self, config: DataConfig, options: AnalyzeOptions):
        super().__init__(config, options)
        self.tokenize = find_tokenizer(options.words)

    def describe(self, shipped: Shipped) -> Outcome:
        """Describe the splits that are there."""
        words, config = self.options.words, self.config
        backend = load_morphology(self.options.morphology, get_language(config.language))
        note = f"Means over rows; lengths in words (words={words}). Lemmas by {backend.name}."
        found = {
            split: split_statistics(examples, config.label_order, self.tokenize, backend)
            for split, examples in shipped.splits.items()
        }
        splits = {
            split: {name: asdict(one) for name, one in described.items()}
            for split, described in found.items()
        }
        facts = {"words": words, "morphology": backend.name, "mattr_window": WINDOW}
        tables = tuple(statistics_table(split, one, note) for split, one in found.items())
        return Outcome(tables, facts | {"splits": splits}, title=config.name)


def split_statistics(
    examples: Sequence[Example], classes: Sequence[str], tokenize: Words, morphology: Morphology
) -> dict[str, ClassStatistics]:
    """Describe one split by class, rows without a label, and all rows.

    Source: RoNLI, Table 2; LCHAIM, section 3.1 (overlap by class).
    """
    shapes = [shape(example, tokenize) for example in examples]
    measured = measure_diversity(examples, morphology)
    rows: dict[str, list[int]] = {name: [] for name in classes}
    for row, example in enumerate(examples):
        rows.setdefault(example.label or NO_LABEL, []).append(row)
    rows[OVERALL] = list(range(len(examples)))
    return {
        name: _describe([shapes[i] for i in chosen], [measured[i] for i in chosen], len(examples))
        for name, chosen in rows.items()
    }


def _describe(
    shapes: Sequence[Shape], measured: Sequence[Diversity], total: int
) -> ClassStatistics:
    return ClassStatistics(
        len(shapes),
        len(shapes) / max(total, 1),
        _mean([one.first for one in shapes]),
        _mean([one.second for one in shapes]),
        _mean([one.overlap for one in shapes]),
        _mean([one.ttr for one in measured]),
        _mean([one.mattr for one in measured]),
    )


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return statistics.fmean(known) if known else None


def statistics_table(split: str, described: Mapping[str, ClassStatistics], note: str) -> Table:
    """Lay out the statistics of one split."""
    pair = described[OVERALL].second is not None
    names = ("premise words", "hypothesis words", "overlap") if pair else ("words",)
    rows: list[tuple[Cell, ...]] = []
    for name, one in described.items():
        shapes: tuple[Cell, ...] = (one.first, one.second, one.overlap) if pair else (one.first,)
        rows.append((name, one.rows, one.share, *shapes, one.ttr, one.mattr))
    columns = ("class", "rows", "share", *names, "TTR", f"MATTR {WINDOW}")
    return Table(split, columns, tuple(rows), note)
