"""Morphology: lemmas, morphemes and features, by one of several libraries.

Figures that rest on morphology (lexical diversity above all) differ between libraries by more than
between data sets, so all of them are stored with the name and version of their backend.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from importlib.metadata import version
from itertools import accumulate, chain
from typing import Any, Protocol

from heron.base.errors import ConfigError, nearest
from heron.base.registry import Registry
from heron.languages.analysis import Analysis, Token, Word, analysis_of
from heron.languages.conllu import open_stored
from heron.languages.language import Language, Prefixes
from heron.languages.words import words_and_marks

STORED = "conllu"  # as in conllu:FILE


class Morphology(Protocol):
    """A backend for one language."""

    @property
    def name(self) -> str:
        """What it is called in figures, its version included."""

    @property
    def note(self) -> str:
        """What must be known of its quality beside every figure; may be empty."""

    def analyse(self, texts: Sequence[str]) -> list[Analysis]:
        """Analyse texts one by one."""


def _by_word(text: str, lemma: Callable[[str], str]) -> Analysis:
    words, marks = words_and_marks(text)
    return Analysis(tuple(map(lemma, words)), words=len(words), marks=tuple(marks))


class Surface:
    """The words themselves: no morphology, but the same in every language.

    Args:
        language: any.
    """

    name, note = "surface", ""

    def __init__(self, language: Language):
        pass

    def analyse(self, texts: Sequence[str]) -> list[Analysis]:
        """Take each word, without capitals, for its own lemma."""
        return [_by_word(text, str) for text in texts]


class Simplemma:
    """Dictionaries that come with the library `simplemma`; offline, no parts of speech.

    It looks at single words: what it does not know stays as it is, and of two readings it takes
    the more frequent. Hebrew prefixes are taken off where the dictionary has the rest.

    Args:
        language: one that the library has a dictionary of.

    Raises:
        ConfigError: it has none.
    """

    note = ""

    def __init__(self, language: Language):
        from simplemma import lemmatize

        self.name = f"simplemma {version('simplemma')}"
        self._code, self._lemmatize = language.code, lemmatize
        try:
            lemmatize("a", lang=language.code)
        except ValueError as error:
            raise ConfigError(
                f"simplemma has no dictionary of {language.name}: morphology=surface needs none"
            ) from error

    def analyse(self, texts: Sequence[str]) -> list[Analysis]:
        """Look every word up; lemmas carry no capitals."""
        lemma = cache(lambda word: self._lemmatize(word, lang=self._code).casefold())
        return [_by_word(text, lemma) for text in texts]


class Stanza:
    """Stanford's neural pipeline: segments, tags and lemmatizes in context.

    It is not among heron's requirements: `pip install stanza`, then fetch a language's models once
    with `stanza.download`. Nothing is downloaded from here.

    Args:
        language: one that its models are on this computer.

    Raises:
        ConfigError: the library or the models are not installed.
    """

    note = ""

    def __init__(self, language: Language):
        try:
            import stanza
        except ImportError as error:
            raise ConfigError(
                "morphology=stanza needs the library: pip install stanza, then once "
                f"python -c 'import stanza; stanza.download(\"{language.code}\")'"
            ) from error
        self.name = f"stanza {stanza.__version__}"
        try:
            self._pipeline: Any = stanza.Pipeline(
                language.code,
                processors="tokenize,pos,lemma",
                download_method=None,
                verbose=False,
            )
        except (FileNotFoundError, ValueError) as error:
            raise ConfigError(
                f"stanza has no models of {language.name} here; fetch them once with "
                f"python -c 'import stanza; stanza.download(\"{language.code}\")'"
            ) from error

    def analyse(self, texts: Sequence[str]) -> list[Analysis]:
        """Analyse in one batch; words without a lemma stand for themselves."""
        return [
            analysis_of([_token(token) for s in document.sentences for token in s.tokens])
            for document in self._pipeline.bulk_process(list(texts))
        ]


def _token(token: Any) -> Token:
    words = (Word(w.text, w.lemma or "", w.upos or "", w.feats or "") for w in token.words)
    return Token(token.text, tuple(words))


BACKENDS: Registry[Callable[[Language], Morphology]] = Registry(
    "backend",
    {
        "simplemma": f"{__name__}:Simplemma",
        "simplemma-prefixes": "heron.languages.morphology:SimplemmaPrefixes",
        "surface": f"{__name__}:Surface",
        "stanza": f"{__name__}:Stanza",
    },
)


def load_morphology(name: str, language: Language) -> Morphology:
    """Find a backend by name.

    Args:
        name: `simplemma`, `simplemma-prefixes`, `surface`, `stanza`, or `conllu:` and a file or
            folder of analyses made elsewhere.
        language: the texts' language.

    Raises:
        ConfigError: an unknown name, or a backend that cannot work with this language here.
        DataError: the analyses cannot be read.
    """
    kind, _, argument = name.partition(":")
    if kind == STORED:
        return open_stored(argument)
    if name not in BACKENDS:
        known = [*BACKENDS, f"{STORED}:FILE"]
        raise ConfigError(f"morphology={name}: unknown backend.{nearest(name, known)}")
    return BACKENDS[name](language)


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
