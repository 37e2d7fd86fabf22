"""Comparison of texts from different files, after Unicode variants are unified.

A run's data is normalised when it is read (`heron.languages.unicode.normalise`); another system's
file may not be: direction marks, the order of Hebrew points, cedilla letters. Two texts are equal
where they are equal after normalisation.

Scores use the texts as they are given: exact match, F1 and ROUGE then equal those of SQuAD's script
and of XL-Sum's fork. Scores named by a language or heron (`he_f1`, `rouge1_heron`) unify variants.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import takewhile

from heron.languages import get_language
from heron.languages.unicode import UNIFY_ALL, UnicodeOptions, normalise

Spell = Callable[[str], str]

_SHOWN = 80  # characters of a text in a message
_BEFORE = 20  # of them, what stands before the first difference
KEPT_APART = (
    "they differ only in Unicode variants that data.unicode does not unify: spell both alike"
)


def coarsest(readings: Iterable[UnicodeOptions]) -> UnicodeOptions:
    """Make options that unify what any of `readings` unifies; without any, the default."""
    every = list(readings)
    unified = {
        name: each
        for name, each in vars(UNIFY_ALL).items()
        if any(getattr(reading, name) == each for reading in every)
    }
    return replace(every[0], **unified) if every else UnicodeOptions()


def speller(language: str | None, options: UnicodeOptions | None = None) -> Spell:
    """Make the function that normalises and strips a text as a data set's reader does.

    The language is unknown where it is None; without options, those of `data.unicode` by default.
    """
    known = get_language(language) if language else None
    reading = options or UnicodeOptions()

    def spell(text: str) -> str:
        return normalise(text, known, reading).strip()

    return spell


def around_difference(one: str, other: str) -> tuple[str, str]:
    """Shorten two normalised texts for a message to the place where they first differ."""
    same = [*takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))]
    start = max(0, len(same) - _BEFORE)
    return one[start : start + _SHOWN], other[start : start + _SHOWN]
