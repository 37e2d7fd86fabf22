"""Single-text classification: which class does a text have?"""

from __future__ import annotations

from collections.abc import Iterator

from heron.base.registry import Registry, on_demand
from heron.config.baseline import CBOW
from heron.config.data import DataConfig
from heron.config.tasks import LABEL_KEYS, second_text_problems
from heron.data.rows import Format
from heron.tasks.classes import class_score_names
from heron.tasks.task import Task

FORMATS: Registry[Format] = Registry(
    "data format", {"text_table": "heron.tasks.classification.reader:TEXT_TABLE"}
)


def one_text_problems(config: DataConfig) -> Iterator[str]:
    """Check that a data set names no second text."""
    yield from second_text_problems(config, is_needed=False)


TASK = Task(
    forms=("text",),
    formats=FORMATS,
    head="text",
    baselines=("majority", *CBOW),
    data_keys=LABEL_KEYS,
    data_problems=one_text_problems,
    features=on_demand("heron.tasks.text_features:text_features"),
    head_in_transformers=on_demand("heron.tasks.class_export:class_head_in_transformers"),
    module=on_demand("heron.tasks.class_module:ClassificationModule"),
    score_names=class_score_names,
    fit_baseline=on_demand("heron.tasks.class_baselines:fit_class_baseline"),
    load_baseline=on_demand("heron.tasks.class_baselines:load_class_baseline"),
)
