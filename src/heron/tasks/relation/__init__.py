"""Temporal relations: which of two marked events of a text comes first?"""

from collections.abc import Iterator
from functools import partial
from typing import Any

from heron.data import Rules
from heron.data.markers import event_markers
from heron.tasks.config import Config
from heron.tasks.task import (
    CLASS_FORMATS,
    FOR_TEXTS,
    About,
    ClassScores,
    ClassTask,
    class_data_problems,
)


def added_tokens(config: Config) -> tuple[str, ...]:
    """List the event markers if the head reads them."""
    return event_markers(config.data) if config.head.input == "marked" else ()


def relation_problems(config: Config) -> Iterator[str]:
    """Check that events are marked."""
    if config.data.format == "pair_table":
        yield "data.format=pair_table marks no events; task=relation needs data.format=marked_table"


def features(*given: Any) -> Any:
    """Tokenize a split."""
    from heron.tasks.relation.features import relation_features

    return relation_features(*given)


def headline(*given: Any) -> Any:
    """Make the function of the headline scores."""
    from heron.tasks.relation.scores import relation_headline

    return relation_headline(*given)


RELATIONS = ("BEFORE", "AFTER", "EQUAL", "VAGUE")

TASK = ClassTask(
    forms=("marked", "window"),
    formats=CLASS_FORMATS,
    head="ess",
    rules=Rules(
        ignores=(*FOR_TEXTS, "data.normalize_case", "data.phrases"),
        problems=relation_problems,
        data_problems=class_data_problems,
    ),
    features=features,
    feature_options=lambda config, training: event_markers(config.data),
    added_tokens=added_tokens,
    headline=headline,
    scores=partial(
        ClassScores,
        usual_labels=RELATIONS,
    ),
    about=About(
        hub_name="text-classification",
        does="tells which of two marked events of a text comes first",
    ),
)
