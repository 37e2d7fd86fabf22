"""Wording of questions: the part that Hebrew, Romanian and English share.

A question uses other forms of the verb than the text (an infinitive, the passive, a verbal noun),
so that word overlap alone does not find the answer.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from random import Random

from chronicle.plot import Story
from chronicle.pointing import Pointing, unmark
from chronicle.questions import Question
from chronicle.world import Event

# Verbs for unintended events: nobody decides to lose a letter.
UNINTENDED = ("lose", "find", "receive")


class Asker(Pointing):
    """Tells texts with their answers marked, and asks questions; subclasses are languages."""

    @abstractmethod
    def wordings(self, form: str, event: Event, doer: bool) -> list[str]:
        """Return all wordings of a question, without the question mark.

        Args:
            form: key of `questions.KIND_OF`.
            event: what it is about; its town is named where it has one.
            doer: name the subject, unless the question asks for it.
        """

    def coin(self, chance: float = 0.5) -> bool:
        """Return True with this probability."""
        return self.rng.random() < chance


def ask(question: Question, asker: type[Asker], rng: Random) -> str:
    """Word a question; people are introduced by role and name."""
    event = question.event
    # The question asks for the town, or can do without it.
    if question.kind == "where" or rng.random() < 0.5:
        event = replace(event, place=None)
    teller = asker(Story(0, (event,), ()), rng)
    choices = teller.wordings(question.form, event, question.doer)
    text, _ = unmark(" ".join(rng.choice(choices).split()))
    return f"{text[0].upper()}{text[1:]}?"
