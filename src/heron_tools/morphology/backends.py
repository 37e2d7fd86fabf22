"""Lemmas, morphemes and features, by one of several libraries.

Morphological statistics (above all lexical diversity) differ more between libraries than between
data sets, so they are stored with the name and version of their backend.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from itertools import accumulate, chain
from pathlib import Path
from typing import Any

from heron.base.errors import ConfigError, first_line, nearest
from heron.base.registry import Registry
from heron.languages.language import Language, Prefixes
from heron.languages.words import WORD
from heron_tools.morphology.analyses import Analysis, Token, Word, analysis_of
from heron_tools.morphology.conllu import StoredAnalyses

_STORED = "conllu"  # as in conllu:FILE
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

    try:
        lemmatize("a", lang=language.code)
    except ValueError as error:
        raise ConfigError(
            f"simplemma has no dictionary of {language.name}: morphology=surface needs none"
        ) from error
    lemma = cache(lambda word: lemmatize(word, lang=language.code).casefold())
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
        documents = pipeline.bulk_process(list(texts))
        return [
            analysis_of([_token(token) for s in document.sentences for token in s.tokens])
            for document in documents
        ]

    return Morphology(f"stanza {stanza.__version__}", analyse)


def _token(token: Any) -> Token:
    words = (Word(w.text, w.lemma or "", w.upos or "", w.feats or "") for w in token.words)
    return Token(token.text, tuple(words))


def _by_word(lemma: Callable[[str], str]) -> Callable[[Sequence[str]], list[Analysis]]:
    """Make a function that lemmatizes each word of each text."""

    def analysis(text: str) -> Analysis:
        words, marks = words_and_marks(text)
        return Analysis(tuple(map(lemma, words)), words=len(words), marks=tuple(marks))

    return lambda texts: list(map(analysis, texts))


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
        """Segment one word; returns also the number of segmentations that the dictionary allows."""
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
    """List every segmentation of a word that its spelling allows; the whole word first.

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


def words_and_marks(text: str) -> tuple[list[str], list[tuple[int, str]]]:
    """Split a text into `folded_words` and other characters.

    Returns:
        The words, and every other visible character with the number of words before it.
    """
    found: list[str] = []
    marks: list[tuple[int, str]] = []
    for match in _WORD_OR_MARK.finditer(text.casefold()):
        if match["mark"]:
            marks.append((len(found), match["mark"]))
        else:
            found.append(match[0])
    return found, marks
