"""Rows of four-class inference: consecutive sentences that a linking phrase connects.

A contrastive sentence contradicts the first one, an entailed sentence repeats it in other words,
and a sentence of reasoning tells its effect or its cause. A neutral pair joins two stories.

Source: RoNLI; its classes, the removal of linking phrases, and the casing that it leaves behind.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from random import Random

from chronicle.claims import Claim, Claims
from chronicle.entailment import Inference
from chronicle.plot import EARLIER, Sentence, Story
from chronicle.premise import DENIED, MAYBE, TOLD, cast_of, facts_of, gather, opened
from chronicle.telling import Teller
from chronicle.world import AGENTS, Event

CONTRASTIVE, ENTAILMENT, REASONING, NEUTRAL = FOUR = (
    "contrastive",
    "entailment",
    "reasoning",
    "neutral",
)


@dataclass(frozen=True, slots=True)
class Linked:
    """The second sentence of a pair.

    Args:
        text: the sentence, beginning with its linking phrase.
        phrase: the linking phrase, without punctuation.
        lead: length of phrase, punctuation and space, in characters.
    """

    text: str
    phrase: str
    lead: int

    def bare(self) -> str:
        """Return the sentence without its phrase, beginning with a capital."""
        return re.sub(r"^\W*\w", lambda start: start[0].upper(), self.text[self.lead :])


class Passage:
    """Two neighbouring sentences of a story, and other sentences that could follow the first.

    Args:
        story: the story of both sentences.
        plans: the two sentences.
        teller: the language.
        plan: draws the second sentence; the same in all languages.
        wording: chooses among equivalent wordings.
    """

    def __init__(
        self, story: Story, plans: list[Sentence], teller: type[Teller], plan: Random,
        wording: Random,
    ):  # fmt: skip
        self.plan, self.wording, self.teller = plan, wording, teller
        telling = teller(story, wording)
        one, two = opened(plans)
        self.first = telling.sentence(one).text
        self.known = set(telling.known)
        facts = list(facts_of(story, [one]))
        self.claims = Claims(gather(self.first, facts, [story]), plan)
        # A cause happens earlier, an effect later.
        phrase = self.phrase("cause" if two.link.direction == EARLIER else "effect")
        self.next = self.link(phrase, telling.sentence(two, f"{phrase} ").text)
        told = [cast_of([story.events[index] for index in one.events]) for one in plans]
        self.connected = any(set(told[0].get(kind, ())) & set(told[1][kind]) for kind in told[1])

    def followers(self) -> Iterator[tuple[str, Linked]]:
        """Yield (class, second sentence) for each class that this passage allows."""
        for label, claims in ((CONTRASTIVE, self.turned()), (ENTAILMENT, self.again())):
            if claims:
                phrase = self.phrase(label)
                yield label, self.link(phrase, self.state(self.plan.choice(claims), phrase))
        if self.connected:
            yield REASONING, self.next

    def turned(self) -> list[Claim]:
        """Contradict the first sentence: negation, another subject, certain instead of possible."""
        by_another = self.claims.drawn.by_another
        return [
            *(Claim("not_again", (by_another(event),)) for event in self.events(TOLD, AGENTS)),
            *(Claim("not_again", (event,)) for event in self.events(MAYBE)),
            *(Claim("again", (by_another(event),)) for event in self.events(DENIED, AGENTS)),
        ]

    def again(self) -> list[Claim]:
        """Repeat the first sentence in other words."""
        order = self.claims.order()
        return [
            *(Claim("again", (event,)) for event in self.events(TOLD)),
            *(Claim("who", (event,)) for event in self.events(TOLD, AGENTS)),
            *(Claim("not_again", (event,)) for event in self.events(DENIED)),
            *([order[ENTAILMENT]] if order else []),
        ]

    def events(self, said: str, subjects: Collection[str] = ()) -> list[Event]:
        """List the first sentence's events told in this way, with these kinds of subject."""
        known = [fact.event for fact in self.claims.premise.known(said)]
        return [event for event in known if not subjects or event.subject.kind in subjects]

    def state(self, claim: Claim, phrase: str) -> str:
        """Tell a claim as a continuation of the first sentence."""
        teller = self.teller(Story(0, claim.events, ()), self.wording)
        teller.known = set(self.known)
        return teller.state(claim.form, claim.date, f"{phrase} ")

    def phrase(self, kind: str) -> str:
        """Choose a linking phrase."""
        return self.wording.choice(self.teller.link_phrases[kind])

    def link(self, phrase: str, text: str) -> Linked:
        """Keep a sentence and the extent of its phrase."""
        return Linked(text, phrase.rstrip(",:"), len(phrase) + 1)


def links(
    stories: tuple[Story, Story], teller: type[Teller], plan: Random, wording: Random,
    keep_phrases: bool, casing_artefact: bool,
) -> Iterator[Inference]:  # fmt: skip
    """Yield sentence pairs of two stories, in all classes that each passage allows.

    Args:
        stories: neutral pairs take one sentence of each.
        teller: the language.
        plan: draws the pairs; the same in all languages.
        wording: chooses among equivalent wordings.
        keep_phrases: keep linking phrases.
        casing_artefact: where a phrase was removed, lower-case all letters but the first.
    """
    passages = [
        [
            Passage(story, list(story.sentences[at : at + 2]), teller, plan, wording)
            for at in range(0, len(story.sentences) - 1, 2)
        ]
        for story in stories
    ]
    for ours, theirs in (passages, passages[::-1]):
        for number, passage in enumerate(ours):
            rows = []
            for label, linked in passage.followers():
                text = linked.text if keep_phrases else linked.bare()
                if casing_artefact and not keep_phrases:
                    text = text.capitalize()
                side: dict[str, object] = {"phrase": linked.phrase}
                rows.append(Inference(passage.first, text, label, side))
            other = theirs[number % len(theirs)].next.bare()
            rows.append(Inference(passage.first, other, NEUTRAL, {"phrase": ""}))
            yield from plan.sample(rows, len(rows))
