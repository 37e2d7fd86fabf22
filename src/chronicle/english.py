"""English for the built-in corpus."""

from __future__ import annotations

from typing import ClassVar

from chronicle import english_words as words
from chronicle import world
from chronicle.telling import Teller, TimeWords
from chronicle.world import Entity, Event


class English(Teller):
    """Tells a story in British English."""

    # {0} is the sentence's first event, {1} and {2} the others. A slot may name its clause's tense;
    # otherwise it is that of the first event (see `Teller.clause`). `.bare` omits the subject.
    templates: ClassVar = {
        "single": ("{0}", "{0} {when}", "{0} {when}", "{0} {manner}", "{0} {manner}"),
        "after": (
            "{gap} after {1:perfect}, {0}",
            "{gap} after {1:past}, {0} {manner}",
            "{0} {gap} after {1:perfect}",
            "{0} {gap} after {1:past}",
        ),
        "before": (
            "{gap} before {1:past}, {0}",
            "{gap} before {1:past}, {0} {manner}",
            "{0} {gap} before {1:past}",
            "{0} {manner}, {gap} before {1:past}",
        ),
        "same": (
            "at the very moment when {1:past}, {0}",
            "just as {1:past}, {0}",
            "{0} at the very moment when {1:past}",
            "{0} just as {1:past}",
        ),
        "from_moment": (
            "from the moment {0}, {1:progressive}",
            "{1:progressive} from the moment {0}",
        ),
        "then": (
            "{0}, and {gap} later {1:past}",
            "{0}, and {gap} after that {1:past}",
            "{0}; {gap} later, {1:past} {manner}",
            "{0}, and later that day {1:past}",
        ),
        "earlier": (
            "{0}, but {gap} earlier {1:perfect}",
            "{0}; {gap} before that, {1:perfect}",
            "{0}, but earlier that day {1:perfect}",
        ),
        "then_also": (
            "{0} and {1:would.bare} {gap} later",
            "{0} and {gap} later {1:past.bare}",
            "{0} and {gap} after that {1:past.bare}",
        ),
        "earlier_also": ("{0}, but {1:perfect.bare} {gap} earlier",),
        "who_had": ("{who}, who {1:perfect.bare} {gap} earlier, {0:.bare}",),
        "who_would": ("{who}, who {1:would.bare} {gap} later, {0:.bare}",),
        "because": (
            "{0} because {1:perfect} earlier that day",
            "{0}, as {1:perfect} earlier that day",
            "because {1:perfect} earlier that day, {0}",
            "as {1:perfect} earlier that day, {0}",
        ),
        "until": (
            "{1:progressive} from early morning until {0}",
            "until {0}, {1:perfect_progressive} since early morning",
        ),
        "under_way": (
            "{1:perfect_progressive} for {gap} when {0:past}",
            "when {0:past}, {1:perfect_progressive} for {gap}",
        ),
        "clock_later": (
            "{0} at {time0}, and {1:past} at {time1}",
            "{1:past} at {time1}, and {0} at {time0}",
            "at {time1} {1:past}, while {0} at {time0}",
        ),
        "said_past": (
            "{0} that {1:perfect} earlier that day",
            "{0}: “{1:past} earlier today”",
            "“{1:past} earlier today,” {0} {when}",
        ),
        "said_future": (
            "{0} that {1:would} later that day",
            "{0}: “{1:will} later today”",
            "“{1:will} later today,” {0} {when}",
        ),
        "said_maybe": (
            "{0} that {1:might}",
            "{0} that perhaps {1:would}",
            "“perhaps {1:will},” {0} {when}",
        ),
        "said_if": (
            "{0} that if {1:past}, {2:would}",
            "{0} that {2:would} only if {1:past}",
        ),
        "denied": (
            "{0}, but {1:negated}",
            "although {1:negated}, {0}",
            "{0}, although {1:negated}",
            "while {1:negated}, {0}",
        ),
        "undated": (
            "{0}; {1:past} on a date that was not disclosed",
            "{0}, while {1:past} on an unknown date",
        ),
    }
    templates["clock_earlier"] = templates["clock_later"]
    statements: ClassVar = {
        "fact": ("in fact, {0}", "it is true that {0}"),
        "negated": ("in fact, {0:negated}", "it is true that {0:negated}"),
        "who": ("it was {who} who {0:.bare}", "{who}, and not someone else, {0:.bare}"),
        "when": ("it was {when} that {0}", "{when}, not on another day, {0}"),
        "order": (
            "{0} after {1:perfect}",
            "some time after {1:past}, {0}",
            "{1:past} before {0}",
            "some time before {0}, {1:past}",
        ),
        "together": ("{0} at the same time as {1:past}", "{0} and {1:past} at the same time"),
        "why": ("the reason that {0} was that {1:past}", "{0} for the reason that {1:past}"),
        "again": ("on the same date, {0}", "{0} on the same date"),
        "not_again": ("on the same date, {0:negated}", "{0:negated} on the same date"),
    }
    link_phrases: ClassVar = {
        "contrastive": ("even so,", "by contrast,", "all the same,", "against expectations,"),
        "entailment": ("put differently,", "to say it again,", "more exactly,", "in short,"),
        "effect": ("for that reason,", "as a consequence,", "because of this,", "and so"),
        "cause": ("the reason:", "the explanation:"),
    }
    when_words: ClassVar[TimeWords] = {
        "days_later": ("{amount} later", "{amount} after that"),
        "days_earlier": ("{amount} earlier", "{amount} before that"),
        "hours_later": (
            "",
            "afterwards",
            "later that day",
            "{amount} later",
            "{amount} after that",
        ),
        "hours_earlier": ("earlier that day", "{amount} earlier", "{amount} before that"),
        "same": ("at that very moment", "at exactly the same time"),
    }
    gap_words: ClassVar = {
        10: ("ten minutes", "a short while"),
        30: ("half an hour", "a short while"),
        60: ("an hour",),
        120: ("two hours",),
        180: ("three hours",),
    }
    manner_words: ClassVar = (
        "for the first time",
        ", and not for the first time",
        "earlier than planned",
        "later than planned",
        "after long preparations",
        "before a large audience",
        "at the last moment",
        "without prior notice",
        "without delay",
        "despite the rain",
        "despite the protests",
        "in the presence of reporters",
        "at the request of the citizens",
        "with the help of friends",
        "to everyone's surprise",
    )
    day_words: ClassVar = {
        1: "a day", 2: "two days", 3: "three days", 4: "four days", 5: "five days",
        7: "a week", 14: "two weeks",
    }  # fmt: skip

    def subject(self, entity: Entity) -> str:
        """Name an entity; a person first by title and name, later by either."""
        if entity.kind == world.PERSON:
            name, role = words.NAMES[entity.gender][entity.word], words.ROLES[entity.role]
            if entity not in self.known:
                self.known.add(entity)
                return f"{role.capitalize()} {name}"
            return name if self.rng.random() < 0.6 else f"the {role}"
        if entity.kind == world.ORGANISATION:
            return words.ORGANISATIONS[entity.word][0]
        if entity.kind == world.PLACE:
            return self.tag("place", self.index, words.PLACES[entity.word])
        noun = words.NOUNS[entity.kind][entity.word]
        if entity.count == 1:
            return f"the {noun}"
        return f"{self.tag('count', self.index, words.NUMBERS[entity.count])} {noun}s"

    def predicate(self, event: Event, tense: str, mark: str) -> tuple[str, str]:
        """Inflect the verb.

        `mark`, the private-use character by which the event is found again, is put directly before
        the main verb, after its auxiliaries.
        """
        base = event.frame.name
        forms, _, preposition = words.VERBS[base].partition("|")
        past, participle = forms.split() or [base.removesuffix("e") + "ed"] * 2
        plural = (  # the list has /p after a plural name
            event.subject.kind == world.ORGANISATION
            and words.ORGANISATIONS[event.subject.word][-1] == "p"
        )
        was = "were" if plural else "was"
        verb = {
            "past": mark + past,
            "perfect": f"had {mark}{participle}",
            "would": f"would {mark}{base}",
            "will": f"will {mark}{base}",
            "might": f"might {mark}{base}",
            "negated": f"did not {mark}{base}",
            "progressive": f"{was} {mark}{base.removesuffix('e')}ing",
            "perfect_progressive": f"had been {mark}{base.removesuffix('e')}ing",
        }[tense]
        complements = [preposition]
        if event.object:
            complements.append(self.subject(event.object))
        if event.place is not None:
            place = self.tag("place", self.index, words.PLACES[event.place])
            complements.append(f"in {place}")
        return verb, " ".join(filter(None, complements))

    def date(self, day: int, month: int) -> str:
        """Word a date: on 3 May."""
        date = self.tag("date", self.index, f"{day} {words.MONTHS[month - 1]}")
        return f"on {date}"
