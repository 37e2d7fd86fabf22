"""Lemmas and parts of speech, from whichever library is at hand, behind one small interface.

Figures that rest on morphology (lexical diversity above all) differ between libraries by more than
between data sets, so every one of them is stored with the name and version of its backend.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from typing import Any, Protocol

from heron.errors import ConfigError, nearest
from heron.languages.language import Language
from heron.languages.words import folded_words


@dataclass(frozen=True, slots=True)
class Analysis:
    """One text, token by token, punctuation left out.

    Args:
        lemmas: dictionary forms, one per token.
        pos: universal part-of-speech tags beside them; None where the backend has none.
    """

    lemmas: tuple[str, ...]
    pos: tuple[str, ...] | None = None


class Morphology(Protocol):
    """A backend for one language."""

    @property
    def name(self) -> str:
        """What it is called in figures, its version included."""

    def analyse(self, texts: Sequence[str]) -> list[Analysis]:
        """Analyse texts one by one."""


class Surface:
    """The words themselves: no morphology, but the same in every language.

    Args:
        language: any.
    """

    name = "surface"

    def __init__(self, language: Language):
        pass

    def analyse(self, texts: Sequence[str]) -> list[Analysis]:
        """Take each word, without capitals, for its own lemma."""
        return [Analysis(tuple(folded_words(text))) for text in texts]


class Simplemma:
    """Dictionaries that come with the library `simplemma`; offline, no parts of speech.

    It looks at single words: what it does not know stays as it is, and of two readings it takes
    the more frequent. Hebrew prefixes are taken off where the dictionary has the rest.

    Args:
        language: one that the library has a dictionary of.

    Raises:
        ConfigError: it has none.
    """

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
        return [Analysis(tuple(map(lemma, folded_words(text)))) for text in texts]


class Stanza:
    """Stanford's neural pipeline: segments, tags and lemmatizes in context.

    It is not among heron's requirements: `pip install stanza`, then fetch a language's models once
    with `stanza.download`. Nothing is downloaded from here.

    Args:
        language: one that its models are on this computer.

    Raises:
        ConfigError: the library or the models are not installed.
    """

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
        found = []
        for document in self._pipeline.bulk_process(list(texts)):
            tokens = [word for sentence in document.sentences for word in sentence.words]
            kept = [token for token in tokens if token.upos != "PUNCT"]
            lemmas = tuple((token.lemma or token.text).casefold() for token in kept)
            found.append(Analysis(lemmas, tuple(token.upos for token in kept)))
        return found


BACKENDS: dict[str, Callable[[Language], Morphology]] = {
    "simplemma": Simplemma,
    "surface": Surface,
    "stanza": Stanza,
}


def load_morphology(name: str, language: Language) -> Morphology:
    """Find a backend by name.

    Args:
        name: `simplemma`, `surface` or `stanza`.
        language: the texts' language.

    Raises:
        ConfigError: an unknown name, or a backend that cannot work with this language here.
    """
    if name not in BACKENDS:
        raise ConfigError(f"morphology={name}: unknown backend.{nearest(name, BACKENDS)}")
    return BACKENDS[name](language)
