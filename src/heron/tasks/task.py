"""What a task is: everything that shared code asks about it.

heron's tasks are in `heron.tasks.<name>.task`; `TASKS` finds them, and those of forks, by name.
Parts that are slow to import are written as `on_demand("module:attribute")`, so that a run loads
the parts of its own task only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from heron.base.errors import ConfigError, nearest
from heron.base.registry import Registry, on_demand
from heron.config.data import DataConfig
from heron.config.registries import TASKS, TaskRules
from heron.config.schema import Config, HeadConfig
from heron.data.rows import Format, Rows
from heron.metrics.names import LOSS

if TYPE_CHECKING:  # these load torch, or much of it
    from pathlib import Path

    from torch import Tensor, nn

    from heron.config.analyze_options import AnalyzeOptions
    from heron.data.examples import Example
    from heron.data.features import FeatureOptions, Features
    from heron.languages.language import Language
    from heron.metrics.paired import Floats
    from heron.models.encoder import Encoder
    from heron.tasks.analysis import DataStatistics, RunAnalysis, Split
    from heron.tasks.base import HeadWeights, TaskModule

    ItemScores = Callable[
        [Sequence[str], Sequence[Sequence[str]], Language | None, bool | None], dict[str, Floats]
    ]

__all__ = ["TASKS", "Task", "task_of"]

CLASSES = "classification"  # also scores rows of any other task with classes


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassScores:
    """How a task is scored whose predictions are classes: by its confusion matrix.

    Args:
        metric: the metric that `heron compare` compares by default.
        right: the score that is 1 where a row is right.
        usual_labels: classes that have these names in every data set, in their order.
    """

    metric: str = "macro_f1"
    right: str = "accuracy"
    usual_labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TextScores:
    """How a task is scored whose predictions are texts: by the mean of a score for each text.

    Args:
        items: scores each prediction against its gold texts: predictions, golds, language (None:
            only scores that need none), and whether "no answer" can be right (None: if a gold says
            so). Float64 arrays by name; NaN where a row does not count.
        metric: the metric that `heron compare` compares by default.
        right: the score that is 1 where a row is right; None where rows are not right or wrong.
        can_be_empty: whether "no answer" can be right, from the labels of a data set; None where
            there are no labels.
        gives: what a system predicts, such as `answer`.
        to: what it predicts it for, such as `question`.
        data: the data set whose file format gold files have by default.
        columns: names that the column of predictions may have.
        group: the column whose rows a bootstrap keeps together where a row has no group.
        read: reads a gold file.
        golds: the gold texts of an example.
        notes: what to tell the user about the gold examples.
        rest: further scores, of a whole file.
        by_encoder: whether BERTScore can compare the texts.
    """

    items: ItemScores
    metric: str
    right: str | None = None
    can_be_empty: Callable[[Sequence[str]], bool | None] = lambda labels: False
    gives: str
    to: str
    data: str
    columns: tuple[str, ...]
    group: str
    read: Callable[[Path, DataConfig], Rows]
    golds: Callable[[Example], list[str]]
    notes: Callable[[Sequence[Example]], list[str]] = lambda examples: []
    rest: Callable[[Sequence[Example], Sequence[str], DataConfig], Mapping[str, float]] = (
        lambda examples, texts, config: {}
    )
    by_encoder: bool = False


@dataclass(frozen=True, kw_only=True)
class Task(TaskRules):
    """One task; `TaskRules` has what it asks of a configuration.

    Args:
        formats: file formats of its data sets, see `heron.data.rows`.
        averages: whether the logits of several runs can be averaged.
        features: tokenizes a split.
        feature_options: adapts the options of `features` to a configuration, and to whether the
            split is trained on.
        added_tokens: strings that the tokenizer reads as one token each.
        encoder: loads the encoder for a tokenizer; without a tokenizer, as a run exported it.
        head_module: builds a new head for an encoder's width and a number of classes.
        head_in_transformers: the head's weights under the names of a class of transformers, from
            head, encoder, tokenizer and configuration; None where transformers has no such class.
        module: builds the task's module from the configuration, encoder, head, the number of
            optimizer steps, and the class weights of the loss or None.
        score_names: the scores of a run, without their intervals.
        scores: how predictions are scored outside a run.
        analysis: the analyses of a run's split, for `heron analyze run=`.
        statistics: the statistics of a data set, for `heron analyze data=`.
        writes: what a system writes for an example, such as a summary; empty where it chooses a
            class or a span.
        reading: how a data set's files are read, beyond what shared keys say; by key.
        texts: options of `heron predict` for the first and the second text.
        require_metrics: checks that what the scores need is installed; raises ConfigError.
        sign_metrics: signatures of the scores that a model computes, by score, from the
            configuration and the gold texts. None where no model computes any.
    """

    formats: Registry[Format]
    averages: bool = True
    features: Callable[[Sequence[Example], Any, FeatureOptions], Features]
    feature_options: Callable[[FeatureOptions, Config, bool], FeatureOptions] = (
        lambda options, config, training: options
    )
    added_tokens: Callable[[Config], tuple[str, ...]] = lambda config: ()
    encoder: Callable[[Config, Any], Encoder] = on_demand("heron.models.encoder:build_encoder")
    head_module: Callable[[HeadConfig, int, int], nn.Module] = on_demand(
        "heron.models.heads:new_head"
    )
    head_in_transformers: Callable[[nn.Module, Encoder, Any, Config], HeadWeights | None] = (
        lambda head, encoder, tokenizer, config: None
    )
    module: Callable[[Config, Encoder, nn.Module, int, Tensor | None], TaskModule]
    score_names: Callable[[Config], list[str]]
    scores: Callable[[], ClassScores | TextScores] = ClassScores
    analysis: Callable[[Split, AnalyzeOptions], RunAnalysis] = on_demand(
        "heron.tasks.label_analysis:LabelAnalysis"
    )
    statistics: Callable[[DataConfig, AnalyzeOptions], DataStatistics] = on_demand(
        "heron.tasks.label_statistics:LabelStatistics"
    )
    writes: str = ""
    reading: Callable[[DataConfig], dict[str, str]] = lambda data: {}
    texts: tuple[str, str] = ("text", "text_pair")
    require_metrics: Callable[[Config], None] = lambda config: None
    sign_metrics: Callable[[Config, Sequence[str]], dict[str, str]] | None = None

    def monitored_names(self, config: Config) -> list[str]:
        """List what `trainer.monitor` may be: the task's scores, and the loss."""
        return [*self.score_names(config), LOSS]


def task_of(config: Config | DataConfig) -> Task:
    """Find the task of a run or of a data set."""
    return cast(Task, TASKS[config.task if isinstance(config.task, str) else config.task.name])


def scores_of(task: str) -> ClassScores | TextScores:
    """Find how a task's predictions are scored.

    Raises:
        ConfigError: there is no such task.
    """
    if task not in TASKS:
        raise ConfigError(f"task={task}: no such task.{nearest(task, TASKS)}")
    return cast(Task, TASKS[task]).scores()


def text_scores(task: object) -> TextScores | None:
    """Find how a task's texts are scored; None for a task with classes or an unknown one."""
    scores = scores_of(str(task)) if task in TASKS else None
    return scores if isinstance(scores, TextScores) else None
