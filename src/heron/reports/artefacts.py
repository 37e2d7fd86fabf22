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
from heron.tasks.task import TextScores, text_scores

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
        golds, predicted = map(str, self.predictions["gold"]), self.predictions["prediction"]
        counts_CC = confusion_matrix([*golds], predicted, self.classes)
        return counts_CC, (*self.classes, "none")[: counts_CC.shape[1]]


def read_artefacts(run: RunRecord) -> Artefacts:
    """Read what there is; a missing or unreadable file is named, and never stops the report."""
    folder = RunFolder(run.path)
    missing = [str(run.status.get("error"))] if run.state == "broken" else []
    split = next((name for name in SPLITS if folder.predictions(name).is_file()), SPLITS[0])
    if split != SPLITS[0]:
        missing.append(f"no test predictions; the {split} split is shown")
    path = folder.predictions(split)
    none = Frame(path, {"guid": (), "gold": (), "prediction": ()})
    found: Frame = _attempt(read_frame, path, missing) or none
    # A baseline has no epochs; with dynamics.enabled=false no dynamics are expected.
    trained = run.setting("baseline.name", "none") == "none"
    recorded = trained and run.setting("dynamics.enabled", True)
    curves = (_attempt(read_curves, folder.metrics, missing) if trained else None) or {}
    data_map = _attempt(read_data_map, folder.path / "dynamics", missing) if recorded else None
    texts = text_scores(run.setting("task.name"))
    items = _attempt(lambda _: _text_items(run, found, texts), path, missing) if texts else None
    right = tuple(found.right)  # of answers, by SQuAD's exact match, "no answer" included
    if texts and texts.right and items:
        right = tuple(map(bool, items[texts.right]))
    classes: tuple[str, ...] = ()  # in the data set's order, unknown ones last
    if (order := run.setting("data.label_order")) and not texts:
        seen = sorted({*map(str, found["gold"]), *found["prediction"]})
        classes = tuple(label for label in dict.fromkeys([*map(str, order), *seen]) if label)
    if len(classes) > _MOST_CLASSES:  # each pair of them would be a text in the figure
        missing.append(f"no confusion matrix and no calibration: {len(classes):,} classes")
        classes = ()
    reliability = None
    if found and classes:
        reliability = _attempt(lambda path: reliability_of(found, classes), path, missing)
    if not folder.scores.is_file():
        missing.append("no scores.json: the run has not been scored")
    elif SPLITS[0] not in run.scores and run.state != "broken":
        missing.append("no test scores")
    row_scores = items[texts.metric] if texts and items else None
    shown = split, classes, found, right, curves, data_map, tuple(missing), reliability
    return Artefacts(*shown, texts, row_scores)


def _attempt(read: Callable[[Path], Any], path: Path, missing: list[str]) -> Any:
    """Read one artefact; if it is absent or that fails, add the reason to `missing`."""
    if not path.exists():
        missing.append(f"no {path.parent.name}/{path.name}" if path.suffix else f"no {path.name}")
        return None
    try:
        return read(path)
    except HeronError as error:
        why = first_line(error).replace(f"{path.parent.parent}{os.sep}", "")
        missing.append(why if path.name in why else f"{path.name}: {why}")
    except (OSError, ValueError) as error:
        missing.append(f"{path.name} cannot be read: {error}")
    return None


def _text_items(run: RunRecord, found: Frame, texts: TextScores) -> dict[str, Any]:
    """Score each text (see `TextScores.items`); empty where there are none."""
    if not found or (texts.right and GOLDS not in found):
        return {}
    language = LANGUAGES.find(str(run.setting("data.language", "")))
    return texts.items(found["prediction"], found.golds, language, True)


def reliability_of(predictions: Frame, classes: Sequence[str]) -> ReliabilityBins | None:
    """Put the labelled rows of a split into bins by confidence; None without probabilities.

    Raises:
        DataError: the probabilities of some row do not add up to 1.
    """
    stored = [name for name in classes if f"p/{name}" in predictions]
    if not stored:
        return None
    numbers = {name: number for number, name in enumerate(stored)}
    labelled = predictions.take(n for n, gold in enumerate(predictions["gold"]) if gold in numbers)
    probabilities_NC = np.array([labelled[f"p/{name}"] for name in stored], np.float64).T
    return reliability_bins(probabilities_NC, [numbers[gold] for gold in labelled["gold"]])


def read_curves(path: Path) -> dict[str, Curve]:
    """Read `metrics.csv`: of each column, the last value of every epoch."""
    values: dict[str, dict[int, float]] = {}
    for row in RunFolder(path.parent).read_metrics():
        epoch = row.get("epoch")
        for name, value in row.items():
            if epoch is not None and name not in ("epoch", "step"):
                values.setdefault(name, {})[int(epoch)] = value
    curves = {}
    for name, by_epoch in values.items():
        epochs = sorted(by_epoch)
        curves[name] = Curve(tuple(epochs), tuple(by_epoch[epoch] for epoch in epochs))
    return curves


def read_data_map(folder: Path) -> Frame:
    """Summarise the training dynamics of all records, a row for each example that one visited.

    The columns are those of `cartography.Statistics`.

    Raises:
        DataError: a record cannot be read.

    Source: Swayamdipta et al. 2020, Dataset Cartography, section 2.
    """
    found = statistics(read_dynamics(folder))
    return Frame(folder, found.as_columns()).take(np.flatnonzero(found.visits_N).tolist())
