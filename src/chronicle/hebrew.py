"""Hebrew for the built-in corpus: agreement in gender and number, attached prefixes, construct."""

from __future__ import annotations

from typing import ClassVar

from chronicle import hebrew_words as words
from chronicle import world
from chronicle.telling import Teller, TimeWords
from chronicle.world import Entity, Event


class Hebrew(Teller):
    """Tells a story in Hebrew, without vowel points.

    A prefix of a clause (ש, כש, ו) stands before a slot that starts with the verb
    (`ש{1:past.vs}`), so it becomes part of the verb's token.
    """

    templates: ClassVar = {
        "single": ("{0}", "{0} {when}", "{0} {when}", "{0} {manner}", "{0} {manner}"),
        "after": (
            "{gap} אחרי ש{1:past.vs}, {0:.vs}",
            "{gap} לאחר ש{1:past}, {0:.vs} {manner}",
            "{0} {gap} אחרי ש{1:past.vs}",
            "{0} {gap} לאחר ש{1:past}",
        ),
        "before": (
            "{gap} לפני ש{1:past.vs}, {0:.vs}",
            "{gap} לפני ש{1:past}, {0:.vs} {manner}",
            "{0} {gap} לפני ש{1:past.vs}",
            "{0} {gap} לפני ש{1:past}",
        ),
        "same": (
            "בדיוק כש{1:past.vs}, {0:.vs}",
            "באותו רגע שבו {1:past.vs}, {0:.vs}",
            "{0} בדיוק כש{1:past.vs}",
            "{0} באותו רגע שבו {1:past.vs}",
        ),
        "from_moment": (
            "מרגע ש{0:.vs}, {1:past}",
            "מהרגע שבו {0:.vs}, {1:past}",
            "{1:past} מרגע ש{0:.vs}",
            "{1:past} מהרגע שבו {0:.vs}",
        ),
        "then": (
            "{0}, ו{gap} לאחר מכן {1:past.vs}",
            "{0}, וכעבור {gap} {1:past.vs}",
            "{0}; {gap} אחר כך {1:past.vs} {manner}",
            "{0}, ומאוחר יותר באותו יום {1:past.vs}",
        ),
        "earlier": (
            "{0}, אבל {gap} קודם לכן {1:past.vs}",
            "{0}; {gap} לפני כן {1:past.vs}",
            "{0}, אבל מוקדם יותר באותו יום {1:past.vs}",
        ),
        "then_also": (
            "{0} ו{gap} לאחר מכן {1:past.bare}",
            "{0} ואחר כך {1:past.bare}",
            "{0}, ו{gap} לאחר מכן {1:future.bare}",
            "{0} ו{1:past.bare} {gap} אחר כך",
        ),
        "earlier_also": (
            "{0}, אבל {gap} קודם לכן {1:past.bare}",
            "{0}, ו{gap} לפני כן {1:past.bare}",
        ),
        "who_had": (
            "{who}, ש{1:past.bare} {gap} קודם לכן, {0:.bare}",
            "{who}, ש{gap} לפני כן {1:past.bare}, {0:.bare}",
        ),
        "who_would": (
            "{who}, ש{1:future.bare} {gap} לאחר מכן, {0:.bare}",
            "{who}, שמאוחר יותר באותו יום {1:future.bare}, {0:.bare}",
        ),
        "because": (
            "{0} כי {1:past} מוקדם יותר באותו יום",
            "{0} משום ש{1:past.vs} מוקדם יותר באותו יום",
            "מכיוון ש{1:past.vs} מוקדם יותר באותו יום, {0:.vs}",
            "משום ש{1:past} מוקדם יותר באותו יום, {0:.vs}",
            "{0} מכיוון ש{1:past} מוקדם יותר באותו יום",
        ),
        "until": (
            "{1:past} משעות הבוקר המוקדמות ועד ש{0:.vs}",
            "עד ש{0:.vs}, {1:past} החל משעות הבוקר המוקדמות",
        ),
        "under_way": (
            "{1:past} כבר {gap} כש{0:.vs}",
            "כש{0:.vs}, {1:past} כבר {gap}",
            "{1:past} כבר {gap} כאשר {0:.sv}",
            "כאשר {0:.sv}, {1:past} כבר {gap}",
        ),
        "clock_later": (
            "{0} בשעה {time0}, ו{1:past} בשעה {time1}",
            "{1:past} בשעה {time1}, ו{0:.sv} בשעה {time0}",
            "בשעה {time1} {1:past.vs}, ובשעה {time0} {0:.vs}",
        ),
        "said_past": (
            "{0} שמוקדם יותר באותו יום {1:past.vs}",
            "{0} כי {1:past} מוקדם יותר באותו יום",
            "{0} כי מוקדם יותר באותו יום {1:past.vs}",
            '{0}: "{1:past} מוקדם יותר היום"',
            '"{1:past} מוקדם יותר היום", {0:.vs} {when}',
        ),
        "said_future": (
            "{0} שבהמשך אותו יום {1:future.vs}",
            "{0} כי {1:future} בהמשך אותו יום",
            '{0}: "{1:future} בהמשך היום"',
            '"{1:future} מאוחר יותר היום", {0:.vs} {when}',
        ),
        "said_maybe": (
            "{0} שייתכן ש{1:future.vs}",
            "{0} שאולי {1:future}",
            '"אולי {1:future}", {0:.vs} {when}',
        ),
        "said_if": (
            "{0} שאם {1:future}, {2:future.vs}",
            "{0} כי {2:future} רק אם {1:future.vs}",
        ),
        "denied": (
            "{0}, אבל {1:negated}",
            "אף ש{1:negated}, {0:.vs}",
            "{0}, אף ש{1:negated}",
            "בעוד ש{1:negated}, {0:.vs}",
        ),
        "undated": (
            "{0}; {1:past} במועד שלא פורסם",
            "{0}, ואילו {1:past} במועד לא ידוע",
        ),
    }
    templates["clock_earlier"] = templates["clock_later"]
    statements: ClassVar = {
        "fact": ("למעשה, {0}", "נכון ש{0:.vs}"),
        "negated": ("למעשה, {0:negated}", "נכון ש{0:negated.vs}"),
        "who": ("{who}, ולא מישהו אחר, {0:.bare}", "{who} ולא אחרים {0:.bare}"),
        "when": ("{when}, ולא ביום אחר, {0:.vs}", "{0} {when} ולא במועד אחר"),
        "order": (
            "{0} אחרי ש{1:past.vs}",
            "זמן מה לאחר ש{1:past}, {0:.vs}",
            "{1:past} לפני ש{0:past.vs}",
            "זמן מה לפני ש{0:past}, {1:past.vs}",
        ),
        "together": ("{0} בו בזמן ש{1:past.vs}", "{0}, ובאותה העת {1:past.vs}"),
        "why": ("הסיבה לכך ש{0:.vs} היא ש{1:past.vs}", "{0} מפני ש{1:past.vs}"),
        "again": ("באותו תאריך {0:.vs}", "{0} באותו תאריך"),
        "not_again": ("באותו תאריך {0:negated}", "{0:negated} באותו תאריך"),
    }
    link_phrases: ClassVar = {
        "contrastive": ("ואולם", "לעומת זאת,", "בניגוד למצופה,", "ובכל זאת,"),
        "entailment": ("במילים פשוטות,", "ליתר דיוק,", "כלומר,", "ובקיצור,"),
        "effect": ("לכן", "בשל כך", "כתוצאה מזה,", "ומשום כך"),
        "cause": ("הסיבה:", "ההסבר לדבר:"),
    }
    when_words: ClassVar[TimeWords] = {
        "days_later": ("{amount} לאחר מכן", "{amount} אחר כך", "כעבור {amount}"),
        "days_earlier": ("{amount} קודם לכן", "{amount} לפני כן"),
        "hours_later": (
            "",
            "אחר כך",
            "מאוחר יותר באותו יום",
            "{amount} לאחר מכן",
            "כעבור {amount}",
        ),
        "hours_earlier": ("מוקדם יותר באותו יום", "{amount} קודם לכן", "{amount} לפני כן"),
        "same": ("באותו רגע ממש", "בדיוק באותה שעה"),
    }
    gap_words: ClassVar = {
        10: ("עשר דקות", "זמן קצר"),
        30: ("חצי שעה", "זמן קצר"),
        60: ("שעה",),
        120: ("שעתיים",),
        180: ("שלוש שעות",),
    }
    manner_words: ClassVar = (
        "בפעם הראשונה",
        ", ולא בפעם הראשונה",
        "מוקדם מהמתוכנן",
        "מאוחר מהמתוכנן",
        "אחרי הכנות ארוכות",
        "לפני קהל רב",
        "ברגע האחרון",
        "ללא הודעה מוקדמת",
        "ללא דיחוי",
        "למרות הגשם",
        "למרות המחאות",
        "בנוכחות עיתונאים",
        "לבקשת התושבים",
        "בעזרת חברים",
        "להפתעת הכול",
    )
    day_words: ClassVar = {
        1: "יום", 2: "יומיים", 3: "שלושה ימים", 4: "ארבעה ימים", 5: "חמישה ימים", 7: "שבוע",
        14: "שבועיים",
    }  # fmt: skip
    comma_after_opening = False
    has_past_perfect = False

    def clause(self, index: int, spec: str) -> str:
        """Realise a clause; after an opening adverbial the head's verb precedes its subject."""
        return super().clause(index, ".vs" if not spec and self.opened else spec)

    def subject(self, entity: Entity) -> str:
        """Name an entity; a person first by role and name, later by either."""
        if entity.kind == world.PERSON:
            name = words.NAMES[entity.gender][entity.word]
            role = words.ROLES[entity.role]["mf".index(entity.gender)]
            if entity not in self.known:
                self.known.add(entity)
                return f"{role} {name}"
            return name if self.rng.random() < 0.6 else role
        if entity.kind == world.ORGANISATION:
            return words.ORGANISATIONS[entity.word][0]
        if entity.kind == world.PLACE:
            return self.tag("place", self.index, words.PLACES[entity.word])
        definite, gender, *plural = words.NOUNS[entity.kind][entity.word]
        if entity.count == 1:
            return definite
        number = words.NUMBERS[gender][entity.count - 2]
        return f"{self.tag('count', self.index, number)} {plural[0]}"

    def predicate(self, event: Event, tense: str, mark: str) -> tuple[str, str]:
        """Inflect the verb in gender and number; the past serves as past perfect too."""
        forms = words.VERBS[event.frame.name]
        agreement = self.agreement(event.subject)
        if tense == "future":
            he, they = forms[3:5]
            verb = {"m": he, "f": "ת" + he[1:], "p": they}[agreement]
        else:
            verb = forms["mfp".index(agreement)]
        government = forms[5] if len(forms) > 5 else ""
        complements = self.govern(government, event.object) if event.object else government
        if event.place is not None:
            place = self.tag("place", self.index, words.PLACES[event.place])
            complements = f"{complements} ב{place}".strip()
        return ("לא " if tense == "negated" else "") + mark + verb, complements

    def agreement(self, entity: Entity) -> str:
        """Return the agreement of a verb with this subject: m, f or p (plural)."""
        if entity.gender:
            return entity.gender
        if entity.kind == world.ORGANISATION:
            return words.ORGANISATIONS[entity.word][1]
        return words.NOUNS[entity.kind][entity.word][1]

    def govern(self, word: str, entity: Entity) -> str:
        """Attach a preposition; ב and ל swallow the article, את goes with definite nouns only."""
        noun = self.subject(entity)
        if word == "את":
            return f"את {noun}" if entity.count == 1 else noun
        if len(word) > 1:
            return f"{word} {noun}"
        names = entity.kind == world.PLACE or noun in words.NAMES.get(entity.gender, ())
        has_article = noun.startswith("ה") and not names
        return word + (noun[1:] if has_article and word in "בל" else noun)

    def date(self, day: int, month: int) -> str:
        """Word a date: ב-3 במאי."""
        date = self.tag("date", self.index, f"{day} ב{words.MONTHS[month - 1]}")
        return f"ב-{date}"
