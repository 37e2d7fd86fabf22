"""What a task is: everything that shared code asks about it.

heron's tasks are in `heron.tasks.<name>.task`; `TASKS` finds them, and those of forks, by name.
Parts that need much to be imported are written as `on_demand("module:attribute")`, so that a run
loads the parts of its own task only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from heron.base.errors import ConfigError
from heron.base.registry import Registry, on_demand
from heron.config.data import DataConfig
from heron.config.schema import Config, HeadConfig
from heron.config.tasks import TASKS, TaskRules
from heron.data.rows import Format
from heron.metrics.names import LOSS
from heron.tasks.scores import ClassScores, TextScores

if TYPE_CHECKING:  # these load torch, or much of it
    from pathlib import Path

    from torch import Tensor, nn

    from heron.config.analyze_options import AnalyzeOptions
    from heron.data.examples import Example
    from heron.data.features import FeatureOptions, Features
    from heron.models.encoder import Encoder
    from heron.models.heads import HeadWeights
    from heron.tasks.analysis import DataStatistics, RunAnalysis, Split
    from heron.tasks.base import Baseline, TaskModule

__all__ = ["TASKS", "Task", "task_of"]


_ENCODER = on_demand("heron.models.encoder:build_encoder")
_HEAD = on_demand("heron.models.heads:new_head")
_LABEL_ANALYSIS = on_demand("heron.tasks.label_slices:LabelAnalysis")
_LABEL_STATISTICS = on_demand("heron.tasks.label_statistics:LabelStatistics")


def _same_options(options: FeatureOptions, config: Config, training: bool) -> FeatureOptions:
    return options


def _as_shared_keys_say(data: DataConfig) -> dict[str, str]:
    return {}


def _nothing_needed(config: Config) -> None:
    """Need no model."""


def _no_baseline(config: Config, source: Any) -> Any:
    raise ConfigError(f"baseline={config.baseline.name}: task={config.task.name} has no baseline")


def _in_heron_only(head: Any, encoder: Any, tokenizer: Any, config: Config) -> None:
    return None


def _no_tokens(config: Config) -> tuple[str, ...]:
    return ()


@dataclass(frozen=True, kw_only=True)
class Task(TaskRules):
    """One task, beside what it asks of a configuration (`TaskRules`).

    Args:
        formats: what a data set's files may be, see `heron.data.rows`.
        has_classes: whether an example has one of several classes; otherwise `data.label_order`
            only says what kinds of examples there are.
        averages: whether the logits of several runs can be averaged.
        features: tokenizes a split.
        feature_options: adapts what decides the features; gets the configuration, and whether the
            split is trained on.
        added_tokens: strings that the tokenizer reads as one token each.
        encoder: loads the encoder, for a tokenizer; without one as a finished run exported it.
        head_module: builds the head, from nothing, for an encoder's width and a number of classes.
        head_in_transformers: names the head's weights as a class of transformers does; gets head,
            encoder, tokenizer and configuration; None where transformers has no such class.
        module: puts encoder and head into the task's module; gets the configuration, both, the
            number of optimizer steps, and the class weights of the loss or None.
        score_names: lists the scores of a run, without their intervals.
        scores: says how predictions are scored outside a run, by class or by text.
        analysis: slices a split of a run, for `heron analyze run=`.
        statistics: describes a data set, for `heron analyze data=`.
        writes: what a system writes for an example, such as a summary; empty: it chooses a class
            or points at a place.
        reading: says how a data set's files are read, beside what shared keys say; by key.
        texts: options of `heron predict` that give the first and the second text.
        require_metrics: makes sure that what the scores need is there; raises ConfigError.
        sign_metrics: says what decides scores that a model computes, by score; gets the
            configuration and the gold texts. None where no model computes any.
        fit_baseline: fits the baseline that a configuration names, on training examples.
        load_baseline: opens a fitted baseline from a run's `model/`.
    """

    formats: Registry[Format]
    has_classes: bool = True
    averages: bool = True
    features: Callable[[Sequence[Example], Any, FeatureOptions], Features]
    feature_options: Callable[[FeatureOptions, Config, bool], FeatureOptions] = _same_options
    added_tokens: Callable[[Config], tuple[str, ...]] = _no_tokens
    encoder: Callable[[Config, Any], Encoder] = _ENCODER
    head_module: Callable[[HeadConfig, int, int], nn.Module] = _HEAD
    head_in_transformers: Callable[[nn.Module, Encoder, Any, Config], HeadWeights | None] = (
        _in_heron_only
    )
    module: Callable[[Config, Encoder, nn.Module, int, Tensor | None], TaskModule]
    score_names: Callable[[Config], list[str]]
    scores: Callable[[], ClassScores | TextScores] = ClassScores
    analysis: Callable[[Split, AnalyzeOptions], RunAnalysis] = _LABEL_ANALYSIS
    statistics: Callable[[DataConfig, AnalyzeOptions], DataStatistics] = _LABEL_STATISTICS
    writes: str = ""
    reading: Callable[[DataConfig], dict[str, str]] = _as_shared_keys_say
    texts: tuple[str, str] = ("text", "text_pair")
    require_metrics: Callable[[Config], None] = _nothing_needed
    sign_metrics: Callable[[Config, Sequence[str]], dict[str, str]] | None = None
    fit_baseline: Callable[[Config, Sequence[Example]], Baseline] = _no_baseline
    load_baseline: Callable[[Config, Path], Baseline] = _no_baseline

    def monitored_names(self, config: Config) -> list[str]:
        """List what `trainer.monitor` may be: the task's scores, and the loss."""
        return [*self.score_names(config), LOSS]


def task_of(config: Config | DataConfig) -> Task:
    """Find the task of a run or of a data set."""
    return cast(Task, TASKS[config.task if isinstance(config.task, str) else config.task.name])
