"""Lemmas, morphemes and features, by one of several libraries.

Morphological statistics (above all lexical diversity) differ more between libraries than between
data sets, so they are stored with the name and version of their backend.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from heron.base.errors import ConfigError, first_line, nearest
from heron.base.registry import Registry
from heron.languages.language import Language, Prefixes
from heron.languages.words import WORD
from heron_tools.morphology.analyses import Analysis, Mark, Token, Word, analysis_of
from heron_tools.morphology.conllu import StoredAnalyses

_STORED = "conllu"  # as in conllu:FILE
# simplemma's name of a language's dictionary, where it is not the language's code.
_DICTIONARIES = {
    "fil": "tl",
    "no": "nb",
    **dict.fromkeys(("bs", "hr", "sr", "sr-Latn"), "hbs"),
}
_WORD_OR_MARK = re.compile(rf"{WORD.pattern}|(?P<mark>\S)")


@dataclass(frozen=True)
class Morphology:
    """A backend for one language."""

    name: str  # in tables, with its version
    analyse: Callable[[Sequence[str]], list[Analysis]]  # one analysis per text
    note: str = ""  # on its quality, shown below its tables


BACKENDS: Registry[Callable[[Language], Morphology]] = Registry("backend", key="morphology")


def load_morphology(name: str, language: Language) -> Morphology:
    """Load a backend by name, such as `simplemma` or `conllu:PATH` (another parser's output).

    Raises:
        ConfigError: an unknown name, or a backend that does not work for this language.
        DataError: the analyses cannot be read.
    """
    kind, _, path = name.partition(":")
    if kind == _STORED:
        stored = StoredAnalyses(Path(path).expanduser())
        return Morphology(stored.name, stored.analyse)
    if name not in BACKENDS:
        known = [*BACKENDS, f"{_STORED}:FILE"]
        raise ConfigError(f"morphology={name}: unknown backend.{nearest(name, known)}")
    return BACKENDS[name](language)


@BACKENDS.registered("simplemma")
def simplemma(language: Language) -> Morphology:
    """Look single words up in the dictionaries of `simplemma`; offline, no parts of speech.

    Unknown words are kept; of several readings, the most frequent is chosen. Hebrew prefixes are
    removed if the dictionary has the rest. Raises a ConfigError without a dictionary.
    """
    from simplemma import lemmatize  # start-up time

    dictionary = _DICTIONARIES.get(language.code, language.code)
    try:
        lemmatize("a", lang=dictionary)
    except ValueError as error:
        raise ConfigError(
            f"simplemma has no dictionary of {language.name}: morphology=surface needs none"
        ) from error
    lemma = cache(lambda word: lemmatize(word, lang=dictionary).casefold())
    return Morphology(f"simplemma {version('simplemma')}", _by_word(lemma))


@BACKENDS.registered("simplemma-prefixes")
def simplemma_prefixes(language: Language) -> Morphology:
    """Separate Hebrew prefixes if simplemma's dictionary has the rest; see `Segmenter`.

    Raises a ConfigError for a language without `Language.prefixes`.
    """
    if language.prefixes is None:
        raise ConfigError(
            f"morphology=simplemma-prefixes: {language.name} has no list of prefixes; choose "
            "simplemma, stanza or conllu:FILE"
        )
    # Tested by tests/reproduction/test_morphology.py.
    note = (
        "Prefixes are separated by a dictionary, without context: F1 .84 against the morphemes of "
        "UD_Hebrew-HTB's test split (without segmentation: .49)."
    )
    analyse = Segmenter(language.code, language.prefixes).analyse
    return Morphology(f"simplemma-prefixes {version('simplemma')}", analyse, note)


@BACKENDS.registered("surface")
def surface(language: Language) -> Morphology:
    """Take case-folded words as lemmas, for any language."""
    return Morphology("surface", _by_word(str))


@BACKENDS.registered("stanza")
def stanza(language: Language) -> Morphology:
    """Segment, tag and lemmatize in context, by Stanza's neural pipeline, if it is installed."""
    try:
        import stanza  # optional dependency

        pipeline: Any = stanza.Pipeline(
            language.code, processors="tokenize,pos,lemma", download_method=None, verbose=False
        )
    except (ImportError, FileNotFoundError, ValueError) as error:
        raise ConfigError(
            f"morphology=stanza: {first_line(error)}. It needs pip install stanza, then once "
            f"python -c 'import stanza; stanza.download(\"{language.code}\")'"
        ) from error

    def analyse(texts: Sequence[str]) -> list[Analysis]:
        analyses = []
        for document in pipeline.bulk_process(list(texts)):
            tokens: list[Token] = []
            for sentence in document.sentences:
                tokens += map(_token, sentence.tokens)
            analyses.append(analysis_of(tokens))
        return analyses

    return Morphology(f"stanza {stanza.__version__}", analyse)


def _token(token: Any) -> Token:
    """Convert a token of Stanza, whose attributes may be None."""
    words = []
    for word in token.words:
        lemma = word.lemma or ""
        pos = word.upos or ""
        feats = word.feats or ""
        words.append(Word(word.text, lemma, pos, feats))
    return Token(token.text, tuple(words))


def _by_word(lemma: Callable[[str], str]) -> Callable[[Sequence[str]], list[Analysis]]:
    """Make a function that lemmatizes each word of each text."""

    def analyse(texts: Sequence[str]) -> list[Analysis]:
        analyses = []
        for text in texts:
            words, marks = words_and_marks(text)
            lemmas = tuple(map(lemma, words))
            analyses.append(Analysis(lemmas, words=len(words), marks=tuple(marks)))
        return analyses

    return analyse


_SHORTEST = 2  # letters after the prefixes
_SHORTEST_DEFINITE = 3  # letters after an article; before fewer, its letter is mostly of the word

Split = tuple[str, ...]  # prefixes, then the rest


class Segmenter:
    """Separates Hebrew prefixes from words by simplemma's dictionary.

    Conjunction, subordinator, preposition and article are written together with the next word:
    "ושבבית" is "ו", "ש", "ב", "בית". The segmentation with the fewest prefixes is chosen, but an
    article is separated from a definite form. It cannot find an unwritten article
    ("בבית" is "ב", "בית" or "ב", "ה", "בית"), pronominal suffixes, or anything that needs
    context. Its quality on UD Hebrew is in experiments/hesum/README.md.
    """

    def __init__(self, code: str, prefixes: Prefixes):
        from simplemma import lemmatize  # start-up time
        from simplemma.strategies import DictionaryLookupStrategy

        lookup = DictionaryLookupStrategy()
        self._prefixes = prefixes
        self._known = cache(lambda word: lookup.is_dictionary_member(word, code))
        self._lemma = cache(lambda word: lemmatize(word, lang=code).casefold())
        self._split = cache(self._choose)

    def analyse(self, texts: Sequence[str]) -> list[Analysis]:
        """Segment each word without context; words that the dictionary lacks are not segmented."""
        return [self._analyse(text) for text in texts]

    def _analyse(self, text: str) -> Analysis:
        words, marks = words_and_marks(text)
        lemmas: list[str] = []
        morphemes: list[str] = []
        readings: list[int] = []
        morphemes_before = [0]  # each word
        for word in words:
            split, count = self._split(word)
            *prefixes, rest = split
            lemmas += [*prefixes, self._lemma(rest)]
            morphemes += split
            readings.append(count)
            morphemes_before.append(len(morphemes))
        return Analysis(
            lemmas=tuple(lemmas),
            words=len(words),
            morphemes=tuple(morphemes),
            readings=tuple(readings),
            marks=tuple((morphemes_before[before], mark) for before, mark in marks),
        )

    def _choose(self, word: str) -> tuple[Split, int]:
        """Segment one word.

        Returns:
            The segmentation, and how many the dictionary allows.
        """
        known = [split for split in splits(word, self._prefixes) if self._known(split[-1])]
        if not known:
            return (word,), 1
        shortest = min(known, key=len)
        shortest_lemma = self._lemma(shortest[-1])
        with_article = [*shortest[:-1], self._prefixes.article]
        for split in known:
            *prefixes, rest = split
            if prefixes != with_article:
                continue
            # The article belongs to a definite form of the same word, not to another word.
            is_same_word = self._lemma(rest) == shortest_lemma
            if is_same_word or len(rest) >= _SHORTEST_DEFINITE:
                return split, len(known)
        return shortest, len(known)


def splits(word: str, prefixes: Prefixes) -> list[Split]:
    """List every segmentation of a word that its spelling allows; the whole word first.

    >>> splits("ובבית", Prefixes((("ו",), ("ב",))))
    [('ובבית',), ('ו', 'בבית'), ('ו', 'ב', 'בית')]
    """
    segmentations: list[Split] = []

    def extend(slot: int, before: Split, rest: str) -> None:
        """Add what remains after the prefixes `before`, then split it from `slot` on."""
        segmentations.append((*before, rest))
        swallows_article = before and before[-1] in prefixes.swallow_article
        for later in range(slot, len(prefixes.slots)):
            for prefix in prefixes.slots[later]:
                if not rest.startswith(prefix):
                    continue
                if prefix == prefixes.article and swallows_article:
                    continue
                shorter_rest = rest.removeprefix(prefix)
                if len(shorter_rest) >= _SHORTEST:
                    extend(later + 1, (*before, prefix), shorter_rest)

    extend(0, (), word)
    return segmentations


def words_and_marks(text: str) -> tuple[list[str], list[Mark]]:
    """Split a text into `folded_words` and other characters.

    Returns:
        The words, and every other visible character with the number of words before it.
    """
    words: list[str] = []
    marks: list[Mark] = []
    for match in _WORD_OR_MARK.finditer(text.casefold()):
        if match["mark"]:
            marks.append((len(words), match["mark"]))
        else:
            words.append(match[0])
    return words, marks
