"""Hebrew summaries."""

from __future__ import annotations

from collections.abc import Sequence

from chronicle import hebrew_words as words
from chronicle.hebrew_questions import FORMS, HebrewAsker
from chronicle.summary import Summariser, placeless
from chronicle.world import Entity, Event


class HebrewSummariser(Summariser, HebrewAsker):
    """Summarizes in Hebrew."""

    def noun(self, event: Event, named: bool) -> str:
        """Tell an event as a noun, without its town: פרסום ההצעה על ידי השופטת דנה."""
        return self.nominal(placeless(event), named=named, article=True)

    def centre(self, who: Entity, acts: int, examples: Sequence[Event]) -> str:
        """Say who acts most often, how often, and name some of the actions."""
        stands = {"m": "עומד", "f": "עומדת", "p": "עומדים"}[self.agreement(who)]
        things = self.together([self.noun(event, named=False) for event in examples])
        return self.rng.choice((
            f"במרכז הפרשה {stands} {self.full(who)}, עם {_number(acts)} פעולות ובהן {things}",
            f"הרבה מן הכתבה נסב על {self.full(who)}: {_number(acts)} פעולות, בין השאר {things}",
        ))  # fmt: skip

    def course(self, first: Event, last: Event) -> str:
        """Say how the story began and ended."""
        one, two = self.inside(first), self.inside(last)
        return self.rng.choice((
            f"השתלשלות העניינים החלה ב{one} והגיעה לסופה ב{two}",
            f"ראשיתה של הפרשה ב{one} ואחריתה ב{two}",
        ))  # fmt: skip

    def towns(self, towns: Sequence[int]) -> str:
        """Say in how many towns things happened, and name them."""
        names = self.together([words.PLACES[town] for town in towns])
        return self.rng.choice((
            f"הזירה משתרעת על פני {_number(len(towns))} ערים: {names}",
            f"בסך הכול מעורבות בסיפור {_number(len(towns))} ערים, הלוא הן {names}",
        ))  # fmt: skip

    def reason(self, effect: Event, cause: Event) -> str:
        """Say that one event followed from another."""
        noun, other = self.noun(effect, named=True), self.noun(cause, named=True)
        came = "באה" if FORMS[effect.frame.name][2].endswith(("ה", "ת")) else "בא"
        return self.rng.choice((
            f"{noun} {came} בעקבות {other}",
            f"{other} הוא שהוביל אל {noun}" if came_m(cause) else f"{other} היא שהובילה אל {noun}",
        ))  # fmt: skip

    def inside(self, event: Event) -> str:
        """Tell an event after ב, which swallows the article."""
        return self.nominal(placeless(event), named=True, article=False)

    def together(self, names: Sequence[str]) -> str:
        """Join names: א, ב וג."""
        *rest, last = names
        return f"{', '.join(rest)} ו{_doubled(last)}"


def came_m(event: Event) -> bool:
    """Tell whether an event's noun is masculine."""
    return not FORMS[event.frame.name][2].endswith(("ה", "ת"))


def _doubled(word: str) -> str:
    """Double a consonantal ו after a prefix."""
    return f"ו{word}" if word.startswith("ו") else word


def _number(count: int) -> str:
    """Count feminine nouns in words up to nine."""
    return words.NUMBERS["f"][count - 2] if count < 10 else str(count)
