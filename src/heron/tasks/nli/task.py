"""Natural language inference: does the premise entail, contradict or leave open the hypothesis?"""

from __future__ import annotations

from collections.abc import Iterator

from heron.base.registry import on_demand
from heron.config.baseline import CBOW
from heron.config.schema import Config
from heron.config.tasks import LABEL_KEYS
from heron.tasks.classes import CLASS_FORMATS, class_data_problems, class_score_names
from heron.tasks.task import Task


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


TASK = Task(
    forms=("pair", "separate", "premise", "hypothesis"),
    formats=CLASS_FORMATS,
    head="mlp3",
    baselines=("majority", *CBOW, "zero_shot"),
    data_keys=LABEL_KEYS,
    problems=zero_shot_problems,
    data_problems=class_data_problems,
    features=on_demand("heron.tasks.text_features:text_features"),
    head_in_transformers=on_demand("heron.tasks.class_export:class_head_in_transformers"),
    module=on_demand("heron.tasks.class_module:ClassificationModule"),
    headline=on_demand("heron.metrics.classification:nli_headline"),
    score_names=class_score_names,
    fit_baseline=on_demand("heron.tasks.class_baselines:fit_class_baseline"),
    load_baseline=on_demand("heron.tasks.class_baselines:load_class_baseline"),
)
