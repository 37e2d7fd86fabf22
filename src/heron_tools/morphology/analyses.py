"""Morphological analyses of texts, built from tokens and their syntactic words."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from sys import intern
from typing import NamedTuple

_PUNCTUATION = "PUNCT"
# After these, a pronoun is not a suffix: "והוא" is "and he", but "ביתו" is "house of his".
_BEFORE_FREE_PRONOUNS = ("CCONJ", "SCONJ")
Mark = tuple[int, str]  # number of lemmas (or morphemes) before it, and the mark


class Word(NamedTuple):
    """A syntactic word; lemma, tag and features (`Definite=Cons|Gender=Fem`) may be empty."""

    form: str
    lemma: str
    pos: str
    feats: str

    def has(self, feature: str) -> bool:
        """Tell whether it has a feature, such as `Definite=Cons`."""
        return feature in self.feats.split("|")


class Token(NamedTuple):
    """A token as written, and its words (at least one)."""

    form: str
    words: tuple[Word, ...]


@dataclass(frozen=True, slots=True)
class Analysis:
    """The analysis of one text, without punctuation; None: the backend does not provide it."""

    lemmas: tuple[str, ...]  # case-folded dictionary forms, one per word or per morpheme
    pos: tuple[str, ...] | None = None  # the lemmas' universal part-of-speech tags
    words: int = 0  # number of words
    morphemes: tuple[str, ...] | None = None  # the words' case-folded parts, in order
    # Number of nouns, numerals and adjectives in construct state (smixut).
    constructs: int | None = None
    anaphors: int | None = None  # number of pronouns written as suffixes
    readings: tuple[int, ...] | None = None  # number of segmentations of each word
    marks: tuple[Mark, ...] = ()  # punctuation


def analysis_of(tokens: Sequence[Token]) -> Analysis:
    """Analyse a text from its tokens in Universal Dependencies.

    Construct state is the feature `Definite=Cons`. A pronominal suffix is a personal pronoun
    inside a token, after anything but a conjunction or a subordinator.
    """
    words: list[Word] = []
    marks: list[Mark] = []
    for word in chain.from_iterable(token.words for token in tokens):
        if word.pos == _PUNCTUATION:
            marks.append((len(words), word.form))
        else:
            words.append(word)
    kept = [token for token in tokens if any(word.pos != _PUNCTUATION for word in token.words)]
    return Analysis(
        # Interned, because corpora have millions of words.
        lemmas=tuple(intern((word.lemma or word.form).casefold()) for word in words),
        pos=tuple(intern(word.pos or "X") for word in words),
        words=len(kept),
        morphemes=tuple(intern(written(word.form)) for word in words),
        constructs=sum(word.has("Definite=Cons") for word in words),
        anaphors=sum(_count_suffixes(token) for token in kept),
        marks=tuple(marks),
    )


def join(parts: Sequence[Analysis]) -> Analysis:
    """Join the analyses of a text's sentences, all made by `analysis_of`."""
    lemmas: list[str] = []
    pos: list[str] = []
    morphemes: list[str] = []
    marks: list[Mark] = []
    for part in parts:
        marks += [(len(lemmas) + before, mark) for before, mark in part.marks]
        lemmas += part.lemmas
        pos += part.pos or ()
        morphemes += part.morphemes or ()
    return Analysis(
        lemmas=tuple(lemmas),
        pos=tuple(pos),
        words=sum(part.words for part in parts),
        morphemes=tuple(morphemes),
        constructs=sum(part.constructs or 0 for part in parts),
        anaphors=sum(part.anaphors or 0 for part in parts),
        marks=tuple(marks),
    )


def with_marks(units: Sequence[str], marks: Sequence[Mark]) -> list[str]:
    """Insert punctuation marks between lemmas or morphemes.

    Args:
        units: lemmas or morphemes of a text.
        marks: each with the number of units before it.
    """
    text: list[str] = []
    start = 0
    for before, mark in marks:
        text += [*units[start:before], mark]
        start = before
    return [*text, *units[start:]]


def written(form: str) -> str:
    """Case-fold a morpheme, without the underscores by which some treebanks mark joins."""
    return (form.strip("_") or form).casefold()


def _count_suffixes(token: Token) -> int:
    """Count the pronouns that are suffixes of the word before them."""
    count = 0
    for before, word in pairwise(token.words):
        is_pronoun = word.pos == "PRON" and word.has("PronType=Prs")
        if is_pronoun and before.pos not in _BEFORE_FREE_PRONOUNS:
            count += 1
    return count
