"""Scores: pure functions first, the stateful metric around them in `heron.metrics.running`."""

from heron.metrics.calibration import calibration_scores
from heron.metrics.classification import bootstrap_intervals, score_matrix, score_task
from heron.metrics.confusion import confusion_matrix
from heron.metrics.span import span_scores

__all__ = [
    "bootstrap_intervals",
    "calibration_scores",
    "confusion_matrix",
    "score_matrix",
    "score_task",
    "span_scores",
]
