"""Scores of a task that gives each row one class: the flat dictionaries of `scores.json`.

A task names its headline scores (`Task.headline`), which also get intervals. Every task has
precision, recall, F1 and support of each class. Legend: N rows, C classes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from heron.base.errors import ConfigError, nearest
from heron.config.tasks import TASKS
from heron.metrics import confusion, intervals, relation
from heron.metrics.confusion import Counts, Fractions, confusion_matrices, confusion_matrix

Headline = Callable[[Counts], dict[str, Fractions]]


def classification_scores(matrix: Counts) -> dict[str, Fractions]:
    """Compute accuracy (equal to micro F1), macro F1 and weighted F1; `[..., C, C]` to `[...]`."""
    return {
        "accuracy": confusion.accuracy(matrix),
        "macro_f1": confusion.macro_f1(matrix),
        "weighted_f1": confusion.weighted_f1(matrix),
    }


def classification_headline(classes: Sequence[str], relaxed: str) -> Headline:
    """Choose the headline scores of a task that names none of its own."""
    return classification_scores


def nli_scores(matrix: Counts) -> dict[str, Fractions]:
    """Compute the scores of any classification, and accuracy again under the name `micro_f1`.

    Every row has one gold and one predicted class, so micro F1 over all classes is accuracy; RoNLI
    prints it as micro F1 and LCHAIM as accuracy, and either name can be looked up.
    """
    return {**classification_scores(matrix), "micro_f1": confusion.accuracy(matrix)}


def nli_headline(classes: Sequence[str], relaxed: str) -> Headline:
    """Choose the headline scores of natural language inference."""
    return nli_scores


def relation_headline(classes: Sequence[str], relaxed: str) -> Headline:
    """Choose the headline scores of relations; without VAGUE, those of any classification."""
    if relation.VAGUE not in classes:
        return classification_scores
    vague = list(classes).index(relation.VAGUE)
    return partial(relation.relation_scores, vague=vague, relaxed=relaxed)


def headline(task: str, classes: Sequence[str], relaxed: str = "recode") -> Headline:
    """Find a task's headline scores, as a function of confusion matrices `[..., C, C]`.

    Args:
        task: the name of a task with classes, perhaps a fork's.
        classes: class names, in the matrices' order.
        relaxed: what `relaxed_*` stands for: `recode`, `drop` or `matres_micro`; see
            `heron.metrics.relation`.

    Raises:
        ConfigError: an unknown task or mode.
    """
    rules = TASKS[task]
    if relaxed not in relation.MODES:
        raise ConfigError(f"unknown mode relaxed={relaxed}.{nearest(relaxed, relation.MODES)}")
    return rules.headline(classes, relaxed)


def score_matrix(
    task: str, matrix_CC: Counts, classes: Sequence[str], *, relaxed: str = "recode"
) -> dict[str, float]:
    """Compute every score of one split from its confusion matrix.

    Returns:
        Fractions from 0 to 1: the headline scores, then for each class `precision/<class>`,
        `recall/<class>`, `f1/<class>`, `support/<class>`, a count, and `predicted/<class>`, the
        share of rows that were predicted as it. All 0 for an empty split.

    Raises:
        ConfigError: an unknown task or mode.
    """
    scores = headline(task, classes, relaxed)(matrix_CC)
    for name in ("precision", "recall", "f1", "support", "predicted"):
        values_C = getattr(confusion, name)(matrix_CC)
        scores |= {f"{name}/{label}": value for label, value in zip(classes, values_C, strict=True)}
    return {name: value.item() for name, value in scores.items()}


def score_task(
    task: str,
    gold: Sequence[str],
    prediction: Sequence[str],
    labels: Sequence[str],
    *,
    relaxed: str = "recode",
) -> dict[str, float]:
    """Compute every score of one split.

    Args:
        task: the name of a task with classes.
        gold: class names, N.
        prediction: class names, N.
        labels: all class names; averages run over all of them, present in the split or not.
        relaxed: what `relaxed_*` stands for; see `headline`.

    Returns:
        As `score_matrix`.

    Raises:
        ConfigError: an unknown task or mode.
        DataError: unequal lengths, or labels that are not among `labels`.
    """
    return score_matrix(task, confusion_matrix(gold, prediction, labels), labels, relaxed=relaxed)


def bootstrap_intervals(
    task: str,
    gold: Sequence[str],
    prediction: Sequence[str],
    labels: Sequence[str],
    *,
    relaxed: str = "recode",
    groups: Sequence[str] | None = None,
    resamples: int = 1000,
    level: float = 0.95,
    seed: int = 0,
) -> dict[str, float]:
    """Compute bootstrap intervals of the headline scores.

    Args:
        task: as in `score_task`, like `gold`, `prediction`, `labels` and `relaxed`.
        gold: class names, N.
        prediction: class names, N.
        labels: all class names.
        relaxed: what `relaxed_*` stands for.
        groups: None draws rows; N group names (windows, documents) draw whole groups, the cluster
            bootstrap, for rows that are not independent.
        resamples: how many times to draw.
        level: fraction of resamples inside an interval.
        seed: the same seed gives the same intervals, whatever the order of the rows.

    Returns:
        `<score>_low` and `<score>_high` of each headline score.

    Raises:
        ConfigError: an unknown task or mode.
        DataError: unequal lengths, or labels that are not among `labels`.
    """
    scores = headline(task, labels, relaxed)
    if groups is None:
        matrix_CC = confusion_matrix(gold, prediction, labels)
        matrix_RCC = intervals.resample_rows(matrix_CC, resamples, seed)
    else:
        _, group_N = np.unique(np.asarray(groups), return_inverse=True)
        matrix_GCC = confusion_matrices(gold, prediction, labels, group_N)
        matrix_RCC = intervals.resample_groups(matrix_GCC, resamples, seed)
    return intervals.percentile_intervals(scores(matrix_RCC), level)
