"""Extractive question answering: which span of the text answers the question?"""

from collections.abc import Iterator
from typing import Any

from heron.base.registry import Registry
from heron.data import SettingRules
from heron.data.config import DataConfig, second_text_problems
from heron.data.rows import Format
from heron.languages import get_language
from heron.metrics.span import item_scores, language_profiles
from heron.tasks.config import Config
from heron.tasks.qa.config import QaConfig
from heron.tasks.qa.reader import ANSWER, NO_ANSWER, QUESTIONS, text_scores
from heron.tasks.task import FOR_CLASSES, About, Task

FORMATS: Registry[Format] = Registry("data format")
for _name in ("squad_json", "qa_table"):
    FORMATS.register(_name, QUESTIONS)


def score_names(config: Config) -> list[str]:
    """List the scores of a run, without their intervals."""
    profiles = language_profiles(get_language(config.data.language))
    no_answer = len(config.data.label_order) > 1
    return list(item_scores(["a"], [["a"]], profiles, no_answer=no_answer))


def problems(config: Config) -> Iterator[str]:
    """List settings of a run that do not work with this task."""
    if config.baseline.name != "none":
        return  # encoder and head are not used
    if config.encoder.truncation != "only_first":
        yield (
            f"encoder.truncation={config.encoder.truncation}: task=qa cuts the text, never the "
            "question; leave it at only_first"
        )
    head = config.head
    if head.classifier == "biaffine" and len(head.hidden) != 1:
        yield f"head.hidden={head.hidden}: head.classifier=biaffine needs one width, [128]"


def data_problems(config: DataConfig) -> Iterator[str]:
    """List settings of a data set that do not work with questions."""
    yield from second_text_problems(config, is_needed=True)
    if config.label_order not in ([], [ANSWER], [ANSWER, NO_ANSWER]):
        yield (
            f"data.label_order={config.label_order}: data.task=qa has the classes [{ANSWER}], or "
            f"[{ANSWER}, {NO_ANSWER}] where questions may have no answer"
        )


def reading(config: DataConfig) -> dict[str, str]:
    """Describe how answers are read."""
    blanks = "trim" if config.qa.trim else "keep"
    return {"answers": f"{config.qa.misaligned} misaligned, {blanks} blanks"}


def features(*arguments: Any) -> Any:
    """Tokenize a split."""
    from heron.tasks.qa.features import qa_features

    return qa_features(*arguments)


def model() -> Any:
    """See `Task.model`."""
    from heron.tasks.base import ModelParts
    from heron.tasks.qa.head import SpanHead, span_head_in_transformers
    from heron.tasks.qa.module import ExtractionModule

    return ModelParts(ExtractionModule, head=SpanHead, in_transformers=span_head_in_transformers)


def from_texts(*arguments: Any) -> Any:
    """Read the answers that a language model wrote."""
    from heron.tasks.qa.predictions import from_texts as read

    return read(*arguments)


TASK = Task(
    forms=("question",),
    formats=FORMATS,
    head="span",
    options=QaConfig,
    has_classes=False,
    rules=SettingRules(
        long_forms=("question",),
        classifiers=("span", "biaffine"),
        ignores=FOR_CLASSES,
        problems=problems,
        data_problems=data_problems,
    ),
    features=features,
    # Only splits to train on leave out questions whose answer is cut.
    feature_options=lambda config, training: training,
    model=model,
    score_names=score_names,
    # Each language's own scores (`he_f1`) come last; `answerable_f1` is none of them.
    headline_scores=(
        *("f1", "exact_match", "no_answer_accuracy"),
        *("(?!answerable)[a-zA-Z-]+_f1", "(?!answerable)[a-zA-Z-]+_exact_match"),
    ),
    averaged_keys=("max_answer_tokens", "n_best"),
    scores=text_scores,
    from_texts=from_texts,
    about=About(
        hub_name="question-answering",
        does="finds the answer to a question in a text",
        texts=("context", "question"),
        reading=reading,
    ),
)
