"""Lemmas, morphemes and features, from whichever library is at hand, behind one small interface.

Figures that rest on morphology (lexical diversity above all) differ between libraries by more than
between data sets, so every one of them is stored with the name and version of its backend.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from importlib.metadata import version
from typing import Any, Protocol

from heron.base.errors import ConfigError, nearest
from heron.base.registry import Registry
from heron.languages.analysis import Analysis, analysis_of
from heron.languages.conllu import Token, Word
from heron.languages.language import Language
from heron.languages.stored import open_stored
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
        "simplemma-prefixes": "heron.languages.prefixes:SimplemmaPrefixes",
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
