"""Rules of one feature: the most likely class for each value, and how often it is right.

A rule is chosen and scored on different rows: inside the first split by five folds, on every other
split with the rule of the first. Texts of one group (or one premise) are in one fold.

Legend: N examples, C classes.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from heron.data.examples import Example
from heron.metrics.classification import accuracy, macro_f1

FOLDS = 5
Ids = npt.NDArray[np.int64]
Values = npt.NDArray[np.generic]
Predict = Callable[[Any, Ids, Any], Ids]


@dataclass(frozen=True, slots=True)
class Labelled:
    """The labelled rows of one split, and their class indices."""

    examples: Sequence[Example]
    gold_N: Ids


@dataclass(frozen=True, slots=True)
class Score:
    """Scores of predictions on a split, beside those of its most frequent class."""

    split: str  # its name
    rows: int  # N
    # accuracy, macro_f1: fractions; averages run over the classes of the data set.
    accuracy: float
    macro_f1: float
    # majority, majority_macro_f1: the same for the most frequent class of the first split.
    majority: float
    majority_macro_f1: float
    # Standard deviations above the majority: of the rows that only one of both gets right,
    # (predictions' - majority's) / sqrt(their number).
    z: float

    @property
    def gain(self) -> float:
        """Accuracy above the majority's."""
        return self.accuracy - self.majority

    def measure(self) -> dict[str, str | int | float | None]:
        """Give the score as a line of a finding's table."""
        return {
            "split": self.split,
            "rows": self.rows,
            "accuracy": self.accuracy,
            "majority accuracy": self.majority,
            "macro F1": self.macro_f1,
            "majority macro F1": self.majority_macro_f1,
            "z": self.z,
        }


def folds(examples: Sequence[Example]) -> Ids:
    """Draw a fold for every example, by the hash of its group, or of its text without one."""

    def draw(name: str) -> int:
        digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).digest()
        return int.from_bytes(digest[:8], "big") % FOLDS

    names = [example.group or example.text for example in examples]
    drawn = {name: draw(name) for name in set(names)}
    return np.array([drawn[name] for name in names], np.int64)


def score(split: str, gold_N: Ids, predicted_N: Ids, majority: int, classes: int) -> Score:
    """Score predictions and the class `majority` on the same rows; see `Score`."""
    right, usual = predicted_N == gold_N, gold_N == majority
    wins, losses = int((right & ~usual).sum()), int((usual & ~right).sum())

    def scores(named_N: Ids) -> tuple[float, float]:
        cells = np.bincount(gold_N * classes + named_N, minlength=classes * classes)
        matrix_CC = cells.reshape(classes, classes)
        return float(accuracy(matrix_CC)), float(macro_f1(matrix_CC))

    own, others = scores(predicted_N), scores(np.full_like(gold_N, majority))
    z = (wins - losses) / max(wins + losses, 1) ** 0.5
    return Score(split, len(gold_N), *own, *others, z)


def say_scores(scores: Sequence[Score]) -> str:
    """List accuracies by split, beside the majority's."""
    each = (
        f"{s.accuracy:.3f} on {s.split} where the majority has {s.majority:.3f}" for s in scores
    )
    return "; ".join(each)


def majority(gold_N: Ids, classes: int) -> int:
    """The most frequent class; the first of equals."""
    return int(np.bincount(gold_N, minlength=classes).argmax())


def across_folds(gold_N: Ids, fold_N: Ids, predict: Callable[[Ids, Ids], Ids]) -> Ids:
    """Predict the class index of every row from the folds that it is not in, int64 [N].

    `predict` gets the indices of the rows to fit on and of the rows to predict.
    """
    predicted_N = np.zeros_like(gold_N)
    for fold in np.unique(fold_N):
        rest, held = np.flatnonzero(fold_N != fold), np.flatnonzero(fold_N == fold)
        if not len(rest):
            rest = held  # a single group: nothing to hold out
        predicted_N[held] = predict(rest, held)
    return predicted_N


def predict_splits(
    inputs: Mapping[str, Any], parts: Mapping[str, Labelled], fold_N: Ids, predict: Predict
) -> dict[str, Ids]:
    """Predict the class indices of every split: inside the first by folds, elsewhere from it.

    `inputs` are arrays or sparse matrices with N rows; `predict` gets inputs and class indices to
    fit on, and inputs to predict.
    """
    first, *others = parts
    known, gold_N = inputs[first], parts[first].gold_N
    found = across_folds(
        gold_N, fold_N, lambda rest, held: predict(known[rest], gold_N[rest], known[held])
    )
    return {first: found} | {split: predict(known, gold_N, inputs[split]) for split in others}


@dataclass(frozen=True, slots=True)
class Rule:
    """Predicts classes from the values of a feature."""

    # Separates small from large numbers; None where each value has its own class.
    threshold: float | None
    classes: dict[str, int]  # class index by value; with a threshold by its two sides, `<=` and `>`
    other: int  # class index of unseen values

    def predict(self, values_N: Values) -> Ids:
        """Predict class indices, N."""
        return np.array(
            [self.classes.get(name, self.other) for name in self._names(values_N)], np.int64
        )

    def _names(self, values_N: Values) -> list[str]:
        if self.threshold is None:
            return [str(value) for value in values_N]
        return [("<=" if value <= self.threshold else ">") for value in values_N.astype(float)]

    def describe(self, labels: Sequence[str]) -> str:
        """Say the rule in words: `yes -> neutral, no -> reasoning`."""
        limit = "" if self.threshold is None else f" {self.threshold:.4g}"
        return ", ".join(f"{name}{limit} → {labels[i]}" for name, i in self.classes.items())


def fit(values_N: Values, gold_N: Ids, classes: int) -> Rule:
    """Choose the rule with the fewest errors on these rows: by threshold for numbers."""
    if values_N.dtype.kind == "f":
        return _fit_threshold(values_N.astype(np.float64), gold_N, classes)
    names, value_N = np.unique(values_N, return_inverse=True)
    counts_VC = np.zeros((len(names), classes), np.int64)
    np.add.at(counts_VC, (value_N, gold_N), 1)
    order = counts_VC.sum(1).argsort(kind="stable")[::-1]
    chosen = {str(names[i]): int(counts_VC[i].argmax()) for i in order}
    return Rule(None, chosen, majority(gold_N, classes))


def _fit_threshold(values_N: npt.NDArray[np.float64], gold_N: Ids, classes: int) -> Rule:
    order = values_N.argsort(kind="stable")
    sorted_N, one_hot_NC = values_N[order], np.eye(classes, dtype=np.int64)[gold_N[order]]
    below_NC = one_hot_NC.cumsum(0)
    above_NC = below_NC[-1] - below_NC
    cuts = np.flatnonzero(sorted_N[:-1] < sorted_N[1:])  # a threshold after each of these rows
    usual = majority(gold_N, classes)
    if not len(cuts):
        return Rule(float(sorted_N[0]), {"<=": usual, ">": usual}, usual)
    right = below_NC[cuts].max(1) + above_NC[cuts].max(1)
    at = int(cuts[right.argmax()])
    limit = float((sorted_N[at] + sorted_N[at + 1]) / 2)
    sides = {"<=": int(below_NC[at].argmax()), ">": int(above_NC[at].argmax())}
    return Rule(limit, sides, usual)
