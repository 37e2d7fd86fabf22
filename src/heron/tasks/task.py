"""What a task is: everything that shared code asks about it.

heron's tasks are `heron.tasks.<name>.TASK`; `TASKS` finds them, and those of forks, by name.
Parts that are slow to import are functions that import them when called, so that a run loads the
parts of its own task only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from heron.base.errors import ConfigError, nearest
from heron.base.registry import Registry
from heron.data import TASKS, SettingRules, TaskRules
from heron.data.config import DataConfig, RunSettings, second_text_problems
from heron.data.rows import Format
from heron.metrics.classification import score_task
from heron.metrics.names import LOSS
from heron.tasks import CLASS_FORMATS
from heron.tasks.config import Config
from heron.tasks.scoring import ClassScores, TextScores

if TYPE_CHECKING:  # importing these modules would load torch
    from torch import nn

    from heron.data.examples import Example
    from heron.models.encoder import Encoder
    from heron.tasks.base import ModelParts
    from heron.tasks.predictions import Predictions

__all__ = ["CLASS_FORMATS", "TASKS", "Task", "task_of"]

# Keys without effect for tasks with classes, and for tasks without; see `SettingRules.ignores`.
FOR_TEXTS = ("optim.soft.answers",)
FOR_CLASSES = (
    *("optim.class_weights", "optim.soft.columns", "optim.soft.predictions"),
    *("optim.suspects.dynamics", "data.columns.truth", "data.join", "data.label_field"),
    *("data.phrases", "data.normalize_case"),
)
CLASSES = "classification"  # also scores rows of any other task with classes


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """How a task is described to people."""

    hub_name: str = "other"  # what the Hugging Face Hub calls the task
    does: str = ""  # what a model of the task does, a verb and its objects
    # What a system writes, such as a summary; empty where it chooses a class or a span.
    writes: str = ""
    # Options of `heron predict` for the first and the second text.
    texts: tuple[str, str] = ("text", "text_pair")
    # Further lines of `heron data NAME`: how the task reads the files.
    reading: Callable[[DataConfig], dict[str, str]] = lambda data: {}


@dataclass(frozen=True, kw_only=True)
class Task(TaskRules):
    """One task; `TaskRules` has the part that configurations need."""

    formats: Registry[Format]  # file formats of its data sets, see `heron.data.rows`
    model: Callable[[], ModelParts]  # imports what its model is built from
    about: About = About()
    score_names: Callable[[Config], list[str]]  # the scores of a run, without their intervals
    # Regular expressions of the scores that head reports, in the order of their columns. Where a
    # run has none of them, all scores of whole splits do.
    headline_scores: tuple[str, ...] = ("macro_f1", "weighted_f1", "accuracy")
    # Of `options`, keys in which runs must agree for their outputs to be averaged.
    averaged_keys: tuple[str, ...] = ()
    # Files and folders besides data and encoder that a run's scores depend on, by name.
    sources: Callable[[Config], Mapping[str, str | None]] = lambda config: {}
    # How predictions are scored outside a run.
    scores: Callable[[], ClassScores | TextScores] = ClassScores
    # Predictions from what a language model wrote for each example; None: classes are read from it.
    from_texts: Callable[[Sequence[Example], Sequence[str], Config], Predictions] | None = None

    def monitored_names(self, config: Config) -> list[str]:
        """List what `trainer.monitor` may be: the task's scores, and the loss."""
        return [*self.score_names(config), LOSS]


def task_of(config: RunSettings | DataConfig) -> Task:
    """Find the task of a run or of a data set."""
    return cast(Task, TASKS[config.task if isinstance(config.task, str) else config.task.name])


def new_head(config: Config, encoder: Encoder) -> nn.Module:
    """Build a run's head, with new weights, for its encoder."""
    parts = task_of(config).model()
    return parts.head(config.head, encoder.width, parts.outputs(config, encoder))


def headline_names(task: str, names: Iterable[str]) -> list[str]:
    """List a task's headline scores among the names of scores; none of an unknown task."""
    if task not in TASKS:
        return []
    present = list(names)
    patterns = cast(Task, TASKS[task]).headline_scores
    return [name for pattern in patterns for name in present if re.fullmatch(pattern, name)]


def scores_of(task: str) -> ClassScores | TextScores:
    """Find how a task's predictions are scored; raises ConfigError for an unknown task."""
    if task not in TASKS:
        raise ConfigError(f"task={task}: no such task.{nearest(task, TASKS)}")
    return cast(Task, TASKS[task]).scores()


def text_scores(task: object) -> TextScores | None:
    """Find how a task's texts are scored; None for a task with classes or an unknown one."""
    scores = scores_of(str(task)) if task in TASKS else None
    return scores if isinstance(scores, TextScores) else None


def class_data_problems(config: DataConfig) -> Iterator[str]:
    """Check that a data set names a second text if its format has one, and only then."""
    yield from second_text_problems(config, is_needed=config.format == "pair_table")


def class_score_names(config: Config) -> list[str]:
    """List the scores of a run, without their intervals."""
    name = config.task.name
    labels = config.data.label_order
    options = TASKS[name].score_options(config)
    return list(score_task(name, labels, labels, labels, **options))


def class_model() -> ModelParts:
    """See `Task.model`."""
    from heron.tasks.base import ModelParts
    from heron.tasks.class_module import ClassificationModule

    def in_transformers(*arguments: Any) -> Any:
        if arguments[3].head.pooling != "cls":  # transformers' classes read the first token
            return None
        from heron.tasks.exported_heads import class_head_in_transformers

        return class_head_in_transformers(*arguments)

    return ModelParts(ClassificationModule, in_transformers=in_transformers)


def _text_features(*arguments: Any) -> Any:
    from heron.tasks.text_features import text_features

    return text_features(*arguments)


@dataclass(frozen=True, kw_only=True)
class ClassTask(Task):
    """A task that gives each row one class; see `Task`."""

    rules: SettingRules = field(
        default_factory=lambda: SettingRules(data_problems=class_data_problems, ignores=FOR_TEXTS)
    )
    model: Callable[[], ModelParts] = class_model
    about: About = About(hub_name="text-classification")
    features: Callable[..., Any] = _text_features
    score_names: Callable[[Config], list[str]] = class_score_names
