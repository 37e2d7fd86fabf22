"""What each task asks of a configuration: its input forms, data formats, default head and checks.

A task says so in its own folder; a fork's task registers its rules here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from heron.base.registry import Registry, on_demand

if TYPE_CHECKING:
    from heron.config.data import DataConfig
    from heron.config.schema import Config


# Keys of data with a class for each row; see `TaskRules.data_keys`.
LABEL_KEYS = ("data.columns.label", "data.columns.truth", "data.label_aliases", "data.no_label")


Headline = Callable[[Sequence[str], str], Callable[[Any], dict[str, Any]]]

_CLASSIFICATION = on_demand("heron.metrics.classification:classification_headline")


def no_problems(_config: object) -> Iterable[str]:
    """Accept every configuration."""
    return ()


@dataclass(frozen=True, kw_only=True)
class TaskRules:
    """What a task asks of a configuration.

    Args:
        forms: the input forms it reads, of `head.input`.
        formats: the file formats its data come in, of `data.format`; forks may register
            further ones.
        head: the option of `conf/head` where the command line names none.
        classifiers: those of `head.classifier` that no other task has.
        keys: keys of a run's configuration that no other task has.
        baselines: the systems of `baseline.name` that there are for it.
        data_keys: keys that say something about data of some tasks only; each such task lists them,
            and they stand for all that begin with them.
        problems: list what in a run's settings cannot work for the task.
        data_problems: list what in a data set's settings cannot work for the task.
        headline: gets class names and the mode of `relaxed_*` scores, and returns the function
            that computes the headline scores from confusion matrices; of tasks with classes.
    """

    forms: tuple[str, ...]
    formats: Registry[Any]
    head: str
    classifiers: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    baselines: tuple[str, ...] = ()
    data_keys: tuple[str, ...] = ()
    problems: Callable[[Config], Iterable[str]] = no_problems
    data_problems: Callable[[DataConfig], Iterable[str]] = no_problems
    headline: Headline = _CLASSIFICATION


TASKS: Registry[TaskRules] = Registry(
    "task",
    {
        name: f"heron.tasks.{name}.task:TASK"
        for name in ("relation", "nli", "qa", "summarization", "classification")
    },
)


class _Forms:
    """The input forms of all tasks, those of forks included."""

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys(form for task in TASKS for form in TASKS[task].forms))


FORMS = _Forms()


def tasks_with(key: str) -> list[str]:
    """List the tasks that a key says something to; empty for a key of every task."""
    keys = {name: (*TASKS[name].keys, *TASKS[name].data_keys) for name in TASKS}
    return [name for name in TASKS if any(f"{key}.".startswith(f"{own}.") for own in keys[name])]


def formats() -> list[str]:
    """List the file formats of all tasks, those of forks included."""
    return list(dict.fromkeys(each for task in TASKS for each in TASKS[task].formats))


def second_text_problems(config: DataConfig, is_needed: bool) -> Iterator[str]:
    """Check `data.columns.text_pair`, which formats with two texts need and others do not have."""
    columns = config.columns
    if is_needed and columns.text_pair in (None, columns.text):
        yield (
            f"data.columns.text_pair={columns.text_pair}: data.format={config.format} needs the "
            "column of the second text"
        )
    if not is_needed and columns.text_pair is not None:
        yield f"data.columns.text_pair={columns.text_pair} needs data.format=pair_table"


def changed_keys(config: DataConfig, *keys: str) -> list[str]:
    """List those of some keys, written without `data.`, that have not their default."""
    default = type(config)()
    return [f"data.{key}" for key in keys if attrgetter(key)(config) != attrgetter(key)(default)]
