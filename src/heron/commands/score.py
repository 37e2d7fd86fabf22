"""`heron score`: the scores of any system's predictions against gold ones, from two files."""

from collections.abc import Sequence

from heron.base.cells import Interval, Row, Table
from heron.base.tables import table_stem
from heron.base.terminal import print_lines, print_tables
from heron.config.parsing import parse_with_data
from heron.metrics.arrays import Counts
from heron.results.collect import cell_of, is_whole
from heron.results.score import Scored, ScoreOptions, score_files
from heron.tasks.scoring import write_scores

_OF_LABEL = ("precision", "recall", "f1", "predicted", "support")


def run(arguments: Sequence[str]) -> int:
    """Score, print and, with `out=`, write; returns the exit code."""
    options, overrides = parse_with_data(ScoreOptions, arguments)
    scored = score_files(options, overrides)

    tables = [_score_table(options, scored)]
    if scored.matrix is not None:
        tables.append(_label_table(scored))
        tables.append(_matrix_table(scored, scored.matrix))
    print_tables(tables)

    print_lines(*scored.notes)
    has_intervals = any(name.endswith("_low") for name in scored.scores)
    if options.resamples and not has_intervals:
        print_lines("no intervals: all rows are of one group")
    if scored.signature:
        print_lines(f"BERTScore: {scored.signature}")

    if options.out:
        name = options.name or table_stem(options.predictions)
        write_scores(options.out, name, scored.scores, scored.signature)
        print_lines(f"scores written to {options.out}", files=[options.out])
    return 0


def _score_table(options: ScoreOptions, scored: Scored) -> Table:
    """List the scores of the whole file, and those of classes that have no table of their own."""
    title = f"{options.task}, {scored.rows} rows"
    rows: list[Row] = []
    for name, value in scored.scores.items():
        is_of_class = "/" in name and scored.matrix is None  # such as a tagger's
        if not is_whole(name) and not is_of_class:
            continue

        cell = cell_of(scored.scores, name)
        interval = ""
        if isinstance(cell, Interval):
            interval = f"{cell.low:.3f} to {cell.high:.3f}"
        rows.append((name, value, interval))

    if not options.resamples:
        return Table(title, ("score", "value"), [row[:2] for row in rows])

    note = f"{options.resamples} bootstrap resamples"
    if options.group_column:
        note += f" of groups ({options.group_column})"
    return Table(title, ("score", "value", "95 % interval"), rows, note)


def _label_table(scored: Scored) -> Table:
    """List precision, recall and the like of each label."""
    rows: list[Row] = []
    for label in scored.labels:
        scores = [scored.scores[f"{score}/{label}"] for score in _OF_LABEL]
        rows.append((label, *scores))
    return Table("labels", ("label", *_OF_LABEL), rows)


def _matrix_table(scored: Scored, matrix: Counts) -> Table:
    """Show the confusion matrix."""
    rows = []
    for label, counts in zip(scored.labels, matrix.tolist(), strict=True):
        rows.append((label, *counts))
    return Table("confusion matrix", ("gold \\ predicted", *scored.labels), rows)
