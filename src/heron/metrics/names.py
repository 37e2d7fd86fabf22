"""Which scores a task has: what `trainer.monitor` may name, and reports may show."""

from __future__ import annotations

from heron.metrics.classification import score_task
from heron.metrics.span import score_names as span_score_names
from heron.schema import Config


def score_names(config: Config) -> list[str]:
    """List the scores of a run's task, without their intervals."""
    labels = config.data.label_order
    if config.task.name == "qa":
        return span_score_names(config.data.language, with_none=len(labels) > 1)
    relaxed = config.task.relaxed
    return list(score_task(config.task.name, labels, labels, labels, relaxed=relaxed))
