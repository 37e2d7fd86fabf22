"""What tasks that give each row one class have in common."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from heron.base.registry import Registry, on_demand
from heron.config.data import DataConfig, second_text_problems
from heron.config.registries import LABEL_KEYS
from heron.config.schema import Config
from heron.data.rows import Format
from heron.metrics.classification import score_task
from heron.tasks.task import Task

# Data sets of relations and of sentence pairs may be in either format.
CLASS_FORMATS: Registry[Format] = Registry(
    "data format",
    {
        "marked_table": "heron.tasks.relation.task:MARKED_TABLE",
        "pair_table": "heron.tasks.nli.reader:PAIR_TABLE",
    },
)


def class_data_problems(config: DataConfig) -> Iterator[str]:
    """Check that a data set names a second text if its format has one, and only then."""
    yield from second_text_problems(config, is_needed=config.format == "pair_table")


def class_score_names(config: Config) -> list[str]:
    """List the scores of a run, without their intervals."""
    labels, relaxed = config.data.label_order, config.task.relaxed
    return list(score_task(config.task.name, labels, labels, labels, relaxed=relaxed))


_name_as_transformers = on_demand("heron.tasks.exported_heads:class_head_in_transformers")


def class_head_in_transformers(head: Any, encoder: Any, tokenizer: Any, config: Config) -> Any:
    """See `Task.head_in_transformers`; the classes of transformers read the first token."""
    if config.head.pooling != "cls":
        return None
    return _name_as_transformers(head, encoder, tokenizer, config)


@dataclass(frozen=True, kw_only=True)
class ClassTask(Task):
    """A task that gives each row one class; see `Task`."""

    data_keys: tuple[str, ...] = LABEL_KEYS
    data_problems: Callable[[DataConfig], Iterable[str]] = class_data_problems
    head_in_transformers: Callable[..., Any] = class_head_in_transformers
    module: Callable[..., Any] = on_demand("heron.tasks.class_module:ClassificationModule")
    score_names: Callable[[Config], list[str]] = class_score_names
