"""Rows of extractive question answering: the choice among a passage's questions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from random import Random

from chronicle.asking import Asker, ask
from chronicle.english_questions import EnglishAsker
from chronicle.hebrew_questions import HebrewAsker
from chronicle.passage import Passage
from chronicle.questions import KINDS, WHO, Question, Questions, by_kind
from chronicle.romanian_questions import RomanianAsker

ASKERS: Mapping[str, type[Asker]] = {"he": HebrewAsker, "ro": RomanianAsker, "en": EnglishAsker}
# More causes, times of day and numbers than in stories of other tasks, where few texts have two.
MORE = {"because": 4.5, "clock_later": 0.9, "clock_earlier": 0.9}
COUNTED = 0.6
PER_PASSAGE = 3
# Per kind, sentences to search for a question with (or without) a second candidate of the answer;
# halved each time that none is found.
_PATIENCE = 200


@dataclass(frozen=True, slots=True)
class Asked:
    """One row: context, question, and the answer with its position, None without an answer."""

    context: str
    question: str
    answer: str | None
    start: int | None
    kind: str
    candidates: int


class Selection:
    """Chooses questions so that kinds, rivals and unanswerable questions keep their shares.

    Shares of kinds and of unanswerable questions are exact within a few rows. That of rivals is
    kept as far as the contexts allow: long ones nearly always hold several dates and towns. All
    contexts name several people, so it is not kept for who.

    Args:
        rivals: share, within each kind, of questions whose context holds another candidate of the
            answer's type.
        unanswerable: share of questions without an answer.
        sentences: maximum of sentences in a passage.
    """

    def __init__(self, rivals: float, unanswerable: float, sentences: int):
        self.rivals = rivals
        self.unanswerable = unanswerable
        self.asked: Counter[tuple[str, bool]] = Counter()  # (kind, has an answer)
        self.contested: Counter[str] = Counter()  # answered questions of a kind with rivals
        self.waited: Counter[str] = Counter()
        self.patience = dict.fromkeys(KINDS, _PATIENCE // sentences)

    def choose(self, questions: Questions, rng: Random) -> Iterator[Question]:
        """Choose up to `PER_PASSAGE` questions about one passage, of different kinds."""
        answered = dict(by_kind(questions.answered()))
        used: set[str] = set()
        for _ in range(PER_PASSAGE):
            total = self.asked.total()
            negative = self._many(False) < self.unanswerable * (total + 1) - 0.5
            kinds = sorted(KINDS, key=lambda kind: self.asked[kind, not negative])
            for kind in kinds:
                if kind in used:
                    continue
                if negative:
                    one = questions.unanswered(kind)
                else:
                    one = self._answered(kind, answered.get(kind, []), rng)
                if one:
                    used.add(kind)
                    self.asked[kind, not negative] += 1
                    yield one
                    break
                if self._behind(kind, not negative):
                    return  # catch up on this kind before taking others

    def _answered(self, kind: str, options: list[Question], rng: Random) -> Question | None:
        if not options:
            return None
        wanted = self.contested[kind] < self.rivals * (self.asked[kind, True] + 1) - 0.5
        fitting = [one for one in options if kind == WHO or (one.candidates > 1) == wanted]
        if not fitting:
            self.waited[kind] += 1
            if self.waited[kind] <= self.patience[kind]:
                return None
            self.patience[kind] //= 2
        self.waited[kind] = 0
        one = rng.choice(fitting or options)
        self.contested[kind] += one.candidates > 1
        return one

    def _behind(self, kind: str, answered: bool) -> bool:
        most = max(self.asked[other, answered] for other in KINDS)
        return self.asked[kind, answered] < most - len(KINDS)

    def _many(self, answered: bool) -> int:
        return sum(self.asked[kind, answered] for kind in KINDS)


def asked(passage: Passage, selection: Selection, asker: type[Asker], plan: Random, wording: Random,
) -> Iterator[Asked]:  # fmt: skip
    """Yield the chosen questions about a passage."""
    for one in selection.choose(Questions(passage, plan), plan):
        said = ask(one, asker, wording)
        words = passage.text(one.answer) if one.answer else None
        start = one.answer[0] if one.answer else None
        yield Asked(passage.premise.text, said, words, start, one.kind, one.candidates)
