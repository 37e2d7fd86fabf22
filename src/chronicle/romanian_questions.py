"""Romanian questions: subjunctive, passive and verbal noun, where the text has past tenses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from chronicle import romanian_words as words
from chronicle.asking import UNINTENDED, Asker
from chronicle.romanian import Romanian, _oblique
from chronicle.vocabulary import fields
from chronicle.world import AGENTS, DOCUMENT, HAPPENING, PERSON, Entity, Event


class RomanianAsker(Asker, Romanian):
    """Asks in Romanian."""

    asks: ClassVar = {
        "date": ("când", "la ce dată", "în ce zi"),
        "clock": ("la ce oră",),
        "place": ("unde", "în ce oraș"),
        "why": ("de ce", "din ce motiv"),
    }

    def wordings(self, form: str, event: Event, doer: bool) -> list[str]:
        """Return all wordings; participles agree with their noun."""
        ways = {"who": self.who, "how_many": self.how_many, "town": self.town}
        if form in ways:
            return list(ways[form](event, doer))
        return list(self.circumstance(form, event, doer))

    def who(self, event: Event, doer: bool) -> Iterator[str]:
        """Ask who did it."""
        yield f"cine avea {self.subjunctive(event)}"
        yield f"cine a reușit {self.subjunctive(event)}"
        if self.passive_differs(event):
            yield f"de cine {self.passive(event)}"
        if self.direct(event):
            yield f"cine s-a ocupat de {self.nominal(event, named=False)}"

    def circumstance(self, form: str, event: Event, doer: bool) -> Iterator[str]:
        """Ask when, where or why."""
        asked = self.rng.choice(self.asks[form])
        chosen = form == "why" and event.frame.name not in UNINTENDED
        verb = self.was_to(event, "decis" if chosen else "reușit")
        yield f"{asked} {verb} {self.full(event.subject)} {self.subjunctive(event)}"
        if self.passive_differs(event):
            yield f"{asked} {self.passive(event)} {self.by(event, doer)}"
        if noun := self.nominal(event, doer or self.coin()):
            if form == "why":
                yield f"care a fost motivul pentru {noun}"
            else:
                yield f"{asked} a avut loc {noun}"

    def town(self, event: Event, doer: bool) -> Iterator[str]:
        """Ask where someone went, or which place they left."""
        away = words.VERBS[event.frame.name][-1] == "din"
        asked = self.rng.choice(("de unde", "din ce oraș") if away else ("unde", "în ce oraș"))
        verb = self.predicate(event, "subjunctive", "")[0]
        yield f"{asked} {self.was_to(event)} {self.full(event.subject)} {verb}"

    def how_many(self, event: Event, doer: bool) -> Iterator[str]:
        """Ask how many; the counted nouns are feminine in the plural."""
        assert event.object is not None
        plural = words.NOUNS[DOCUMENT][event.object.word][2]
        verb, subject = self.predicate(event, "subjunctive", "")[0], event.subject
        place = self.at(event)
        yield f"câte {plural} {self.was_to(event)} {self.full(subject)} {verb} {place}"
        participle = words.VERBS[event.frame.name][1]
        yield f"câte {plural} au fost {participle}e {place} {self.by(event, doer)}"

    def was_to(self, event: Event, done: str = "reușit") -> str:
        """Say that the subject was to do it, or did: avea să, a reușit să, a decis să."""
        plural = self._plural(event.subject)
        if event.subject.kind in AGENTS and self.coin():
            return f"{'au' if plural else 'a'} {done}"
        return "aveau" if plural else "avea"

    def subjunctive(self, event: Event) -> str:
        """Word verb and complements."""
        if event.object:
            self.known.discard(event.object)
        return " ".join(self.predicate(event, "subjunctive", ""))

    def direct(self, event: Event) -> bool:
        """Tell whether the verb takes an object without a preposition other than `pe`."""
        return event.object is not None and words.VERBS[event.frame.name][3:] in ((), ("pe",))

    def passive_differs(self, event: Event) -> bool:
        """Tell whether there is a passive whose participle the text does not use."""
        if not self.direct(event) or event.object is None:
            return False
        return event.object.count > 1 or self.feminine(event.object)

    def passive(self, event: Event) -> str:
        """Word the passive, with the town: a fost semnată scrisoarea la Iași."""
        assert event.object is not None
        participle, one = words.VERBS[event.frame.name][1], event.object.count == 1
        verb = f"a fost {participle}ă" if one else f"au fost {participle}e"
        return f"{verb} {self.full(event.object)} {self.at(event)}"

    def by(self, event: Event, doer: bool) -> str:
        """Name the subject of a passive or a verbal noun, or leave it out."""
        return f"de către {self.full(event.subject)}" if doer or self.coin() else ""

    def nominal(self, event: Event, named: bool) -> str:
        """Word the verbal noun: semnarea acordului, sosirea judecătoarei Ana la Iași.

        Args:
            event: the event to name.
            named: name the subject too.

        Returns:
            The phrase, empty where the verb has no such noun, or its subject no genitive.
        """
        noun = NOUNS.get(event.frame.name)
        if not noun:
            return ""
        if self.direct(event) and event.object:
            doer = f"de către {self.full(event.subject)}" if named else ""
            return f"{noun} {self.genitive(event.object)} {self.at(event)} {doer}"
        if event.subject.kind not in (PERSON, *words.NOUNS):
            return ""
        if event.object:
            self.known.discard(event.object)
        return f"{noun} {self.genitive(event.subject)} {self.predicate(event, 'past', '')[1]}"

    def genitive(self, entity: Entity) -> str:
        """Decline a person or a thing: acordului, a trei acorduri, doctorului Ion."""
        if entity.kind == PERSON:
            return f"{_oblique(self._role(entity))} {self._name(entity)}"
        noun = words.NOUNS[entity.kind][entity.word]
        if entity.count > 1:
            return f"a {self.full(entity)}"
        if not self.feminine(entity):
            return _oblique(noun[0])
        if entity.kind == DOCUMENT:
            # Formed from the plural: scrisori, scrisorii; but petiții, petiției.
            return noun[2][:-1] + "ei" if noun[2].endswith("ii") else noun[2] + "i"
        if entity.kind == HAPPENING and noun[0].endswith("rea"):
            return noun[0][:-1].removesuffix("e") + "ii"
        return GENITIVES.get(noun[0], _oblique(noun[0]))

    def feminine(self, entity: Entity) -> bool:
        """Tell whether a noun is feminine; other nouns are masculine in the singular."""
        if entity.kind == PERSON:
            return entity.gender == "f"
        return words.NOUNS[entity.kind][entity.word][0].endswith("a")

    def full(self, entity: Entity) -> str:
        """Name a person by role and name, or a thing."""
        self.known.discard(entity)
        return self.subject(entity)

    def at(self, event: Event) -> str:
        """Name the event's town, if any."""
        return "" if event.place is None else f"la {words.PLACES[event.place]}"


def _pairs(text: str) -> dict[str, str]:
    pairs = ((word, form) for word, form in fields(text))
    return dict(pairs)


GENITIVES = _pairs(
    """școala/școlii biblioteca/bibliotecii gara/gării clinica/clinicii fabrica/fabricii
        piața/pieței sala/sălii arhiva/arhivei"""
)
# Verbal nouns with their article; none where the noun has another meaning.
NOUNS = _pairs(
    """sign/semnarea publish/publicarea approve/aprobarea reject/respingerea
        submit/depunerea read/citirea draft/redactarea translate/traducerea present/prezentarea
        distribute/distribuirea correct/corectarea print/tipărirea examine/examinarea
        receive/primirea send/trimiterea copy/copierea lose/pierderea find/găsirea
        hide/ascunderea update/actualizarea open/deschiderea close/închiderea visit/vizitarea
        renovate/renovarea paint/zugrăvirea rent/închirierea buy/cumpărarea sell/vânzarea
        clean/curățarea inspect/inspectarea guard/păzirea measure/măsurarea evacuate/evacuarea
        expand/extinderea organise/organizarea cancel/anularea postpone/amânarea
        promote/promovarea attend/participarea moderate/moderarea watch/urmărirea film/filmarea
        fund/finanțarea praise/lăudarea condemn/condamnarea initiate/inițierea
        record/înregistrarea congratulate/felicitarea invite/invitarea interview/intervievarea
        accompany/însoțirea recruit/recrutarea meet/întâlnirea question/interogarea
        support/susținerea warn/avertizarea reassure/liniștirea help/ajutarea argue/cearta
        arrive/sosirea leave/plecarea return/întoarcerea move/mutarea travel/deplasarea
        resign/demisia speak/discursul protest/protestul vote/votul begin/începerea
        end/încheierea shut/închiderea reopen/redeschiderea vanish/dispariția"""
)
