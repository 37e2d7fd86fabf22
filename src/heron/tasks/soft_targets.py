"""Targets of train rows beside their labels: annotators, teachers, suspicious labels.

Shape suffixes: R rows, C classes.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from heron.base.errors import ConfigError, DataError
from heron.base.files import read_yaml
from heron.base.run_folder import RunFolder
from heron.base.tables import FileTable, cell_text, is_missing, read_table
from heron.config.parsing import parse
from heron.data.config import TRAIN, VALIDATION, DataConfig
from heron.data.datamodule import DataModule
from heron.data.features import UNLABELLED
from heron.data.rows import LabelError, LabelReader
from heron.dynamics.cartography import rank, statistics
from heron.dynamics.difficulty import difficulty
from heron.dynamics.files import read_dynamics, record_paths
from heron.tasks.config import Config


def soft_targets(config: Config, data: DataModule) -> Tensor:
    """Mix each train row's label with annotators' labels and teachers' probabilities.

    If n of them label a row, each has 1 / n of `optim.soft.weight`; a row that none labels
    keeps only its label. A suspect's target (`optim.suspects`) is multiplied by its weight.

    Args:
        config: of the run; `optim.soft` and `optim.suspects` name the sources.
        data: with the features and examples of train.

    Returns:
        target_RC, float32, in the order of the rows of the train features; a row sums to its
        weight.

    Raises:
        ConfigError: no train row has a label in the columns, or a prediction.
        DataError: a label that is no class, predictions without a column for a class, or dynamics
            of other rows or labels.
    """
    soft = config.optim.soft
    labels = config.data.label_order
    features = data.features[TRAIN]
    rows = {guid: row for row, guid in enumerate(features.guids)}
    sum_RC = np.zeros((len(rows), len(labels)), dtype=np.float64)
    for column in soft.columns:
        _add_labels(sum_RC, column, rows, data, config)
    for word in soft.predictions:
        for path in files(word):
            _add_predictions(sum_RC, read_table(path), rows, labels)
    if (soft.columns or soft.predictions) and not sum_RC.any():
        names = ", ".join((*soft.columns, *soft.predictions))
        raise ConfigError(
            f"optim.soft: no row of train is in {names}; a column has to be in data.columns.side "
            "or data.join.take, and predictions need the guids of train"
        )

    gold_R = np.asarray(features.labels_R)
    class_R = np.where(gold_R == UNLABELLED, 0, gold_R)
    target_RC = np.zeros_like(sum_RC)
    target_RC[np.arange(len(rows)), class_R] = 1

    is_soft_R = sum_RC.sum(axis=1) > 0
    sum_KC = sum_RC[is_soft_R]
    mean_KC = sum_KC / sum_KC.sum(axis=1, keepdims=True)
    target_RC[is_soft_R] = (1 - soft.weight) * target_RC[is_soft_R] + soft.weight * mean_KC

    if config.optim.suspects.dynamics:
        target_RC *= _weights(config, data)[:, None]
    return torch.from_numpy(target_RC.astype(np.float32))


def soft_loss(
    target_TC: Tensor,
    rows_R: Tensor,
    smoothing: float,
    logits_RC: Tensor,
    weights_C: Tensor | None,
) -> Tensor:
    """Compute the cross-entropy of each row with its target, times the weights of the classes.

    Args:
        target_TC: as `soft_targets` returns it, of the T rows of train.
        rows_R: indices of the R rows among them.
        smoothing: share of a target that is spread over all classes.
        logits_RC, weights_C: as in `LOSSES`.

    Returns:
        loss_R, float32.
    """
    target_RC = target_TC[rows_R]
    if smoothing:
        spread_R1 = target_RC.sum(dim=1, keepdim=True) / target_TC.shape[1]
        target_RC = target_RC * (1 - smoothing) + smoothing * spread_R1
    loss_RC = -target_RC * logits_RC.float().log_softmax(dim=1)
    if weights_C is not None:
        loss_RC = loss_RC * weights_C
    return loss_RC.sum(dim=1)


def _add_labels(
    sum_RC: np.ndarray, name: str, rows: dict[str, int], data: DataModule, config: Config
) -> None:
    """Count one annotator's labels; cells without a label do not count.

    Args:
        sum_RC: the sum so far, float64; changed in place.
        name: the column of the annotator.
        rows: the train rows by guid.
        data: with the examples of train.
        config: of the run.
    """
    labels = config.data.label_order
    reader = LabelReader(config.data, name)
    for example in data.examples[TRAIN]:
        try:
            label = reader.read(example.side.get(name))
        except LabelError as error:
            raise DataError(example.guid, *error.args) from error
        if label is not None and example.guid in rows:
            sum_RC[rows[example.guid], labels.index(label)] += 1


def _add_predictions(
    sum_RC: np.ndarray, table: FileTable, rows: dict[str, int], labels: Sequence[str]
) -> None:
    """Add a teacher's probabilities of the rows that it has predicted; empty rows do not count.

    Args:
        sum_RC: the sum so far, float64; changed in place.
        table: with the columns `guid` and `p/<class>`.
        rows: the train rows by guid.
        labels: the classes, in the order of the columns of sum_RC.
    """
    columns = [f"p/{label}" for label in labels]
    table.require("guid", *columns)
    for number, cells in enumerate(table.rows):
        row = rows.get(cell_text(cells["guid"]))
        values = [cells[column] for column in columns]
        if row is None or all(is_missing(value) for value in values):
            continue  # no train row, or one without a prediction
        try:
            p_C = np.array(values, dtype=float)
        except (TypeError, ValueError):
            p_C = np.array([np.nan])
        is_share_C = np.isfinite(p_C) & (p_C >= 0)
        if not is_share_C.all():
            raise DataError(table.where(number), f"p/<class> is {values}, no probabilities")
        sum_RC[row] += p_C


def _weights(config: Config, data: DataModule) -> np.ndarray:
    """Give the most suspicious share of the labelled train rows the weight of suspects; [R].

    Args:
        config: of the run.
        data: with the features of train, and perhaps of validation.
    """
    suspects = config.optim.suspects
    features = data.features[TRAIN]
    gold_R = np.asarray(features.labels_R)
    labelled_K = np.flatnonzero(gold_R != UNLABELLED)
    golds = {}
    for row in labelled_K.tolist():
        golds[features.guids[row]] = config.data.label_order[gold_R[row]]
    held_out = set()
    if VALIDATION in data.features:
        held_out = set(data.features[VALIDATION].guids) - golds.keys()

    scores = []
    for word in suspects.dynamics:
        for folder in runs(word, config):
            scores.append(_suspicion(folder, suspects.score, golds, held_out, config))
    mean_K = np.mean(scores, axis=0)
    count = round(suspects.share * len(golds))
    most_suspicious = rank(-mean_K, list(golds))[:count]

    weight_R = np.ones(len(features))
    weight_R[labelled_K[most_suspicious]] = suspects.weight
    return weight_R


def _suspicion(
    folder: Path, score: str, golds: dict[str, str], held_out: set[str], config: Config
) -> np.ndarray:
    """Compute the scores of some train rows from the dynamics of one run, float64 [K].

    Args:
        folder: the run's, with dynamics.
        score: a value of `optim.suspects.score`.
        golds: labels of the train rows, by guid; the scores are in their order.
        held_out: guids of this run's validation rows, which the other run may not train on.
        config: of this run.

    Raises:
        DataError: the other run has other rows or labels.
    """
    recorded = statistics(read_dynamics(folder))
    order = tuple(config.data.label_order)
    labels = recorded.labels or order
    # Other tools number the classes, in the order that the data have for them.
    numbers = tuple(str(number) for number in range(len(order)))
    if labels == numbers and set(labels) != set(order):
        labels = order

    indices = {guid: index for index, guid in enumerate(recorded.guids)}
    recorded_golds = {}
    for guid, index in indices.items():
        if guid in golds:
            recorded_golds[guid] = labels[recorded.gold_N[index]]
    fix = "give both the same data.* and encoder.max_length, or train it again"
    differing = golds.items() - recorded_golds.items()
    if differing:
        message = f"{len(differing)} train rows, or their labels, differ: {min(differing)}"
        raise DataError(str(folder), message, fix)
    leaked = held_out & indices.keys()
    if leaked:
        message = f"it has trained on {len(leaked)} validation rows of this run: {min(leaked)}"
        raise DataError(str(folder), message, fix)

    score_N = difficulty(score, recorded)
    return score_N[[indices[guid] for guid in golds]]


def target_files(config: Config) -> dict[str, list[Path]]:
    """List the predictions and dynamics that targets are made from, by the key that names them.

    Raises:
        DataError: there are none.
    """
    predictions = []
    for word in config.optim.soft.predictions:
        predictions += files(word)
    records = []
    for word in config.optim.suspects.dynamics:
        for run in runs(word, config):
            records += record_paths(run)
    paths = {"optim.soft.predictions": predictions, "optim.suspects.dynamics": records}
    return {key: of_key for key, of_key in paths.items() if of_key}


def files(word: str) -> list[Path]:
    """Find the files that a value of `optim.soft.predictions` names; of a run, on validation.

    Raises:
        DataError: there are none.
    """
    path = Path(word)
    if path.is_file():
        return [path]
    pattern = f"predictions/{VALIDATION}.parquet"
    paths = sorted([*path.glob(pattern), *path.glob(f"*/{pattern}")])
    if not paths:
        message = "no file, run or sweep with predictions on validation"
        raise DataError(word, message, "correct optim.soft.predictions")
    return paths


def runs(word: str, config: Config) -> list[Path]:
    """Find the run that a value names, or the runs of a sweep with this run's data and fold.

    Runs of the sweep that have not ended, and those with suspects of their own, do not count.

    Raises:
        DataError: the sweep has none.
    """
    folders = sorted(dynamics.parent for dynamics in Path(word).glob("*/dynamics"))
    if not folders:
        return [Path(word)]  # a run, or a folder of another tool
    finished = [folder for folder in folders if RunFolder(folder).state() == "done"]
    fitting = []
    for folder in finished:
        stored = read_yaml(RunFolder(folder).config)
        has_suspects = stored["optim"].get("suspects", {}).get("dynamics")
        if parse(DataConfig, stored["data"], "data.") == config.data and not has_suspects:
            fitting.append(folder)
    if not fitting:
        count = len(finished)
        message = f"none of the {count} finished runs there has the data and the fold of this run"
        raise DataError(word, message, "give both the same data.*, or name one run")
    return fitting
