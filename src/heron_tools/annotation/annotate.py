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
    Answers,
    Key,
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
class CollectOptions:
    """Options of `heron annotate collect`."""

    sheets: list[Path]  # filled in; a file is named after its rater
    key: Path
    out: Path


def run(arguments: Sequence[str]) -> int:
    """Do one step; returns the exit code."""
    return run_step(arguments, {"draw": _draw, "collect": _collect})


def _draw(arguments: Sequence[str]) -> int:
    options, words = parse_with_data(DrawOptions, arguments)
    config = configure(options.data, words)
    shipped = read_shipped(config, *options.folders, carved=True)
    if options.split not in shipped.splits:
        near = nearest(options.split, shipped.splits)
        raise ConfigError(f"split={options.split}: {config.name} has no such split here.{near}")
    has_classes = task_of(config).has_classes
    examples = [e for e in shipped.splits[options.split] if e.label is not None or not has_classes]
    names = options.raters
    if len(names) == 1 and names[0].isdigit():
        names = [f"rater{number + 1}" for number in range(int(names[0]))]
    wrong = [name for name in names if not re.fullmatch(r"[\w-]+", name) or name == MAJORITY]
    if wrong or len(set(names)) < len(names):
        why = "name each rater once, by letters, digits, - and _ only, none of them 'majority'"
        raise ConfigError(f"raters={','.join(names)}: {why}")
    if not 1 <= options.per_row <= len(names):
        raise ConfigError(f"per_row={options.per_row}: 1 to {len(names)}, the number of raters")
    drawn = draw_rows(examples, options.rows, has_classes, options.seed)
    golds = _golds(drawn, config)
    free = {*config.columns.side} - {*COLUMNS, *golds}
    if wrong := [name for name in options.show if name not in free]:
        near = nearest(wrong[0], free)
        raise ConfigError(f"show={wrong[0]}: not in data.columns.side, or shown already.{near}")
    shown = {name: [cell_text(e.side[name]) for e in drawn] for name in options.show} | golds
    questions = parse_questions(options.ask, config.label_order if has_classes else (), shown)
    gold = {example.guid: example.label or "" for example in drawn}
    if has_classes:
        drawn = [dataclasses.replace(each, text=with_markers(each, config)) for each in drawn]
    asked = (questions, gold, names, options.per_row, scales_of(options.ask))
    key = Key(config.task, config.name, options.split, *asked)
    *sheets, path = write_sheets(drawn, key, options.out, shown, options.seed)
    said = f"{len(drawn)} of {len(examples)} rows, {options.per_row} raters for each:"
    print_lines(" ".join([said, *map(str, sheets)]), files=[*sheets, path])
    print_lines(*(f"{name}: {', '.join(allowed)}" for name, allowed in questions.items()))
    print(f"not for raters: {path}; then heron annotate collect sheets=... key={path} out=DIR")
    return 0


def _golds(drawn: Sequence[Example], config: DataConfig) -> dict[str, list[str]]:
    """List the gold answers or summaries, which raters rate in a task without classes."""
    if not (texts := text_scores(config.task)):
        return {}
    golds = ["\n".join(texts.golds(e) if e.label or e.target else ()) for e in drawn]
    return {texts.predicts: golds} if any(golds) else {}


def _collect(arguments: Sequence[str]) -> int:
    options = parse_options(CollectOptions, arguments)
    key = read_key(options.key)
    answers = read_answers(options.sheets, key)
    said = [f"{rater} {count}" for rater, count in answers.unfinished.items() if count]
    if not answers.rows:
        raise ConfigError(f"no row of {', '.join(map(str, options.sheets))} is answered")
    print_tables(_tables(answers, key))
    if said:
        print_lines(f"rows without all answers, left out: {', '.join(said)}")
    columns = {name: [found[name] for *_, found in answers.rows] for name in key.questions}
    guids, raters = ([row[place] for row in answers.rows] for place in (0, 1))
    write_table(options.out / "answers.csv", {"guid": guids, "rater": raters, **columns})
    print_lines(options.out / "answers.csv")
    if LABEL in key.questions and any(key.gold.values()):
        _write_predictions(_labels(answers, LABEL), key, options.out)
    return 0


def _labels(answers: Answers, question: str) -> Labels:
    items = list(dict.fromkeys(guid for guid, *_ in answers.rows))
    raters = list(answers.unfinished)
    given = {(guid, rater): found[question] for guid, rater, found in answers.rows}
    values = [[given.get((item, rater), "") for rater in raters] for item in items]
    return Labels(items, raters, values)


def _tables(answers: Answers, key: Key) -> list[Table]:
    """Show the mean and rater difference of each scale, and agreement on the other questions."""
    others = [name for name in key.questions if name not in key.scales]
    tables = []
    if key.scales:
        rows = []
        for name in key.scales:
            ratings = [float(found[name]) for *_, found in answers.rows]
            error = rating_differences(_labels(answers, name))
            rows.append((name, summarize(ratings), error.value, error.low, error.high, error.n))
        columns = ("question", "mean ± sd (n)", "difference", "low", "high", "rows")
        note = "difference: mean absolute difference between the raters of a row, 95 % t-interval."
        tables.append(Table("Ratings", columns, tuple(rows), note))
    if others and len(answers.unfinished) > 1:
        found = [(name, agreements(_labels(answers, name))) for name in others]
        tables.append(agreement_table(found))
    return tables


def _write_predictions(labels: Labels, key: Key, out: Path) -> None:
    """Write tables for `heron score`: gold labels, each rater's labels and the majority's."""
    by_rater = {rater: [said[n] for said in labels.values] for n, rater in enumerate(labels.raters)}
    most = majority(labels)
    for name, found in (*by_rater.items(), (MAJORITY, most)):
        rows = [n for n, label in enumerate(found) if label]
        if not rows:
            continue
        guids = [labels.items[n] for n in rows]
        predictions, gold = out / f"{name}.predictions.csv", out / f"{name}.gold.csv"
        write_table(predictions, {"guid": guids, "prediction": [found[n] for n in rows]})
        write_table(gold, {"guid": guids, "label": [key.gold[guid] for guid in guids]})
        words = f"task={key.task} data={key.data} gold={gold} predictions={predictions}"
        print_lines(f"{name}, {len(rows)} rows: heron score {words}", files=[predictions, gold])
    if ties := most.count(""):
        print(
            f"{MAJORITY}: {ties} of {len(most)} rows are ties and left out, so its scores are of "
            "the easier rows"
        )
