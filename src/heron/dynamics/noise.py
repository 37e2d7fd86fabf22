"""How well training dynamics find wrong labels, where the right ones are known.

Shape suffixes: N examples.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from heron.data.examples import Example
from heron.dynamics.cartography import SCORES, Statistics, difficulty
from heron.dynamics.groups import Detection, detection
from heron.errors import ConfigError

TRUTH = "truth"  # the key of `Example.side` that holds the right label


def wrong_labels(examples: Mapping[str, Example], guids: Sequence[str]) -> np.ndarray:
    """Tell which examples were trained on with a wrong label.

    Args:
        examples: by guid, with `side["truth"]`.
        guids: of N of them.

    Returns:
        bool [N].

    Raises:
        ConfigError: the data set knows no right labels.
    """
    truths = [examples[guid].side.get(TRUTH) for guid in guids]
    if not any(truths):
        raise ConfigError(
            "this data set does not know its right labels; name the column that holds them: "
            "data.columns.truth"
        )
    pairs = zip(guids, truths, strict=True)
    return np.asarray([truth is not None and examples[g].label != truth for g, truth in pairs])


def detections(
    statistics: Statistics, wrong_N: np.ndarray, lengths_N: np.ndarray, seed: int = 0
) -> dict[str, Detection]:
    """Grade every difficulty score, and two that know nothing of the model, by the noise they find.

    Args:
        statistics: of N examples.
        wrong_N: from `wrong_labels`.
        lengths_N: length of each example, in characters.
        seed: for the random score.

    Returns:
        By score: those of `heron.dynamics.cartography.SCORES` that the dynamics allow, then
        `length` and `random`; the harder an example, the more suspicious its label.
    """
    scores = {}
    for name in SCORES:
        try:
            scores[name] = difficulty(name, statistics)
        except ConfigError:  # a statistic that this task has not, such as margins
            continue
    scores["length"] = lengths_N.astype(np.float64)
    scores["random"] = np.random.default_rng(seed).random(len(wrong_N))
    return {name: detection(score_N, wrong_N) for name, score_N in scores.items()}
