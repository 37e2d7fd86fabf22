"""`ChronicleConfig`: the settings of a corpus, checked on creation."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from chronicle.claims import THREE
from chronicle.english import English
from chronicle.hebrew import Hebrew
from chronicle.linking import FOUR
from chronicle.options import CorpusOptions
from chronicle.romanian import Romanian
from chronicle.telling import Teller
from chronicle.world import LABELS

RELATION, NLI, QA, SUMMARIZATION = TASKS = ("relation", "nli", "qa", "summarization")
ANSWER, NO_ANSWER = "answer", "no_answer"
LABEL_SETS = {"three": THREE, "four": FOUR}
TELLERS: dict[str, type[Teller]] = {"he": Hebrew, "ro": Romanian, "en": English}
_SMALLEST, _LARGEST = 100, 1_000_000
_LONGEST = 1_000  # sentences of a premise
# Sentences of one story: enough to summarize, and no more than can be marked.
_SHORTEST_ARTICLE, _LONGEST_ARTICLE = 8, 80


class SettingsError(ValueError):
    """Invalid settings; the message names each one and its allowed values."""


@dataclass
class ChronicleConfig(CorpusOptions):
    """The settings of a corpus; equal settings give identical bytes.

    Args:
        task: `relation`, `nli`, `qa` (extractive question answering) or `summarization`.
        language: `he`, `ro` or `en`; one seed gives the same stories in all of them.

    Raises:
        SettingsError: an unknown task, label set or language, or a value out of range; names all.
    """

    task: str = RELATION
    language: str = "he"

    def __post_init__(self) -> None:
        problems = [message for message in self._problems() if message]
        if problems:
            raise SettingsError("chronicle: " + "; ".join(problems))

    @property
    def sentences(self) -> tuple[int, int]:
        """The fewest and the most sentences of a premise, context or article."""
        low, high = self.premise_sentences
        return low, high

    @property
    def labels(self) -> tuple[str, ...]:
        """The classes, in the order of `class_weights`; of `qa`, the possible values."""
        if self.task == SUMMARIZATION:
            return ()
        if self.task == QA:
            return (ANSWER, NO_ANSWER) if self.unanswerable else (ANSWER,)
        return LABEL_SETS[self.label_set] if self.task == NLI else LABELS

    @property
    def labels_key(self) -> str:
        """The name of the setting that decides `labels`."""
        return "unanswerable" if self.task == QA else "label_set"

    def _problems(self) -> Iterator[str]:
        choices = {"task": TASKS, "language": TELLERS, "label_set": LABEL_SETS}
        unknown = {key: named for key, named in choices.items() if getattr(self, key) not in named}
        for key, named in unknown.items():
            value = getattr(self, key)
            yield f"{key}='{value}' does not exist.{_nearest(value, named)}"
        if not _SMALLEST <= self.size <= _LARGEST:
            yield f"size={self.size} is not between {_SMALLEST} and {_LARGEST} rows"
        for key in ("label_noise", "unanswerable", "rivals"):
            if not 0 <= getattr(self, key) <= 1:
                yield f"{key}={getattr(self, key)} is not a fraction between 0 and 1"
        if self.task in (QA, SUMMARIZATION):
            yield from self._not_without_labels()
        if self.task == SUMMARIZATION and _is_range(self.premise_sentences):
            yield from self._wrong_article(*self.premise_sentences)
        if not _is_range(self.premise_sentences):
            yield (
                f"premise_sentences={list(self.premise_sentences)} are not two numbers from 1 to "
                f"{_LONGEST}, the fewest and the most sentences of a premise"
            )
        weighed = self.task not in (QA, SUMMARIZATION) and not unknown.keys() & {
            "task",
            "label_set",
        }
        if self.class_weights is not None and weighed:
            yield self._wrong_weights(self.class_weights)

    def _not_without_labels(self) -> Iterator[str]:
        """Refuse label noise and class weights for questions and articles, which have no labels."""
        task = self.task
        if self.label_noise:
            yield f"label_noise={self.label_noise} is not for task={task}, whose rows have no label"
        if self.class_weights is not None:
            instead = "; unanswerable sets the share without an answer" if task == QA else ""
            yield f"class_weights are not for task={task}{instead}"

    def _wrong_article(self, least: int, most: int) -> Iterator[str]:
        """Report lengths that are too short to summarize or too long for a story."""
        wanted = f"premise_sentences=[{least}, {most}]: an article of task=summarization has"
        if least < _SHORTEST_ARTICLE:
            yield f"{wanted} at least {_SHORTEST_ARTICLE} sentences"
        if most > _LONGEST_ARTICLE:
            yield f"{wanted} at most {_LONGEST_ARTICLE} sentences"

    def _wrong_weights(self, weights: Sequence[float]) -> str:
        labels = self.labels
        if len(weights) == len(labels) and all(map(_is_weight, weights)) and sum(weights) > 0:
            return ""
        return (
            f"class_weights={tuple(weights)} are not {len(labels)} numbers, none negative and "
            f"one above 0, for {', '.join(labels)}"
        )


def _nearest(value: str, choices: Iterable[str]) -> str:
    close = difflib.get_close_matches(value, choices, n=1)
    return f" Did you mean '{close[0]}'?" if close else f" Allowed: {', '.join(sorted(choices))}."


def _is_weight(weight: float) -> bool:
    return 0 <= weight < math.inf


def _is_range(sentences: Sequence[int]) -> bool:
    return len(sentences) == 2 and 1 <= sentences[0] <= sentences[1] <= _LONGEST
