"""Extractive question answering: which span of the text answers the question?"""

from __future__ import annotations

from dataclasses import replace

from heron.base.registry import Registry, on_demand
from heron.config.schema import Config
from heron.data.features import FeatureOptions
from heron.languages import get_language
from heron.metrics.span import item_scores, language_profile
from heron.tasks.qa.options import CLASSIFIERS, data_problems, problems, reading
from heron.tasks.task import Task


def feature_options(options: FeatureOptions, config: Config, training: bool) -> FeatureOptions:
    """Leave a question whose answer is cut out of training: it can only be asked."""
    return replace(options, training=training)


def score_names(config: Config) -> list[str]:
    """List the scores of a run, without their intervals."""
    profiles = [language_profile(get_language(config.data.language))]
    no_answer = len(config.data.label_order) > 1
    return list(item_scores(["a"], [["a"]], profiles, no_answer=no_answer))


TASK = Task(
    forms=("question",),
    formats=Registry(
        "data format",
        {
            "squad_json": "heron.tasks.qa.reader:QUESTIONS",
            "qa_table": "heron.tasks.qa.reader:QUESTIONS",
        },
    ),
    head="span",
    classifiers=CLASSIFIERS,
    keys=("task.max_answer_tokens", "task.n_best"),
    data_keys=("data.qa", "data.columns.answer", "data.columns.answer_start"),
    problems=problems,
    data_problems=data_problems,
    has_classes=False,
    features=on_demand("heron.tasks.qa.features:qa_features"),
    feature_options=feature_options,
    head_module=on_demand("heron.tasks.qa.head:new_head"),
    head_in_transformers=on_demand("heron.tasks.qa.head:span_head_in_transformers"),
    module=on_demand("heron.tasks.qa.module:ExtractionModule"),
    score_names=score_names,
    scores=on_demand("heron.tasks.qa.scores:text_scores"),
    analysis=on_demand("heron.tasks.qa.slices:AnswerAnalysis"),
    statistics=on_demand("heron.tasks.qa.statistics:QuestionStatistics"),
    reading=reading,
    texts=("context", "question"),
)
