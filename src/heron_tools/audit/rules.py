"""Rules of one feature: the most frequent class for each value, and its accuracy.

A rule is fitted and scored on different rows: within the first split by five folds, on every other
split with the rule of the first. Texts of one group (or one premise) are in one fold.

Legend: N examples, C classes, V values.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
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
    """Keep the rows with a gold label; splits without any are left out."""
    index = {label: i for i, label in enumerate(labels)}
    kept = {split: [e for e in examples if e.label in index] for split, examples in splits.items()}
    return {
        split: Labelled(rows, np.array([index[str(e.label)] for e in rows], np.int64))
        for split, rows in kept.items()
        if rows
    }


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
        """Give the score as a row of a finding's table."""
        names = ("split", "rows", "accuracy", "majority accuracy", "macro F1", "majority macro F1")
        return dict(zip((*names, "z"), self, strict=True))


def folds(examples: Sequence[Example]) -> Ids:
    """Assign each example a fold, by the hash of its group, or of its text without a group."""

    def draw(name: str) -> int:
        digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).digest()
        return int.from_bytes(digest[:8], "big") % FOLDS

    names = [example.group or example.text for example in examples]
    drawn = {name: draw(name) for name in set(names)}
    return np.array([drawn[name] for name in names], np.int64)


def score(split: str, gold_N: Ids, predicted_N: Ids, majority: int, classes: int) -> Score:
    """Score predictions and the class `majority` on the same rows."""
    right, usual = predicted_N == gold_N, gold_N == majority
    wins, losses = int((right & ~usual).sum()), int((usual & ~right).sum())

    def scores(named_N: Ids) -> tuple[float, float]:
        cells = np.bincount(gold_N * classes + named_N, minlength=classes * classes)
        matrix_CC = cells.reshape(classes, classes)
        return float(accuracy(matrix_CC)), float(macro_f1(matrix_CC))

    (own, own_f1), (other, other_f1) = scores(predicted_N), scores(np.full_like(gold_N, majority))
    z = (wins - losses) / max(wins + losses, 1) ** 0.5
    return Score(split, len(gold_N), own, other, own_f1, other_f1, z)


def say_scores(scores: Sequence[Score]) -> str:
    """List accuracies by split, beside the majority's."""
    return "; ".join(
        f"{s.accuracy:.3f} on {s.split} where the majority has {s.majority:.3f}" for s in scores
    )


def majority(gold_N: Ids, classes: int) -> int:
    """The most frequent class; in a tie, the first."""
    return int(np.bincount(gold_N, minlength=classes).argmax())


def predict_splits(
    inputs: Mapping[str, Any], parts: Mapping[str, Labelled], predict: Predict
) -> dict[str, Ids]:
    """Predict the class indices of every split: the first by cross-validation, others from it.

    `inputs` are arrays or sparse matrices with N rows; `predict` gets inputs and class indices to
    fit on, and inputs to predict. If all rows are in one fold, nothing can be held out.
    """
    first, *others = parts
    known, gold_N = inputs[first], parts[first].gold_N
    fold_N, found_N = folds(parts[first].examples), np.zeros_like(gold_N)
    for fold in np.unique(fold_N):
        held_N = fold_N == fold
        rest_N = held_N if held_N.all() else ~held_N
        found_N[held_N] = predict(known[rest_N], gold_N[rest_N], known[held_N])
    return {first: found_N} | {split: predict(known, gold_N, inputs[split]) for split in others}


@dataclass(frozen=True, slots=True)
class Rule:
    """Predicts classes from the values of a feature."""

    # For numbers; None: each value has its own class.
    threshold: float | None
    classes: dict[str, int]  # class index by value, or by side of the threshold, `<=` and `>`
    other: int  # class index of unseen values

    def predict(self, values_N: Values) -> Ids:
        """Predict class indices, N."""
        names = values_N
        if self.threshold is not None:
            names = np.where(values_N.astype(float) <= self.threshold, "<=", ">")
        return np.array([self.classes.get(str(name), self.other) for name in names], np.int64)

    def describe(self, labels: Sequence[str]) -> str:
        """Write the rule as text: `yes → neutral, no → reasoning`."""
        limit = "" if self.threshold is None else f" {self.threshold:.4g}"
        return ", ".join(f"{name}{limit} → {labels[i]}" for name, i in self.classes.items())


def fit(values_N: Values, gold_N: Ids, classes: int) -> Rule:
    """Fit the rule with the fewest errors on these rows; numbers get a threshold."""
    usual = majority(gold_N, classes)
    names, value_N = np.unique(values_N, return_inverse=True)
    counts_VC = np.zeros((len(names), classes), np.int64)
    np.add.at(counts_VC, (value_N, gold_N), 1)
    if values_N.dtype.kind != "f":
        by_frequency = counts_VC.sum(1).argsort(kind="stable")[::-1]
        best_V = counts_VC.argmax(1)
        return Rule(None, {str(names[v]): int(best_V[v]) for v in by_frequency}, usual)
    if len(names) == 1:
        return Rule(float(names[0]), {"<=": usual, ">": usual}, usual)
    below_VC = counts_VC.cumsum(0)  # a threshold after each value
    above_VC = below_VC[-1] - below_VC
    right_V = below_VC.max(1) + above_VC.max(1)
    best = int(right_V[:-1].argmax())
    sides = {"<=": int(below_VC[best].argmax()), ">": int(above_VC[best].argmax())}
    threshold = float((names[best] + names[best + 1]) / 2)
    return Rule(threshold, sides, usual)
