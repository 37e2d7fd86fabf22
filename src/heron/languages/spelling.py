"""Texts of different files, spelt alike before they are compared.

A run's data is read through `heron.languages.unicode.normalise`. Another system's file may have
kept what that reading unifies: direction marks, the order of Hebrew points, cedilla letters. Two
texts are the same where the reading makes them the same; a difference that is left is a real one.

What is scored stays as it is given, golds as the data set spells them: exact match, F1 and ROUGE
are then those of SQuAD's script and of XL-Sum's fork. Scores with a language's name or heron's
(`he_f1`, `rouge1_heron`) take variants for one.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import takewhile

from heron.config.data import UnicodeOptions
from heron.languages import get_language
from heron.languages.unicode import UNIFY_ALL, normalise

Spell = Callable[[str], str]

_SHOWN = 80  # characters of a text in a message
_BEFORE = 20  # of them, what stands before the first difference
KEPT_APART = (
    "they differ in nothing but Unicode variants that data.unicode keeps apart: spell both alike"
)


def speller(language: str | None, options: UnicodeOptions | None = None) -> Spell:
    """Make the function that spells texts as a data set's are, white space around them cut off.

    Args:
        language: ISO 639-1 code; None where nobody knows.
        options: the `data.unicode` that the data was read with; None: the default.

    Raises:
        ConfigError: an unknown language.
    """
    known = get_language(language) if language else None
    reading = options or UnicodeOptions()

    def spell(text: str) -> str:
        return normalise(text, known, reading).strip()

    return spell


def are_variants(one: str, other: str, language: str | None) -> bool:
    """Tell whether two texts differ in Unicode variants alone, whatever is kept apart."""
    plain = speller(language, UNIFY_ALL)
    return plain(one) == plain(other)


def around_difference(one: str, other: str) -> tuple[str, str]:
    """Cut two texts for a message, where they are long, to where they first differ.

    Give it what was compared, both spelt alike: variants that do not count would hide the rest.
    """
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
    return _cut(one, same), _cut(other, same)


def _cut(text: str, place: int) -> str:
    if len(text) <= _SHOWN:
        return text
    start = max(0, min(place - _BEFORE, len(text) - _SHOWN))
    end = start + _SHOWN
    return "…" * (start > 0) + text[start:end] + "…" * (end < len(text))
