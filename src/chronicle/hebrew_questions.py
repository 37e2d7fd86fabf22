"""Hebrew questions: present, infinitive, passive and verbal noun, where the text has the past."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from chronicle import hebrew_words as words
from chronicle.asking import UNINTENDED, Asker
from chronicle.hebrew import Hebrew
from chronicle.world import AGENTS, Entity, Event

_FINAL = str.maketrans("םןףץך", "מנפצכ")
_MANAGED = ("הספיק", "הצליח")
_TO, _FROM = ("לאן", "לאיזו עיר"), ("מהיכן", "מאיזו עיר")


class HebrewAsker(Asker, Hebrew):
    """Asks in Hebrew.

    Each wording of an event names people in full again.
    """

    asks: ClassVar = {
        "date": ("מתי", "באיזה תאריך", "באיזה יום"),
        "clock": ("באיזו שעה",),
        "place": ("היכן", "איפה", "באיזו עיר"),
        "why": ("מדוע", "מאיזו סיבה", "למה"),
    }

    def wordings(self, form: str, event: Event, doer: bool) -> list[str]:
        """Return all wordings; verbs agree with the subject, or with the subject of the passive."""
        ways = {"who": self.who, "how_many": self.how_many, "town": self.town}
        self.known.clear()
        if form in ways:
            return list(ways[form](event, doer))
        return list(self.circumstance(form, event, doer))

    def who(self, event: Event, doer: bool) -> Iterator[str]:
        """Ask who did it."""
        complements = self.complements(event)
        present, infinitive, _, passive = FORMS[event.frame.name]
        yield f"מי {present} {complements}"
        yield f"מי הספיק {infinitive} {complements}"
        yield f"מי הצליח {infinitive} {complements}"
        if self.direct(event):
            if passive:
                yield f"על ידי מי {self.passive(event)}"
            if noun := self.nominal(event, named=False, article=False):
                yield f"מי היה אחראי ל{noun}"

    def circumstance(self, form: str, event: Event, doer: bool) -> Iterator[str]:
        """Ask when, where or why."""
        asked = self.rng.choice(self.asks[form])
        yield f"{asked} {self.present(event)} {self.full(event.subject)} {self.complements(event)}"
        by_choice = form != "why" or event.frame.name not in UNINTENDED
        if event.subject.kind in AGENTS and by_choice:
            verbs = ("בחר", "החליט") if form == "why" else _MANAGED
            yield f"{asked} {self.managed(event, verbs)} {self.complements(event)}"
            if form == "why":
                yield f"מה הביא את {self.full(event.subject)} {self.infinitive(event)}"
        if self.direct(event) and FORMS[event.frame.name][3]:
            yield f"{asked} {self.passive(event)}{self.by(event, doer)}"
        if noun := self.nominal(event, doer or self.coin(), article=form != "why"):
            if form == "why":
                yield f"מה הייתה הסיבה ל{noun}"
            else:
                feminine = _feminine(FORMS[event.frame.name][2])
                yield f"{asked} {'הייתה' if feminine else 'היה'} {noun}"

    def town(self, event: Event, doer: bool) -> Iterator[str]:
        """Ask where someone went, or which place they left."""
        asked = self.rng.choice(_FROM if words.VERBS[event.frame.name][5] == "מ" else _TO)
        yield f"{asked} {self.present(event)} {self.full(event.subject)}"
        yield f"{asked} {self.managed(event)}"

    def how_many(self, event: Event, doer: bool) -> Iterator[str]:
        """Ask how many."""
        assert event.object is not None
        _, _, plural = words.NOUNS[event.object.kind][event.object.word]
        government = words.VERBS[event.frame.name][5]
        asked = f"{'' if government == 'את' else government + ' '}כמה {plural}"
        place = self.at(event)
        yield f"{asked} {self.present(event)} {self.full(event.subject)} {place}"
        yield f"{asked} {self.managed(event)} {place}"
        if passive := FORMS[event.frame.name][3]:
            yield f"כמה {plural} {_inflect(passive, 'p')} {place}{self.by(event, doer)}"

    def present(self, event: Event) -> str:
        """Inflect the present in the subject's gender and number."""
        return _participle(FORMS[event.frame.name][0], self.agreement(event.subject))

    def managed(self, event: Event, verbs: tuple[str, ...] = _MANAGED) -> str:
        """Say that the subject managed to do it: הספיקה השופטת דנה לחתום."""
        verb = _inflect(self.rng.choice(verbs), self.agreement(event.subject))
        return f"{verb} {self.full(event.subject)} {FORMS[event.frame.name][1]}"

    def infinitive(self, event: Event) -> str:
        """Word infinitive and complements."""
        return f"{FORMS[event.frame.name][1]} {self.complements(event)}"

    def passive(self, event: Event) -> str:
        """Word the passive, with the town: פורסמה ההצעה בחיפה."""
        assert event.object is not None
        agreement = self.agreement(event.object) if event.object.count == 1 else "p"
        verb = _inflect(FORMS[event.frame.name][3], agreement)
        return f"{verb} {self.full(event.object)} {self.at(event)}"

    def by(self, event: Event, doer: bool) -> str:
        """Name the subject of a passive, or leave it out."""
        return f" על ידי {self.full(event.subject)}" if doer or self.coin() else ""

    def nominal(self, event: Event, named: bool, article: bool) -> str:
        """Word the verbal noun: פרסום ההצעה, or with a preposition (ה)חתימה על ההצעה.

        Args:
            event: the event to name.
            named: name the subject too.
            article: use the article if the noun takes one.

        Returns:
            The phrase, empty where the verb has no such noun.
        """
        noun = FORMS[event.frame.name][2]
        if not noun:
            return ""
        construct = self.direct(event) or event.subject.kind not in AGENTS
        if construct:
            thing = self.full(event.object or event.subject)
            of = f"{noun[:-1] + 'ת' if noun.endswith('ה') else noun} {thing}"
            doer = f" על ידי {self.full(event.subject)}" if named and event.object else ""
            return f"{of} {self.at(event)}{doer}"
        # A consonantal ו is doubled after a prefix.
        inside = f"ו{noun}" if noun.startswith("ו") else noun
        doer = f" של {self.full(event.subject)}" if named or not event.object else ""
        return f"{'ה' * article}{inside}{doer} {self.complements(event)}"

    def direct(self, event: Event) -> bool:
        """Tell whether the verb takes a direct object, or is to sign."""
        forms = words.VERBS[event.frame.name]
        return event.object is not None and (forms[5] == "את" or bool(FORMS[event.frame.name][3]))

    def complements(self, event: Event) -> str:
        """Word object and town, which follow any form of the verb."""
        if event.object:
            self.known.discard(event.object)
        return self.predicate(event, "past", "")[1]

    def full(self, entity: Entity) -> str:
        """Name a person by role and name, or a thing."""
        self.known.discard(entity)
        return self.subject(entity)

    def at(self, event: Event) -> str:
        """Name the event's town, if any."""
        return "" if event.place is None else f"ב{words.PLACES[event.place]}"


def _feminine(noun: str) -> bool:
    return noun.endswith(("ה", "ת"))


def _inflect(verb: str, agreement: str) -> str:
    """Inflect a past tense of the third person: נדחה, נדחתה, נדחו; פורסם, פורסמה, פורסמו."""
    if agreement == "m":
        return verb
    if verb.endswith("ה"):
        return verb[:-1] + ("תה" if agreement == "f" else "ו")
    return verb.translate(_FINAL) + ("ה" if agreement == "f" else "ו")


def _participle(verb: str, agreement: str) -> str:
    """Inflect a present: דוחה, דוחה, דוחים; מגיש, מגישה, מגישים; חותם, חותמת, חותמים."""
    if agreement == "m":
        return verb
    if verb.endswith("ה"):
        return verb if agreement == "f" else verb[:-1] + "ים"
    stem = verb.translate(_FINAL)
    if agreement == "p":
        return stem + "ים"
    # Only the yod of hif'il takes ה; a doubled one is a consonant.
    causative = verb[0] == "מ" and verb[-2] == "י" and verb[-3] != "י"
    return stem + ("ה" if causative else "ת")


# Masculine singular present, infinitive, verbal noun, past of the passive; `-` where there is no
# form of the same meaning.
FORMS = {
    name: tuple("" if form == "-" else form for form in forms.split())
    for name, forms in {
        "sign": "חותם לחתום חתימה נחתם",
        "publish": "מפרסם לפרסם פרסום פורסם",
        "approve": "מאשר לאשר אישור אושר",
        "reject": "דוחה לדחות דחייה נדחה",
        "submit": "מגיש להגיש הגשה הוגש",
        "read": "קורא לקרוא קריאה נקרא",
        "draft": "מנסח לנסח ניסוח נוסח",
        "translate": "מתרגם לתרגם תרגום תורגם",
        "present": "מציג להציג הצגה הוצג",
        "distribute": "מחלק לחלק חלוקה חולק",
        "correct": "מתקן לתקן תיקון תוקן",
        "print": "מדפיס להדפיס הדפסה הודפס",
        "examine": "בודק לבדוק בדיקה נבדק",
        "receive": "מקבל לקבל קבלה התקבל",
        "send": "שולח לשלוח שליחה נשלח",
        "copy": "מעתיק להעתיק העתקה הועתק",
        "lose": "מאבד לאבד - -",
        "find": "מוצא למצוא מציאה נמצא",
        "hide": "מסתיר להסתיר הסתרה הוסתר",
        "update": "מעדכן לעדכן עדכון עודכן",
        "open": "פותח לפתוח פתיחה -",
        "close": "סוגר לסגור סגירה -",
        "visit": "מבקר לבקר ביקור -",
        "renovate": "משפץ לשפץ שיפוץ שופץ",
        "paint": "צובע לצבוע צביעה נצבע",
        "rent": "שוכר לשכור שכירה נשכר",
        "buy": "קונה לקנות קנייה נקנה",
        "sell": "מוכר למכור מכירה נמכר",
        "clean": "מנקה לנקות ניקוי נוקה",
        "inspect": "מסייר לסייר סיור -",
        "guard": "שומר לשמור שמירה -",
        "measure": "מודד למדוד מדידה נמדד",
        "evacuate": "מפנה לפנות פינוי פונה",
        "expand": "מרחיב להרחיב הרחבה הורחב",
        "organise": "מארגן לארגן ארגון אורגן",
        "cancel": "מבטל לבטל ביטול בוטל",
        "postpone": "מעכב לעכב עיכוב עוכב",
        "promote": "מקדם לקדם קידום -",
        "attend": "משתתף להשתתף השתתפות -",
        "moderate": "מנחה להנחות הנחייה -",
        "watch": "צופה לצפות צפייה -",
        "film": "מצלם לצלם צילום צולם",
        "fund": "מממן לממן מימון מומן",
        "praise": "משבח לשבח - שובח",
        "condemn": "מגנה לגנות גינוי גונה",
        "initiate": "יוזם ליזום ייזום -",
        "record": "מקליט להקליט הקלטה הוקלט",
        "thank": "מודה להודות - -",
        "congratulate": "מברך לברך - -",
        "invite": "מזמין להזמין הזמנה הוזמן",
        "interview": "מראיין לראיין - רואיין",
        "phone": "מתקשר להתקשר - -",
        "accompany": "מלווה ללוות ליווי -",
        "recruit": "מגייס לגייס גיוס גויס",
        "meet": "נפגש להיפגש פגישה -",
        "question": "מתשאל לתשאל תשאול תושאל",
        "support": "תומך לתמוך תמיכה -",
        "warn": "מזהיר להזהיר - הוזהר",
        "reassure": "מרגיע להרגיע הרגעה -",
        "help": "עוזר לעזור עזרה -",
        "argue": "מתווכח להתווכח ויכוח -",
        "arrive": "מגיע להגיע הגעה -",
        "leave": "יוצא לצאת יציאה -",
        "return": "חוזר לחזור חזרה -",
        "move": "עובר לעבור מעבר -",
        "travel": "נוסע לנסוע נסיעה -",
        "resign": "מתפטר להתפטר התפטרות -",
        "speak": "נואם לנאום נאום -",
        "protest": "מפגין להפגין הפגנה -",
        "vote": "מצביע להצביע הצבעה -",
        "begin": "מתחיל להתחיל התחלה -",
        "end": "מסתיים להסתיים סיום -",
        "shut": "נסגר להיסגר סגירה -",
        "reopen": "נפתח להיפתח - -",
        "vanish": "נעלם להיעלם היעלמות -",
    }.items()
}
