"""`heron annotate`: sheets on which people label or rate rows, and their answers."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from heron.base.cells import Table, summarize
from heron.base.errors import ConfigError, nearest
from heron.base.tables import as_columns, cell_text, write_table
from heron.base.terminal import print_lines, print_tables
from heron.config.constraints import Count, Seed
from heron.config.parsing import DataFolders, parse_options, parse_with_data, run_step
from heron.data.config import DataConfig
from heron.data.examples import Example
from heron.data.markers import with_markers
from heron.data.overrides import configure
from heron.results.shipped import read_shipped
from heron.tasks.task import task_of, text_scores
from heron_tools.annotation.labels import Labels
from heron_tools.annotation.measures import (
    agreement_table,
    agreements,
    majority,
    rating_differences,
)
from heron_tools.annotation.sheets import (
    COLUMNS,
    LABEL,
    RaterAnswers,
    StudyKey,
    draw_rows,
    parse_questions,
    read_answers,
    read_key,
    scales_of,
    write_sheets,
)

MAJORITY = "majority"  # the name of the majority's files, beside those of raters


@dataclass
class DrawOptions(DataFolders):
    """Options of `heron annotate draw`."""

    data: str  # name of the data set
    out: Path  # a folder for the sheets and their key
    split: str = "test"  # the split to draw from
    rows: Count = 200  # number of rows to draw
    raters: list[str] = field(default_factory=lambda: ["2"])  # their names, or how many
    per_row: int = 2  # raters per row
    ask: list[str] = field(default_factory=lambda: [LABEL])  # `label`, `NAME:1-5` or `NAME:yes/no`
    show: list[str] = field(default_factory=list)  # columns of `data.columns.side` to show as well
    seed: Seed = 0  # decides which rows are drawn, and who gets which


@dataclass
class CollectAnnotationsOptions:
    """Options of `heron annotate collect`."""

    sheets: list[Path]  # filled in; a file is named after its rater
    key: Path  # the key.json that `draw` wrote
    out: Path  # a folder for the answers


def run(arguments: Sequence[str]) -> int:
    """Run `draw` or `collect`, the first argument; returns the exit code."""
    steps = {"draw": _draw, "collect": _collect}
    return run_step(arguments, steps)


def _draw(arguments: Sequence[str]) -> int:
    """Draw rows and write a sheet for each rater; returns the exit code."""
    options, overrides = parse_with_data(DrawOptions, arguments)
    config = configure(options.data, overrides)

    shipped = read_shipped(config, *options.folders, carved=True)
    if options.split not in shipped.splits:
        near = nearest(options.split, shipped.splits)
        raise ConfigError(f"split={options.split}: {config.name} has no such split here.{near}")

    examples = list(shipped.splits[options.split])
    has_classes = task_of(config).has_classes
    if has_classes:
        examples = [example for example in examples if example.label is not None]

    raters = _rater_names(options.raters)
    if not 1 <= options.per_row <= len(raters):
        raise ConfigError(f"per_row={options.per_row}: 1 to {len(raters)}, the number of raters")

    drawn = draw_rows(examples, options.rows, has_classes, options.seed)
    gold = {example.guid: example.label or "" for example in drawn}
    shown = _shown_columns(drawn, options.show, config)

    classes = config.label_order if has_classes else ()
    questions = parse_questions(options.ask, classes, shown)
    if has_classes:
        for row, example in enumerate(drawn):
            text = with_markers(example, config)
            drawn[row] = dataclasses.replace(example, text=text)

    key = StudyKey(
        task=config.task,
        data=config.name,
        split=options.split,
        questions=questions,
        gold=gold,
        raters=raters,
        per_row=options.per_row,
        scales=scales_of(options.ask),
    )
    *sheets, key_path = write_sheets(drawn, key, options.out, shown, options.seed)

    paths = " ".join(map(str, sheets))
    print_lines(
        f"{len(drawn)} of {len(examples)} rows, {options.per_row} raters for each: {paths}",
        files=[*sheets, key_path],
    )
    for question, allowed in questions.items():
        print_lines(f"{question}: {', '.join(allowed)}")

    command = f"heron annotate collect sheets=... key={key_path} out=DIR"
    print(f"not for raters: {key_path}; then {command}")
    return 0


def _rater_names(raters: Sequence[str]) -> Sequence[str]:
    """Check the names of the raters; a single number makes that many names.

    Raises:
        ConfigError: a name twice, `majority`, or other characters than letters, digits, - and _.
    """
    if len(raters) == 1 and raters[0].isdigit():
        count = int(raters[0])
        raters = [f"rater{number}" for number in range(1, count + 1)]

    are_distinct = len(set(raters)) == len(raters)
    are_words = all(re.fullmatch(r"[\w-]+", name) for name in raters)
    if not are_distinct or not are_words or MAJORITY in raters:
        rule = "name each rater once, by letters, digits, - and _ only, none of them 'majority'"
        raise ConfigError(f"raters={','.join(raters)}: {rule}")

    return raters


def _shown_columns(
    drawn: Sequence[Example], names: Sequence[str], config: DataConfig
) -> dict[str, list[str]]:
    """Collect the columns that raters see besides the texts.

    Args:
        drawn: the rows.
        names: columns of `data.columns.side`.
        config: the data set.

    Returns:
        A text for each row, by column: these, and the gold texts of a task without classes.

    Raises:
        ConfigError: no such side column, or one that sheets already have.
    """
    gold_texts = _gold_texts(drawn, config)
    side_columns = {*config.columns.side} - {*COLUMNS, *gold_texts}

    shown = {}
    for name in names:
        if name not in side_columns:
            near = nearest(name, side_columns)
            raise ConfigError(f"show={name}: not in data.columns.side, or shown already.{near}")
        shown[name] = [cell_text(example.side[name]) for example in drawn]

    return shown | gold_texts


def _gold_texts(drawn: Sequence[Example], config: DataConfig) -> dict[str, list[str]]:
    """List the gold answers or summaries, which raters rate in a task without classes.

    Returns:
        A text for each row, under the task's name for it; empty without gold texts.
    """
    scores = text_scores(config.task)
    if not scores:
        return {}

    texts = []
    for example in drawn:
        has_gold = example.label or example.target
        golds = scores.golds(example) if has_gold else []
        texts.append("\n".join(golds))

    if not any(texts):
        return {}

    return {scores.predicts: texts}


def _collect(arguments: Sequence[str]) -> int:
    """Read filled sheets, print their agreement and write the answers; returns the exit code."""
    options = parse_options(CollectAnnotationsOptions, arguments)
    key = read_key(options.key)

    answers = read_answers(options.sheets, key)
    if not answers.rows:
        sheets = ", ".join(map(str, options.sheets))
        raise ConfigError(f"no row of {sheets} is answered")

    tables = _tables(answers, key)
    print_tables(tables)

    unfinished = [f"{rater} {count}" for rater, count in answers.unfinished.items() if count]
    if unfinished:
        print_lines(f"rows without all answers, left out: {', '.join(unfinished)}")

    rows = []
    for guid, rater, row_answers in answers.rows:
        answers_of_row = [row_answers[question] for question in key.questions]
        rows.append((guid, rater, *answers_of_row))

    columns = as_columns(("guid", "rater", *key.questions), rows)
    path = options.out / "answers.csv"
    write_table(path, columns)
    print_lines(path)

    has_gold = any(key.gold.values())
    if LABEL in key.questions and has_gold:
        labels = _labels(answers, LABEL)
        _write_predictions(labels, key, options.out)

    return 0


def _labels(answers: RaterAnswers, question: str) -> Labels:
    """Arrange the answers to a question by row and rater."""
    by_item: dict[str, dict[str, str]] = {}
    for guid, rater, row_answers in answers.rows:
        item_answers = by_item.setdefault(guid, {})
        item_answers[rater] = row_answers[question]

    raters = list(answers.unfinished)
    values = []
    for item_answers in by_item.values():
        item_values = [item_answers.get(rater, "") for rater in raters]
        values.append(item_values)

    items = list(by_item)
    return Labels(items, raters, values)


def _tables(answers: RaterAnswers, key: StudyKey) -> list[Table]:
    """Lay out the ratings of each scale, and the raters' agreement on the other questions."""
    tables = []
    if key.scales:
        rows = []
        for name in key.scales:
            ratings = [float(row_answers[name]) for _, _, row_answers in answers.rows]
            error = rating_differences(_labels(answers, name))
            rows.append((name, summarize(ratings), error.value, error.low, error.high, error.n))

        ratings_table = Table(
            title="Ratings",
            columns=("question", "mean ± sd (n)", "difference", "low", "high", "rows"),
            rows=rows,
            note=(
                "difference: mean absolute difference between the raters of a row, 95 % t-interval."
            ),
        )
        tables.append(ratings_table)

    measures = []
    if len(answers.unfinished) > 1:
        for name in key.questions:
            if name not in key.scales:
                labels = _labels(answers, name)
                measures.append((name, agreements(labels)))

    if measures:
        tables.append(agreement_table(measures))

    return tables


def _write_predictions(labels: Labels, key: StudyKey, out: Path) -> None:
    """Write tables for `heron score`: gold labels, each rater's labels and the majority's."""
    predicted = {}
    for number, rater in enumerate(labels.raters):
        predicted[rater] = [item_labels[number] for item_labels in labels.values]

    predicted[MAJORITY] = majority(labels)

    for name, item_labels in predicted.items():
        guids = []
        predictions = []
        gold = []
        for guid, label in zip(labels.items, item_labels, strict=True):
            if label:
                guids.append(guid)
                predictions.append(label)
                gold.append(key.gold[guid])

        if not guids:
            continue

        predictions_path = out / f"{name}.predictions.csv"
        write_table(predictions_path, {"guid": guids, "prediction": predictions})
        gold_path = out / f"{name}.gold.csv"
        write_table(gold_path, {"guid": guids, "label": gold})

        paths = f"gold={gold_path} predictions={predictions_path}"
        print_lines(
            f"{name}, {len(guids)} rows: heron score task={key.task} data={key.data} {paths}",
            files=[predictions_path, gold_path],
        )

    chosen = predicted[MAJORITY]
    ties = chosen.count("")
    if ties:
        print(
            f"{MAJORITY}: {ties} of {len(chosen)} rows are ties and left out, so its scores are of "
            "the easier rows"
        )
