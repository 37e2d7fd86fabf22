"""Predictions of a whole split's masked tokens, and their scores.

Shape suffixes: T texts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from heron.base.errors import ConfigError
from heron.data.config import DataConfig
from heron.data.rows import Rows
from heron.languages.language import Language
from heron.metrics.paired import Floats
from heron.tasks.config import Config
from heron.tasks.predictions import Predictions
from heron.tasks.scoring import TextScores


def score_sums(sums: np.ndarray) -> dict[str, float]:
    """Score masked tokens from three sums.

    Args:
        sums: number of tokens, sum of log-probabilities, number of right predictions.

    Returns:
        `loss` (nats per token), `perplexity` (its exponential), `accuracy` (a fraction); empty
        without masked tokens.
    """
    count, log_p, right = sums[:3]
    if not count:
        return {}
    loss = float(-log_p / count)
    return {"loss": loss, "perplexity": float(np.exp(loss)), "accuracy": float(right / count)}


@dataclass(frozen=True)
class MaskedPredictions(Predictions):
    """The predicted tokens of each text, all its sequences in one row. See `Predictions`."""

    gold: list[str]  # each text's masked tokens, joined by spaces
    sums_T4: np.ndarray  # as `MaskedOutput.sums_R4`

    @property
    def golds(self) -> list[str | None]:
        """See `Predictions`."""
        return [*self.gold]

    def scores(self, config: Config) -> dict[str, float]:
        """Score all masked tokens together, without intervals."""
        return score_sums(self.sums_T4.sum(axis=0))

    def details(self, config: Config) -> dict[str, list[Any]]:
        """See `Predictions`: loss in nats and accuracy of each text's masked tokens."""
        losses = []
        accuracies = []
        for sums in self.sums_T4:
            scores = score_sums(sums)
            losses.append(scores.get("loss"))
            accuracies.append(scores.get("accuracy"))
        return {"loss": losses, "accuracy": accuracies}

    def answers(self, config: Config) -> dict[str, list[Any]]:
        """See `Predictions`: loss and accuracy only."""
        return {"guid": self.guids, **self.details(config)}

    def lines(self, config: Config) -> list[str]:
        """Format loss and accuracy of the first text."""
        details = self.details(config)
        return [f"{name} {values[0]:.3f}" for name, values in details.items() if values]


def _items(
    predictions: Sequence[str],
    golds: Sequence[Sequence[str]],
    language: Language | None,
    no_answer: bool | None,
) -> dict[str, Floats]:
    """Compare each text's masked tokens with the predicted ones, in order.

    Returns:
        `accuracy` and `exact_match` of each text; NaN without masked tokens.
    """
    accuracy: list[float] = []
    exact_match: list[float] = []
    for prediction, gold in zip(predictions, golds, strict=True):
        tokens = prediction.split()
        gold_tokens = gold[0].split() if gold else []
        if not gold_tokens:
            accuracy.append(np.nan)
            exact_match.append(np.nan)
            continue
        pairs = zip(tokens, gold_tokens, strict=False)
        is_right = [token == gold_token for token, gold_token in pairs]
        accuracy.append(float(np.mean(is_right)))
        exact_match.append(float(tokens == gold_tokens))
    return {"accuracy": np.asarray(accuracy), "exact_match": np.asarray(exact_match)}


def _no_gold(path: Path, config: DataConfig) -> Rows:
    raise ConfigError(
        f"{path}: task=mlm has no gold files, because a run masks its texts itself; "
        "heron evaluate run=DIR input=FILE scores a run on other texts"
    )


def text_scores() -> TextScores:
    """Describe how masked tokens are scored text by text, for `heron compare`."""
    return TextScores(
        items=_items,
        metric="accuracy",
        right="exact_match",
        predicts="masked tokens",
        data="own_text",
        columns=("prediction",),
        group="guid",
        read=_no_gold,
        golds=lambda example: [],
    )
