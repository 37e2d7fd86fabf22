"""What temporal relation classification asks of a configuration."""

from __future__ import annotations

from collections.abc import Iterator

from heron.config.data import DataConfig
from heron.config.tasks import LABEL_KEYS, TaskRules, second_text_problems


def _data_problems(config: DataConfig) -> Iterator[str]:
    yield from second_text_problems(config, is_needed=config.format == "pair_table")


RULES = TaskRules(
    forms=("marked", "window"),
    formats=("marked_table", "pair_table"),
    head="ess",
    keys=("head.distance",),
    baselines=("majority",),
    data_keys=LABEL_KEYS,
    data_problems=_data_problems,
)
