"""The larger files of a run folder, read for a report: predictions, learning curves, data map.

Calibration is computed from the stored probabilities, so that old runs have it as well.

Shape suffixes: N examples, C classes, E epochs.
"""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from heron.base.errors import ConfigError, DataError, Problem
from heron.base.run_folder import RunFolder
from heron.dynamics.cartography import statistics
from heron.dynamics.files import read_dynamics
from heron.metrics.calibration import ReliabilityBins, reliability_bins
from heron.metrics.confusion import confusion_matrix
from heron.metrics.span import item_scores
from heron.results.collect import RunRecord
from heron.results.groups import SPLITS

# Tasks whose predictions are texts; their label order says whether there is one.
_WITHOUT_CLASSES = ("qa", "summarization")


@dataclass(frozen=True, slots=True)
class Prediction:
    """One predicted example.

    Args:
        guid: its id.
        text: the text, or the first of two (premise).
        gold: class name, or the gold answer.
        prediction: class name, or the answer given.
        probability: of the prediction; None where it was not stored.
        text_pair: the second text (hypothesis, question); empty where there is one.
        right: whether it is right, where spelling is forgiven or there are several gold answers.
    """

    guid: str
    text: str
    gold: str
    prediction: str
    probability: float | None
    text_pair: str = ""
    right: bool | None = None

    @property
    def correct(self) -> bool:
        """Whether the prediction is the gold label; of answers, whether SQuAD's match is exact."""
        return self.gold == self.prediction if self.right is None else self.right


@dataclass(frozen=True, slots=True)
class Curve:
    """One logged quantity over the epochs (from 0)."""

    epochs: tuple[int, ...]
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class DataMap:
    """How each training example was learnt, in order of first appearance.

    Args:
        confidence: float64 [N], mean probability of the gold class over the epochs.
        variability: float64 [N], population standard deviation of that probability.
        correctness: float64 [N], fraction of epochs in which the prediction was right.
        epochs: how many records there are.
    """

    guids: tuple[str, ...]
    confidence: NDArray[np.float64]
    variability: NDArray[np.float64]
    correctness: NDArray[np.float64]
    epochs: int


@dataclass(frozen=True, slots=True)
class Artefacts:
    """Everything a run's page shows beside its scores; what is absent is named in `missing`."""

    split: str
    classes: tuple[str, ...]
    predictions: tuple[Prediction, ...]
    curves: dict[str, Curve]
    data_map: DataMap | None
    missing: tuple[str, ...]
    reliability: ReliabilityBins | None = None


def read_artefacts(run: RunRecord) -> Artefacts:
    """Read what there is; a missing or unreadable file is named, and never stops the report."""
    folder = RunFolder(run.path)
    missing: list[str] = []
    split = next((name for name in SPLITS if folder.predictions(name).is_file()), SPLITS[0])
    if split != SPLITS[0]:
        missing.append(f"no test predictions; the {split} split is shown")
    predictions = _attempt(read_predictions, folder.predictions(split), missing) or ()
    # A baseline has no epochs, and whoever switched the recorder off misses nothing.
    trained = run.setting("baseline.name", "none") == "none"
    recorded = trained and run.setting("dynamics.enabled", True)
    curves = (_attempt(read_curves, folder.metrics, missing) if trained else None) or {}
    data_map = _attempt(read_data_map, folder.path / "dynamics", missing) if recorded else None
    classes = class_names(run, predictions)
    reliability = None
    if predictions and classes:
        path = folder.predictions(split)
        reliability = _attempt(lambda path: read_reliability(path, classes), path, missing)
    if not run.scores:
        missing.append(_no_scores(folder))
    elif SPLITS[0] not in run.scores:
        missing.append("no test scores")
    return Artefacts(split, classes, predictions, curves, data_map, tuple(missing), reliability)


def _no_scores(folder: RunFolder) -> str:
    try:
        folder.read_scores()
    except ConfigError as error:
        return str(error)
    return "no scores.json: the run has not been scored"


def _attempt(read: Any, path: Path, missing: list[str]) -> Any:
    """Read one artefact, or note in `missing` why there is none."""
    try:
        return read(path)
    except FileNotFoundError:
        missing.append(f"no {path.parent.name}/{path.name}" if path.suffix else f"no {path.name}")
    except DataError as error:
        missing.append(str(error))
    return None


def class_names(run: RunRecord, predictions: Sequence[Prediction]) -> tuple[str, ...]:
    """Order the classes as the data set does; classes it does not know come last.

    Returns:
        The class names; empty where the data set has no classes (answers, summaries).
    """
    order = run.setting("data.label_order")
    if not order or str(run.setting("task.name")) in _WITHOUT_CLASSES:
        return ()
    seen = sorted({label for row in predictions for label in (row.gold, row.prediction)})
    return tuple(dict.fromkeys([*map(str, order), *seen]))


def read_predictions(path: Path) -> tuple[Prediction, ...]:
    """Read one split's predictions.

    Raises:
        FileNotFoundError: there is no such file.
        DataError: the file is not Parquet, or lacks guid, gold or prediction.
    """
    columns = _read_columns(path, ("guid", "gold", "prediction"))
    nothing, unknown = [""] * len(columns["guid"]), [None] * len(columns["guid"])
    right = _exact_matches(columns) if "golds" in columns else unknown
    texts = zip(columns.get("text") or nothing, columns.get("text_pair") or nothing, strict=True)
    rows = zip(columns["guid"], texts, columns["gold"], columns["prediction"], strict=True)
    return tuple(
        Prediction(
            str(guid),
            str(text or ""),
            str(gold),
            str(prediction),
            columns.get(f"p/{prediction}", columns.get("probability", unknown))[index],
            str(text_pair or ""),
            right[index],
        )
        for index, (guid, (text, text_pair), gold, prediction) in enumerate(rows)
    )


def _exact_matches(columns: Mapping[str, Sequence[Any]]) -> list[bool]:
    """Tell which answers are right by SQuAD's exact match, "no answer" included."""
    golds = [json.loads(texts) for texts in columns["golds"]]
    answers = [str(answer or "") for answer in columns["prediction"]]
    return [bool(value) for value in item_scores(answers, golds, no_answer=True)["exact_match"]]


def read_reliability(path: Path, classes: Sequence[str]) -> ReliabilityBins | None:
    """Put one split's labelled rows into bins by confidence.

    Args:
        path: predictions, Parquet.
        classes: class names, in order.

    Returns:
        None where no probabilities are stored.

    Raises:
        FileNotFoundError: there is no such file.
        DataError: the file is not Parquet, or its probabilities are no distributions.
    """
    columns = _read_columns(path, ("gold",))
    stored = [name for name in classes if f"p/{name}" in columns]
    if not stored:
        return None
    numbers = {name: number for number, name in enumerate(stored)}
    known = [row for row, gold in enumerate(columns["gold"]) if gold in numbers]
    probabilities_NC = np.column_stack([columns[f"p/{name}"] for name in stored])[known]
    gold_N = [numbers[columns["gold"][row]] for row in known]
    try:
        return reliability_bins(probabilities_NC.astype(np.float64), gold_N)
    except DataError as error:
        where, problems = f"{path.parent.name}/{path.name}", error.problems
        what = f"no reliability plot: {len(problems)} rows without a distribution over the classes"
        raise DataError(Problem(where, what, str(problems[0]))) from error


def _read_columns(path: Path, required: Sequence[str], others: bool = True) -> dict[str, list[Any]]:
    """Read a Parquet file's columns as lists: the required ones and, if asked for, all others."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    where = f"{path.parent.name}/{path.name}"
    try:
        # ParquetFile, not read_table: the latter takes "epoch=3" for a partition column.
        with pq.ParquetFile(path) as file:
            present = file.schema_arrow.names
            table = file.read(None if others else list(required))
    except FileNotFoundError:
        raise
    except (OSError, pa.ArrowException) as error:
        raise DataError(Problem(where, f"not readable: {error}")) from error
    absent = [name for name in required if name not in present]
    if absent:
        what = f"lacks the column {', '.join(absent)}"
        raise DataError(Problem(where, what, f"it has {', '.join(present)}"))
    return table.to_pydict()


def confusion_counts(
    predictions: Sequence[Prediction], classes: Sequence[str]
) -> NDArray[np.int64]:
    """Count predictions by gold class (rows) and predicted class (columns); int64 [C, C]."""
    gold = [row.gold for row in predictions]
    return confusion_matrix(gold, [row.prediction for row in predictions], classes)


def read_curves(path: Path) -> dict[str, Curve]:
    """Read `metrics.csv`: sparse rows become one value per epoch and column.

    A training loss is the mean of what was logged in the epoch; everything else is measured once
    an epoch, and the last value stands.

    Raises:
        FileNotFoundError: there is no such file.
    """
    values: dict[str, dict[int, list[float]]] = {}
    with open(path, encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            epoch = _number(row.pop("epoch", None))
            for name, text in row.items():
                value = _number(text)
                if epoch is not None and value is not None and name not in (None, "step"):
                    values.setdefault(name, {}).setdefault(int(epoch), []).append(value)
    curves = {}
    for name, by_epoch in values.items():
        epochs = tuple(sorted(by_epoch))
        one = _mean if name.startswith("train/") else _last
        curves[name] = Curve(epochs, tuple(one(by_epoch[epoch]) for epoch in epochs))
    return curves


def _number(text: Any) -> float | None:
    """A finite number, or None for an empty, broken or non-finite cell."""
    try:
        value = float(text)
    except (TypeError, ValueError):
        return None
    return value if math.isfinite(value) else None


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _last(values: Sequence[float]) -> float:
    return values[-1]


def read_data_map(folder: Path) -> DataMap:
    """Summarise the training dynamics of all records, one point per example.

    Raises:
        FileNotFoundError: nothing was recorded.
        DataError: a record cannot be read.

    Source: Swayamdipta et al. 2020, Dataset Cartography, section 2.
    """
    if not folder.is_dir():
        raise FileNotFoundError(folder)
    dynamics = read_dynamics(folder)
    found = statistics(dynamics)
    seen_N = found.visits_N > 0
    return DataMap(
        tuple(guid for guid, seen in zip(found.guids, seen_N, strict=True) if seen),
        found.confidence_N[seen_N],
        found.variability_N[seen_N],
        found.correctness_share_N[seen_N],
        len(dynamics.epochs_E),
    )
