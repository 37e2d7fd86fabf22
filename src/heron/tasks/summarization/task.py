"""Abstractive summarization: a few sentences that say what an article says."""

from __future__ import annotations

from dataclasses import replace

from heron.base.registry import Registry, on_demand
from heron.config.baseline import EXTRACTIVE
from heron.config.schema import Config
from heron.data.features import FeatureOptions
from heron.metrics.names import rouge_names
from heron.tasks.summarization.options import CLASSIFIERS, data_problems, problems, reading
from heron.tasks.task import Task


def feature_options(options: FeatureOptions, config: Config, training: bool) -> FeatureOptions:
    """Say how long targets may be, and whether they begin with the tokenizer's own first token.

    A decoder begun here gets that token to begin with, and need not learn to say it.
    """
    begins = config.head.classifier != "warm_start"
    return replace(options, max_target=config.task.max_target_tokens, target_start=begins)


def score_names(config: Config) -> list[str]:
    """List the scores of a run, without their intervals."""
    return rouge_names()


TASK = Task(
    forms=("article",),
    formats=Registry(
        "data format", {"article_table": "heron.tasks.summarization.reader:ARTICLE_TABLE"}
    ),
    head="warm_start",
    classifiers=CLASSIFIERS,
    keys=("task.bertscore.model",),
    baselines=EXTRACTIVE,
    data_keys=("data.summaries", "data.columns.target"),
    problems=problems,
    data_problems=data_problems,
    has_classes=False,
    averages=False,
    features=on_demand("heron.tasks.summarization.features:summary_features"),
    feature_options=feature_options,
    encoder=on_demand("heron.tasks.summarization.seq2seq:build_seq2seq"),
    head_module=on_demand("heron.tasks.summarization.module:no_head"),
    module=on_demand("heron.tasks.summarization.module:SummarizationModule"),
    score_names=score_names,
    scores=on_demand("heron.tasks.summarization.scores:text_scores"),
    analysis=on_demand("heron.tasks.summarization.slices:SummaryAnalysis"),
    statistics=on_demand("heron.tasks.summarization.statistics:SummaryStatistics"),
    writes="summary",
    reading=reading,
    require_metrics=on_demand("heron.tasks.summarization.bertscore:require_metrics"),
    sign_metrics=on_demand("heron.tasks.summarization.bertscore:sign_metrics"),
    fit_baseline=on_demand("heron.tasks.summarization.baselines:extractive_baseline"),
    load_baseline=on_demand("heron.tasks.summarization.baselines:extractive_baseline"),
)
