"""Accuracy of predicted labels by slice: length, overlap, categories, and those of forks.

Legend: N rows, M rows of a slice.
"""

from collections import Counter
from dataclasses import replace

import numpy as np

from heron.base.cells import Cell, Table
from heron.base.errors import ConfigError, DataError
from heron.reports.styles import BLUE, QUIET
from heron.results.frame import read_keyed
from heron.tasks import FORK_ANALYSES
from heron_tools.analysis.slicing import (
    Analysis,
    SliceColumn,
    Slicer,
    Split,
    categories,
    split_categories,
)
from heron_tools.statistics.labels import Lengths, measure_lengths
from heron_tools.statistics.options import say_unused
from heron_tools.statistics.outcome import AnalysisResult, Drawn, Rows
from heron_tools.statistics.rates import group_ids, share

DRAWN = (
    Drawn("accuracy", "accuracy", "D", BLUE),
    Drawn("largest class", "always its largest class", "|", QUIET),
)


def slice_labels(split: Split) -> Slicer:
    """Build the slicer of a run whose predictions are classes.

    Without `by=`, it slices by reasoning type where the data or `types=` have it, by what forks
    add, by length and, for pairs of texts, by overlap.
    """
    options = split.options
    examples = split.examples
    say_unused(options, ("published", "texts", "sample", "seed", "beside"))

    by: dict[str, Analysis] = {}
    usual = []
    if options.types is not None:
        by["reasoning"] = by_type
        usual.append("reasoning")
    elif examples and "reasoning" in examples[0].side:
        usual.append("reasoning")  # a side column

    for name in FORK_ANALYSES:
        if name.startswith("by "):
            fork_name = name.removeprefix("by ")
            by[fork_name] = FORK_ANALYSES[name]
            usual.append(fork_name)

    by["length"] = by_length
    usual.append("length")
    by["overlap"] = by_overlap
    if examples and examples[0].text_pair is not None:
        usual.append("overlap")

    group_N = group_ids([example.group or example.text for example in examples])
    is_grouped = len(np.unique(group_N)) < len(group_N)
    unit = "whole document (or premise)" if is_grouped else "row"
    return Slicer(
        split,
        group_N,
        score=lambda split: {"accuracy": np.array(split.frame.right, dtype=np.float64)},
        measure=measure,
        by=by,
        heading="Accuracy",
        headline="accuracy",
        figure_scores=DRAWN,
        usual=usual,
        unit=unit,
        note=f"[low, high]: 95 %, by {unit}.",
        facts={"words": options.words},
        whole=False,
        splits=True,
        shows_means=True,
    )


def measure(slicer: Slicer, rows_M: Rows) -> dict[str, Cell]:
    """Compute accuracy, and that of always predicting the slice's largest class.

    Args:
        slicer: of the run.
        rows_M: the rows of the slice.
    """
    gold = slicer.split.frame["gold"]
    counts = Counter(gold[row] for row in rows_M)
    largest = max(counts.values(), default=0)
    return {
        "rows": len(rows_M),
        "accuracy": _accuracy(slicer, rows_M),
        "largest class": largest / max(len(rows_M), 1),
    }


def _accuracy(slicer: Slicer, rows_M: Rows) -> Cell:
    """Compute the accuracy on some rows with its interval."""
    is_right_M = slicer.scores["accuracy"][rows_M]
    return share(is_right_M, slicer.groups[rows_M])


def by_type(slicer: Slicer) -> SliceColumn:
    """Slice by the reasoning types of `types=`, a table with the columns `guid` and `types`."""
    path = slicer.split.options.types
    guids = slicer.split.frame["guid"]
    assert path is not None

    types = read_keyed(path, "types").beside(guids)["types"]
    if guids and not any(types):
        problem = "none of its guids is among the predictions'"
        raise DataError(str(path), problem, f"those look like '{guids[0]}'")

    return categories("reasoning", list(map(split_categories, types)))


def by_length(slicer: Slicer) -> list[SliceColumn]:
    """Slice by the number of words of the example, and of both texts of a pair."""
    lengths = _lengths(slicer)
    first_N = np.array([of_row.first for of_row in lengths], dtype=np.float64)
    second_N = np.array([of_row.second or 0 for of_row in lengths], dtype=np.float64)

    columns = [SliceColumn("words", first_N + second_N)]
    if lengths and lengths[0].second is not None:
        columns.append(SliceColumn("words of the premise", first_N))
        columns.append(SliceColumn("words of the hypothesis", second_N))

    return columns


def by_overlap(slicer: Slicer) -> AnalysisResult:
    """Slice by the Jaccard overlap of the two texts, overall and in each gold class."""
    overlaps = [of_row.overlap for of_row in _lengths(slicer)]
    if None in overlaps:
        raise ConfigError("by=overlap needs two texts per row; this run's data has one")

    overlap_N = np.asarray(overlaps, dtype=np.float64)
    column = SliceColumn("overlap", overlap_N)
    parts = column.parts(slicer.split.options.bins)

    gold_N = np.asarray(slicer.split.frame["gold"], dtype=object)
    rows = []
    for name in slicer.split.data.label_order:
        class_rows = np.flatnonzero(gold_N == name)
        mean = float(overlap_N[class_rows].mean()) if len(class_rows) else None

        recalls = []
        for _, rows_M in parts:
            shared_rows = np.intersect1d(rows_M, class_rows)
            recalls.append(_accuracy(slicer, shared_rows))

        rows.append((name, len(class_rows), mean, *recalls))

    part_names = [name for name, _ in parts]
    table = Table(
        title="Accuracy by gold class and overlap",
        columns=("gold class", "rows", "overlap", *part_names),
        rows=rows,
        note=f"The columns to the right: share of the class's rows that is right. {slicer.note}",
    )
    outcome = slicer.slice(column)
    return replace(outcome, tables=(*outcome.tables, table))


def _lengths(slicer: Slicer) -> list[Lengths]:
    """Measure the lengths and overlap of every example."""
    words = slicer.split.options.tokenize
    return [measure_lengths(example, words) for example in slicer.split.examples]
