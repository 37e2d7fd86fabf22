"""`heron score` for labels: any system's predictions against gold labels, from two files."""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from heron.base.errors import ConfigError, DataError, Problem
from heron.base.folders import default_cache_dir, default_data_dir
from heron.base.tables import Table, cell_text, is_missing, read_table, table_stem
from heron.data import TASKS
from heron.data.config import Columns, DataConfig
from heron.data.rows import JOIN, SIDE, Joined, LabelError, LabelReader, read_join, read_labels
from heron.data.sources import State, inspect
from heron.metrics.calibration import TOLERANCE, calibration_scores
from heron.metrics.classification import (
    Counts,
    bootstrap_intervals,
    confusion_matrix,
    headline,
    score_matrix,
)
from heron.metrics.config import Relaxed
from heron.metrics.names import further_scores
from heron.results.score_rows import (
    GUIDS,
    ScoreOptions,
    match_rows,
    read_data_set,
    read_predicted,
    refuse_itself,
    typed_columns,
)
from heron.tasks.task import ClassScores, scores_of

# `named_label` first: where a file has it, its `label` is a number.
GOLD_COLUMNS = ("named_label", "label", "gold")
# `label` last: where a file has another one as well, `label` is the gold one.
PREDICTION_COLUMNS = ("prediction", "pred", "predicted_label", "label")


@dataclass
class Options(ScoreOptions):
    """Options of `heron score` for labels.

    With a column `p/<label>` for every label, such as heron's own predictions have, calibration is
    scored as well. `data` also says what files call its labels (`e`, `1`), and keys
    `data.columns.*`, `data.label_aliases`, `data.no_label` and `data.unlabelled` change it.
    """

    # All labels, in order; averages run over all of them. With it, and only with it, labels may
    # also be written as their positions in this order, from 0, unless one of them is a whole number
    # itself. Default: those of `data`, else the gold labels that occur.
    labels: list[str] | None = None
    # Mode of `relaxed_macro_f1` and `relaxed_weighted_f1`: `recode`, `drop` or `matres_micro`.
    relaxed: Relaxed = "recode"
    guid_column: str | None = None  # the column, in both files, that rows are joined on
    gold_column: str | None = None  # the gold labels' column
    prediction_column: str | None = None  # the predicted labels' column
    # A column of the gold table (window, document); intervals then come from the cluster bootstrap,
    # which draws whole groups.
    group_column: str | None = None


@dataclass(frozen=True, slots=True)
class Scored:
    """Ids, gold labels and predictions, N each; N group names, N probabilities by class.

    `notes` say how rows were joined and how labels were read.
    """

    gold: list[str]
    prediction: list[str]
    labels: list[str]
    groups: list[str] | None
    notes: list[str]
    probabilities: dict[str, list[float]] = field(default_factory=dict)
    guids: Sequence[str] = ()


def score_labels(options: Options, words: Sequence[str]) -> tuple[Scored, Counts, dict[str, float]]:
    """Read both files and score the labels: rows, confusion matrix, scores with their intervals."""
    _check_options(options)
    scored = load(options, words)
    matrix = confusion_matrix(scored.gold, scored.prediction, scored.labels)
    scores = score_matrix(options.task, matrix, scored.labels, relaxed=options.relaxed)
    scores |= _calibration(scored)
    columns: dict[str, Sequence[Any]] = {"guid": scored.guids, "gold": scored.gold}
    columns["prediction"] = scored.prediction
    columns |= {f"p/{label}": shares for label, shares in scored.probabilities.items()}
    scores |= further_scores(options.metrics, columns, options.task)
    if options.resamples:
        scores |= bootstrap_intervals(
            options.task,
            scored.gold,
            scored.prediction,
            scored.labels,
            relaxed=options.relaxed,
            groups=scored.groups,
            resamples=options.resamples,
            seed=options.seed,
        )
    return scored, matrix, scores


def _calibration(scored: Scored) -> dict[str, float]:
    """Score the probabilities, if there are any."""
    if not scored.probabilities:
        return {}
    numbers = {name: number for number, name in enumerate(scored.probabilities)}
    rows = list(zip(*scored.probabilities.values(), strict=True))
    gold = [numbers[label] for label in scored.gold]
    return calibration_scores(rows, gold, tolerance=_rounding_tolerance(len(numbers)))


def _check_options(options: Options) -> None:
    """Refuse options that cannot be scored before any file is read."""
    scores_of(options.task)
    labels = options.labels or []
    headline(options.task, labels, options.relaxed)
    options.check_resamples()
    repeated = sorted({label for label in labels if labels.count(label) > 1})
    if repeated:
        raise ConfigError(f"labels=... names {', '.join(repeated)} more than once")
    if options.labels and options.data:
        raise ConfigError("labels=... or data=..., not both: the data set names its labels")


def load(options: Options, words: Sequence[str] = ()) -> Scored:
    """Read both tables, join them, and turn their labels into class names.

    `words` (`data.<key>=value`) change the data set.

    Raises:
        ConfigError: labels that are numbers where a relation needs names.
        DataError: everything wrong with the rows of both files, at once.
    """
    config = _data_set(options, words)
    given = words[-1].partition("=")[2] if words else "auto"  # the only key without a data set
    quoting = (config or DataConfig(quoting=given)).quoting
    gold = read_table(options.gold, bad_rows="report", quoting=quoting)
    predictions = read_predicted(options.predictions, bad_rows="report")
    if not gold.rows or not predictions.rows or predictions.problems:
        raise DataError([*gold.problems, *predictions.problems])
    gold.require(*typed_columns(words))
    columns = _columns(options, config, gold)
    column = _column(
        predictions, options.prediction_column, PREDICTION_COLUMNS, "prediction_column"
    )
    refuse_itself(predictions, column, gold.path, [columns.label])
    if config is None:
        config = DataConfig(**_labels(options, gold, columns.label))
    config = dataclasses.replace(config, columns=columns, label_field={})
    rows = read_labels(gold, config, _joined(gold, config))
    found = _read_column(predictions, column, config)
    if rows.problems:
        wrong = [one for one in found if isinstance(one, Problem)]
        raise DataError(_advise([*rows.problems, *wrong], options))
    if not rows.examples:
        raise DataError(Problem(str(options.gold), "no row can be scored: all are left out"))
    if options.guid_column:
        predictions.require(options.guid_column)
    guid = predictions.find((columns.guid, *GUIDS))
    order, how = match_rows(predictions, guid, rows, gold.path, options.join)
    chosen = [found[row] for row in order]
    problems = [one for one in chosen if isinstance(one, Problem)]
    probabilities = _probabilities(predictions, config.label_order, order, problems)
    if problems:
        raise DataError(_advise(problems, options))
    predicted = [str(name) for name in chosen]
    groups = None
    if options.group_column:
        # A row without a group stands alone; its id is a name that no group has.
        groups = [example.group or f"\0{example.guid}" for example in rows.examples]
    left_out = sum(rows.unlabelled.values())
    notes = [
        f"{gold.path} ({columns.label}), {predictions.path} ({column}): rows joined {how}",
        *([f"{gold.path}: rows without a gold label, left out: {left_out}"] if left_out else []),
        *_read_as(gold, columns.label, _read_column(gold, columns.label, config)),
        *_read_as(predictions, column, found),
        *_contradictions(predicted, probabilities),
    ]
    golds = [str(example.label) for example in rows.examples]
    guids = [example.guid for example in rows.examples]
    classes = list(config.label_order)
    return Scored(golds, predicted, classes, groups, notes, probabilities, guids)


def _data_set(options: Options, words: Sequence[str]) -> DataConfig | None:
    """Read the data set, if one is named, with the words laid over it."""
    if options.data is None:
        if other := [word for word in words if not word.startswith("data.quoting=")]:
            raise ConfigError(
                f"{other[0].partition('=')[0]}: no option of heron score; to change how a data set "
                "is read, name it: data=NAME"
            )
        return None
    config = read_data_set(options.data)
    with_classes = tuple(task for task in TASKS if isinstance(scores_of(task), ClassScores))
    fitting = (options.task,) if options.task in TASKS else with_classes
    if config.task not in fitting:
        raise ConfigError(f"data={options.data} is for task={config.task}, not {options.task}")
    if any(word.startswith("data.columns.group") for word in words):
        raise ConfigError("data.columns.group: group_column=NAME draws whole groups of labels")
    if not words:
        return config
    from heron.training.overrides import TAKES, override, sort_words  # start-up time: Hydra

    return override(config, sort_words(words, TAKES["score"]).data)


def _columns(options: Options, config: DataConfig | None, gold: Table) -> Columns:
    """Find the columns of ids, labels and groups; refuse those that are asked for and absent."""
    known = config.columns if config else Columns()
    asked = (options.guid_column, options.group_column, options.gold_column)
    gold.require(*[column for column in asked if column])
    gold.require(keys=dict.fromkeys(known.side, SIDE))
    guid = options.guid_column or gold.find((known.guid, *GUIDS)) or "guid"
    label = options.gold_column or _gold_column(config, gold)
    return Columns(known.text, label, guid, options.group_column, known.text_pair)


def _gold_column(config: DataConfig | None, gold: Table) -> str:
    """Find the label column: the data set's for this file, or a usual one."""
    if config is None:
        return _column(gold, None, GOLD_COLUMNS, "gold_column")
    for split, file in config.files.items():
        column = config.label_field.get(split, config.columns.label)
        if table_stem(Path(file.path)) == table_stem(gold.path) and column in gold.columns:
            return column
    several = dict.fromkeys((config.columns.label, *config.label_field.values()))
    present = [column for column in several if column in gold.columns]
    if len(present) > 1:
        what = f"has several label columns: {', '.join(present)}"
        raise DataError(Problem(str(gold.path), what, "gold_column=... says which"))
    return present[0] if present else _column(gold, None, GOLD_COLUMNS, "gold_column")


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


def _joined(gold: Table, config: DataConfig) -> Joined | None:
    """Read the table that adds a data set's ids, if it is downloaded and the gold file joins it."""
    if config.join is None or config.join.key not in gold.columns:
        return None
    alone = dataclasses.replace(config, files={})
    source = inspect(alone, default_data_dir(), default_cache_dir())[JOIN]
    at_hand = source.state in (State.VERIFIED, State.UNPINNED)
    return read_join(source.path, config.join) if at_hand else None


def _labels(options: Options, gold: Table, column: str) -> dict[str, Any]:
    """Find the labels without a data set; with `labels=` also their positions."""
    labels = options.labels or _labels_found(gold, column, options.task)
    ordered = options.labels is not None and not any(label.isdecimal() for label in labels)
    aliases = {str(place): name for place, name in enumerate(labels)} if ordered else {}
    return {"label_order": labels, "label_aliases": aliases}


def _labels_found(gold: Table, column: str, task: str) -> list[str]:
    """Collect the gold labels that occur, in their usual order if they have one, else sorted."""
    found = {cell_text(value) for value in gold.values(column) if not is_missing(value)}
    found -= {f"{label}.0" for label in found if label.isdecimal()}  # 1.0 is 1
    kind = scores_of(task)
    usual = kind.usual_labels if isinstance(kind, ClassScores) else ()
    if usual and all(label.removesuffix(".0").isdecimal() for label in found):
        raise ConfigError(
            f"the labels in column '{column}' of {gold.path} are numbers: say what they mean "
            f"with labels={','.join(usual)} (0 is the first), or name another column with "
            "gold_column=..."
        )
    ordered = [label for label in usual if label in found]
    return ordered if len(ordered) == len(found) else sorted(found)


def _read_column(table: Table, column: str, config: DataConfig) -> list[str | Problem]:
    """Turn one column of predictions into class names, or into problems."""
    reader = LabelReader(config, column)
    found: list[str | Problem] = []
    for row, value in enumerate(table.values(column)):
        try:
            name = reader.read(value)
        except LabelError as error:
            what, fixes = error.args
            fix = tuple(each.replace("data.columns.label", "prediction_column") for each in fixes)
            found.append(Problem(table.where(row), what, fix))
            continue
        what = "is empty" if is_missing(value) else f"is '{cell_text(value)}', which is no label"
        found.append(name or Problem(table.where(row), f"'{column}' {what}", "one label a row"))
    return found


def _advise(problems: Sequence[Problem], options: Options) -> list[Problem]:
    """Replace advice on unknown labels by advice that the command can follow."""
    from heron.training.overrides import TAKES, advise  # start-up time: Hydra

    if options.data:
        return advise(problems, TAKES["score"])
    fixes = ["labels=A,B,... sets them"]
    if not options.labels:
        fixes = [
            "labels=A,B,... names all of them, and whole numbers are then positions in it, from 0",
            "data=NAME reads what a data set's files call them",
        ]
    return [
        dataclasses.replace(one, fix=(*one.fixes, *fixes))
        if one.what.startswith("unknown")
        else one
        for one in advise(problems, ())
    ]


def _read_as(table: Table, column: str, names: Sequence[str | Problem]) -> list[str]:
    """Say which cells were read as a class of another name."""
    cells = map(cell_text, table.values(column))
    pairs = {(cell, name) for cell, name in zip(cells, names, strict=True) if cell != name}
    read = sorted(f"{cell} = {name}" for cell, name in pairs if isinstance(name, str))
    return [f"{table.path}: {column} read as {', '.join(read)}"] if read else []


def _probabilities(
    predictions: Table, labels: list[str], order: Sequence[int], problems: list[Problem]
) -> dict[str, list[float]]:
    """Read the columns `p/<label>` in the gold rows' order; problems are added to `problems`."""
    names = [column.removeprefix("p/") for column in predictions.columns if column.startswith("p/")]
    if names and (absent := [label for label in labels if label not in names]):
        what = f"has probabilities, but none of {', '.join(absent)}"
        fix = "add p/<label> for every label, or rename the others"
        problems.append(Problem(str(predictions.path), what, fix))
        return {}
    found: dict[str, list[float]] = {name: [] for name in names}
    for row in order if names else ():
        cells = predictions.rows[row]
        values = {name: _share(cells[f"p/{name}"]) for name in names}
        total = sum(value or 0.0 for value in values.values())
        wrong = [
            f"p/{name} is '{cell_text(cells[f'p/{name}'])}', no number from 0 to 1"
            for name, value in values.items()
            if value is None
        ]
        if not wrong and abs(total - 1) > _rounding_tolerance(len(names)):
            wrong = [f"the probabilities add up to {total:.3f}, not to 1"]
        fix = "two decimals or more are needed" if wrong else ""
        problems += [Problem(predictions.where(row), what, fix) for what in wrong]
        for name, value in values.items():
            found[name].append(value or 0.0)
    return found


def _contradictions(
    predicted: Sequence[str], probabilities: Mapping[str, Sequence[float]]
) -> list[str]:
    """Count predictions whose label is less likely than another."""
    if not probabilities:
        return []
    likeliest = [max(row) for row in zip(*probabilities.values(), strict=True)]
    against = sum(probabilities[name][row] < likeliest[row] for row, name in enumerate(predicted))
    if not against:
        return []
    return [
        f"{against} of {len(predicted)} predictions are not the label of the largest probability: "
        "ece, mce and brier judge the probabilities, all other scores the predictions"
    ]


def _share(cell: object) -> float | None:
    try:
        value = float(cell)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None
    return value if 0 <= value <= 1 else None


def _rounding_tolerance(classes: int) -> float:
    """Compute the tolerance for rows whose probabilities are rounded to two decimals."""
    return max(TOLERANCE, 0.005 * classes) + 1e-9  # sums of floats miss the border itself
