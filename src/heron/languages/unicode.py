"""Unicode variants of the same text, each unified by its own option.

A decomposed "ă", a Turkish "ş" in Romanian or an invisible direction mark make a different word for
a model or a metric. Every text is normalised once, when it is read; spans and answers are positions
in the normalised text. Texts of different files are compared after normalisation.

Scores use the texts as they are given: exact match, F1 and ROUGE then equal those of SQuAD's script
and of XL-Sum's fork. Scores named by a language or heron (`he_f1`, `rouge1_heron`) unify variants.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import takewhile
from typing import Annotated

from heron.base.tables import BIDI_CONTROLS
from heron.config.constraints import OneOf
from heron.languages import get_language
from heron.languages.language import Language

Spell = Callable[[str], str]

_SHOWN = 80  # characters of a text in a message
_BEFORE = 20  # those before the first difference
KEPT_APART = (
    "they differ only in Unicode variants that data.unicode does not unify: spell both alike"
)

# The combining marks of the Hebrew block: accents and points, without the punctuation among them
# (maqaf 05BE, paseq 05C0, sof pasuq 05C3, nun hafukha 05C6).
_NIQQUD = "\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7"
_HEBREW_PUNCTUATION = {"\u05be": "-", "\u05f3": "'", "\u05f4": '"'}
# Yiddish's letters that are two letters, which most keyboards have only as two.
_DIGRAPHS = {"\u05f0": "וו", "\u05f1": "וי", "\u05f2": "יי"}
# Languages that write ı beside i: their capitals are I and İ.
_DOTLESS = frozenset(("tr", "az", "crh", "crh-Latn", "gag", "kk-Latn", "tt-Latn", "zza"))


@dataclass
class UnicodeOptions:
    """Which Unicode variants are treated as one (`data.unicode`)."""

    nfc: bool = True  # compose letters and their diacritics into canonical form (NFC)
    # `strip` removes the invisible direction controls (RLM, LRM, embeddings, isolates)
    bidi: Annotated[str, OneOf("strip", "keep")] = "strip"
    # `strip` removes Hebrew points and accents; Yiddish's װ is then two letters
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
    characters = ""
    if bidi == "strip":
        characters += BIDI_CONTROLS
    if niqqud == "strip":
        characters += _NIQQUD
    replacements = dict(zip(letters[::2], letters[1::2], strict=True))
    if niqqud == "strip":
        replacements |= _DIGRAPHS
    if punctuation == "unify":
        replacements |= _HEBREW_PUNCTUATION
    characters += "".join(replacements)
    return (re.compile(f"[{characters}]") if characters else None), replacements


def fold(text: str, language: Language) -> str:
    """Case-fold a text as its language does: I is the capital of ı in Turkish.

    Source: Unicode's SpecialCasing for Turkish and Azerbaijani; the Latin alphabets of Crimean
    Tatar, Gagauz, Kazakh, Tatar and Zazaki have the same pairs.
    """
    if language.code in _DOTLESS:
        text = text.replace("I\u0307", "i").replace("İ", "i").replace("I", "ı")
    return text.casefold()


def coarsest(readings: Iterable[UnicodeOptions]) -> UnicodeOptions:
    """Make options that unify what any of `readings` unifies; without any, the default."""
    options = list(readings)
    if not options:
        return UnicodeOptions()
    coarse = options[0]
    for name, unifying in vars(UNIFY_ALL).items():
        if any(getattr(reading, name) == unifying for reading in options):
            coarse = replace(coarse, **{name: unifying})
    return coarse


def speller(language: str | None, options: UnicodeOptions | None = None) -> Spell:
    """Make the function that normalises and strips a text as a data set's reader does.

    Without a language, cedilla letters stay; without options, the defaults of `UnicodeOptions`.
    """
    known = get_language(language) if language else None
    reading = options or UnicodeOptions()

    def spell(text: str) -> str:
        return normalise(text, known, reading).strip()

    return spell


def around_difference(first: str, second: str) -> tuple[str, str]:
    """Shorten two normalised texts for a message to the place where they first differ."""
    letters = zip(first, second, strict=False)
    same = takewhile(lambda pair: pair[0] == pair[1], letters)
    start = max(0, len(list(same)) - _BEFORE)
    return first[start : start + _SHOWN], second[start : start + _SHOWN]
