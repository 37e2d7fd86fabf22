"""Morphological analyses of texts, built from tokens and their syntactic words."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, pairwise
from sys import intern
from typing import NamedTuple

_PUNCTUATION = "PUNCT"
# After these, a pronoun is not a suffix: "והוא" is "and he", but "ביתו" is "house of his".
_BEFORE_FREE_PRONOUNS = ("CCONJ", "SCONJ")
Marks = tuple[tuple[int, str], ...]


class Word(NamedTuple):
    """A syntactic word; lemma, tag and features (`Definite=Cons|Gender=Fem`) may be empty."""

    form: str
    lemma: str
    pos: str
    feats: str


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
    marks: Marks = ()  # punctuation, each with the number of lemmas before it


def analysis_of(tokens: Sequence[Token]) -> Analysis:
    """Analyse a text from its tokens in Universal Dependencies.

    Construct state is the feature `Definite=Cons`. A pronominal suffix is a personal pronoun
    inside a token, after anything but a conjunction or a subordinator.
    """
    kept = [token for token in tokens if any(word.pos != _PUNCTUATION for word in token.words)]
    words, marks = list[Word](), list[tuple[int, str]]()
    for word in (word for token in tokens for word in token.words):
        if word.pos == _PUNCTUATION:
            marks.append((len(words), word.form))
        else:
            words.append(word)
    return Analysis(
        # Interned, because corpora have millions of words.
        lemmas=tuple(intern((word.lemma or word.form).casefold()) for word in words),
        pos=tuple(intern(word.pos or "X") for word in words),
        words=len(kept),
        morphemes=tuple(intern(written(word.form)) for word in words),
        constructs=sum("Definite=Cons" in word.feats.split("|") for word in words),
        anaphors=sum(_suffixes(token) for token in kept),
        marks=tuple(marks),
    )


def join(parts: Sequence[Analysis]) -> Analysis:
    """Join the analyses of a text's sentences, all made by `analysis_of`."""
    before = accumulate((len(part.lemmas) for part in parts), initial=0)
    return Analysis(
        lemmas=tuple(chain.from_iterable(part.lemmas for part in parts)),
        pos=tuple(chain.from_iterable(part.pos or () for part in parts)),
        words=sum(part.words for part in parts),
        morphemes=tuple(chain.from_iterable(part.morphemes or () for part in parts)),
        constructs=sum(part.constructs or 0 for part in parts),
        anaphors=sum(part.anaphors or 0 for part in parts),
        marks=tuple(
            (start + place, mark)
            for start, part in zip(before, parts, strict=False)
            for place, mark in part.marks
        ),
    )


def with_marks(units: Sequence[str], marks: Marks) -> list[str]:
    """Insert punctuation marks between lemmas or morphemes."""
    found: list[str] = []
    start = 0
    for place, mark in marks:
        found += [*units[start:place], mark]
        start = place
    return [*found, *units[start:]]


def written(form: str) -> str:
    """Case-fold a morpheme, without the underscores by which some treebanks mark joins."""
    return (form.strip("_") or form).casefold()


def _suffixes(token: Token) -> int:
    return sum(
        word.pos == "PRON"
        and "PronType=Prs" in word.feats.split("|")
        and before.pos not in _BEFORE_FREE_PRONOUNS
        for before, word in pairwise(token.words)
    )
