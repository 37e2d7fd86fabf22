"""Morphology: lemmas, morphemes and features, by one of several libraries.

Figures that rest on morphology (lexical diversity above all) differ between libraries by more than
between data sets, so all of them are stored with the name and version of their backend.
"""

from collections.abc import Callable, Sequence
from functools import cache
from importlib.metadata import version
from itertools import accumulate, chain
from typing import Any, Protocol

from heron.base.errors import ConfigError, nearest
from heron.base.registry import Registry
from heron.languages.language import Language, Prefixes
from heron.languages.words import words_and_marks
from heron_tools.morphology.analysis import Analysis, Token, Word, analysis_of
from heron_tools.morphology.conllu import open_stored

STORED = "conllu"  # as in conllu:FILE


class Morphology(Protocol):
    """A backend for one language."""

    @property
    def name(self) -> str:
        """Its name in figures, with its version."""

    @property
    def note(self) -> str:
        """A remark on its quality, shown beside every figure; may be empty."""

    def analyse(self, texts: Sequence[str]) -> list[Analysis]:
        """Analyse texts one by one."""


def _by_word(text: str, lemma: Callable[[str], str]) -> Analysis:
    words, marks = words_and_marks(text)
    return Analysis(tuple(map(lemma, words)), words=len(words), marks=tuple(marks))


class Surface:
    """Case-folded words as lemmas: no morphology, the same in every language."""

    name, note = "surface", ""

    def __init__(self, language: Language):
        pass

    def analyse(self, texts: Sequence[str]) -> list[Analysis]:
        """Use each word as its own lemma."""
        return [_by_word(text, str) for text in texts]


class Simplemma:
    """The dictionaries of the library `simplemma`; offline, no parts of speech.

    It looks up single words: unknown ones stay as they are, and of two readings the more frequent
    wins. Hebrew prefixes are removed where the dictionary has the rest.

    Raises:
        ConfigError: the library has no dictionary of the language.
    """

    note = ""

    def __init__(self, language: Language):
        from simplemma import lemmatize  # start-up time

        self.name = f"simplemma {version('simplemma')}"
        self._code, self._lemmatize = language.code, lemmatize
        try:
            lemmatize("a", lang=language.code)
        except ValueError as error:
            raise ConfigError(
                f"simplemma has no dictionary of {language.name}: morphology=surface needs none"
            ) from error

    def analyse(self, texts: Sequence[str]) -> list[Analysis]:
        """Look up every word; lemmas are case-folded."""
        lemma = cache(lambda word: self._lemmatize(word, lang=self._code).casefold())
        return [_by_word(text, lemma) for text in texts]


class Stanza:
    """Stanford's neural pipeline: segments, tags and lemmatizes in context.

    It is an optional dependency: `pip install stanza`, then fetch a language's models once with
    `stanza.download`; heron downloads nothing.

    Raises:
        ConfigError: the library or the models are not installed.
    """

    note = ""

    def __init__(self, language: Language):
        try:
            import stanza  # optional dependency
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
        """Analyse in one batch; words without a lemma are their own."""
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
        "simplemma-prefixes": "heron_tools.morphology.morphology:SimplemmaPrefixes",
        "surface": f"{__name__}:Surface",
        "stanza": f"{__name__}:Stanza",
    },
)


def load_morphology(name: str, language: Language) -> Morphology:
    """Find a backend by name, such as `simplemma` or `conllu:PATH` (other tools' analyses).

    Raises:
        ConfigError: an unknown name, or a backend that does not work with this language here.
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
    """Hebrew prefixes, removed where simplemma's dictionary has the rest: a small segmenter.

    Conjunction, subordinator, preposition and article are written together with the next word:
    "ושבבית" is "ו", "ש", "ב", "בית". Of several segmentations the one with the fewest prefixes is
    chosen, but a definite form is separated from its article. It cannot find an article that is not
    written ("בבית" is "ב", "בית" or "ב", "ה", "בית"), pronominal suffixes, or anything that needs
    the sentence. Its quality on UD Hebrew is in experiments/hesum/README.md.

    Raises:
        ConfigError: a language without `Language.prefixes`.
    """

    # Held to by tests/reproduction/test_morphology.py.
    note = (
        "Prefixes are taken off by a dictionary, word by word: against the morphemes of "
        "UD_Hebrew-HTB's test this reaches F1 .84 (whole words: .49)."
    )

    def __init__(self, language: Language):
        if language.prefixes is None:
            raise ConfigError(
                f"morphology=simplemma-prefixes: {language.name} has no list of prefixes; choose "
                "simplemma, stanza or conllu:FILE"
            )
        from simplemma import lemmatize  # start-up time
        from simplemma.strategies import DictionaryLookupStrategy

        self.name = f"simplemma-prefixes {version('simplemma')}"
        lookup = DictionaryLookupStrategy()
        code, self._prefixes = language.code, language.prefixes
        self._known = cache(lambda word: lookup.is_dictionary_member(word, code))
        self._lemma = cache(lambda word: lemmatize(word, lang=code).casefold())
        self._split = cache(self._choose)

    def analyse(self, texts: Sequence[str]) -> list[Analysis]:
        """Segment each word by itself; words that the dictionary lacks stay whole."""
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
        """Segment one word; also counts the segmentations that the dictionary allows."""
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
