"""Rules of one feature: the most frequent class for each value, and its accuracy.

A rule is fitted and scored on different rows: within the first split by five folds, on every other
split with the rule of the first. Texts of one group (or one premise) are in one fold.

Legend: N examples, C classes, V values.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from heron.data.examples import Example
from heron.metrics.classification import accuracy, macro_f1
from heron_tools.audit.findings import Measure
from heron_tools.audit.texts import Splits

FOLDS = 5
Ids = npt.NDArray[np.int64]
Values = npt.NDArray[np.generic]
Predict = Callable[[Any, Ids, Any], Ids]


class Labelled(NamedTuple):
    """The labelled rows of one split, and their class indices."""

    examples: Sequence[Example]
    gold_N: Ids


def labelled(splits: Splits, labels: Sequence[str]) -> dict[str, Labelled]:
    """Keep the rows with a gold label; splits without any are left out.

    Args:
        splits: the rows.
        labels: the classes' names, in the order of their indices.
    """
    class_of = {label: number for number, label in enumerate(labels)}
    parts = {}
    for split, examples in splits.items():
        kept = []
        gold = []
        for example in examples:
            if example.label in class_of:
                kept.append(example)
                gold.append(class_of[example.label])

        if kept:
            parts[split] = Labelled(kept, np.array(gold, np.int64))

    return parts


class Score(NamedTuple):
    """Scores of predictions on a split, beside those of the first split's majority class."""

    split: str
    rows: int
    # Fractions; averages run over the classes that occur.
    accuracy: float
    majority: float
    macro_f1: float
    majority_macro_f1: float
    # Sign test against the majority: with w rows that only the predictions get right and l rows
    # that only the majority gets right, (w - l) / sqrt(w + l).
    z: float

    @property
    def gain(self) -> float:
        """Accuracy above the majority's."""
        return self.accuracy - self.majority

    def measure(self) -> Measure:
        """Lay out the score as a row of a finding's table."""
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
    """Assign each example a fold, by the hash of its group, or of its text without a group."""

    @cache  # groups have many rows, and texts may be long
    def fold_of(name: str) -> int:
        digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).digest()
        return int.from_bytes(digest[:8], "big") % FOLDS

    return np.array([fold_of(example.group or example.text) for example in examples], np.int64)


def score(split: str, gold_N: Ids, predicted_N: Ids, majority: int, classes: int) -> Score:
    """Score predictions and the class `majority` on the same rows.

    Args:
        split: the name of the split.
        gold_N: gold class indices.
        predicted_N: predicted class indices.
        majority: class index.
        classes: number of classes.
    """

    def scores(predicted_N: Ids) -> tuple[float, float]:
        cells = np.bincount(gold_N * classes + predicted_N, minlength=classes * classes)
        matrix_CC = cells.reshape(classes, classes)
        return float(accuracy(matrix_CC)), float(macro_f1(matrix_CC))

    own_accuracy, own_f1 = scores(predicted_N)
    majority_accuracy, majority_f1 = scores(np.full_like(gold_N, majority))

    is_right_N = predicted_N == gold_N
    is_majority_N = gold_N == majority
    wins = int((is_right_N & ~is_majority_N).sum())
    losses = int((is_majority_N & ~is_right_N).sum())

    # The sign test; rows that both or neither get right do not count.
    z = (wins - losses) / max(wins + losses, 1) ** 0.5
    return Score(split, len(gold_N), own_accuracy, majority_accuracy, own_f1, majority_f1, z)


def list_scores(scores: Sequence[Score]) -> str:
    """List the accuracy on each split, beside the majority's, as text."""
    texts = []
    for score in scores:
        accuracy = f"{score.accuracy:.3f} on {score.split}"
        texts.append(f"{accuracy} where the majority has {score.majority:.3f}")

    return "; ".join(texts)


def majority(gold_N: Ids, classes: int) -> int:
    """Find the most frequent class; in a tie, the first."""
    counts_C = np.bincount(gold_N, minlength=classes)
    return int(counts_C.argmax())


def predict_splits(
    inputs: Mapping[str, Any], parts: Mapping[str, Labelled], predict: Predict
) -> dict[str, Ids]:
    """Predict the class indices of every split: the first by cross-validation, others from it.

    If all rows are in one fold, nothing can be held out: the rule then predicts the rows that it
    was fitted on.

    Args:
        inputs: arrays or sparse matrices with N rows, by split.
        parts: the labelled rows of the same splits.
        predict: gets inputs and class indices to fit on, and inputs to predict.

    Returns:
        Predicted class indices, `[N]`, by split.
    """
    first, *others = parts
    examples, gold_N = parts[first]
    first_inputs = inputs[first]

    fold_N = folds(examples)
    predicted_N = np.zeros_like(gold_N)
    for fold in np.unique(fold_N):
        is_held_N = fold_N == fold
        is_fitted_N = is_held_N if is_held_N.all() else ~is_held_N
        predicted_N[is_held_N] = predict(
            first_inputs[is_fitted_N], gold_N[is_fitted_N], first_inputs[is_held_N]
        )

    predicted = {first: predicted_N}
    for split in others:
        predicted[split] = predict(first_inputs, gold_N, inputs[split])

    return predicted


@dataclass(frozen=True, slots=True)
class FeatureRule:
    """Predicts classes from the values of a feature."""

    # For numbers; None: each value has its own class.
    threshold: float | None
    classes: dict[str, int]  # class index by value, or by side of the threshold, `<=` and `>`
    other: int  # class index of unseen values

    def predict(self, values_N: Values) -> Ids:
        """Predict class indices, N."""
        names_N = values_N
        if self.threshold is not None:
            names_N = np.where(values_N.astype(float) <= self.threshold, "<=", ">")

        predicted = [self.classes.get(str(name), self.other) for name in names_N]
        return np.array(predicted, np.int64)

    def describe(self, labels: Sequence[str]) -> str:
        """Write the rule as text: `yes → neutral, no → reasoning`."""
        limit = "" if self.threshold is None else f" {self.threshold:.4g}"
        cases = []
        for name, class_index in self.classes.items():
            cases.append(f"{name}{limit} → {labels[class_index]}")

        return ", ".join(cases)


def fit(values_N: Values, gold_N: Ids, classes: int) -> FeatureRule:
    """Fit the rule with the fewest errors on these rows; numbers get a threshold.

    Args:
        values_N: a feature, float or text.
        gold_N: class indices.
        classes: number of classes.
    """
    majority_class = majority(gold_N, classes)
    names, value_index_N = np.unique(values_N, return_inverse=True)
    counts_VC = np.zeros((len(names), classes), np.int64)
    np.add.at(counts_VC, (value_index_N, gold_N), 1)

    if values_N.dtype.kind != "f":
        best_V = counts_VC.argmax(1)
        class_of = {}
        for value in counts_VC.sum(1).argsort(kind="stable")[::-1]:  # the most frequent first
            class_of[str(names[value])] = int(best_V[value])

        return FeatureRule(None, class_of, majority_class)

    if len(names) == 1:
        class_of = {"<=": majority_class, ">": majority_class}
        return FeatureRule(float(names[0]), class_of, majority_class)

    # A threshold after each value but the last.
    below_VC = counts_VC.cumsum(0)
    above_VC = below_VC[-1] - below_VC
    right_V = below_VC.max(1) + above_VC.max(1)
    best = int(right_V[:-1].argmax())

    threshold = float((names[best] + names[best + 1]) / 2)
    class_of = {
        "<=": int(below_VC[best].argmax()),
        ">": int(above_VC[best].argmax()),
    }
    return FeatureRule(threshold, class_of, majority_class)
