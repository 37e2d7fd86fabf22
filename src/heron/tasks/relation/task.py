"""Temporal relations: which of two marked events of a text comes first?"""

from __future__ import annotations

from functools import partial

from heron.base.registry import on_demand
from heron.config.schema import Config
from heron.config.tasks import LABEL_KEYS
from heron.data.markers import event_markers
from heron.metrics.classification import RELATIONS
from heron.tasks.classes import CLASS_FORMATS, class_data_problems, class_score_names
from heron.tasks.scores import ClassScores
from heron.tasks.task import Task


def added_tokens(config: Config) -> tuple[str, ...]:
    """List the event markers, where the head reads them."""
    return event_markers(config.data) if config.head.input == "marked" else ()


TASK = Task(
    forms=("marked", "window"),
    formats=CLASS_FORMATS,
    head="ess",
    keys=("head.distance",),
    baselines=("majority",),
    data_keys=LABEL_KEYS,
    data_problems=class_data_problems,
    features=on_demand("heron.tasks.relation.features:relation_features"),
    added_tokens=added_tokens,
    head_in_transformers=on_demand("heron.tasks.class_export:class_head_in_transformers"),
    module=on_demand("heron.tasks.class_module:ClassificationModule"),
    headline=on_demand("heron.metrics.classification:relation_headline"),
    score_names=class_score_names,
    scores=partial(ClassScores, usual_labels=tuple(RELATIONS)),
    fit_baseline=on_demand("heron.tasks.class_baselines:fit_class_baseline"),
    load_baseline=on_demand("heron.tasks.class_baselines:load_class_baseline"),
)
