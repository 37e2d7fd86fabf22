"""Classes that a language model has named: scored over all rows, and over those with an answer.

Shape suffixes: R rows, C classes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan
from typing import Any

import numpy as np

from heron.data.examples import Example
from heron.metrics.classification import score_task
from heron.tasks.base import group_column
from heron.tasks.config import Config
from heron.tasks.labels import score_names, shown_text


@dataclass(frozen=True)
class NamedClasses:
    """See `heron.tasks.base.Predictions`; `None` in `labels` is an answer that names no class.

    Scores are over all labelled rows, where a row without a class is wrong. `valid_<score>` are
    over the rows with a class, and `valid_rows` is their number.
    """

    examples: Sequence[Example]
    labels: Sequence[str | None]
    probabilities_RC: np.ndarray | None = None  # float32, of `scoring=likelihood`

    @property
    def guids(self) -> list[str]:
        """One per row."""
        return [example.guid for example in self.examples]

    def scores(self, config: Config) -> dict[str, float]:
        """See the class."""
        pairs = zip(self.examples, self.labels, strict=True)
        rows = [(e, label or "") for e, label in pairs if e.label is not None]
        gold, given = [str(e.label) for e, _ in rows], [label for _, label in rows]
        scores = score_names(gold, given, [e.group or e.text for e, _ in rows], config)
        valid = [(g, p) for g, p in zip(gold, given, strict=True) if p]
        scores["valid_rows"] = len(valid)
        if valid and len(valid) < len(rows):
            gold, given = [g for g, _ in valid], [p for _, p in valid]
            task, classes = config.task, config.data.label_order
            own = score_task(task.name, gold, given, classes, relaxed=task.relaxed)
            scores |= {f"valid_{name}": own[name] for name in own if "/" not in name}
        return scores

    def columns(self, examples: Sequence[Example], config: Config) -> dict[str, Any]:
        """See `Predictions`."""
        columns = {
            "guid": self.guids,
            "gold": [example.label for example in self.examples],
            "prediction": [label or "" for label in self.labels],
            **self._probabilities(config.data.label_order),
            "text": [shown_text(example, config) for example in self.examples],
        }
        if any(example.text_pair is not None for example in self.examples):
            columns["text_pair"] = [example.text_pair for example in self.examples]
        return columns | group_column(self.examples)

    def answers(self, config: Config) -> dict[str, list[Any]]:
        """See `Predictions`: guid, label (empty for none), probabilities."""
        labels = [label or "" for label in self.labels]
        shares = self._probabilities(config.data.label_order)
        return {"guid": self.guids, "label": labels, **shares}

    def lines(self, config: Config) -> list[str]:
        """Format the first row's class."""
        return [self.labels[0] or "(the answer names no class)"]

    def _probabilities(self, classes: Sequence[str]) -> dict[str, list[Any]]:
        if self.probabilities_RC is None:
            return {}
        columns_CR = self.probabilities_RC.T.tolist()
        return {
            f"p/{label}": [None if isnan(share) else share for share in column]
            for label, column in zip(classes, columns_CR, strict=True)
        }
