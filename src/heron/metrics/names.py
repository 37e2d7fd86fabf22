"""Which scores a task has: what `trainer.monitor` may name, and reports may show."""

from __future__ import annotations

from heron.languages import get_language
from heron.metrics.classification import score_task
from heron.metrics.span import item_scores
from heron.metrics.span_profiles import side_by_side
from heron.metrics.summary import rouge_names
from heron.schema import Config


def score_names(config: Config) -> list[str]:
    """List the scores of a run's task, without their intervals."""
    labels = config.data.label_order
    if config.task.name == "qa":
        profiles = side_by_side(get_language(config.data.language))
        return list(item_scores(["a"], [["a"]], profiles, no_answer=len(labels) > 1))
    if config.task.name == "summarization":
        return rouge_names()
    relaxed = config.task.relaxed
    return list(score_task(config.task.name, labels, labels, labels, relaxed=relaxed))
