"""Data sets, from file to batch, and the tasks that they are for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from heron.base.registry import Registry

if TYPE_CHECKING:  # start-up time
    import numpy as np

Headline = Callable[[Sequence[str], str], Callable[[Any], dict[str, Any]]]


def no_problems(_config: object) -> Iterable[str]:
    """Accept every configuration."""
    return ()


@dataclass(frozen=True, kw_only=True)
class SettingRules:
    """Which settings a task allows."""

    long_forms: tuple[str, ...] = ()  # input forms allowed with `encoder.overflow=windows`
    classifiers: tuple[str, ...] = ()  # values of `head.classifier` that no other task has
    # Keys, or `key=value`, of a run's configuration that have no effect for the task; heron says so
    # once where they are set.
    ignores: tuple[str, ...] = ()
    # Lists the settings of a run that cannot work for the task.
    problems: Callable[[Any], Iterable[str]] = no_problems
    # Lists the settings of a data set that cannot work for the task.
    data_problems: Callable[[Any], Iterable[str]] = no_problems


@dataclass(frozen=True, kw_only=True)
class TaskRules:
    """The part of a task that configurations need; `heron.tasks.task.Task` adds the rest."""

    forms: tuple[str, ...]  # input forms, of `head.input`
    formats: Registry[Any]  # file formats, of `data.format`; forks may register more
    head: str  # option of `conf/head` where the command line names none
    # Whether an example has one of several classes; otherwise `data.label_order` only lists kinds
    # of examples.
    has_classes: bool = True
    rules: SettingRules = SettingRules()
    # Of tasks with classes: gets class names and the mode of `relaxed_*` scores, and returns the
    # function from confusion matrices to headline scores; None:
    # `heron.metrics.classification.plain_scores`.
    headline: Headline | None = None
    # Of tasks with classes: options of `heron.metrics.classification.score_task` by a run's
    # configuration.
    score_options: Callable[[Any], Mapping[str, Any]] = lambda config: {}
    options: type[Any] | None = None  # a subclass of `TaskConfig`, where it has keys of its own
    features: Callable[..., Any]  # tokenizes a split: `(examples, tokenizer, FeatureOptions)`
    # Chooses `FeatureOptions.own`, given a run's configuration and whether a split is trained on.
    feature_options: Callable[[Any, bool], Any] = lambda config, training: None
    # Strings that the tokenizer reads as one token each, by a run's configuration.
    added_tokens: Callable[[Any], tuple[str, ...]] = lambda config: ()


TASKS: Registry[TaskRules] = Registry("task")


class NamesOfTasks:
    """The names of one kind that any task has, forks' included."""

    def __init__(self, names: Callable[[TaskRules], Iterable[str]]):
        self._names = names

    def __iter__(self) -> Iterator[str]:
        """List each name once."""
        return iter(dict.fromkeys(name for task in TASKS for name in self._names(TASKS[task])))


FORMS = NamesOfTasks(lambda task: task.forms)
CLASSIFIERS_OF_TASKS = NamesOfTasks(lambda task: task.rules.classifiers)


@dataclass(frozen=True, slots=True)
class BatchPlan:
    """How one pass over the train split is divided into batches (`batching.plan`)."""

    # A pure function with the arguments of `heron.data.batching.plan_pass`. Its batches, indices of
    # units, have each entry of `drawn_P` once, and equal arguments give equal batches.
    batches: Callable[..., list[np.ndarray]]
    # The key of `batching` that limits a batch: `size` (units) or `tokens` (padded tokens).
    limit: Literal["size", "tokens"]


PLANS: Registry[BatchPlan] = Registry("plan of batches", key="batching.plan")

# Values of `data.phrases` beside `none`: from the file of phrases and the data set to the function
# that removes them from a text.
REMOVERS: Registry[Callable[[Any, Any], Callable[[str], str]]] = Registry("remover of phrases")
