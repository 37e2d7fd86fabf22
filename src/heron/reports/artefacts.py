"""The larger files of a run folder, read for a report: predictions, learning curves, data map.

Shape suffixes: N examples, C classes.
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from heron.base.errors import HeronError, first_line
from heron.base.run_folder import RunFolder
from heron.dynamics.cartography import statistics
from heron.dynamics.files import read_dynamics
from heron.languages import LANGUAGES
from heron.metrics.calibration import ReliabilityBins, reliability_bins
from heron.metrics.classification import confusion_matrix
from heron.results.collect import SPLITS, RunRecord
from heron.results.frame import GOLDS, Frame, read_frame
from heron.tasks.scoring import TextScores
from heron.tasks.task import text_scores

_MOST_CLASSES = 100  # more classes get no confusion matrix


class Curve(NamedTuple):
    """One logged quantity over the epochs (from 0)."""

    epochs: tuple[int, ...]
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Artefacts:
    """Everything a run's page shows beside its scores."""

    split: str  # which split's predictions are shown
    classes: tuple[str, ...]  # class names; empty where predictions are texts, or for too many
    predictions: Frame  # N rows
    # N: whether the prediction is the gold label; of answers, SQuAD's exact match.
    right: tuple[bool, ...]
    curves: dict[str, Curve]  # logged quantities, by name
    data_map: Frame | None  # see `read_data_map`; None where no dynamics were recorded
    missing: tuple[str, ...]  # what is not there, and why
    reliability: ReliabilityBins | None = None  # the labelled rows in bins by confidence
    texts: TextScores | None = None  # how the task scores texts; None for classes
    # Of texts: the score of each row (float64 [N]) that heads the task's scores, NaN where a row
    # does not count.
    row_scores: NDArray[np.float64] | None = None

    @property
    def confusion(self) -> tuple[NDArray[np.int64], tuple[str, ...]]:
        """Count predictions by gold class (rows) and predicted class, and name these columns.

        A further column, "none", counts rows without a prediction, if there are any.
        """
        golds = [str(gold) for gold in self.predictions["gold"]]
        counts_CC = confusion_matrix(golds, self.predictions["prediction"], self.classes)
        width = counts_CC.shape[1]
        columns = (*self.classes, "none")

        return counts_CC, columns[:width]


def read_artefacts(run: RunRecord) -> Artefacts:
    """Read what there is; a missing or unreadable file is named, and never stops the report."""
    folder = RunFolder(run.path)
    missing = []
    if run.state == "broken":
        missing.append(str(run.status.get("error")))

    split = next((name for name in SPLITS if folder.predictions(name).is_file()), SPLITS[0])
    if split != SPLITS[0]:
        missing.append(f"no test predictions; the {split} split is shown")

    path = folder.predictions(split)
    empty = Frame(path, {"guid": (), "gold": (), "prediction": ()})
    predictions: Frame = _attempt(read_frame, path, missing) or empty

    # A baseline has no epochs; with dynamics.enabled=false no dynamics are expected.
    curves: dict[str, Curve] = {}
    data_map = None
    if run.baseline == "none":
        curves = _attempt(read_curves, folder.metrics, missing) or {}
        if run.setting("dynamics.enabled", True):
            data_map = _attempt(read_data_map, folder.path / "dynamics", missing)

    texts = text_scores(run.setting("task.name"))
    scores_of_texts: dict[str, Any] = {}
    if texts:
        scored = _attempt(lambda _: _score_texts(run, predictions, texts), path, missing)
        scores_of_texts = scored or {}

    right = tuple(predictions.right)
    if texts and texts.right and scores_of_texts:  # SQuAD's exact match, "no answer" included
        right = tuple(map(bool, scores_of_texts[texts.right]))

    classes = () if texts else _classes(run, predictions)
    if len(classes) > _MOST_CLASSES:  # each pair of them would be a text in the figure
        missing.append(f"no confusion matrix and no calibration: {len(classes):,} classes")
        classes = ()

    reliability = None
    if predictions and classes:
        reliability = _attempt(lambda _: reliability_of(predictions, classes), path, missing)

    if not folder.scores.is_file():
        missing.append("no scores.json: the run has not been scored")
    elif SPLITS[0] not in run.scores and run.state != "broken":
        missing.append("no test scores")

    return Artefacts(
        split,
        classes,
        predictions,
        right,
        curves,
        data_map,
        tuple(missing),
        reliability,
        texts,
        row_scores=scores_of_texts[texts.metric] if texts and scores_of_texts else None,
    )


def _classes(run: RunRecord, predictions: Frame) -> tuple[str, ...]:
    """List the classes in the data set's order, unknown ones last; empty without an order."""
    order = run.setting("data.label_order")
    if not order:
        return ()
    seen = {str(gold) for gold in predictions["gold"]} | set(predictions["prediction"])
    names = dict.fromkeys([*map(str, order), *sorted(seen)])
    return tuple(name for name in names if name)


def _attempt(read: Callable[[Path], Any], path: Path, missing: list[str]) -> Any:
    """Read one artefact; if it is absent or that fails, add the reason to `missing`."""
    if not path.exists():
        name = f"{path.parent.name}/{path.name}" if path.suffix else path.name
        missing.append(f"no {name}")
        return None

    try:
        return read(path)
    except HeronError as error:
        run = f"{path.parent.parent}{os.sep}"
        reason = first_line(error).replace(run, "")
        if path.name not in reason:
            reason = f"{path.name}: {reason}"
        missing.append(reason)
    except (OSError, ValueError) as error:
        missing.append(f"{path.name} cannot be read: {error}")

    return None


def _score_texts(run: RunRecord, predictions: Frame, texts: TextScores) -> dict[str, Any]:
    """Score each text (see `TextScores.items`); empty where there are none."""
    if not predictions or (texts.right and GOLDS not in predictions):
        return {}
    language = LANGUAGES.find(str(run.setting("data.language", "")))
    return texts.items(predictions["prediction"], predictions.golds, language, True)


def reliability_of(predictions: Frame, classes: Sequence[str]) -> ReliabilityBins | None:
    """Put the labelled rows of a split into bins by confidence; None without probabilities.

    Raises:
        DataError: the probabilities of some row do not add up to 1.
    """
    stored = [name for name in classes if f"p/{name}" in predictions]
    if not stored:
        return None

    numbers = {name: number for number, name in enumerate(stored)}
    rows = [row for row, gold in enumerate(predictions["gold"]) if gold in numbers]
    labelled = predictions.take(rows)
    probabilities_CN = np.array([labelled[f"p/{name}"] for name in stored], np.float64)

    return reliability_bins(probabilities_CN.T, [numbers[gold] for gold in labelled["gold"]])


def read_curves(path: Path) -> dict[str, Curve]:
    """Read `metrics.csv`: of each column, the last value of every epoch."""
    values: dict[str, dict[int, float]] = {}
    for row in RunFolder(path.parent).read_metrics():
        epoch = row.get("epoch")
        if epoch is None:
            continue
        for name, value in row.items():
            if name not in ("epoch", "step"):
                values.setdefault(name, {})[int(epoch)] = value

    curves = {}
    for name, by_epoch in values.items():
        epochs = tuple(sorted(by_epoch))
        curves[name] = Curve(epochs, tuple(by_epoch[epoch] for epoch in epochs))

    return curves


def read_data_map(folder: Path) -> Frame:
    """Summarise the training dynamics of all records, a row for each example that one visited.

    The columns are those of `cartography.Statistics`.

    Raises:
        DataError: a record cannot be read.

    Source: Swayamdipta et al. 2020, Dataset Cartography, section 2.
    """
    of_examples = statistics(read_dynamics(folder))
    visited = np.flatnonzero(of_examples.visits_N).tolist()
    return Frame(folder, of_examples.as_columns()).take(visited)
