"""Accuracy of predicted labels by slice: length, overlap, categories, and those of forks.

Legend: N rows, M rows of a slice.
"""

from collections import Counter
from dataclasses import replace

import numpy as np

from heron.base.cells import Cell, Table
from heron.base.errors import ConfigError, DataError
from heron.reports.figures import BLUE, QUIET
from heron.results.frame import read_keyed
from heron.tasks import FORK_ANALYSES
from heron_tools.analysis.slicing import (
    Analysis,
    Column,
    Slicer,
    Split,
    categories,
    quantile_bins,
    split_categories,
)
from heron_tools.statistics.labels import Shape, shape
from heron_tools.statistics.options import say_unused
from heron_tools.statistics.outcome import Drawn, Outcome, Rows
from heron_tools.statistics.rates import group_ids, share

DRAWN = (
    Drawn("accuracy", "accuracy", "D", BLUE),
    Drawn("largest class", "always its largest class", "|", QUIET),
)


def slice_labels(split: Split) -> Slicer:
    """Build the slicer of a run whose predictions are classes."""
    options, examples = split.options, split.examples
    say_unused(options, ("published", "texts", "sample", "seed", "beside"))
    group_N = group_ids([example.group or example.text for example in examples])
    alone = len(np.unique(group_N)) == len(group_N)
    unit = "row" if alone else "whole document (or premise)"
    forks = {n[3:]: FORK_ANALYSES[n] for n in FORK_ANALYSES if n.startswith("by ")}
    by: dict[str, Analysis] = {**forks, "length": by_length, "overlap": by_overlap}
    pairs = bool(examples) and examples[0].text_pair is not None
    typed = options.types is not None
    usual = [*forks, "length", *(["overlap"] if pairs else [])]
    if typed or (examples and "reasoning" in examples[0].side):
        usual = ["reasoning", *usual]
    return Slicer(
        split,
        group_N,
        score=lambda split: {"accuracy": np.array(split.frame.right, dtype=np.float64)},
        measure=measure,
        by={"reasoning": by_type, **by} if typed else by,
        heading="Accuracy",
        headline="accuracy",
        drawn=DRAWN,
        usual=usual,
        unit=unit,
        note=f"[low, high]: 95 %, by {unit}.",
        facts={"words": options.words},
        whole=False,
        splits=True,
        shows_means=True,
    )


def measure(slicer: Slicer, rows_M: Rows) -> dict[str, Cell]:
    """Compute accuracy, and that of always predicting the slice's largest class."""
    gold = slicer.split.frame["gold"]
    largest = max(Counter(gold[row] for row in rows_M).values(), default=0)
    return {
        "rows": len(rows_M),
        "accuracy": _accuracy(slicer, rows_M),
        "largest class": largest / max(len(rows_M), 1),
    }


def _accuracy(slicer: Slicer, rows_M: Rows) -> Cell:
    return share(slicer.scores["accuracy"][rows_M], slicer.groups[rows_M])


def by_type(slicer: Slicer) -> Column:
    """Slice by the reasoning types of `types=`."""
    path, guids = slicer.split.options.types, slicer.split.frame["guid"]
    assert path is not None
    # A table with the columns `guid` and `types`.
    listed = read_keyed(path, "types").beside(guids)["types"]
    if guids and not any(listed):
        what = "none of its guids is among the predictions'"
        raise DataError(str(path), what, f"those look like '{guids[0]}'")
    return categories("reasoning", list(map(split_categories, listed)))


def by_length(slicer: Slicer) -> list[Column]:
    """Slice by the number of words of the example, and of both texts of a pair."""
    shapes = _shapes(slicer)
    found = [("words", [one.first + (one.second or 0) for one in shapes])]
    if shapes and shapes[0].second is not None:
        found.append(("words of the premise", [one.first for one in shapes]))
        found.append(("words of the hypothesis", [one.second or 0 for one in shapes]))
    return [Column(title, np.asarray(values, dtype=np.float64)) for title, values in found]


def by_overlap(slicer: Slicer) -> Outcome:
    """Slice by the Jaccard overlap of the two texts, overall and in each gold class."""
    found = [one.overlap for one in _shapes(slicer)]
    if None in found:
        raise ConfigError("by=overlap needs two texts per row; this run's data has one")
    overlap_N = np.asarray(found, dtype=np.float64)
    gold_N = np.asarray(slicer.split.frame["gold"], dtype=object)
    parts = quantile_bins(overlap_N, slicer.split.options.bins)
    rows: list[tuple[Cell, ...]] = []
    for name in slicer.split.data.label_order:
        members = np.flatnonzero(gold_N == name)
        recalls = [_accuracy(slicer, np.intersect1d(rows_M, members)) for _, rows_M in parts]
        mean = float(overlap_N[members].mean()) if len(members) else None
        rows.append((name, len(members), mean, *recalls))
    columns = ("gold class", "rows", "overlap", *(part for part, _ in parts))
    note = f"The columns to the right: share of the class's rows that is right. {slicer.note}"
    table = Table("Accuracy by gold class and overlap", columns, tuple(rows), note)
    sliced = slicer.slice(Column("overlap", overlap_N))
    return replace(sliced, tables=(*sliced.tables, table))


def _shapes(slicer: Slicer) -> list[Shape]:
    words = slicer.split.options.tokenize
    return [shape(example, words) for example in slicer.split.examples]
