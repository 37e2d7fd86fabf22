"""Natural language inference: does the premise entail, contradict or leave open the hypothesis?"""

from collections.abc import Sequence

from heron.base.registry import on_demand
from heron.metrics.classification import Counts, Fractions, Headline, accuracy, plain_scores
from heron.tasks.task import CLASS_FORMATS, ClassTask


def headline(_classes: Sequence[str], _relaxed: str) -> Headline:
    """Add accuracy under the name `micro_f1`: RoNLI prints it so, LCHAIM as accuracy."""

    def scores(matrix: Counts) -> dict[str, Fractions]:
        return {**plain_scores(matrix), "micro_f1": accuracy(matrix)}

    return scores


TASK = ClassTask(
    forms=("pair", "separate", "premise", "hypothesis"),
    long_forms=("pair", "premise", "hypothesis"),
    formats=CLASS_FORMATS,
    head="mlp3",
    does="tells how a hypothesis relates to a premise",
    headline=headline,
    features=on_demand("heron.tasks.text_features:text_features"),
)
