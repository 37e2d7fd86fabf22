"""How answers are scored outside a run: one by one, as in SQuAD's evaluation."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from heron.data.config import DataConfig
from heron.data.examples import Example, count_repairs
from heron.data.rows import SIDE, Rows
from heron.metrics.span import item_scores, language_profile
from heron.tasks.qa import ANSWER, NO_ANSWER
from heron.tasks.qa.reader import REPAIRED, open_questions
from heron.tasks.task import TextScores


def _read(path: Path, config: DataConfig) -> Rows:
    """Read questions; answers need no place in the context, and any question may have none."""
    labels = [ANSWER, *([] if config.qa.no_answer == "drop" else [NO_ANSWER])]
    placed = config.qa.misaligned == "drop"
    config = replace(config, label_order=labels, counts={})  # of whole splits, not of this file
    side = dict.fromkeys(config.columns.side, SIDE)
    return open_questions(config, {}, placed)(path, "required", "", side)


def _notes(examples: Sequence[Example]) -> list[str]:
    away = count_repairs(examples).get(REPAIRED)
    what = "questions have a gold answer that is not at its answer_start"
    return [f"{away} {what}; answers are scored as texts"] if away else []


def text_scores() -> TextScores:
    """Describe how answers are scored."""
    return TextScores(
        items=lambda texts, golds, language, no_answer: item_scores(
            texts, golds, [language_profile(language)] if language else [], no_answer=no_answer
        ),
        metric="f1",
        right="exact_match",
        can_be_empty=lambda labels: NO_ANSWER in labels if labels else None,
        predicts="answer",
        data="own_qa",
        columns=("prediction", "prediction_text", "answer", "text"),
        group="text",
        read=_read,
        golds=lambda example: list(example.side["answers"]),
        notes=_notes,
    )
