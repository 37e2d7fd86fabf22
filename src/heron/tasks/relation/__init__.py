"""Temporal relations: which of two marked events of a text comes first?

VAGUE means that the text does not say which of two events came first; a system that names an order
there has not clearly contradicted the annotators. Papers call different things relaxed; heron
computes three, named:

- `recode`: where gold is VAGUE, gold becomes the prediction; then macro and weighted F1. A recoded
  row is a true positive of the predicted class. In the macro average, VAGUE's F1 is 0 if it is
  predicted in rows of other classes alone; if it is never predicted, it does not occur.
- `drop`: rows whose gold is VAGUE are left out; then macro and weighted F1 over the other classes.
  In the remaining rows, a prediction of VAGUE is an error.
- `matres_micro`: VAGUE counts as "no relation"; micro F1 over the other classes. Errors
  on gold VAGUE count, right predictions of VAGUE do not.

Source: Yanko, Pariente and Bar, Temporal Relation Classification in Hebrew ("ignoring mistakes of
non-VAGUE predictions on VAGUE samples"), and its released evaluation, which is `recode`;
Ning et al. 2018 (MATRES) for `matres_micro`.
Deviates: the paper's text can be read as `drop`; only `recode` agrees with its code and with its
Limitations section, which calls such rows true positives.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

import numpy as np

from heron.config.constraints import OneOf
from heron.data import SettingRules
from heron.data.markers import event_markers
from heron.metrics.arrays import Counts, Floats
from heron.metrics.classification import (
    Headline,
    macro_f1,
    micro_f1,
    plain_scores,
    weighted_f1,
)
from heron.tasks.config import Config, TaskConfig
from heron.tasks.scoring import ClassScores
from heron.tasks.task import CLASS_FORMATS, FOR_TEXTS, About, ClassTask, class_data_problems


@dataclass
class RelationConfig(TaskConfig):
    """How relations are scored."""

    # rule of `relaxed_macro_f1` for gold VAGUE: `recode` counts it as right, `drop` leaves it out.
    # Every rule also has scores under its own name, such as `relaxed_matres_micro_f1`.
    relaxed: Annotated[str, OneOf("recode", "drop")] = "recode"


def written_markers(config: Config) -> tuple[str, ...]:
    """List the markers that a head reads around the events; empty if there are none."""
    if config.head.input != "marked":
        return ()
    if config.head.markers is not None:
        return tuple(config.head.markers)
    return event_markers(config.data)


def relation_problems(config: Config) -> Iterator[str]:
    """Check that events are marked."""
    if config.data.format == "pair_table":
        yield "data.format=pair_table marks no events; task=relation needs data.format=marked_table"


def features(*arguments: Any) -> Any:
    """Tokenize a split."""
    from heron.tasks.relation.features import relation_features

    return relation_features(*arguments)


VAGUE = "VAGUE"


def score_options(config: Config) -> dict[str, str]:
    """See `TaskRules.score_options`."""
    return {"relaxed": RelationConfig.of(config).relaxed}


def relation_headline(classes: Sequence[str], relaxed: str) -> Headline:
    """Choose the headline scores of relations; without VAGUE, those of any classification."""
    if VAGUE not in classes:
        return plain_scores
    return partial(_scores, vague=list(classes).index(VAGUE), relaxed=relaxed)


def _scores(matrix: Counts, vague: int, relaxed: str) -> dict[str, Floats]:
    """Score confusion matrices by the rules for gold VAGUE.

    Args:
        matrix: int64 `[..., C, C + 1]`; the last column has rows without a prediction.
        vague: the class id of VAGUE.
        relaxed: the rule that `relaxed_<average>_f1` follow.
    """
    classes = np.arange(matrix.shape[-2])
    others = np.delete(classes, vague)
    dropped = matrix.copy()
    dropped[..., vague, :] = 0
    recoded = matrix.copy()
    recoded[..., vague, classes] = 0  # rows without a prediction stay
    recoded[..., classes, classes] += matrix[..., vague, classes]
    by_rule = {
        "recode_macro": macro_f1(recoded),
        "recode_weighted": weighted_f1(recoded),
        # No row of VAGUE is left, so its weight is 0: only the plain mean has to leave it out.
        "drop_macro": macro_f1(dropped, others),
        "drop_weighted": weighted_f1(dropped),
        "matres_micro": micro_f1(matrix, others),
    }

    scores = plain_scores(matrix)
    for name, score in by_rule.items():
        if name.startswith(relaxed):
            average = name.split("_")[1]
            scores[f"relaxed_{average}_f1"] = score
    for name, score in by_rule.items():
        scores[f"relaxed_{name}_f1"] = score
    return scores


RELATIONS = ("BEFORE", "AFTER", "EQUAL", VAGUE)

TASK = ClassTask(
    forms=("marked", "window"),
    formats=CLASS_FORMATS,
    head="ess",
    options=RelationConfig,
    rules=SettingRules(
        ignores=(*FOR_TEXTS, "data.normalize_case", "data.phrases"),
        problems=relation_problems,
        data_problems=class_data_problems,
    ),
    features=features,
    feature_options=lambda config, training: written_markers(config),
    added_tokens=written_markers,
    headline=relation_headline,
    score_options=score_options,
    headline_scores=(
        *("macro_f1", "weighted_f1", "relaxed_macro_f1", "relaxed_weighted_f1", "accuracy"),
    ),
    scores=partial(ClassScores, usual_labels=RELATIONS, relaxed_key="task.relaxed"),
    about=About(
        hub_name="text-classification",
        does="tells which of two marked events of a text comes first",
    ),
)
