"""Tasks that are scored text by text: how, and what is compared where nobody says.

A new one needs a function that scores every text by itself, and a line in `TEXT_TASKS`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from heron.base.errors import ConfigError
from heron.languages.language import Language
from heron.metrics.paired_units import Floats
from heron.metrics.span import item_scores
from heron.metrics.span_profiles import language_profile
from heron.metrics.summary import item_rouge
from heron.tasks.qa.options import NO_ANSWER

ItemScores = Callable[
    [Sequence[str], Sequence[Sequence[str]], Language | None, bool | None], dict[str, Floats]
]


@dataclass(frozen=True, slots=True)
class TextTask:
    """A task whose scores are means over rows, one value for each text.

    Args:
        items: scores each prediction beside its golds: predictions, golds, language (None: only
            scores that need none), and whether "no answer" can be right (None: if golds say so).
            Float64 arrays by name; NaN where a row does not count.
        metric: what is compared where nobody says.
        right: the score that is 1 where a row is right; None where rows are not right or wrong.
        may_be_empty: whether "no answer" can be right.
    """

    items: ItemScores
    metric: str
    right: str | None = None
    may_be_empty: bool = False


def _answers(
    predictions: Sequence[str],
    golds: Sequence[Sequence[str]],
    language: Language | None,
    no_answer: bool | None,
) -> dict[str, Floats]:
    profiles = (language_profile(language),) if language else ()
    return item_scores(predictions, golds, profiles, no_answer=no_answer)


def _summaries(
    predictions: Sequence[str],
    golds: Sequence[Sequence[str]],
    language: Language | None,
    no_answer: bool | None,
) -> dict[str, Floats]:
    if language is None:
        raise ConfigError(
            "task=summarization: what a word is depends on the language, which no run says; "
            "say language=CODE, such as language=he"
        )
    return item_rouge(predictions, golds, language)


TEXT_TASKS = {
    "qa": TextTask(_answers, "f1", right="exact_match", may_be_empty=True),
    "summarization": TextTask(_summaries, "rouge1"),
}


def can_be_empty(labels: Sequence[str]) -> bool | None:
    """Tell whether "no answer" is among the labels of a question answering data set."""
    return NO_ANSWER in labels if labels else None
