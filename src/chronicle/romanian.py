"""Romanian for the built-in corpus: clitics, enclitic articles, the past tenses, subjunctive."""

from __future__ import annotations

from typing import ClassVar

from chronicle import romanian_words as words
from chronicle import world
from chronicle.telling import Teller, TimeWords
from chronicle.world import Entity, Event


class Romanian(Teller):
    """Tells a story in Romanian, with ș and ț as comma-below letters."""

    templates: ClassVar = {
        "single": ("{0}", "{0} {when}", "{0} {when}", "{0} {manner}", "{0} {manner}"),
        "after": (
            "la {gap} după ce {1:perfect}, {0}",
            "la {gap} după ce {1:past}, {0} {manner}",
            "{0} la {gap} după ce {1:perfect}",
            "{0} la {gap} după ce {1:past}",
        ),
        "before": (
            "cu {gap} înainte ca {1:subjunctive}, {0}",
            "{0} cu {gap} înainte ca {1:subjunctive}",
            "{0} {manner}, cu {gap} înainte ca {1:subjunctive}",
            "cu {gap} înainte ca {1:subjunctive}, {0} {manner}",
        ),
        "same": (
            "chiar în clipa în care {1:past}, {0}",
            "exact când {1:past}, {0}",
            "{0} chiar în clipa în care {1:past}",
            "{0} exact când {1:past}",
        ),
        "from_moment": (
            "din clipa în care {0}, {1:imperfect}",
            "{1:imperfect} din clipa în care {0}",
        ),
        "then": (
            "{0}, iar la {gap} după aceea {1:past}",
            "{0}, iar după {gap} {1:past}",
            "{0}; la {gap} după aceea, {1:past} {manner}",
            "{0}, iar mai târziu în aceeași zi {1:past}",
        ),
        "earlier": (
            "{0}, dar {1:perfect} cu {gap} mai devreme",
            "{0}; {1:past} cu {gap} înainte",
            "{0}, dar mai devreme în aceeași zi {1:past}",
        ),
        "then_also": (
            "{0} și la {gap} după aceea {1:past.bare}",
            "{0}, iar apoi {1:past.bare}",
            "{0} și avea {1:subjunctive.bare} la {gap} după aceea",
            "{0}, iar după {gap} avea {1:subjunctive.bare}",
        ),
        "earlier_also": (
            "{0}, dar cu {gap} mai devreme {1:perfect.bare}",
            "{0}, iar cu {gap} înainte {1:perfect.bare}",
        ),
        "who_had": (
            "{who}, care {1:perfect.bare} cu {gap} mai devreme, {0:.bare}",
            "{who}, care cu {gap} înainte {1:past.bare}, {0:.bare}",
        ),
        "who_would": (
            "{who}, care avea {1:subjunctive.bare} la {gap} după aceea, {0:.bare}",
            "{who}, care după {gap} {1:future.bare}, {0:.bare}",
        ),
        "because": (
            "{0} pentru că {1:past} mai devreme în aceeași zi",
            "{0} deoarece {1:perfect} mai devreme în aceeași zi",
            "deoarece {1:perfect} mai devreme în aceeași zi, {0}",
            "pentru că mai devreme în aceeași zi {1:past}, {0}",
        ),
        "until": (
            "{1:imperfect} încă de dimineață, până când {0}",
            "până când {0}, {1:imperfect} încă de dimineață",
        ),
        "under_way": (
            "{1:imperfect} de {gap} când {0:past}",
            "când {0:past}, {1:imperfect} de {gap}",
        ),
        "clock_later": (
            "{0} la ora {time0}, iar {1:past} la ora {time1}",
            "{1:past} la ora {time1}, iar {0} la ora {time0}",
            "la ora {time1} {1:past}, iar la ora {time0} {0}",
        ),
        "said_past": (
            "{0} că {1:perfect} mai devreme în aceeași zi",
            "{0} că mai devreme în aceeași zi {1:past}",
            "{0}: „{1:past} mai devreme astăzi”",
            "„{1:past} mai devreme astăzi”, {0:.vs} {when}",
        ),
        "said_future": (
            "{0} că {1:future} mai târziu în aceeași zi",
            "{0}: „{1:future} mai târziu astăzi”",
            "„{1:future} mai târziu astăzi”, {0:.vs} {when}",
        ),
        "said_maybe": (
            "{0} că {1:might}",
            "{0} că poate {1:future}",
            "„poate că {1:future}”, {0:.vs} {when}",
        ),
        "said_if": (
            "{0} că, dacă {1:future}, {2:future}",
            "{0} că {2:future} numai dacă {1:future}",
        ),
        "denied": (
            "{0}, dar {1:negated}",
            "deși {1:negated}, {0}",
            "{0}, deși {1:negated}",
            "în timp ce {1:negated}, {0}",
        ),
        "undated": (
            "{0}; {1:past} la o dată care nu a fost anunțată",
            "{0}, în timp ce {1:past} la o dată necunoscută",
        ),
    }
    templates["clock_earlier"] = templates["clock_later"]
    statements: ClassVar = {
        "fact": ("de fapt, {0}", "este adevărat că {0}"),
        "negated": ("de fapt, {0:negated}", "este adevărat că {0:negated}"),
        "who": ("{who}, și nu altcineva, {0:.bare}", "nu altcineva, ci {who} {0:.bare}"),
        "when": ("{when}, nu în altă zi, {0}", "{0} {when}, nu la altă dată"),
        "order": (
            "{0} după ce {1:perfect}",
            "la o vreme după ce {1:past}, {0}",
            "{1:past} înainte ca {0:subjunctive}",
            "cu ceva timp înainte ca {0:subjunctive}, {1:past}",
        ),
        "together": (
            "{0} în același timp în care {1:past}",
            "{0}, iar în același timp {1:past}",
        ),
        "why": ("motivul pentru care {0} este că {1:past}", "{1:past}, iar din acest motiv {0}"),
        "again": ("la aceeași dată, {0}", "{0} la aceeași dată"),
        "not_again": ("la aceeași dată, {0:negated}", "{0:negated} la aceeași dată"),
    }
    link_phrases: ClassVar = {
        "contrastive": ("dimpotrivă,", "și totuși", "contrar așteptărilor,", "pe de altă parte,"),
        "entailment": ("altfel spus,", "mai precis,", "pe scurt,", "mai bine zis,"),
        "effect": ("de aceea", "drept urmare,", "din această pricină,", "așadar,"),
        "cause": ("motivul:", "explicația:"),
    }
    when_words: ClassVar[TimeWords] = {
        "days_later": ("cu {amount} mai târziu", "la {amount} după aceea", "{amount} mai târziu"),
        "days_earlier": ("cu {amount} mai devreme", "cu {amount} înainte", "{amount} mai devreme"),
        "hours_later": (
            "",
            "ulterior",
            "mai târziu în aceeași zi",
            "la {amount} după aceea",
            "după {amount}",
        ),
        "hours_earlier": (
            "mai devreme în aceeași zi",
            "cu {amount} mai devreme",
            "cu {amount} înainte",
        ),
        "same": ("chiar în acea clipă", "exact în același moment"),
    }
    gap_words: ClassVar = {
        10: ("zece minute", "puțin timp"),
        30: ("o jumătate de oră", "puțin timp"),
        60: ("o oră",),
        120: ("două ore",),
        180: ("trei ore",),
    }
    manner_words: ClassVar = (
        "pentru prima oară",
        ", și nu pentru prima oară",
        "mai devreme decât era prevăzut",
        "mai târziu decât era prevăzut",
        "după pregătiri îndelungate",
        "înaintea unui public numeros",
        "în ultima clipă",
        "fără niciun anunț",
        "fără întârziere",
        "în ciuda ploii",
        "în ciuda protestelor",
        "în prezența jurnaliștilor",
        "la cererea cetățenilor",
        "cu ajutorul prietenilor",
        "spre surprinderea tuturor",
    )
    day_words: ClassVar = {
        1: "o zi", 2: "două zile", 3: "trei zile", 4: "patru zile", 5: "cinci zile",
        7: "o săptămână", 14: "două săptămâni",
    }  # fmt: skip

    def subject(self, entity: Entity) -> str:
        """Name an entity; a person first by role and name, later by either."""
        if entity.kind == world.PERSON:
            name, role = self._name(entity), self._role(entity)
            if entity not in self.known:
                self.known.add(entity)
                return f"{role} {name}"
            return name if self.rng.random() < 0.6 else role
        if entity.kind == world.ORGANISATION:
            return words.ORGANISATIONS[entity.word][0]
        if entity.kind == world.PLACE:
            return self.tag("place", self.index, words.PLACES[entity.word])
        noun = words.NOUNS[entity.kind][entity.word]
        if entity.count == 1:
            return noun[0]
        return f"{self.tag('count', self.index, words.NUMBERS[entity.count])} {noun[2]}"

    def predicate(self, event: Event, tense: str, mark: str) -> tuple[str, str]:
        """Inflect the verb and place its clitics as the tense requires."""
        infinitive, participle, subjunctive, *rest = words.VERBS[event.frame.name]
        plural = self._plural(event.subject)
        clitic = _clitic(rest[0] if rest else "", event.object)
        # The feminine clitic of the compound past follows the participle: a felicitat-o.
        follows = clitic == "o"
        if tense in ("past", "negated"):
            negation = "nu" if tense == "negated" else ""
            fused = "" if follows else _BEFORE_AVEA.get(clitic, "")
            auxiliary = fused + ("au" if plural else "a")
            verb = f"{negation} {auxiliary} {mark}{participle}{'-o' if follows else ''}"
        elif tense == "perfect":
            verb = f"{clitic} {mark}{_pluperfect(participle, plural)}"
        elif tense == "future":
            verb = f"{clitic} {'vor' if plural else 'va'} {mark}{infinitive}"
        elif tense == "imperfect":
            verb = f"{clitic} {mark}{_imperfect(infinitive, plural)}"
        else:
            particle = _AFTER_SA.get(clitic, f"să {clitic}")
            verb = f"{particle} {mark}{subjunctive}"
            verb = f"ar putea {verb}" if tense == "might" else verb
        complements = [self._complement(rest, event.object)]
        if event.place is not None:
            place = self.tag("place", self.index, words.PLACES[event.place])
            complements.append(f"la {place}")
        return " ".join(verb.split()), " ".join(filter(None, complements))

    def date(self, day: int, month: int) -> str:
        """Word a date: pe 3 mai."""
        date = self.tag("date", self.index, f"{day} {words.MONTHS[month - 1]}")
        return f"pe {date}"

    def _name(self, entity: Entity) -> str:
        return words.NAMES[entity.gender][entity.word]

    def _role(self, entity: Entity) -> str:
        return words.ROLES[entity.role]["mf".index(entity.gender)]

    def _plural(self, entity: Entity) -> bool:
        return entity.kind == world.ORGANISATION and words.ORGANISATIONS[entity.word][-1] == "p"

    def _complement(self, government: list[str], entity: Entity | None) -> str:
        if entity is None:
            return ""
        case = government[-1] if government else ""
        if case == "dat":
            return self._dative(entity)
        if case == "pe" and entity in self.known:
            # A bare noun would lose its article after pe; a name never does.
            return f"pe {self._name(entity)}"
        if entity.kind == world.HAPPENING and case:
            return f"{case} {words.NOUNS[entity.kind][entity.word][1]}"
        return f"{case} {self.subject(entity)}".strip()

    def _dative(self, entity: Entity) -> str:
        """Decline a person: judecătoarei Ana, Anei, lui Andrei."""
        role, name = self._role(entity), self._name(entity)
        if entity not in self.known:
            self.known.add(entity)
            return f"{_oblique(role)} {name}"
        if self.rng.random() < 0.4:
            return _oblique(role)
        return _oblique(name) if name.endswith("a") else f"lui {name}"


# Clitics fused with the auxiliary a, au and with the particle să.
_BEFORE_AVEA = {"se": "s-", "îl": "l-", "îi": "i-"}
_AFTER_SA = {"": "să", "îl": "să-l", "îi": "să-i", "o": "s-o"}


def _clitic(government: str, entity: Entity | None) -> str:
    if government == "se":
        return "se"
    if government == "dat":
        return "îi"
    if government == "pe" and entity:
        return "o" if entity.gender == "f" else "îl"
    return ""


def _oblique(word: str) -> str:
    """Genitive and dative of a word with its article, or of a woman's name in -a."""
    if word.endswith("ea"):
        return word[:-1] + "i"
    if word.endswith("a"):
        return word[:-1] + "ei"
    return word + "ui"


def _pluperfect(participle: str, plural: bool) -> str:
    """Mai-mult-ca-perfect: semnat, semnase; deschis, deschisese."""
    stem = participle[:-1] if participle.endswith("t") else participle + "e"
    return stem + ("seră" if plural else "se")


def _imperfect(infinitive: str, plural: bool) -> str:
    stem = infinitive if infinitive.endswith("a") else infinitive[:-1] + "ea"
    return stem + ("u" if plural else "")
