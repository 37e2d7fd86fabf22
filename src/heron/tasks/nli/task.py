"""Natural language inference: does the premise entail, contradict or leave open the hypothesis?"""

from __future__ import annotations

from collections.abc import Iterator

from heron.base.registry import on_demand
from heron.config.baseline import CBOW
from heron.config.schema import Config
from heron.tasks.classes import CLASS_FORMATS, ClassTask


def zero_shot_problems(config: Config) -> Iterator[str]:
    """Check that zero-shot entailment has a sentence for each class."""
    baseline, labels = config.baseline, config.data.label_order
    if baseline.name != "zero_shot" or baseline.zero_shot != "definitions":
        return
    if missing := [label for label in labels if not baseline.hypotheses.get(label)]:
        every = ", ".join(f'{label}: "..."' for label in labels)
        yield (
            f"baseline.hypotheses has no sentence for {', '.join(missing)}: write one per class, "
            f"in the language of the data, '+baseline.hypotheses={{{every}}}', or set "
            "baseline.zero_shot=direct where the classes are the model's own"
        )


TASK = ClassTask(
    forms=("pair", "separate", "premise", "hypothesis"),
    formats=CLASS_FORMATS,
    head="mlp3",
    baselines=("majority", *CBOW, "zero_shot"),
    problems=zero_shot_problems,
    headline=on_demand("heron.metrics.classification:nli_headline"),
    features=on_demand("heron.tasks.text_features:text_features"),
)
