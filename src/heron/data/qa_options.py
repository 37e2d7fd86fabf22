"""`QaConfig`: what becomes of answers that stand elsewhere, and which questions to leave out."""

from __future__ import annotations

from dataclasses import dataclass, field

from heron.errors import ConfigError, nearest

ANSWER, NO_ANSWER = "answer", "no_answer"

_CHOICES = {
    "misaligned": ("refuse", "repair", "drop"),
    "yes_no": ("keep", "drop"),
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
