"""Natural language inference: does the premise entail, contradict or leave open the hypothesis?"""

from collections.abc import Iterator, Sequence

from heron.data import SettingRules
from heron.metrics.arrays import Counts, Floats
from heron.metrics.classification import Headline, accuracy, plain_scores
from heron.tasks.config import Config
from heron.tasks.task import CLASS_FORMATS, FOR_TEXTS, About, ClassTask, class_data_problems


def headline(_classes: Sequence[str], _relaxed: str) -> Headline:
    """Add accuracy under the name `micro_f1`: RoNLI prints it so, LCHAIM as accuracy."""

    def scores(matrix: Counts) -> dict[str, Floats]:
        return {**plain_scores(matrix), "micro_f1": accuracy(matrix)}

    return scores


def problems(config: Config) -> Iterator[str]:
    """Check that there is a hypothesis if the head reads one."""
    form, one_text = config.head.input, config.data.format == "marked_table"
    if config.baseline.name == "none" and form != "premise" and one_text:
        yield (
            f"head.input={form} reads a hypothesis, and data.format=marked_table has none: set "
            "data.format=pair_table and data.columns.text_pair, or head.input=premise"
        )


TASK = ClassTask(
    forms=("pair", "separate", "premise", "hypothesis"),
    formats=CLASS_FORMATS,
    head="mlp3",
    rules=SettingRules(
        long_forms=("pair", "premise", "hypothesis"),
        problems=problems,
        data_problems=class_data_problems,
        ignores=FOR_TEXTS,
    ),
    headline=headline,
    about=About(hub_name="text-classification", does="tells how a hypothesis relates to a premise"),
)
