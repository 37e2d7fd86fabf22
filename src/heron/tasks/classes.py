"""What tasks that give each row one class have in common, without the model."""

from __future__ import annotations

from collections.abc import Iterator

from heron.base.registry import Registry
from heron.config.data import DataConfig
from heron.config.schema import Config
from heron.config.tasks import second_text_problems
from heron.data.rows import Format
from heron.metrics.classification import score_task

CLASS_FORMATS: Registry[Format] = Registry(
    "data format",
    {
        "marked_table": "heron.tasks.relation.reader:MARKED_TABLE",
        "pair_table": "heron.tasks.nli.reader:PAIR_TABLE",
    },
)


def class_data_problems(config: DataConfig) -> Iterator[str]:
    """Check that a data set names the second text where its format has one, and only there."""
    yield from second_text_problems(config, is_needed=config.format == "pair_table")


def class_score_names(config: Config) -> list[str]:
    """List the scores of a run, without their intervals."""
    labels, relaxed = config.data.label_order, config.task.relaxed
    return list(score_task(config.task.name, labels, labels, labels, relaxed=relaxed))
