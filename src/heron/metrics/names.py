"""Which scores a task has, what `trainer.monitor` may name, and of which scores less is better."""

from __future__ import annotations

from heron.config.schema import Config
from heron.languages import get_language
from heron.metrics.classification import score_task
from heron.metrics.span import item_scores
from heron.metrics.span_profiles import language_profile
from heron.metrics.summary import rouge_names

LOSS = "loss"  # on validation, as `metrics.csv` has it for each epoch
# Scores of which less is better; of all others more is. No other module lists them.
_MINIMISED = (LOSS, "ece", "mce", "brier")


def is_minimised(metric: str) -> bool:
    """Tell whether less of a metric is better."""
    return metric in _MINIMISED


def signed(metric: str, value: float) -> float:
    """Give a metric's value the sign with which more is better: the best of several is the max."""
    return -value if is_minimised(metric) else value


def monitored_names(config: Config) -> list[str]:
    """List what `trainer.monitor` may be: the task's scores, and the loss."""
    return [*score_names(config), LOSS]


def score_names(config: Config) -> list[str]:
    """List the scores of a run's task, without their intervals."""
    labels = config.data.label_order
    if config.task.name == "qa":
        profiles = [language_profile(get_language(config.data.language))]
        return list(item_scores(["a"], [["a"]], profiles, no_answer=len(labels) > 1))
    if config.task.name == "summarization":
        return rouge_names()
    relaxed = config.task.relaxed
    return list(score_task(config.task.name, labels, labels, labels, relaxed=relaxed))
