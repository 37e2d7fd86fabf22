"""`heron annotate`: sheets on which people label or rate rows, and their answers."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from heron.base.cells import Table, summarize
from heron.base.errors import ConfigError, nearest
from heron.base.tables import cell_text, write_table
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

MAJORITY = "majority"  # named like a rater in `collect`'s files


@dataclass
class DrawOptions(DataFolders):
    """Options of `heron annotate draw`."""

    data: str
    out: Path
    split: str = "test"
    rows: Count = 200
    raters: list[str] = field(default_factory=lambda: ["2"])  # their names, or how many
    per_row: int = 2  # raters per row
    ask: list[str] = field(default_factory=lambda: [LABEL])  # see `parse_questions`
    show: list[str] = field(default_factory=list)  # columns of `data.columns.side` to show as well
    seed: Seed = 0


@dataclass
class CollectAnnotationsOptions:
    """Options of `heron annotate collect`."""

    sheets: list[Path]  # filled in; a file is named after its rater
    key: Path
    out: Path


def run(arguments: Sequence[str]) -> int:
    """Do one step; returns the exit code."""
    return run_step(arguments, {"draw": _draw, "collect": _collect})


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

    raters = _names_of(options.raters)
    if not 1 <= options.per_row <= len(raters):
        raise ConfigError(f"per_row={options.per_row}: 1 to {len(raters)}, the number of raters")

    drawn = draw_rows(examples, options.rows, has_classes, options.seed)
    gold = {example.guid: example.label or "" for example in drawn}
    gold_texts = _gold_texts(drawn, config)
    side_columns = {*config.columns.side} - {*COLUMNS, *gold_texts}
    shown = {}
    for name in options.show:
        if name not in side_columns:
            near = nearest(name, side_columns)
            raise ConfigError(f"show={name}: not in data.columns.side, or shown already.{near}")
        shown[name] = [cell_text(example.side[name]) for example in drawn]
    shown |= gold_texts

    classes = config.label_order if has_classes else ()
    questions = parse_questions(options.ask, classes, shown)
    if has_classes:
        for row, example in enumerate(drawn):
            drawn[row] = dataclasses.replace(example, text=with_markers(example, config))

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

    rows = f"{len(drawn)} of {len(examples)} rows, {options.per_row} raters for each:"
    print_lines(" ".join([rows, *map(str, sheets)]), files=[*sheets, key_path])
    print_lines(*(f"{name}: {', '.join(allowed)}" for name, allowed in questions.items()))
    command = f"heron annotate collect sheets=... key={key_path} out=DIR"
    print(f"not for raters: {key_path}; then {command}")
    return 0


def _names_of(raters: Sequence[str]) -> Sequence[str]:
    """Check the names of the raters, or make names if only their number is given."""
    if len(raters) == 1 and raters[0].isdigit():
        raters = [f"rater{number + 1}" for number in range(int(raters[0]))]
    is_valid = len(set(raters)) == len(raters) and MAJORITY not in raters
    if not is_valid or not all(re.fullmatch(r"[\w-]+", name) for name in raters):
        rule = "name each rater once, by letters, digits, - and _ only, none of them 'majority'"
        raise ConfigError(f"raters={','.join(raters)}: {rule}")
    return raters


def _gold_texts(drawn: Sequence[Example], config: DataConfig) -> dict[str, list[str]]:
    """List the gold answers or summaries, which raters rate in a task without classes."""
    scores = text_scores(config.task)
    if not scores:
        return {}
    texts = []
    for example in drawn:
        has_gold = example.label or example.target
        texts.append("\n".join(scores.golds(example)) if has_gold else "")
    return {scores.predicts: texts} if any(texts) else {}


def _collect(arguments: Sequence[str]) -> int:
    """Read filled sheets, print their agreement and write the answers; returns the exit code."""
    options = parse_options(CollectAnnotationsOptions, arguments)
    key = read_key(options.key)
    answers = read_answers(options.sheets, key)
    if not answers.rows:
        raise ConfigError(f"no row of {', '.join(map(str, options.sheets))} is answered")

    print_tables(_tables(answers, key))

    unfinished = [f"{rater} {count}" for rater, count in answers.unfinished.items() if count]
    if unfinished:
        print_lines(f"rows without all answers, left out: {', '.join(unfinished)}")

    columns = {
        "guid": [guid for guid, _, _ in answers.rows],
        "rater": [rater for _, rater, _ in answers.rows],
    }
    for question in key.questions:
        columns[question] = [row_answers[question] for *_, row_answers in answers.rows]

    path = options.out / "answers.csv"
    write_table(path, columns)
    print_lines(path)

    if LABEL in key.questions and any(key.gold.values()):
        _write_predictions(_labels(answers, LABEL), key, options.out)

    return 0


def _labels(answers: RaterAnswers, question: str) -> Labels:
    """Arrange the answers to a question by row and rater."""
    by_item: dict[str, dict[str, str]] = {}
    for guid, rater, row_answers in answers.rows:
        by_item.setdefault(guid, {})[rater] = row_answers[question]

    raters = list(answers.unfinished)
    values = []
    for item_answers in by_item.values():
        values.append([item_answers.get(rater, "") for rater in raters])

    return Labels(list(by_item), raters, values)


def _tables(answers: RaterAnswers, key: StudyKey) -> list[Table]:
    """Show the mean and rater difference of each scale, and agreement on the other questions."""
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
            rows=tuple(rows),
            note=(
                "difference: mean absolute difference between the raters of a row, 95 % t-interval."
            ),
        )
        tables.append(ratings_table)

    measures = []
    if len(answers.unfinished) > 1:
        for name in key.questions:
            if name not in key.scales:
                measures.append((name, agreements(_labels(answers, name))))
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
        predictions = {}
        for guid, label in zip(labels.items, item_labels, strict=True):
            if label:
                predictions[guid] = label
        if not predictions:
            continue

        guids = list(predictions)
        predictions_path = out / f"{name}.predictions.csv"
        write_table(predictions_path, {"guid": guids, "prediction": list(predictions.values())})
        gold_path = out / f"{name}.gold.csv"
        write_table(gold_path, {"guid": guids, "label": [key.gold[guid] for guid in guids]})

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
