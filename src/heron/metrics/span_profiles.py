"""What counts as the same answer: rules that turn an answer into tokens, one profile each.

`SQUAD` is the official evaluation's and the one to compare with papers. It was made for English:
it knows ASCII punctuation only, so that צה"ל and צה״ל, or בית־ספר and בית ספר, are different words,
and it strips `a`, `an` and `the`, so that Romanian "un an" (a year) is equal to "un". A profile
made by `language_profile` repairs that for any language, and is reported beside it, never instead.

A profile's `normalise` reads many answers at once, joined by newlines: it treats a newline as any
other white space, so the answers of a whole split are normalised in a few passes over one string.
"""

from __future__ import annotations

import re
import string
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from heron.config.data import UnicodeOptions
from heron.languages.language import Language
from heron.languages.unicode import normalise

Tokens = tuple[str, ...]

# `\b(a|an|the)\b`, but beginning with a letter, which a search finds eight times as fast.
_ARTICLES = re.compile(r"(?:a(?<!\wa)n?|t(?<!\wt)he)\b")
_UNICODE = UnicodeOptions(niqqud="strip")
# Only the cedilla letters are one language's own business: this one leaves them alone.
_ANY = Language("unicode", "any language", "ltr", "")
_DASHES_ELSEWHERE = "−⁃"  # the minus sign and the hyphen bullet, which Unicode files elsewhere
_MARKS_ELSEWHERE = "ʼ´"  # typed for an apostrophe or a geresh; no punctuation to Unicode


@dataclass(frozen=True, slots=True)
class Profile:
    """One definition of equal answers.

    Args:
        name: opens the names of its scores (`he_f1`); empty for the standard ones (`f1`).
        normalise: what is done to a text, before it is split at white space. It must treat a
            newline as it does a space, and keep it.
    """

    name: str
    normalise: Callable[[str], str]

    def score(self, name: str) -> str:
        """Name one of its scores."""
        return f"{self.name}_{name}" if self.name else name

    def tokens(self, texts: Sequence[str]) -> list[Tokens]:
        """Normalise and split texts, all at once.

        Args:
            texts: U answers as they are.

        Returns:
            Each text's tokens in order; none where nothing is left of it.
        """
        joined = self.normalise("\n".join(text.replace("\n", " ") for text in texts))
        return [tuple(line.split()) for line in joined.split("\n")] if texts else []


def _squad(text: str) -> str:
    text = text.lower()
    for mark in string.punctuation:
        if mark in text:
            text = text.replace(mark, "")
    return _ARTICLES.sub(" ", text)


def language_profile(language: Language | None) -> Profile:
    """Make the profile of a language; a fork's new language needs nothing more than its `Language`.

    Letters are never dropped, and no article is. Hebrew's (ה) is a letter of its word, and so
    begins words without an article as well (הר, mountain); Romanian's "un" and "o" are numerals
    too, and "un an" is not "an". In order:

    1. no capitals (case folding), no Unicode variants: canonical composition (NFC), Hebrew points
       and accents, invisible direction marks; in Romanian ş ţ with a cedilla are ș ț;
    2. every dash, hyphen, maqaf and minus sign is a space: "1914–1918" and "1914-1918" are the
       same two tokens, and so are בית־ספר and בית ספר;
    3. all other punctuation is dropped: Unicode's, and what ASCII calls so (`$+<=>^|~`). With it go
       geresh, gershayim and every kind of quotation mark, so that צה״ל, צה"ל and צה''ל are one;
    4. invisible format characters (soft hyphens, zero-width joiners) are dropped.

    Args:
        language: of the answers; None for a language that heron does not know, whose scores are
            named `unicode_f1` and so on.

    Source: heron's own. The failures it repairs are those of the official rules on Hebrew.
    """
    known = language or _ANY

    def unify(text: str) -> str:
        text = _without_punctuation(normalise(text.casefold(), known, _UNICODE))
        # What was dropped may have stood between a letter and its diacritic.
        return normalise(text, known, _UNICODE)

    return Profile(known.code, unify)


def _without_punctuation(text: str) -> str:
    for character in sorted(set(text)):
        category = unicodedata.category(character)
        if category == "Pd" or character in _DASHES_ELSEWHERE:
            text = text.replace(character, " ")
        elif (
            category[0] == "P"
            or category == "Cf"
            or character in string.punctuation
            or character in _MARKS_ELSEWHERE
        ):
            text = text.replace(character, "")
    return text


SQUAD = Profile("", _squad)
