"""How predicted relations are scored outside a run."""

from heron.metrics.relation import RELATIONS
from heron.tasks.scores import ClassScores

SCORES = ClassScores(usual_labels=tuple(RELATIONS))
