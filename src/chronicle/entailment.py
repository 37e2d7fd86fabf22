"""Rows of three-class inference: premises from stories, claims from the same world."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from chronicle.claims import THREE, Claim, Claims
from chronicle.plot import Story
from chronicle.premise import premises
from chronicle.telling import Teller


@dataclass(frozen=True, slots=True)
class Inference:
    """One row before label noise: two texts and the class of the second."""

    premise: str
    hypothesis: str
    label: str
    side: Mapping[str, object]


def inferences(
    stories: Sequence[Story], teller: type[Teller], plan: Random, wording: Random,
    sentences: tuple[int, int],
) -> Iterator[Inference]:  # fmt: skip
    """Yield the claims of all premises of some stories, classes in random order.

    Args:
        stories: to tell one after the other.
        teller: the language.
        plan: draws premises and claims; the same in all languages.
        wording: chooses among equivalent wordings.
        sentences: fewest and most sentences of a premise.
    """
    for premise in premises(stories, teller, plan, wording, *sentences):
        for three in Claims(premise, plan).threes():
            for label in plan.sample(THREE, len(THREE)):
                claim = three[label]
                said = word(claim, teller, wording)
                side = {"reasoning": claim.reasoning()}
                yield Inference(premise.text, said, label, side)


def word(claim: Claim, teller: type[Teller], rng: Random) -> str:
    """Tell a claim in one sentence; people are introduced by role and name."""
    story = Story(year=0, events=claim.events, sentences=())
    return teller(story, rng).state(claim.form, claim.date)
