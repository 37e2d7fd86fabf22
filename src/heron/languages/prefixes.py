"""Hebrew prefixes, taken off where a dictionary knows the rest: a small offline segmenter.

Conjunction, subordinator, preposition and article are written together with the word behind them:
"ושבבית" is "ו", "ש", "ב", "בית". A word is taken apart where simplemma's dictionary has the rest;
of several ways the one with the fewest prefixes, except that a definite form is taken apart from
its article, too. What it cannot do: an article that is not written ("בבית" is "ב", "בית" or "ב",
"ה", "בית"), pronominal suffixes, and anything that needs the sentence.

How good it is, measured on UD Hebrew: see experiments/hesum/README.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib.metadata import version
from itertools import accumulate, chain

from heron.base.errors import ConfigError
from heron.languages.analysis import Analysis
from heron.languages.language import Language, Prefixes
from heron.languages.words import words_and_marks

_SHORTEST = 2  # letters of what is left
_SHORTEST_DEFINITE = 3  # shorter ones are mostly words that begin with the article's letter

Split = tuple[str, ...]  # prefixes, then the rest


class SimplemmaPrefixes:
    """Take prefixes off words by simplemma's dictionary; lemmas are those of the rest.

    Args:
        language: one with prefixes; heron knows those of Hebrew.

    Raises:
        ConfigError: a language without them.
    """

    # Held to by tests/reproduction/test_morphology.py.
    note = (
        "Prefixes are taken off by a dictionary, word by word: against the morphemes of "
        "UD_Hebrew-HTB's test this reaches F1 .84 (whole words: .49)."
    )

    def __init__(self, language: Language):
        if language.prefixes is None:
            raise ConfigError(
                f"morphology=simplemma-prefixes: no prefixes are known of {language.name}: take "
                "simplemma, stanza or conllu:FILE"
            )
        from simplemma import lemmatize
        from simplemma.strategies import DictionaryLookupStrategy

        self.name = f"simplemma-prefixes {version('simplemma')}"
        lookup = DictionaryLookupStrategy()
        code, self._prefixes = language.code, language.prefixes
        self._known = cache(lambda word: lookup.is_dictionary_member(word, code))
        self._lemma = cache(lambda word: lemmatize(word, lang=code).casefold())
        self._split = cache(self._choose)

    def analyse(self, texts: Sequence[str]) -> list[Analysis]:
        """Take every word apart by itself; words that the dictionary lacks stay whole."""
        return [self._analyse(*words_and_marks(text)) for text in texts]

    def _analyse(self, words: Sequence[str], marks: Sequence[tuple[int, str]]) -> Analysis:
        found = [self._split(word) for word in words]
        before = list(accumulate((len(split) for split, _ in found), initial=0))
        return Analysis(
            lemmas=tuple(chain.from_iterable((*s[:-1], self._lemma(s[-1])) for s, _ in found)),
            words=len(words),
            morphemes=tuple(chain.from_iterable(split for split, _ in found)),
            readings=tuple(readings for _, readings in found),
            marks=tuple((before[place], mark) for place, mark in marks),
        )

    def _choose(self, word: str) -> tuple[Split, int]:
        """Take one word apart; also says in how many ways the dictionary would let it."""
        known = [split for split in splits(word, self._prefixes) if self._known(split[-1])]
        if not known:
            return (word,), 1
        best = min(known, key=len)
        for split in known:
            if split[:-2] == best[:-1] and split[-2:-1] == (self._prefixes.article,):
                rest = split[-1]
                same = self._lemma(rest) == self._lemma(best[-1])
                if same or len(rest) >= _SHORTEST_DEFINITE:
                    return split, len(known)
        return best, len(known)


def splits(word: str, prefixes: Prefixes) -> list[Split]:
    """List every way to take prefixes off a word, as far as spelling allows; the whole word first.

    >>> splits("ובבית", Prefixes((("ו",), ("ב",))))
    [('ובבית',), ('ו', 'בבית'), ('ו', 'ב', 'בית')]
    """
    found: list[Split] = []

    def take(slot: int, taken: Split, rest: str) -> None:
        found.append((*taken, rest))
        for later in range(slot, len(prefixes.slots)):
            for prefix in prefixes.slots[later]:
                swallowed = taken and taken[-1] in prefixes.swallow_article
                if prefix == prefixes.article and swallowed:
                    continue
                if rest.startswith(prefix) and len(rest) - len(prefix) >= _SHORTEST:
                    take(later + 1, (*taken, prefix), rest[len(prefix) :])

    take(0, (), word)
    return found
