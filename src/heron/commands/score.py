"""`heron score`: the scores of any system's predictions against gold ones, from two files."""

from collections.abc import Mapping, Sequence
from typing import Any

from heron.base.cells import Cell, Interval, Table
from heron.base.columns import aligned
from heron.base.files import write_json
from heron.base.tables import table_stem
from heron.base.terminal import print_lines, print_tables
from heron.config.options import parse_options
from heron.results.collect import cell_of, is_whole
from heron.results.score_labels import Options, score_labels
from heron.tasks.task import text_scores


def run(arguments: Sequence[str]) -> int:
    """Score, print and, with `out=`, write; returns the exit code."""
    tasks = [word.removeprefix("task=") for word in arguments if word.startswith("task=")]
    if any(map(text_scores, tasks)):
        return _score_texts(arguments)
    return _score_labels(arguments)


def _score_labels(arguments: Sequence[str]) -> int:
    dotted = [word for word in arguments if "." in word.partition("=")[0]]
    options = parse_options(Options, [word for word in arguments if word not in dotted])
    scored, matrix, scores = score_labels(options, dotted)
    drawn = f"groups ({options.group_column})" if scored.groups else "rows"
    drawn = f"{options.resamples} bootstrap resamples of {drawn}" if options.resamples else ""
    whole: list[tuple[Cell, ...]] = []
    for name in filter(is_whole, scores):
        whole.append((name, float(scores[name]), *([_interval(scores, name)] if drawn else [])))
    parts = ("precision", "recall", "f1", "predicted", "support")
    classes: Any = [(label, *(scores[f"{p}/{label}"] for p in parts)) for label in scored.labels]
    cells: Any = matrix.tolist()
    counts = [(label, *row) for label, row in zip(scored.labels, cells, strict=True)]
    title = f"{options.task}, {len(scored.gold)} rows"
    columns = ("score", "value", *(["95 % interval"] if drawn else []))
    gold = "gold \\ predicted"
    print_tables(
        [
            Table(title, columns, tuple(whole), drawn),
            Table("labels", ("label", *parts), tuple(classes)),
            Table("confusion matrix", (gold, *scored.labels), tuple(counts)),
        ]
    )
    print_lines(*scored.notes)
    if options.out:
        write_json(options.out, {options.name or table_stem(options.predictions): scores})
        print_lines(f"scores written to {options.out}", files=[options.out])
    return 0


def _interval(scores: Mapping[str, float], name: str) -> str:
    cell = cell_of(scores, name)
    return f"{cell.low:.3f} to {cell.high:.3f}" if isinstance(cell, Interval) else ""


def _as_text(value: float) -> str:
    return str(value) if isinstance(value, int) else f"{value:.3f}"


def _score_texts(arguments: Sequence[str]) -> int:
    from heron.results.score_texts import TextOptions, score_texts
    from heron.tasks.summarization.bertscore import write_scores
    from heron.training.overrides import TAKES, sort_words  # start-up time

    words = sort_words(arguments, TAKES["score"])
    options = parse_options(TextOptions, words.options)
    scored = score_texts(options, words.data)
    drawn = f" ({options.resamples} bootstrap resamples of articles)" if options.resamples else ""
    names = [name for name in scored.scores if not name.endswith(("_low", "_high"))]
    rows = tuple((name, scored.scores[name], _interval(scored.scores, name)) for name in names)
    lines = aligned([(f"  {name:<27}", f"{_as_text(v)}   {i}".rstrip()) for name, v, i in rows])
    title = f"{scored.title}{drawn}"
    table = Table(title, ("score", "value", "95 % interval"), rows)
    print_lines(title, *lines, tables=[table])
    if scored.signature:
        print_lines(f"BERTScore: {scored.signature}")
    if options.out:
        name = options.name or table_stem(options.predictions)
        write_scores(options.out, name, scored.scores, scored.signature)
        print_lines(f"scores written to {options.out}", files=[options.out])
    return 0
