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
from heron.base.tables import Table, cell_text, is_missing, read_table
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

    Returns:
        target_RC, float32, in the order of the rows of the train features; a row sums to its
        weight.

    Raises:
        ConfigError: no train row has a label in the columns, or a prediction.
        DataError: a label that is no class, predictions without a column for a class, or dynamics
            of other rows or labels.
    """
    soft, labels = config.optim.soft, config.data.label_order
    features = data.features[TRAIN]
    rows = {guid: row for row, guid in enumerate(features.guids)}
    sum_RC = np.zeros((len(rows), len(labels)), dtype=np.float64)
    for name in soft.columns:
        _add_labels(sum_RC, name, rows, data, config)
    for path in (path for word in soft.predictions for path in files(word)):
        _add_predictions(sum_RC, read_table(path), rows, labels)
    if (soft.columns or soft.predictions) and not sum_RC.any():
        named = ", ".join((*soft.columns, *soft.predictions))
        raise ConfigError(
            f"optim.soft: no row of train is in {named}; a column has to be in data.columns.side "
            "or data.join.take, and predictions need the guids of train"
        )
    gold_R = np.asarray(features.labels_R)
    target_RC = np.zeros_like(sum_RC)
    target_RC[np.arange(len(rows)), np.where(gold_R == UNLABELLED, 0, gold_R)] = 1
    said_R = sum_RC.sum(axis=1) > 0
    mean_RC = sum_RC[said_R] / sum_RC[said_R].sum(axis=1, keepdims=True)
    target_RC[said_R] = (1 - soft.weight) * target_RC[said_R] + soft.weight * mean_RC
    if config.optim.suspects.dynamics:
        target_RC *= _weights(config, data)[:, None]
    return torch.from_numpy(target_RC.astype(np.float32))


def soft_loss(
    target_TC: Tensor,
    rows_R: Tensor,
    smoothing: float,
    logits_RC: Tensor,
    labels_R: Tensor,
    weights_C: Tensor | None,
) -> Tensor:
    """Compute the cross-entropy of each row with its target, times the weights of the classes.

    Args:
        target_TC: as `soft_targets` returns it, of the T rows of train.
        rows_R: indices of the R rows among them.
        smoothing: share of a target that is spread over all classes.
        logits_RC, labels_R, weights_C: as in `LOSSES`; the labels are in the targets.
    """
    target_RC = target_TC[rows_R]
    if smoothing:
        spread_R1 = target_RC.sum(dim=1, keepdim=True) / target_TC.shape[1]
        target_RC = target_RC * (1 - smoothing) + smoothing * spread_R1
    nll_RC = -target_RC * logits_RC.float().log_softmax(dim=1)
    return (nll_RC if weights_C is None else nll_RC * weights_C).sum(dim=1)


def _add_labels(
    sum_RC: np.ndarray, name: str, rows: dict[str, int], data: DataModule, config: Config
) -> None:
    """Count one annotator's labels; cells without a label do not count."""
    labels, reader = config.data.label_order, LabelReader(config.data, name)
    for example in data.examples[TRAIN]:
        try:
            label = reader.read(example.side.get(name))
        except LabelError as error:
            raise DataError(example.guid, *error.args) from error
        if label is not None and example.guid in rows:
            sum_RC[rows[example.guid], labels.index(label)] += 1


def _add_predictions(
    sum_RC: np.ndarray, table: Table, rows: dict[str, int], labels: Sequence[str]
) -> None:
    """Add a teacher's probabilities of the rows that it has predicted; empty rows do not count."""
    columns = [f"p/{label}" for label in labels]
    table.require("guid", *columns)
    for number, row in enumerate(table.rows):
        place, cells = rows.get(cell_text(row["guid"])), [row[column] for column in columns]
        if place is None or all(map(is_missing, cells)):
            continue  # no train row, or one without a prediction
        try:
            shares = np.array(cells, dtype=float)
        except (TypeError, ValueError):
            shares = np.array([np.nan])
        if not (np.isfinite(shares) & (shares >= 0)).all():
            raise DataError(table.where(number), f"p/<class> is {cells}, no probabilities")
        sum_RC[place] += shares


def _weights(config: Config, data: DataModule) -> np.ndarray:
    """Give the most suspicious share of the labelled train rows the weight of suspects; [R]."""
    settings, features = config.optim.suspects, data.features[TRAIN]
    order, gold_R = config.data.label_order, np.asarray(features.labels_R)
    labelled_K = np.flatnonzero(gold_R != UNLABELLED)
    golds = {features.guids[row]: order[gold_R[row]] for row in labelled_K.tolist()}
    held_out = set(data.features[VALIDATION].guids) if VALIDATION in data.features else set()
    held_out -= golds.keys()
    scores = []
    for folder in (folder for word in settings.dynamics for folder in runs(word, config)):
        known = statistics(read_dynamics(folder))
        labels = known.labels or tuple(order)
        # Other tools number the classes, in the order that the data have for them.
        if labels == tuple(map(str, range(len(order)))) and set(labels) != set(order):
            labels = tuple(order)
        places = {guid: place for place, guid in enumerate(known.guids)}
        found = {
            guid: labels[known.gold_N[place]] for guid, place in places.items() if guid in golds
        }
        for what, guids in (
            ("{} train rows, or their labels, differ", golds.items() - found.items()),
            ("it has trained on {} validation rows of this run", held_out & places.keys()),
        ):
            if guids:
                fix = "give both the same data.* and encoder.max_length, or train it again"
                raise DataError(str(folder), f"{what.format(len(guids))}: {min(guids)}", fix)
        score_N = difficulty(settings.score, known)
        scores.append(score_N[[places[guid] for guid in golds]])
    weight_R = np.ones(len(features))
    suspects_K = rank(-np.mean(scores, axis=0), list(golds))[: round(settings.share * len(golds))]
    weight_R[labelled_K[suspects_K]] = settings.weight
    return weight_R


def target_files(config: Config) -> dict[str, list[Path]]:
    """List the predictions and dynamics that targets are made from, by the key that names them.

    Raises:
        DataError: there are none.
    """
    soft, suspects = config.optim.soft, config.optim.suspects
    folders = (run for word in suspects.dynamics for run in runs(word, config))
    read = {
        "optim.soft.predictions": [file for word in soft.predictions for file in files(word)],
        "optim.suspects.dynamics": [record for run in folders for record in record_paths(run)],
    }
    return {key: paths for key, paths in read.items() if paths}


def files(word: str) -> list[Path]:
    """Find the files that a value of `optim.soft.predictions` names; of a run, on validation.

    Raises:
        DataError: there are none.
    """
    path, pattern = Path(word), f"predictions/{VALIDATION}.parquet"
    found = [path] if path.is_file() else sorted([*path.glob(pattern), *path.glob(f"*/{pattern}")])
    if not found:
        what = "no file, run or sweep with predictions on validation"
        raise DataError(word, what, "correct optim.soft.predictions")
    return found


def runs(word: str, config: Config) -> list[Path]:
    """Find the run that a value names, or the runs of a sweep with this run's data and fold.

    Runs of the sweep that have not ended, and those with suspects of their own, do not count.

    Raises:
        DataError: the sweep has none.
    """
    folders = sorted(dynamics.parent for dynamics in Path(word).glob("*/dynamics"))
    if not folders:
        return [Path(word)]  # a run, or a folder of another tool
    done = [each for each in folders if RunFolder(each).state() == "done"]
    stored = {folder: read_yaml(RunFolder(folder).config) for folder in done}
    found = [
        folder
        for folder, other in stored.items()
        if parse(DataConfig, other["data"], "data.") == config.data
        and not other["optim"].get("suspects", {}).get("dynamics")
    ]
    if not found:
        what = f"none of the {len(done)} finished runs there has the data and the fold of this run"
        raise DataError(word, what, "give both the same data.*, or name one run")
    return found
