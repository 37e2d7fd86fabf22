"""Evaluation of scores that find wrong labels, where the true labels are known.

Shape suffixes: N examples, C classes.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.metrics import roc_auc_score

from heron.base.errors import ConfigError
from heron.data.examples import Example
from heron.dynamics.cartography import Statistics
from heron.dynamics.difficulty import SCORES, difficulty

TRUTH = "truth"  # the key of `Example.side` with the true label


@dataclass(frozen=True, slots=True)
class Detection:
    """How well a score finds labels that are known to be wrong; fractions."""

    examples: int  # examples with a score
    base_rate: float  # share of wrong labels: the precision of a random score
    # Probability that a wrong label has a higher score than a right one; ties count half. NaN if
    # all or none are wrong.
    auroc: float
    precision: dict[int, float]  # share of wrong labels among the k highest scores, by k
    decile_rate: float  # precision of the hardest tenth
    decile_recall: float  # recall of the hardest tenth


def detection(
    score_N: np.ndarray, wrong_N: np.ndarray, ks: Sequence[int] = (10, 50, 100, 500)
) -> Detection:
    """Measure how well a difficulty score finds known label noise.

    Ties at the k-th score count in expectation over all ways to break them.

    Args:
        score_N: the score, float; examples with NaN are left out.
        wrong_N: whether each example's label is known to be wrong.
        ks: for precision at k; those above the number of examples are left out, and the number of
            wrong labels is added.

    Raises:
        ConfigError: no example has a score.
    """
    is_scored_N = ~np.isnan(score_N)
    score = score_N[is_scored_N]
    wrong = np.asarray(wrong_N, bool)[is_scored_N]
    total = len(score)
    positives = int(wrong.sum())
    if not total:
        raise ConfigError("no example has a score, so none can be graded")

    auroc = float("nan")
    if 0 < positives < total:
        auroc = float(roc_auc_score(wrong, score))

    precision = {}
    for k in sorted({*ks, positives}):
        if 0 < k <= total:
            precision[k] = _hits(score, wrong, k) / k

    decile = math.ceil(total / 10)
    hits = _hits(score, wrong, decile)
    return Detection(
        examples=total,
        base_rate=positives / total,
        auroc=auroc,
        precision=precision,
        decile_rate=hits / decile,
        decile_recall=hits / positives if positives else float("nan"),
    )


def _hits(score: np.ndarray, wrong: np.ndarray, k: int) -> float:
    """Count the wrong labels among the k highest scores, ties in expectation."""
    rank = len(score) - k
    threshold = np.partition(score, rank)[rank]
    is_above = score > threshold
    is_tied = score == threshold

    above = np.count_nonzero(wrong & is_above)
    drawn = k - np.count_nonzero(is_above)  # of the tied examples
    return float(above + drawn * wrong[is_tied].mean())


def wrong_labels(examples: Mapping[str, Example], guids: Sequence[str]) -> np.ndarray:
    """Tell which of N examples are known to have a wrong training label, bool `[N]`."""
    wrong = []
    for guid in guids:
        example = examples[guid]
        truth = example.side.get(TRUTH)
        wrong.append(truth is not None and truth != example.label)
    return np.array(wrong, bool)


def auroc_within_classes(score_N: np.ndarray, wrong_N: np.ndarray, gold_N: np.ndarray) -> float:
    """Compute the AUROC over pairs of a wrong and a right label in one class.

    Error rates differ between classes, so even a score that depends on nothing but the class ranks
    well over all examples; here it gets .5.

    Args:
        score_N: the score, float; examples with NaN are left out.
        wrong_N: whether each label is known to be wrong.
        gold_N: the classes that examples were trained on.

    Returns:
        A probability; NaN without pairs.
    """
    ordered = 0.0  # pairs whose wrong label has the higher score
    pairs = 0
    for class_index in np.unique(gold_N):
        in_class_N = (gold_N == class_index) & ~np.isnan(score_N)
        wrong = int(wrong_N[in_class_N].sum())
        right = int(in_class_N.sum()) - wrong
        if wrong and right:
            auroc = detection(score_N[in_class_N], wrong_N[in_class_N]).auroc
            ordered += auroc * wrong * right
            pairs += wrong * right

    return ordered / pairs if pairs else float("nan")


def suspicion_scores(
    statistics: Statistics, lengths_N: np.ndarray, seed: int = 0
) -> dict[str, np.ndarray]:
    """Compute every score that can rank labels by suspicion, float64.

    These are the `SCORES` that the dynamics allow, and two baselines without a model: `length` (in
    characters) and `random`.
    """
    scores = {}
    for name in SCORES:
        try:
            scores[name] = difficulty(name, statistics)
        except ConfigError:  # a statistic that this task lacks, such as margins
            continue

    scores["length"] = lengths_N.astype(np.float64)
    scores["random"] = np.random.default_rng(seed).random(len(lengths_N))
    return scores


def grade(
    scores: Mapping[str, np.ndarray], wrong_N: np.ndarray, gold_N: np.ndarray
) -> dict[str, tuple[Detection, float]]:
    """Evaluate scores: detection of wrong labels overall, and AUROC within classes.

    Args:
        scores: float `[N]`, by name.
        wrong_N: whether each label is known to be wrong.
        gold_N: the classes that examples were trained on.

    Returns:
        Both by the name of the score. `class` is added, an oracle: the share of wrong labels in
        each example's class.
    """
    sizes_C = np.bincount(gold_N)
    rates_C = np.bincount(gold_N, weights=wrong_N) / np.maximum(sizes_C, 1)

    graded = {}
    for name, score_N in {**scores, "class": rates_C[gold_N]}.items():
        overall = detection(score_N, wrong_N)
        graded[name] = overall, auroc_within_classes(score_N, wrong_N, gold_N)

    return graded
