"""Claims about a premise: entailed, contradicted, or neither.

Claims come in triples of one form, one for each class, so a hypothesis alone does not predict its
class. Entailed and contradicted claims consist of the same words.

Source: LCHAIM and ConTRoL, three-class inference over passages, types of reasoning.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random

from chronicle.casting import Casting, takes_place
from chronicle.premise import (
    DENIED,
    MAYBE,
    TOLD,
    UNDATED,
    Fact,
    Premise,
)
from chronicle.world import AGENTS, Event

CONTRADICTION, ENTAILMENT, NEUTRAL = THREE = ("contradiction", "entailment", "neutral")
PER_PREMISE = 2  # triples of different forms


@dataclass(frozen=True, slots=True)
class Claim:
    """A statement about a premise, before it is told in a language.

    Args:
        form: key into a language's `statements`.
        events: what it states, in the order of the template's slots.
        about: the premise's facts that decide it, or are closest to it.
        date: its day and month, or None.
    """

    form: str
    events: tuple[Event, ...]
    about: tuple[Fact, ...] = ()
    date: tuple[int, int] | None = None

    def reasoning(self) -> list[str]:
        """Name the kinds of reasoning that it needs, as LCHAIM does; none for plain reading.

        Returns:
            Of these, in this order: `temporal` (times are compared), `coreferential` (a full
            name where the premise has none), `logical` (negation, possibility or
            cause), `analytical` (several sentences, or a date counted from another, decide it).
        """
        temporal = self.form in ("when", "order", "together")
        logical = self.form in ("negated", "why") or any(
            fact.said in (DENIED, MAYBE) for fact in self.about
        )
        analytical = len({fact.sentence for fact in self.about}) > 1 or (
            self.form == "when" and any(fact.date and fact.worked_out for fact in self.about)
        )
        kinds = {
            "temporal": temporal,
            "coreferential": any(fact.linked for fact in self.about),
            "logical": logical,
            "analytical": analytical,
        }
        return [kind for kind, applies in kinds.items() if applies]


Three = dict[str, Claim]


class Claims:
    """Draws claims about one premise.

    Args:
        premise: what they are about.
        rng: of the plan; the same in all languages.
    """

    def __init__(self, premise: Premise, rng: Random):
        self.premise = premise
        self.rng = rng
        self.told = premise.known(TOLD, UNDATED)
        self.denied = premise.known(DENIED)
        self.maybe = premise.known(MAYBE)
        self.drawn = Casting(premise, rng)

    def threes(self, number: int = PER_PREMISE) -> Iterator[Three]:
        """Yield `{class: claim}` for up to `number` different forms that the premise allows."""
        forms = dict(_FORMS)
        while number and forms:
            [form] = self.rng.choices(list(forms), list(forms.values()))
            del forms[form]
            if three := form(self):
                number -= 1
                yield three

    def fact(self) -> Three | None:
        """State what happened, perhaps where; contradicted: a denied event, or another town."""
        placed = [fact for fact in self.told if fact.event.place is not None]
        if self.denied and self.told and not (placed and self.rng.random() < 0.5):
            fact, other = self.rng.choice(self.told), self.rng.choice(self.denied)
            wrong = other.event
        elif placed:
            fact, other = self.rng.choice(placed), self.rng.choice(placed)
            wrong = self.drawn.moved(other.event)
        else:
            return None
        entailed = Claim("fact", (fact.event,), (fact,))
        return self.three(entailed, Claim("fact", (wrong,), (other,)), "fact")

    def negated(self) -> Three | None:
        """State what did not happen."""
        if not (self.denied and self.told):
            return None
        fact, other = self.rng.choice(self.denied), self.rng.choice(self.told)
        return self.three(
            Claim("negated", (fact.event,), (fact,)),
            Claim("negated", (other.event,), (other,)),
            "negated",
        )

    def who(self) -> Three | None:
        """State who did it; contradicted: somebody else."""
        doers = [fact for fact in self.told if fact.event.subject.kind in AGENTS]
        if not doers:
            return None
        fact, other = self.rng.choice(doers), self.rng.choice(doers)
        return self.three(
            Claim("who", (fact.event,), (fact,)),
            Claim("who", (self.drawn.by_another(other.event),), (other,)),
            "who",
            agent=True,
        )

    def when(self) -> Three | None:
        """State the day; contradicted: another day, if possible one that the text names."""
        dated = [fact for fact in self.told if fact.date]
        if not dated:
            return None
        fact, other = self.rng.choice(dated), self.rng.choice(dated)
        days = sorted({one.date for one in dated if one.date and one.date != other.date})
        wrong = self.rng.choice(days) if days else self.drawn.near(other.event)
        three = self.three(
            Claim("when", (fact.event,), (fact,), fact.date),
            Claim("when", (other.event,), (other,), wrong),
            "when",
        )
        undated = [one for one in self.told if one.said == UNDATED] + self.maybe
        if undated:
            one = self.rng.choice(undated)
            three[NEUTRAL] = Claim("when", (one.event,), (one,))
        date = self.rng.choice([fact.date, wrong])
        three[NEUTRAL] = replace(three[NEUTRAL], date=date)
        return three

    def order(self) -> Three | None:
        """State the order of two events; contradicted: the reverse order."""
        pairs = [
            (later, earlier)
            for one, two in self.premise.ordered()
            for later, earlier in [(one, two), (two, one)]
            if later.event.start > earlier.event.start
        ]
        if not pairs:
            return None
        entailed, (later, earlier) = self.rng.choice(pairs), self.rng.choice(pairs)
        return self.two(entailed, (earlier, later), "order")

    def together(self) -> Three | None:
        """State that two events happened at one time; contradicted: events of different times."""
        pairs = list(self.premise.ordered())
        equal = [(one, two) for one, two in pairs if one.event.start == two.event.start]
        apart = [(one, two) for one, two in pairs if one.event.start != two.event.start]
        if not (equal and apart):
            return None
        return self.two(self.turn(equal), self.turn(apart), "together")

    def why(self) -> Three | None:
        """State the cause of an event; contradicted: the effect as the cause of its cause."""
        effects = [fact for fact in self.told if fact.event.cause is not None]
        # The plot tells an effect and its cause in one sentence.
        causes = {
            fact: other
            for fact in effects
            for other in self.told
            if other.sentence == fact.sentence and other is not fact
        }
        if not causes:
            return None
        effect = self.rng.choice(list(causes))
        return self.two((effect, causes[effect]), (causes[effect], effect), "why")

    def turn(self, pairs: Sequence[tuple[Fact, Fact]]) -> tuple[Fact, Fact]:
        """Choose a pair and the order of its two events."""
        one, two = self.rng.choice(pairs)
        return (one, two) if self.rng.random() < 0.5 else (two, one)

    def three(self, entailed: Claim, excluded: Claim, form: str, agent: bool = False) -> Three:
        """Add the neutral claim: a possibility, a town that is not named, or an untold event."""
        placed = entailed.events[0].place is not None
        open_ = [(fact.event, fact) for fact in self.maybe]
        if placed and form == "fact":
            open_ += [
                (replace(fact.event, place=self.drawn.somewhere()), fact)
                for fact in self.told
                if fact.event.place is None and takes_place(fact.event.frame)
            ]
        if agent:
            open_ = [(event, fact) for event, fact in open_ if event.subject.kind in AGENTS]
        if open_ and self.rng.random() < 0.5:
            event, fact = self.rng.choice(open_)
            neutral = Claim(form, (event,), (fact,))
        else:
            neutral = Claim(form, (self.drawn.untold(agent, placed),))
        return {CONTRADICTION: excluded, ENTAILMENT: entailed, NEUTRAL: neutral}

    def two(self, entailed: tuple[Fact, Fact], excluded: tuple[Fact, Fact], form: str) -> Three:
        """Add two events whose relation does not follow from the premise."""
        said = UNDATED if form != "why" else TOLD
        known = [*entailed, *excluded]
        other = [fact for fact in self.told if fact.said == said and fact not in known]
        fact = self.rng.choice(known)
        about = (fact, self.rng.choice(other + self.maybe)) if other + self.maybe else (fact,)
        events = [one.event for one in about]
        if len(about) == 1:
            events.append(self.drawn.untold(agent=False, placed=self.rng.random() < 0.3))
        if self.rng.random() < 0.5:
            events.reverse()
        claims = [
            Claim(form, (one.event, two.event), (one, two)) for one, two in (excluded, entailed)
        ]
        return dict(zip(THREE, [*claims, Claim(form, tuple(events), about)], strict=True))


# How often each form is tried first; some are rarely possible.
_FORMS: dict[Callable[[Claims], Three | None], float] = {
    Claims.fact: 3,
    Claims.negated: 3,
    Claims.who: 2,
    Claims.when: 2,
    Claims.order: 3,
    Claims.together: 2,
    Claims.why: 3,
}
