"""What extractive question answering asks of a configuration."""

from __future__ import annotations

from collections.abc import Iterator

from heron.config.data import DataConfig
from heron.config.schema import Config
from heron.config.tasks import changed_keys, second_text_problems

ANSWER, NO_ANSWER = "answer", "no_answer"
CLASSIFIERS = ("span", "biaffine")
_IN_THE_TEXT = ("normalize_case", "phrases.remove", "join", "label_field", "columns.truth")


def problems(config: Config) -> Iterator[str]:
    """List what in a run's settings finding a span cannot do."""
    if config.optim.class_weights != "none":
        yield "optim.class_weights weighs classes; task=qa finds spans"
    if config.encoder.truncation != "only_first":
        yield (
            f"encoder.truncation={config.encoder.truncation}: with task=qa the text gives way, "
            "never the question; leave it at only_first"
        )
    head = config.head
    if head.pooling != "tokens" or head.classifier not in CLASSIFIERS:
        yield (
            f"head.pooling={head.pooling}, head.classifier={head.classifier}: task=qa needs "
            f"head.pooling=tokens and head.classifier={' or '.join(CLASSIFIERS)}, as head=span has"
        )
    elif head.classifier == "biaffine" and len(head.hidden) != 1:
        yield f"head.hidden={head.hidden}: head.classifier=biaffine needs one width, [128]"


def data_problems(config: DataConfig) -> Iterator[str]:
    """List what in a data set's settings does not go with questions."""
    yield from second_text_problems(config, is_needed=True)
    if config.label_order not in ([], [ANSWER], [ANSWER, NO_ANSWER]):
        yield (
            f"data.label_order={config.label_order}: data.task=qa has the classes [{ANSWER}], or "
            f"[{ANSWER}, {NO_ANSWER}] where questions may have no answer"
        )
    for key in changed_keys(config, *_IN_THE_TEXT):
        yield f"{key}: not for data.task=qa, whose answers are counted in the text"
    if config.generator and config.generator.class_weights:
        yield (
            f"data.generator.class_weights={config.generator.class_weights}: not for data.task=qa; "
            "data.generator.unanswerable sets the share of questions without an answer"
        )


def reading(config: DataConfig) -> dict[str, str]:
    """Say how answers are read and which questions are left out."""
    qa = config.qa
    limits = "any length" if not qa.answer_words else "{} to {} words".format(*qa.answer_words)
    trim, polar = ("trim" if qa.trim else "keep"), qa.yes_no
    return {
        "answers": f"{qa.misaligned} misaligned, {trim} blanks, {polar} yes/no questions, {limits}"
    }
