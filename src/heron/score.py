"""`heron score`: the scores of any system's predictions against gold labels, from two files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from heron.data.tables import Table, cell_text, is_missing, read_table
from heron.errors import ConfigError, DataError, Problem, nearest
from heron.files import write_json
from heron.metrics import (
    bootstrap_intervals,
    calibration_scores,
    confusion_matrix,
    score_matrix,
)
from heron.metrics.calibration import TOLERANCE
from heron.metrics.classification import headline
from heron.metrics.relation import RELATIONS
from heron.options import parse_options
from heron.reporting.scored import print_scores

GUID_COLUMNS = ("guid", "id")
# `named_label` first: where a file has it, its `label` is a number.
GOLD_COLUMNS = ("named_label", "label", "gold")
PREDICTION_COLUMNS = ("prediction", "label", "pred")


@dataclass
class Options:
    """Options of `heron score`.

    Args:
        task: `relation`, `nli` or `classification`; `qa` and `summarization` have options of
            their own (`heron.score_texts`).
        gold: table of gold labels (.csv, .tsv, .jsonl, .json or .parquet).
        predictions: table of predicted labels. With a column `p/<label>` for every label, such as
            heron's own predictions have, calibration is scored as well.
        labels: all labels, in order; averages run over all of them. With it, labels may also be
            written as their positions in this order, from 0. Default: those of `data`, else the
            gold labels that occur.
        data: name of a data set; its labels, and what its files call them (`e`, `1`), are read.
        relaxed: what `relaxed_macro_f1` and `relaxed_weighted_f1` stand for: `recode`, `drop` or
            `matres_micro`.
        out: JSON file for the scores, `{"<name>": {"<score>": number}}`.
        name: the name in that file; default: the predictions file's, without its suffix.
        guid_column: the column, in both files, that rows are joined on.
        join: `position` joins rows by their order, whatever ids there are; default: on the guid
            where both files have one, by position where neither has.
        gold_column: the gold labels' column.
        prediction_column: the predicted labels' column.
        group_column: a column of the gold table (window, document); intervals then come from the
            cluster bootstrap, which draws whole groups.
        resamples: bootstrap resamples; 0 computes no intervals.
        seed: of the resamples.
    """

    task: str
    gold: Path
    predictions: Path
    labels: list[str] | None = None
    data: str | None = None
    relaxed: str = "recode"
    out: Path | None = None
    name: str | None = None
    guid_column: str | None = None
    join: str | None = None
    gold_column: str | None = None
    prediction_column: str | None = None
    group_column: str | None = None
    resamples: int = 1000
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Joined:
    """Gold labels and predictions, row by row.

    Args:
        gold: N class names.
        prediction: N class names.
        labels: all class names, in order.
        groups: N group names, or None.
        how: what the rows were joined on, for the reader.
        probabilities: class name to N probabilities, where the predictions have them.
    """

    gold: list[str]
    prediction: list[str]
    labels: list[str]
    groups: list[str] | None
    how: str
    probabilities: dict[str, list[float]] = field(default_factory=dict)


def run(arguments: Sequence[str]) -> int:
    """Score, print and, with `out=`, write; returns the exit code.

    Raises:
        ConfigError: unknown options, tasks, modes or labels that cannot be read without `labels=`.
        DataError: unreadable rows, unknown labels, guids that are missing, extra or repeated.
    """
    if {"task=qa", "task=summarization"} & set(arguments):
        from heron import score_texts

        return score_texts.run(arguments)
    options = parse_options(Options, arguments)
    _check(options)
    joined = load(options)
    matrix = confusion_matrix(joined.gold, joined.prediction, joined.labels)
    scores = score_matrix(options.task, matrix, joined.labels, relaxed=options.relaxed)
    scores |= _calibration(joined)
    if options.resamples:
        scores |= bootstrap_intervals(
            options.task,
            joined.gold,
            joined.prediction,
            joined.labels,
            relaxed=options.relaxed,
            groups=joined.groups,
            resamples=options.resamples,
            seed=options.seed,
        )
    drawn = f"groups ({options.group_column})" if joined.groups else "rows"
    print_scores(
        f"{options.task}, {len(joined.gold)} rows",
        scores,
        joined.labels,
        matrix.tolist(),
        f"{options.resamples} bootstrap resamples of {drawn}" if options.resamples else "",
    )
    print(f"rows joined {joined.how}")
    if options.out:
        write_json(options.out, {options.name or options.predictions.stem: scores})
        print(f"scores written to {options.out}")
    return 0


def _calibration(joined: Joined) -> dict[str, float]:
    """Score the probabilities, if there are any."""
    if not joined.probabilities:
        return {}
    numbers = {name: number for number, name in enumerate(joined.probabilities)}
    rows = list(zip(*joined.probabilities.values(), strict=True))
    return calibration_scores(rows, [numbers[label] for label in joined.gold])


def _check(options: Options) -> None:
    """Refuse what cannot be scored before any file is read."""
    labels = options.labels or []
    headline(options.task, labels, options.relaxed)
    if options.resamples < 0:
        raise ConfigError(f"resamples={options.resamples}: expected 0 or more")
    if options.join not in (None, "position"):
        raise ConfigError(f"join={options.join}.{nearest(options.join, ['position'])}")
    repeated = sorted({label for label in labels if labels.count(label) > 1})
    if repeated:
        raise ConfigError(f"labels=... names {', '.join(repeated)} more than once")
    if options.labels and options.data:
        raise ConfigError("labels=... or data=..., not both: the data set names its labels")


def load(options: Options) -> Joined:
    """Read both tables, join them, and turn their labels into class names.

    Raises:
        ConfigError: labels that are numbers where a relation needs names.
        DataError: everything wrong with the rows of both files, at once.
    """
    gold = read_table(options.gold, bad_rows="report")
    predictions = read_table(options.predictions, bad_rows="report")
    if gold.problems or predictions.problems:
        raise DataError(gold.problems + predictions.problems)
    gold_column = _column(gold, options.gold_column, GOLD_COLUMNS, "gold_column")
    prediction_column = _column(
        predictions, options.prediction_column, PREDICTION_COLUMNS, "prediction_column"
    )
    if options.group_column:
        gold.require(options.group_column)
    order, how = _join(gold, predictions, options)
    labels: list[str] = options.labels or []
    aliases: dict[str, str] = {}
    if options.data:
        labels, aliases = _labels_of(options.data)
    labels = labels or _labels_found(gold, gold_column, options.task)
    problems: list[Problem] = []
    gold_names = _names(gold, gold_column, labels, aliases, problems)
    prediction_names = _names(predictions, prediction_column, labels, aliases, problems)
    probabilities = _probabilities(predictions, labels, problems)
    if problems:
        raise DataError(problems)
    groups = None
    if options.group_column:
        # A row without a group stands alone; its line is a name that no group has.
        groups = [
            f"\0{row}" if is_missing(value) else cell_text(value)
            for row, value in enumerate(gold.values(options.group_column))
        ]
    ordered = {name: [values[row] for row in order] for name, values in probabilities.items()}
    predicted = [prediction_names[row] for row in order]
    return Joined(gold_names, predicted, labels, groups, how, ordered)


def _labels_of(name: str) -> tuple[list[str], dict[str, str]]:
    """Read a data set's labels, and what else its files may call them."""
    from heron.config_dir import data_sets
    from heron.data.config import read_config

    paths = data_sets()
    if name not in paths:
        raise ConfigError(f"data={name}: no such data set.{nearest(name, paths)}")
    config = read_config(paths[name])
    return list(config.label_order), dict(config.label_aliases)


def _probabilities(
    predictions: Table, labels: list[str], problems: list[Problem]
) -> dict[str, list[float]]:
    """Read the columns `p/<label>`; what is no number is added to `problems`."""
    names = [column.removeprefix("p/") for column in predictions.columns if column.startswith("p/")]
    if names and (absent := [label for label in labels if label not in names]):
        what = f"has probabilities, but none of {', '.join(absent)}"
        fix = "add p/<label> for every label, or rename the others"
        problems.append(Problem(str(predictions.path), what, fix))
        return {}
    found: dict[str, list[float]] = {name: [] for name in names}
    for row, cells in enumerate(predictions.rows):
        values = {name: _number(cells[f"p/{name}"]) for name in names}
        total = sum(value or 0.0 for value in values.values())
        wrong = [
            f"p/{name} is '{cell_text(cells[f'p/{name}'])}', no number from 0 to 1"
            for name, value in values.items()
            if value is None
        ]
        if not wrong and names and abs(total - 1) > TOLERANCE:
            wrong = [f"the probabilities add up to {total:.3f}, not to 1"]
        problems += [Problem(predictions.where(row), what) for what in wrong]
        for name, value in values.items():
            found[name].append(value or 0.0)
    return found


def _number(cell: object) -> float | None:
    try:
        value = float(cell)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None
    return value if 0 <= value <= 1 else None


def _column(table: Table, chosen: str | None, known: Sequence[str], option: str) -> str:
    """Find the column that `option` names, or the first of the usual ones."""
    if chosen:
        table.require(chosen)
        return chosen
    found = table.find(known)
    if found is None:
        what = f"none of the columns {', '.join(known)}; it has {', '.join(table.columns)}"
        raise DataError(Problem(str(table.path), what, f"name one with {option}=..."))
    return found


def _join(gold: Table, predictions: Table, options: Options) -> tuple[list[int], str]:
    """Find, for each gold row, the number of its prediction row, and say how."""
    chosen = options.guid_column
    if chosen:
        gold.require(chosen)
        predictions.require(chosen)
    columns = [chosen or table.find(GUID_COLUMNS) for table in (gold, predictions)]
    if columns[0] and columns[1] and options.join != "position":
        return _join_on_guid(gold, columns[0], predictions, columns[1]), f"on {columns[0]}"
    if (columns[0] or columns[1]) and options.join != "position":
        have, lack = (gold, predictions) if columns[0] else (predictions, gold)
        raise ConfigError(
            f"{have.path} has the ids '{columns[0] or columns[1]}', {lack.path} has none: add them "
            "there, name the column with guid_column=..., or say join=position if the rows of "
            "both files stand in the same order"
        )
    if len(gold) != len(predictions):
        what = f"{len(predictions)} predictions for the {len(gold)} rows of {gold.path}"
        fix = "without a guid column in both files, rows are joined by position"
        raise DataError(Problem(str(predictions.path), what, fix))
    return list(range(len(gold))), "by position"


def _join_on_guid(
    gold: Table, gold_column: str, predictions: Table, prediction_column: str
) -> list[int]:
    tables = ((gold, gold_column), (predictions, prediction_column))
    problems = [
        problem
        for table, column in tables
        for problem in (*table.missing_values(column), *table.duplicates(column))
    ]
    gold_rows, prediction_rows = (
        {cell_text(guid): row for row, guid in enumerate(table.values(column))}
        for table, column in tables
    )
    for guid, row in gold_rows.items():
        if guid not in prediction_rows:
            what = f"guid '{guid}' has no prediction in {predictions.path}"
            problems.append(Problem(gold.where(row), what))
    for guid, row in prediction_rows.items():
        if guid not in gold_rows:
            what = f"guid '{guid}' is not in {gold.path}"
            problems.append(Problem(predictions.where(row), what))
    if problems:
        raise DataError(problems)
    return [prediction_rows[guid] for guid in gold_rows]


def _labels_found(gold: Table, column: str, task: str) -> list[str]:
    """Collect the gold labels that occur: relations in their usual order, others sorted."""
    found = {cell_text(value) for value in gold.values(column) if not is_missing(value)}
    if task == "relation":
        if all(label.isdecimal() for label in found):
            raise ConfigError(
                f"the labels in column '{column}' of {gold.path} are numbers: say what they mean "
                f"with labels={','.join(RELATIONS)} (0 is the first), or name another column with "
                "gold_column=..."
            )
        if found <= set(RELATIONS):
            return [label for label in RELATIONS if label in found]
    return sorted(found)


def _names(
    table: Table,
    column: str,
    labels: list[str],
    aliases: dict[str, str],
    problems: list[Problem],
) -> list[str]:
    """Turn one column into class names; what is none of `labels` is added to `problems`."""
    problems += table.missing_values(column)
    names = []
    for row, value in enumerate(table.values(column)):
        name = cell_text(value)
        if name not in labels and name in aliases:
            name = aliases[name]
        if name not in labels and name.isdecimal() and int(name) < len(labels):
            name = labels[int(name)]
        if name not in labels and not is_missing(value):
            what = f"unknown {column} '{name}'.{nearest(name, [*labels, *aliases])}"
            fix = f"allowed: {', '.join([*labels, *aliases])}; labels=... or data=... sets them"
            problems.append(Problem(table.where(row), what, fix))
        names.append(name)
    return names
