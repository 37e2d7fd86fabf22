"""What natural language inference asks of a configuration."""

from __future__ import annotations

from collections.abc import Iterator

from heron.config.baseline import CBOW
from heron.config.data import DataConfig
from heron.config.schema import Config
from heron.config.tasks import LABEL_KEYS, TaskRules, second_text_problems


def _problems(config: Config) -> Iterator[str]:
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


def _data_problems(config: DataConfig) -> Iterator[str]:
    yield from second_text_problems(config, is_needed=config.format == "pair_table")


RULES = TaskRules(
    forms=("pair", "separate", "premise", "hypothesis"),
    formats=("marked_table", "pair_table"),
    head="mlp3",
    baselines=("majority", *CBOW, "zero_shot"),
    data_keys=LABEL_KEYS,
    problems=_problems,
    data_problems=_data_problems,
)
