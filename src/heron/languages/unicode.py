"""Unicode variants of the same text, each unified by its own option.

A decomposed "ă", a Turkish "ş" in Romanian or an invisible direction mark make a different word for
a model or a metric. Every text is normalised once, when it is read; spans and answers are positions
in the normalised text.
"""

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated

from heron.base.tables import BIDI_CONTROLS
from heron.config.constraints import OneOf
from heron.languages.language import Language

# The combining marks of the Hebrew block: accents and points, without the punctuation among them
# (maqaf 05BE, paseq 05C0, sof pasuq 05C3, nun hafukha 05C6).
_NIQQUD = "\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7"
_HEBREW_PUNCTUATION = {"\u05be": "-", "\u05f3": "'", "\u05f4": '"'}


@dataclass
class UnicodeOptions:
    """Which Unicode variants are treated as one (`data.unicode`)."""

    nfc: bool = True  # compose letters and their diacritics into canonical form (NFC)
    # `strip` removes the invisible direction controls (RLM, LRM, embeddings, isolates)
    bidi: Annotated[str, OneOf("strip", "keep")] = "strip"
    # `strip` removes Hebrew points and accents
    niqqud: Annotated[str, OneOf("keep", "strip")] = "keep"
    # `unify` turns maqaf, geresh and gershayim into `-`, `'` and `"`, as most Hebrew text is typed
    punctuation: Annotated[str, OneOf("keep", "unify")] = "keep"
    # `comma` turns the cedilla letters ş ţ of old Romanian fonts into ș ț, in Romanian texts only
    # (ş is a letter of Turkish names elsewhere)
    cedilla: Annotated[str, OneOf("comma", "keep")] = "comma"


UNIFY_ALL = UnicodeOptions(niqqud="strip", punctuation="unify")


def normalise(text: str, language: Language | None, options: UnicodeOptions) -> str:
    """Unify Unicode variants; letters are never dropped, and a second call changes nothing."""
    if text.isascii():
        return text
    letters = language.variants if language and options.cedilla == "comma" else ""
    variants, replacements = _rules(letters, options.bidi, options.niqqud, options.punctuation)
    # Until nothing changes: removing a mark can bring a letter and its diacritic together, and
    # composing can create a cedilla letter. Ordinary text leaves at the first test.
    while True:
        if options.nfc and not unicodedata.is_normalized("NFC", text):
            text = unicodedata.normalize("NFC", text)
        if variants is None or not variants.search(text):
            return text
        text = variants.sub(lambda match: replacements.get(match.group(), ""), text)


@lru_cache
def _rules(
    letters: str, bidi: str, niqqud: str, punctuation: str
) -> tuple[re.Pattern[str] | None, dict[str, str]]:
    """Build the pattern of characters to change, and their replacements; others are deleted."""
    deleted = (BIDI_CONTROLS if bidi == "strip" else "") + (_NIQQUD if niqqud == "strip" else "")
    replacements = {
        **(_HEBREW_PUNCTUATION if punctuation == "unify" else {}),
        **dict(zip(letters[::2], letters[1::2], strict=True)),
    }
    characters = deleted + "".join(replacements)
    return (re.compile(f"[{characters}]") if characters else None), replacements
