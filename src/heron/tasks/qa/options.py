"""Options of question sets: what becomes of wrong answers, and which questions to leave out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from heron.base.errors import ConfigError, nearest

if TYPE_CHECKING:
    from heron.config.data import DataConfig

ANSWER, NO_ANSWER = "answer", "no_answer"
QA_FORMATS = ("squad_json", "qa_table")

_CHOICES = {
    "misaligned": ("refuse", "repair", "drop"),
    "yes_no": ("keep", "drop"),
    "no_answer": ("refuse", "drop"),
}


@dataclass
class QaConfig:
    """How the answers of extractive question answering are read (`data.qa`).

    Args:
        misaligned: of an answer that does not stand at its `answer_start`: `refuse` stops and
            names all of them, `repair` takes the nearest place where it does stand, `drop` leaves
            the answer out, and the question where it has no other.
        trim: leave out blanks at both ends of an answer. The string as it was shipped stays the
            gold answer of the metrics.
        yes_no: `drop` leaves out questions that ask for yes or no, by their first word.
        no_answer: of questions without an answer, where `data.label_order` is `[answer]`: `refuse`
            stops and names all of them, `drop` leaves them out, so that data with such questions
            go before data without in sequential fine-tuning.
        answer_words: fewest and most words of an answer, `[min, max]`; questions with no such
            answer are left out. Empty for no limits.

    Raises:
        ConfigError: a value that is none of the above.

    Source: ParaShoot, section 2.3: yes/no questions and extremely short or long answers were
    discarded, 68 of 3,106; the released files are what was left, hence the defaults.
    """

    misaligned: str = "refuse"
    trim: bool = True
    yes_no: str = "keep"
    no_answer: str = "refuse"
    answer_words: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        for name, allowed in _CHOICES.items():
            value = getattr(self, name)
            if value not in allowed:
                raise ConfigError(f"data.qa.{name}={value}: unknown.{nearest(value, allowed)}")
        limits = list(self.answer_words)
        if limits and (len(limits) != 2 or not 1 <= limits[0] <= limits[1]):
            raise ConfigError(
                f"data.qa.answer_words={limits}: the fewest and the most words of an answer, "
                "[1, 30], or [] for no limits"
            )


def check_question_set(config: DataConfig, formats: Sequence[str]) -> None:
    """Check what a data set of questions needs, and that others are in none of its formats.

    Args:
        config: any data set.
        formats: all formats that there are.

    Raises:
        ConfigError: a format or classes of another task, or an option that would change the text
            in which answers are counted.
    """
    questions = config.task == "qa"
    if config.task == "summarization":
        return  # see `check_article_set`
    if questions != (config.format in QA_FORMATS):
        fitting = [name for name in formats if (name in QA_FORMATS) == questions]
        raise ConfigError(
            f"data.format={config.format}: data.task={config.task} reads {' or '.join(fitting)}"
        )
    if not questions:
        return
    if config.label_order not in ([], [ANSWER], [ANSWER, NO_ANSWER]):
        raise ConfigError(
            f"data.label_order={config.label_order}: data.task=qa has the classes [{ANSWER}], or "
            f"[{ANSWER}, {NO_ANSWER}] where questions may have no answer"
        )
    given = {
        "data.normalize_case": config.normalize_case != "none",
        "data.phrases.remove": config.phrases.remove != "none",
        "data.join": config.join is not None,
        "data.label_field": bool(config.label_field),
        "data.columns.truth": config.columns.truth is not None,
    }
    for key in (key for key, is_given in given.items() if is_given):
        raise ConfigError(f"{key}: not for data.task=qa, whose answers are counted in the text")
