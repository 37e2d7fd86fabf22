"""Of which scores less is better, and the loss, which `trainer.monitor` may name beside scores."""

from __future__ import annotations

LOSS = "loss"  # on validation, as `metrics.csv` has it for each epoch
# Scores of which less is better; of all others more is. No other module lists them.
_MINIMISED = (LOSS, "ece", "mce", "brier")


def is_minimised(metric: str) -> bool:
    """Tell whether less of a metric is better."""
    return metric in _MINIMISED


def signed(metric: str, value: float) -> float:
    """Give a metric's value the sign with which more is better: the best of several is the max."""
    return -value if is_minimised(metric) else value
