"""How predictions of a task are scored outside a run: class by class, or text by text.

`heron compare` and `heron score` ask here. A task whose predictions are classes is scored by its
confusion matrix, one whose predictions are texts by the mean of a score for each text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from heron.base.errors import ConfigError, nearest
from heron.config.tasks import TASKS

if TYPE_CHECKING:  # a command that scores nothing loads none of these
    from pathlib import Path

    from heron.config.data import DataConfig
    from heron.data.examples import Example
    from heron.data.rows import Rows
    from heron.languages.language import Language
    from heron.metrics.paired import Floats
    from heron.tasks.task import Task

    ItemScores = Callable[
        [Sequence[str], Sequence[Sequence[str]], Language | None, bool | None], dict[str, Floats]
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassScores:
    """Scores of a task whose predictions are classes.

    Args:
        metric: what is compared where nobody says.
        right: the score that is 1 where a row is right.
        usual_labels: classes that go by these names in every data set, in their order.
    """

    metric: str = "macro_f1"
    right: str = "accuracy"
    usual_labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TextScores:
    """Scores of a task whose predictions are texts: means over rows, one value for each text.

    Args:
        items: scores each prediction beside its golds: predictions, golds, language (None: only
            scores that need none), and whether "no answer" can be right (None: if golds say so).
            Float64 arrays by name; NaN where a row does not count.
        metric: what is compared where nobody says.
        right: the score that is 1 where a row is right; None where rows are not right or wrong.
        can_be_empty: tells from the labels of a data set whether "no answer" can be right; None
            where there are no labels.
        gives: what a system gives, such as `answer`.
        to: what it is given to, such as `question`.
        data: the data set whose form gold files have by default.
        columns: names that the column of predictions may have.
        group: what stays whole in a draw where a row names no group: its `text`, or its `guid`.
        read: reads a gold file.
        golds: lists the right texts of an example.
        notes: what the reader of the scores must know of the gold examples.
        rest: what else is scored of a whole file.
        by_encoder: whether an encoder can compare the texts (BERTScore).
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


CLASSES = "classification"  # also scores rows of any other task with classes


def scores_of(task: str) -> ClassScores | TextScores:
    """Find how a task's predictions are scored.

    Args:
        task: its name; `classification` also scores rows of any other task with classes.

    Raises:
        ConfigError: there is no such task.
    """
    if task not in TASKS:
        raise ConfigError(f"task={task}: no such task.{nearest(task, TASKS)}")
    return cast("Task", TASKS[task]).scores()


def text_scores(task: object) -> TextScores | None:
    """Find how a task's texts are scored; None where it has classes or is unknown.

    Args:
        task: its name, perhaps of a fork that is not here, or None.
    """
    scores = scores_of(str(task)) if task in TASKS else None
    return scores if isinstance(scores, TextScores) else None
