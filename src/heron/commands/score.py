"""`heron score`: the scores of any system's predictions against gold ones, from two files."""

from collections.abc import Sequence
from typing import Any

from heron.base.cells import Cell, Interval, Table
from heron.base.tables import table_stem
from heron.base.terminal import print_lines, print_tables
from heron.config.parsing import parse_with_data
from heron.results.collect import cell_of, is_whole
from heron.results.score import ScoreOptions, score_files
from heron.tasks.summarization.scores import write_scores


def run(arguments: Sequence[str]) -> int:
    """Score, print and, with `out=`, write; returns the exit code."""
    options, words = parse_with_data(ScoreOptions, arguments)
    scored = score_files(options, words)
    drawn = f"{options.resamples} bootstrap resamples"
    drawn += f" of groups ({options.group_column})" if options.group_column else ""
    rows: list[tuple[Cell, ...]] = []
    of_classes = scored.matrix is None  # such as a tagger's, which have no table of their own
    for name in scored.scores:
        if not (is_whole(name) or (of_classes and "/" in name)):
            continue
        cell = cell_of(scored.scores, name)
        bounds = f"{cell.low:.3f} to {cell.high:.3f}" if isinstance(cell, Interval) else ""
        rows.append((name, scored.scores[name], *([bounds] if options.resamples else [])))
    columns = ("score", "value", *(["95 % interval"] if options.resamples else []))
    title = f"{options.task}, {scored.rows} rows"
    tables = [Table(title, columns, tuple(rows), drawn if options.resamples else "")]
    if scored.matrix is not None:
        parts = ("precision", "recall", "f1", "predicted", "support")
        classes: Any = [(n, *(scored.scores[f"{p}/{n}"] for p in parts)) for n in scored.labels]
        cells: Any = scored.matrix.tolist()
        counts = [(label, *row) for label, row in zip(scored.labels, cells, strict=True)]
        tables += [
            Table("labels", ("label", *parts), tuple(classes)),
            Table("confusion matrix", ("gold \\ predicted", *scored.labels), tuple(counts)),
        ]
    print_tables(tables)
    alone = options.resamples and not any(name.endswith("_low") for name in scored.scores)
    print_lines(*scored.notes, *(["no intervals: all rows are of one group"] if alone else []))
    if scored.signature:
        print_lines(f"BERTScore: {scored.signature}")
    if options.out:
        name = options.name or table_stem(options.predictions)
        write_scores(options.out, name, scored.scores, scored.signature)
        print_lines(f"scores written to {options.out}", files=[options.out])
    return 0
