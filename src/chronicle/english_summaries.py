"""English summaries."""

from __future__ import annotations

from collections.abc import Sequence

from chronicle import english_words as words
from chronicle.english_questions import EnglishAsker
from chronicle.summary import Summariser, placeless
from chronicle.world import Entity, Event

_DOUBLED = {"submit": "submitting", "begin": "beginning", "shut": "shutting",
            "cancel": "cancelling", "travel": "travelling"}  # fmt: skip


class EnglishSummariser(Summariser, EnglishAsker):
    """Summarizes in English."""

    def noun(self, event: Event, named: bool) -> str:
        """Tell an event as a gerund, without its town: Judge Ada signing the agreement."""
        base = event.frame.name
        gerund = _DOUBLED.get(base, base.removesuffix("e") + "ing")
        self.known.discard(event.object or event.subject)
        complements = self.predicate(placeless(event), "past", "")[1]
        return f"{self.full(event.subject) if named else ''} {gerund} {complements}".strip()

    def centre(self, who: Entity, acts: int, examples: Sequence[Event]) -> str:
        """Say who acts most often, how often, and name some of the actions."""
        things = self.together([self.noun(event, named=False) for event in examples])
        return self.rng.choice((
            f"the central part is played by {self.full(who)} with {_number(acts)} actions, among"
            f" them {things}",
            f"nobody does more than {self.full(who)}, whose {_number(acts)} actions include"
            f" {things}",
        ))  # fmt: skip

    def course(self, first: Event, last: Event) -> str:
        """Say how the story began and ended."""
        one, two = self.noun(first, named=True), self.noun(last, named=True)
        return self.rng.choice((
            f"it all began with {one} and ended with {two}",
            f"the first thing to happen was {one}, the last one {two}",
        ))  # fmt: skip

    def towns(self, towns: Sequence[int]) -> str:
        """Say in how many towns things happened, and name them."""
        names, count = self.together([words.PLACES[town] for town in towns]), _number(len(towns))
        return self.rng.choice((
            f"the events involve {count} towns: {names}",
            f"altogether {count} towns have a part in the story, namely {names}",
        ))  # fmt: skip

    def reason(self, effect: Event, cause: Event) -> str:
        """Say that one event followed from another."""
        noun, other = self.noun(effect, named=True), self.noun(cause, named=True)
        return self.rng.choice((f"{noun} was a result of {other}", f"{other} led to {noun}"))

    def together(self, names: Sequence[str]) -> str:
        """Join names: a, b and c."""
        *rest, last = names
        return f"{', '.join(rest)} and {last}"


def _number(count: int) -> str:
    """Count in words up to nine."""
    return words.NUMBERS[count] if count < 10 else str(count)
