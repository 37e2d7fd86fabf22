"""English questions: the base form after an auxiliary, where the text has past tenses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from chronicle import english_words as words
from chronicle.asking import UNINTENDED, Asker
from chronicle.english import English
from chronicle.world import AGENTS, Entity, Event


class EnglishAsker(Asker, English):
    """Asks in English."""

    asks: ClassVar = {
        "date": ("when", "on which date", "on which day"),
        "clock": ("at what time",),
        "place": ("where", "in which town"),
        "why": ("why", "for what reason"),
    }

    def wordings(self, form: str, event: Event, doer: bool) -> list[str]:
        """Return both wordings of "who"; of any other form, one that is drawn.

        English names the subject, whatever `doer` is.
        """
        return list(self._wordings(form, event))

    def _wordings(self, form: str, event: Event) -> Iterator[str]:
        base = event.frame.name
        _, complements = self.predicate(event, "past", "")  # without the verb
        if form == "who":
            yield f"who would {base} {complements}"
            yield f"who managed to {base} {complements}"
            return
        clause = f"{self.full(event.subject)} {base}"
        if event.subject.kind in AGENTS and self.coin():
            verb = "decide" if form == "why" and base not in UNINTENDED else "manage"
            clause = f"{self.full(event.subject)} {verb} to {base}"
        if form == "town":
            preposition = words.VERBS[base].partition("|")[2]  # the verb's, after |
            yield f"which town did {clause} {preposition}"
        elif form == "how_many":
            assert event.object is not None
            noun = words.NOUNS[event.object.kind][event.object.word]
            place = "" if event.place is None else f"in {words.PLACES[event.place]}"
            yield f"how many {noun}s did {clause} {place}"
        else:
            yield f"{self.rng.choice(self.asks[form])} did {clause} {complements}"

    def full(self, entity: Entity) -> str:
        """Name an entity; a person by role and name, as when first mentioned."""
        self.known.discard(entity)
        return self.subject(entity)
