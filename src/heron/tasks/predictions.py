"""Predictions of a whole split, for every task: scored, and laid out in columns.

Shape suffixes: R rows, C classes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Any, ClassVar, Self

import numpy as np

from heron.data import TASKS
from heron.data.examples import Example
from heron.data.markers import with_markers
from heron.tasks.config import Config
from heron.tasks.scoring import score_classes

LITTLE = "; little was learnt: change trainer.max_epochs, optim.lr, head= or encoder="
_FEW = 20  # rows; of fewer, all may well be of one class


@dataclass(frozen=True)
class Predictions:
    """A text for each example: a class, an answer, a summary; refused rows are absent."""

    examples: Sequence[Example]  # in the order of their file
    texts: Sequence[str]  # what is predicted; empty for nothing
    column: ClassVar = "prediction"  # its column in what `heron predict` writes

    @property
    def guids(self) -> list[str]:
        """One per row."""
        return [example.guid for example in self.examples]

    @property
    def golds(self) -> list[str | None]:
        """The gold text of each row; None where it is not known."""
        return [example.target for example in self.examples]

    @property
    def groups(self) -> list[str]:
        """The unit that a bootstrap draws: the document of each row, or its text."""
        return [example.group or example.text for example in self.examples]

    def scores(self, config: Config) -> dict[str, float]:
        """Score the labelled rows: `{"<metric>": fraction}`, intervals as configured."""
        raise NotImplementedError

    def doubts(self, scores: Mapping[str, float]) -> list[str]:
        """List signs that little was learnt from the texts: one answer, or chance's Brier score."""
        golds = [gold for gold in self.golds if gold is not None]
        if len(golds) < _FEW:
            return []
        if len(set(self.texts)) == 1:
            return [f"all {len(self.texts)} rows are predicted as '{self.texts[0]:.40}'{LITTLE}"]
        shares = [count / len(golds) for count in Counter(golds).values()]
        chance = 1 - sum(share**2 for share in shares)
        brier = scores.get("brier", -1.0)
        if brier < chance:
            return []
        return [f"brier {brier:.3f} is not below {chance:.3f}, that of the classes' shares{LITTLE}"]

    def details(self, config: Config) -> dict[str, list[Any]]:
        """List further columns of a prediction, such as probabilities."""
        return {}

    def shown(self, example: Example, config: Config) -> str:
        """Show the text that a row is about."""
        return example.text

    def columns(self, config: Config) -> dict[str, Any]:
        """Lay out `predictions/<split>.parquet`.

        `group` is the document of each row, never its own text; absent where no row has one.
        """
        columns = {"guid": self.guids, "gold": self.golds, "prediction": list(self.texts)}
        columns |= self.details(config)
        columns["text"] = [self.shown(example, config) for example in self.examples]
        if any(example.text_pair is not None for example in self.examples):
            columns["text_pair"] = [example.text_pair for example in self.examples]

        documents = []
        for example in self.examples:
            is_document = example.group and example.group != example.text
            documents.append(example.group if is_document else None)
        if any(documents):
            columns["group"] = documents
        return columns

    def answers(self, config: Config) -> dict[str, list[Any]]:
        """Lay out the columns that `heron predict` writes for a file."""
        return {"guid": self.guids, self.column: list(self.texts), **self.details(config)}

    def lines(self, config: Config) -> list[str]:
        """Format the prediction of one example, as `heron predict text=...` prints it."""
        return [self.texts[0] or "(nothing)"]


@dataclass(frozen=True)
class ClassPredictions(Predictions):
    """A class for each row, and the probability of every class if there are any."""

    probabilities_RC: np.ndarray | None = None  # float32; NaN in rows without any
    column: ClassVar = "label"

    @classmethod
    def most_probable(
        cls, examples: Sequence[Example], probabilities_RC: np.ndarray, config: Config
    ) -> Self:
        """Predict the most probable class of each row.

        Args:
            examples: the rows.
            probabilities_RC: of their classes, in the order of `data.label_order`.
            config: of the run.
        """
        labels = config.data.label_order
        best = [labels[index] for index in probabilities_RC.argmax(axis=1)]
        return cls(examples, best, probabilities_RC)

    @property
    def golds(self) -> list[str | None]:
        """See `Predictions`."""
        return [example.label for example in self.examples]

    def scores(self, config: Config) -> dict[str, float]:
        """See `Predictions`; empty without labelled rows.

        Args:
            config: of the run; its task and classes name the scores.

        Returns:
            Headline scores and scores of classes; of rows with probabilities, calibration; with
            `task.bootstrap`, intervals. Fractions from 0 to 1.
        """
        task = config.task
        classes = config.data.label_order
        groups = self.groups
        rows = []
        golds = []
        for row, label in enumerate(self.golds):
            if label is not None:
                rows.append(row)
                golds.append(label)
        if not rows:
            return {}

        probabilities_RC = self.probabilities_RC
        if probabilities_RC is not None:
            probabilities_RC = probabilities_RC[rows]
        return score_classes(
            task.name,
            golds,
            [self.texts[row] for row in rows],
            classes,
            probabilities_NC=probabilities_RC,
            probability_classes=classes,
            groups=[groups[row] for row in rows] if task.resample == "group" else None,
            resamples=task.bootstrap,
            **TASKS[task.name].score_options(config),
        )

    def shown(self, example: Example, config: Config) -> str:
        """See `Predictions`; events are marked."""
        return with_markers(example, config.data)

    def details(self, config: Config) -> dict[str, list[Any]]:
        """See `Predictions`: the probability of every class."""
        columns: dict[str, list[Any]] = {}
        if self.probabilities_RC is None:
            return columns
        for label, p_R in zip(config.data.label_order, self.probabilities_RC.T, strict=True):
            columns[f"p/{label}"] = [None if isnan(p) else p for p in p_R.tolist()]
        return columns

    def lines(self, config: Config) -> list[str]:
        """Format the first row's class, then the probability of every class."""
        lines = super().lines(config)
        for column, (probability, *_) in self.details(config).items():
            label = column.removeprefix("p/")
            lines.append(f"  {label:<24} {probability:.4f}")
        return lines
