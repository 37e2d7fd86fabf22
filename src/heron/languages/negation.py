"""Words that negate, by language: a hypothesis that holds one is rarely entailed in crowd data."""

from __future__ import annotations

# Function words only, as `texts.words` splits them; Hebrew ones with the prefixes they often take.
_ENGLISH = """
no not never none nobody nothing nowhere neither nor without cannot don't doesn't didn't isn't
aren't wasn't weren't won't wouldn't can't couldn't shouldn't hasn't haven't hadn't mustn't
"""
_HEBREW = """
לא ולא שלא כשלא הלא אין ואין שאין אינו אינה אינם אינן אינני איננו איננה איננם שאינו שאינה שאינם
שאינן בלי מבלי ללא מעולם שום כלום בלתי
"""
_ROMANIAN = """
nu n-a n-am n-au n-ai n-ați n-ar n-aș nici niciun nicio niciunul niciuna niciodată nicăieri nimeni
nimănui nimic fără nicicum nicidecum
"""

# A language that is not here has no such feature, and the audit says so.
NEGATION = {
    "en": frozenset(_ENGLISH.split()),
    "he": frozenset(_HEBREW.split()),
    "ro": frozenset(_ROMANIAN.split()),
}
