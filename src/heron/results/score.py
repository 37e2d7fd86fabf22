"""`heron score`: any system's predictions against gold labels or texts, from two files."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from annotated_types import Ge

from heron.base.errors import ConfigError, DataError, Problem, first_few, nearest, raise_all
from heron.base.files import parse_json
from heron.base.folders import data_set_file
from heron.base.tables import (
    SUFFIXES,
    FileTable,
    content_format,
    read_bytes,
    read_table,
    received,
    table_format,
    table_stem,
)
from heron.config.constraints import OneOf, Seed
from heron.config.parsing import DataFolders
from heron.data.config import JOIN, DataConfig, read_config
from heron.data.rows import (
    Joined,
    LabelError,
    LabelReader,
    Rows,
    merge_cases,
    read_join,
    read_labels,
)
from heron.data.sources import State, inspect
from heron.languages import get_language
from heron.metrics.arrays import Counts
from heron.metrics.calibration import TOLERANCE
from heron.metrics.classification import confusion_matrix
from heron.metrics.config import Relaxed
from heron.metrics.names import further_scores
from heron.results.frame import Frame, texts_of
from heron.tasks.scoring import (
    PREDICTION_COLUMNS,
    BertScoreOptions,
    ClassScores,
    TextScores,
    compute_bertscore,
    require_bertscore,
    score_classes,
    score_texts,
)
from heron.tasks.task import scores_of

GUIDS = ("guid", "id")
# `named_label` first: where a file has it, its `label` is a number.
GOLD_COLUMNS = ("named_label", "label", "gold", "gold_label")
# Fixes suggested where a predicted cell is not a label.
_NAMING_LABELS = (
    "labels=A,B,... names all labels; whole numbers are then their positions, from 0",
    "data=NAME reads the labels of a data set's files",
)


@dataclass(kw_only=True)
class ScoreOptions(DataFolders, BertScoreOptions):
    """Options of `heron score`; it also takes `data.<key>=value`, see `heron.data.overrides`.

    With a column `p/<label>` for every label, such as heron's own predictions have, calibration is
    scored as well. An empty answer is "no answer". Texts are scored as they stand, with two
    exceptions: `*_heron` and the scores of a language unify Unicode variants; lengths and counts of
    summaries are of texts normalized by `data.unicode`. BERTScore (`bertscore=`) scores summaries.
    """

    task: str  # `relation`, `nli`, `classification`, `qa`, `summarization`, or a fork's
    # Table of gold rows (.csv, .tsv, .jsonl, .json or .parquet, perhaps .gz); of `qa` also SQuAD's
    # JSON. `-` is standard input, of the predictions too.
    gold: Path
    # Table of predictions, a JSON object `{guid: prediction}`, or in the order of the gold rows a
    # JSON list (of a pipeline), lines (.txt) or an array of labels or logits (.npy).
    predictions: Path
    # Name of a data set whose columns, labels and Unicode options the gold file has; default
    # `own_qa` for task=qa, `own_summaries` for task=summarization, else none.
    data: str | None = None
    # `position` joins rows by their order; default: on the guid where both files have one, by
    # position where neither has.
    join: Annotated[str | None, OneOf("position")] = None
    out: Path | None = None  # JSON file for the scores, `{"<name>": {"<score>": number}}`
    # The name in that file; default: the predictions file's, without its suffix.
    name: str | None = None
    resamples: Annotated[int, Ge(0)] = 1000  # bootstrap resamples; 0 computes no intervals
    seed: Seed = 0  # of the resamples
    metrics: list[str] = field(default_factory=list)  # further scores that forks have registered
    # All labels, in order, where `data` names none; macro averages run over those that occur. With
    # it, and only with it, labels may also be written as their positions in this order, from 0 (`1`
    # or `LABEL_1`), unless one of them is a whole number itself. Default: the gold labels that
    # occur.
    labels: list[str] | None = None
    # Mode of `relaxed_*`: `recode`, `drop` or `matres_micro`.
    relaxed: Relaxed = "recode"
    guid_column: str | None = None  # the column, in both files, that rows are joined on
    gold_column: str | None = None  # the gold labels' column
    prediction_column: str | None = None  # the column of predictions
    # A column of the gold table (window, document), or a key around the questions of SQuAD's JSON
    # (`title`); intervals then come from the cluster bootstrap, which draws whole groups. Default:
    # no groups where labels are scored; for texts the data set's group column, else the article.
    group_column: str | None = None
    language: str | None = None  # of texts; default the data set's


@dataclass(frozen=True, slots=True)
class Scored:
    """Scores of one file, with the bounds of their intervals."""

    rows: int  # number of rows
    scores: Mapping[str, float]
    notes: Sequence[str]  # how rows were joined and how labels were read
    labels: Sequence[str] = ()  # empty where texts are scored
    matrix: Counts | None = None  # gold labels by predicted ones
    signature: str | None = None  # of BERTScore's settings, where it was computed


def score_files(options: ScoreOptions, words: Sequence[str]) -> Scored:
    """Read both files and score every row; `words` (`data.<key>=value`) change the data set.

    Raises:
        ConfigError: unknown data set, or options that the task does not have.
        DataError: unreadable rows; gold rows without a prediction, or with several.
    """
    kind = scores_of(options.task)
    gold = received(options.gold)
    predictions = received(options.predictions)
    options = replace(options, gold=gold, predictions=predictions)
    config = _data_set(options, kind, words)
    if isinstance(kind, TextScores):
        return _score_texts(options, config, kind)

    return _score_labels(options, config)


def _data_set(
    options: ScoreOptions, kind: ClassScores | TextScores, words: Sequence[str]
) -> DataConfig:
    """Read `data=`, or the task's default data set; of labels, an empty one; with the overrides.

    Raises:
        ConfigError: a data set of another task, or overrides without a data set.
    """
    name = options.data
    if name is None and isinstance(kind, TextScores):
        name = kind.data

    if name is None:
        quoting = "auto"
        for word in words:
            key, _, quoting = word.partition("=")
            if key != "data.quoting":
                raise ConfigError(f"{word} changes a data set: name it with data=NAME")

        return DataConfig(task=options.task, quoting=quoting)

    config = read_config(data_set_file(name))
    if config.task != options.task:
        raise ConfigError(f"data={name} is for task={config.task}, not {options.task}")

    config.columns.side = []  # which scoring does not need
    config.language = options.language or config.language
    if words:
        from heron.data.overrides import override  # start-up time: Hydra

        config = override(config, words)

    return config


def _score_labels(options: ScoreOptions, config: DataConfig) -> Scored:
    """Score labels: the confusion matrix, headline scores, calibration, intervals."""
    gold = read_table(options.gold, bad_rows="report", quoting=config.quoting)
    gold.require(*filter(None, (options.guid_column, options.group_column)))
    predictions = _read_predicted(options.predictions)
    label = _gold_column(options, config, gold)
    # `label` last: where a file has another one as well, `label` is the gold one.
    usual = (*PREDICTION_COLUMNS, "label")
    column = _column(predictions, options.prediction_column, usual, "prediction_column")

    config = _with_labels(options, config, gold, label)
    guid = _gold_ids(options, config, gold, predictions)
    columns = replace(
        config.columns,
        label=label,
        guid=guid,
        group=options.group_column or config.columns.group,
        truth=None,
        side=[],
    )
    config = replace(config, columns=columns, label_field={})
    joined = _joined(gold, config, *options.folders)
    rows = read_labels(gold, config, joined)
    aligned, notes = _align(options, config, predictions, column, rows, (label,))
    reader = LabelReader(config, column)
    predicted = _read_labels(aligned, reader, options)
    golds = [str(example.label) for example in rows.examples]
    classes = list(config.label_order)
    matrix = confusion_matrix(golds, predicted, classes)

    probabilities_NC = None
    table: dict[str, Any] = {"guid": aligned["guid"], "gold": golds, "prediction": predicted}
    columns_of_p = [name for name in aligned.columns if name.startswith("p/")]
    probability_classes = [name.removeprefix("p/") for name in columns_of_p]
    absent = [f"p/{name}" for name in classes if name not in probability_classes]
    if not absent:
        probabilities_NC = _probabilities(aligned, columns_of_p)
        for number, name in enumerate(columns_of_p):
            table[name] = probabilities_NC[:, number]

        predicted_N = [probability_classes.index(name) for name in predicted]
        chosen_N = probabilities_NC[range(len(golds)), predicted_N]
        against = int((chosen_N < probabilities_NC.max(axis=1)).sum())
        if against:
            notes.append(
                f"{against} of {len(predicted)} predictions are not the label of the largest "
                "probability: ece, mce and brier judge the probabilities, all else the predictions"
            )
    elif columns_of_p:
        notes.append(f"{predictions.path} has no {', '.join(absent)}: calibration is not scored")

    # A row without a group is one of its own, under a name that no group has.
    groups = [example.group or f"\0{example.guid}" for example in rows.examples]
    scores = score_classes(
        options.task,
        golds,
        predicted,
        classes,
        relaxed=options.relaxed,
        probabilities_NC=probabilities_NC,
        probability_classes=probability_classes,
        # Probabilities may be rounded to two decimals; 1e-9 is for sums of floats.
        tolerance=max(TOLERANCE, 0.005 * len(columns_of_p)) + 1e-9,
        groups=groups if options.group_column else None,
        resamples=options.resamples,
        seed=options.seed,
    )
    scores |= further_scores(options.metrics, table, options.task)

    left_out = sum(rows.unlabelled.values())
    if left_out:
        notes.append(f"{gold.path}: rows without a gold label, left out: {left_out}")

    notes += _read_as(gold, LabelReader(config, label))
    notes += _read_as(predictions, reader)
    return Scored(len(golds), scores, notes, classes, matrix)


def _gold_ids(
    options: ScoreOptions, config: DataConfig, gold: FileTable, predictions: FileTable
) -> str:
    """Choose the column of the gold file's ids; without it, rows are named by their lines."""
    if options.guid_column:
        return options.guid_column
    usual = config.columns.guid
    ids = predictions.find((usual, *GUIDS))
    if ids and str(predictions.rows[0][ids]).startswith(f"{table_stem(gold.path)}:"):
        return usual  # `heron predict` has named the rows by their lines: no other column is meant
    return gold.find((usual, *GUIDS)) or "guid"


def _probabilities(predictions: Frame, columns: Sequence[str]) -> np.ndarray:
    """Read the probabilities of classes, float64_NC; a DataError where some are no numbers."""
    try:
        return np.array([predictions[name] for name in columns], dtype=np.float64).T
    except ValueError as error:
        raise DataError(str(predictions.path), f"probabilities p/...: {error}") from error


def _score_texts(options: ScoreOptions, config: DataConfig, kind: TextScores) -> Scored:
    """Score texts one by one; intervals draw whole articles."""
    bertscore = options.bertscore_config() if kind.bertscore_key else None
    require_bertscore(bertscore)

    config = _with_columns(options, config)
    rows = kind.read(options.gold, config)
    _require_group(options, rows)

    table = _read_predicted(options.predictions)
    column = _column(table, options.prediction_column, kind.columns, "prediction_column")
    gold_columns = (config.columns.answer, config.columns.target, "answers")
    aligned, notes = _align(options, config, table, column, rows, gold_columns)

    examples = rows.examples
    cells = aligned["prediction"]
    if all(isinstance(cell, float) for cell in cells):
        raise DataError(str(table.path), f"'{column}' holds decimal numbers", "predict texts")
    predicted = texts_of(aligned, cells)
    texts = [text or "" for text in predicted]
    golds = [kind.golds(example) for example in examples]

    bertscores = None
    if bertscore:
        _, cache = options.folders
        bertscores = compute_bertscore(texts, [gold for (gold,) in golds], bertscore, cache)

    groups = []
    for example in examples:
        groups.append(example.group or getattr(example, kind.group) or example.guid)

    scores = score_texts(
        kind,
        texts,
        golds,
        language=get_language(config.language),
        bertscores=bertscores,
        of_file=kind.rest(examples, texts, config),
        groups=groups,
        resamples=options.resamples,
        seed=options.seed,
    )
    columns: dict[str, Sequence[Any]] = {
        "guid": aligned["guid"],
        "gold": [gold[0] if gold else "" for gold in golds],
        "prediction": texts,
        "golds": [json.dumps(gold, ensure_ascii=False) for gold in golds],
    }
    scores |= further_scores(options.metrics, columns, options.task)

    left_out = len(rows.guids) - len(examples)
    if left_out:
        notes.append(f"{options.gold}: rows left out: {left_out}")

    absent = predicted.count(None)
    if absent:
        notes.append(f"{table.path}: rows without {column}, scored as an empty text: {absent}")

    notes += [f"{options.gold}: {note}" for note in kind.notes(examples)]
    signature = None if bertscores is None else bertscores.signature
    return Scored(len(examples), scores, notes, signature=signature)


def _require_group(options: ScoreOptions, rows: Rows) -> None:
    """Refuse a column of groups that the gold file lacks: the bootstrap would draw other units."""
    name = options.group_column
    if name and name not in rows.columns:
        problem = f"group_column={name}: no such column.{nearest(name, rows.columns)}"
        raise DataError(str(options.gold), problem, f"it has {', '.join(rows.columns)}")


def _read_predicted(path: Path) -> FileTable:
    """Read predictions: a table, or a form that transformers and evaluation scripts write.

    Those are a JSON object `{guid: prediction}`, a JSON list of predictions in the order of the
    gold rows, such as a pipeline's, lines of text, and an array of NumPy with labels or logits.
    """
    kind = content_format(path)
    if kind == ".txt":
        return _read_lines(path)
    if kind == ".npy":
        return _table_of(path, _read_array(path))
    if kind not in (".json", "object"):
        return read_table(path, own=True)

    try:
        predictions = parse_json(read_bytes(path).decode("utf-8-sig"))
    except ValueError as error:
        raise DataError(str(path), f"cannot be read: {error}") from error
    if isinstance(predictions, dict):
        return _table_of(path, list(predictions.values()), guid=list(predictions))
    if not all(isinstance(row, dict) for row in predictions):
        return _table_of(path, predictions)

    table = read_table(path, own=True)
    if {"labels", "scores"} <= set(table.columns):  # of a zero-shot pipeline
        chosen = []
        for row in table.rows:
            pairs = zip(row["scores"], row["labels"], strict=True)
            chosen.append(max(pairs)[1])
        return _table_of(path, chosen)
    return table


def _table_of(path: Path, predictions: Sequence[Any], **columns: Sequence[Any]) -> FileTable:
    """Make a table of predictions in order, and further columns."""
    columns["prediction"] = predictions
    cells = zip(*columns.values(), strict=True)
    rows = [dict(zip(columns, row, strict=True)) for row in cells]
    return FileTable(path, tuple(columns), rows, list(range(1, len(rows) + 1)), [])


def _read_lines(path: Path) -> FileTable:
    """Read one prediction a line, or the two columns `index` and `prediction`."""
    lines = read_bytes(path).decode("utf-8-sig", "replace").splitlines()
    if lines[:1] == ["index\tprediction"]:
        lines = [line.partition("\t")[2] for line in lines[1:]]
    return _table_of(path, lines)


def _read_array(path: Path) -> list[Any]:
    """Read labels [N], or the class of the largest of logits [N, C], from an array of NumPy."""
    try:
        array = np.load(path, allow_pickle=False)
    except ValueError as error:
        raise DataError(str(path), f"cannot be read: {error}") from error
    predictions: list[Any] = array.argmax(axis=1).tolist() if array.ndim == 2 else array.tolist()
    return predictions


def _align(
    options: ScoreOptions,
    config: DataConfig,
    table: FileTable,
    column: str,
    rows: Rows,
    gold_columns: Sequence[str],
) -> tuple[Frame, list[str]]:
    """Find the prediction of each scored gold row; predictions of other rows are ignored.

    Args:
        options, config: as for the scores.
        table, column: the predictions.
        rows: of the gold file.
        gold_columns: names of its gold columns.

    Returns:
        A row for each of `rows.examples`: guid, prediction, its line, probabilities; and notes.

    Raises:
        ConfigError: only the gold file has ids; a gold column as predictions.
        DataError: bad gold rows, or none; ids that are missing or repeated; another number of rows.
    """
    gold = options.gold
    guids = [example.guid for example in rows.examples]
    if column in gold_columns and table.path.resolve() == gold.resolve():
        raise ConfigError(f"{gold}: its column '{column}' is the gold one: name other predictions")

    raise_all(rows.problems)
    if not guids:
        raise DataError(str(gold), "no row can be scored: all are left out")
    if options.guid_column:
        table.require(options.guid_column)

    id_column = None if options.join else table.find((config.columns.guid, *GUIDS))
    problems = []
    ids: Sequence[str]
    if id_column is not None:
        ids = table.texts(id_column)
        problems += table.duplicates(id_column)
    elif rows.has_ids and not options.join:
        raise ConfigError(
            f"{gold} has ids, {table.path} has none: add a column guid there, or say "
            "join=position if the rows of both files stand in the same order"
        )
    else:
        ids = rows.guids if len(table) == len(rows.guids) else guids
        if len(table) != len(ids):
            problem = f"{len(table)} rows for the {len(rows.guids)} of {gold}, {len(guids)} scored"
            raise DataError(str(table.path), problem, "a column guid joins rows by name")

    columns: dict[str, Sequence[Any]] = {
        "guid": ids,
        "prediction": table.values(column),
        "line": table.lines,
    }

    for name in table.columns:
        if name.startswith("p/"):
            columns[name] = table.values(name)

    predictions = Frame(table.path, columns)
    fix = "" if rows.has_ids else f"{gold} has no ids; join=position joins rows by order"
    for guid in guids:
        if guid not in predictions.rows:
            problems.append(
                Problem(f"{gold}: {guid}", f"no prediction for it in {table.path}", fix)
            )

    raise_all(problems)

    way = "by position" if id_column is None else f"on {id_column}"
    gold_name = f"{gold} ({gold_columns[0]})" if len(gold_columns) == 1 else gold
    notes = [f"{gold_name}, {table.path} ({column}): rows joined {way}"]
    others = sorted(predictions.rows.keys() - set(rows.guids))

    if others:
        count = len(others)
        notes.append(f"{table.path}: {count} predictions are of no gold row: {first_few(others)}")

    return predictions.at(guids), notes


def _column(table: FileTable, chosen: str | None, usual: Sequence[str], option: str) -> str:
    """Find the column that an option names, or the first of the usual ones.

    Args:
        table: that has the column.
        chosen: the option's value; None where it is not set.
        usual: names to look for then.
        option: its name, for the message.

    Raises:
        DataError: there is no such column.
    """
    if chosen:
        table.require(chosen)
        return chosen

    column = table.find(usual)
    if column:
        return column

    problem = f"none of the columns {', '.join(usual)}; it has {', '.join(table.columns)}"
    raise DataError(str(table.path), problem, f"name one with {option}=...")


def _gold_column(options: ScoreOptions, config: DataConfig, gold: FileTable) -> str:
    """Find the label column: the data set's for this file, or a usual one.

    Raises:
        DataError: there is none, or the file has several of the data set's.
    """
    usual: Sequence[str] = GOLD_COLUMNS
    if options.data:
        own = config.columns.label
        stem = table_stem(gold.path)
        for split, file in config.split_files.items():
            column = config.label_field.get(split, own)
            if table_stem(Path(file.path)) == stem and column in gold.columns:
                return options.gold_column or column

        columns = dict.fromkeys((own, *config.label_field.values()))
        present = [column for column in columns if column in gold.columns]
        if len(present) > 1 and not options.gold_column:
            problem = f"has several label columns: {', '.join(present)}"
            raise DataError(str(gold.path), problem, "gold_column=... says which")

        usual = present or usual

    return _column(gold, options.gold_column, usual, "gold_column")


def _with_labels(
    options: ScoreOptions, config: DataConfig, gold: FileTable, column: str
) -> DataConfig:
    """Add the labels to the data set's configuration where it names none.

    With `labels=`, their positions are accepted in place of them, too.
    """
    if options.data and config.label_order:
        return config

    labels = list(dict.fromkeys(options.labels or _labels_found(gold, column, options.task)))
    aliases = {}
    if options.labels and not any(label.isdecimal() for label in labels):
        for position, name in enumerate(labels):
            aliases[str(position)] = name
            aliases[f"LABEL_{position}"] = name  # the usual names of transformers

    return replace(config, label_order=labels, label_aliases=aliases)


def _labels_found(gold: FileTable, column: str, task: str) -> list[str]:
    """Collect the gold labels that occur, in their usual order if they have one, else sorted."""
    counts = Counter(label for label in gold.texts(column) if label)
    labels = {*merge_cases(label for label, _ in counts.most_common()).values()}
    kind = scores_of(task)
    if isinstance(kind, ClassScores) and labels <= set(kind.usual_labels):
        return [label for label in kind.usual_labels if label in labels]
    return sorted(labels)


def _joined(gold: FileTable, config: DataConfig, data_dir: Path, cache_dir: Path) -> Joined | None:
    """Read the table that adds a data set's ids.

    Returns:
        None where it is not downloaded, or the gold file does not join it.
    """
    if config.join is None or config.join.key not in gold.columns:
        return None

    alone = replace(config, files={JOIN: config.files[JOIN]}, phrases="none")
    source = inspect(alone, data_dir, cache_dir)[JOIN]
    at_hand = source.state in (State.VERIFIED, State.UNPINNED)
    return read_join(source.path, config.join) if at_hand else None


def _read_labels(predictions: Frame, reader: LabelReader, options: ScoreOptions) -> list[str]:
    """Read the predicted classes; a DataError names all cells that are none."""
    names = []
    problems = []
    for cell, line in zip(predictions["prediction"], predictions["line"], strict=True):
        name = None
        problem = f"'{reader.column}' is no label"
        fixes: tuple[str, ...] = ()
        try:
            name = reader.read(cell)
        except LabelError as error:
            problem, fixes = error.args

        if name:
            names.append(name)
            continue

        if not options.data:
            fixes = (*fixes, *_NAMING_LABELS)
        problems.append(Problem(f"{predictions.path}:{line}", problem, fixes))

    raise_all(problems)
    return names


def _read_as(table: FileTable, reader: LabelReader) -> list[str]:
    """Say which cells were read as classes with other names."""
    cells = {*table.texts(reader.column)} - {""}
    renamed = []
    for cell in cells:
        try:
            name = reader.read(cell)
        except LabelError:  # only rows that do not count have this label
            continue

        if name not in (None, cell):
            renamed.append(f"{cell} = {name}")

    if not renamed:
        return []

    return [f"{table.path}: {reader.column} read as {', '.join(sorted(renamed))}"]


def _with_columns(options: ScoreOptions, config: DataConfig) -> DataConfig:
    """Set `data.columns`: the ids of a table, and text and gold of a run's own predictions."""
    columns = replace(config.columns)
    if options.group_column:
        columns.group = options.group_column

    config = replace(config, columns=columns)
    is_table = table_format(options.gold) in SUFFIXES
    if not is_table or content_format(options.gold) == "object":
        return config

    table = read_table(options.gold, bad_rows="report")
    ids = table.find((columns.guid, *GUIDS)) or columns.guid
    columns.guid = options.guid_column or ids

    is_of_run = {"text", "gold", "prediction"} <= set(table.columns)
    if is_of_run and columns.text not in table.columns:
        columns.text = "text"
        columns.target = "gold"
        if not options.group_column:
            columns.group = table.find(("group",))

    return config
