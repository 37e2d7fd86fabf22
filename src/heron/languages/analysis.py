"""Morphological analyses of texts, and the words and tokens that they are read from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from sys import intern
from typing import NamedTuple

_PUNCTUATION = "PUNCT"
# What a pronoun can stand behind without being a suffix: "והוא" is "and he", "ביתו" "house of his".
_BEFORE_FREE_PRONOUNS = ("CCONJ", "SCONJ")
Marks = tuple[tuple[int, str], ...]


class Word(NamedTuple):
    """A syntactic word.

    Args:
        form: as it is written, or would be by itself.
        lemma: its dictionary form; empty where there is none.
        pos: its universal part-of-speech tag; empty where there is none.
        feats: its features, `Definite=Cons|Gender=Fem`; empty where there are none.
    """

    form: str
    lemma: str
    pos: str
    feats: str


class Token(NamedTuple):
    """A token as it is written, and the words that it is made of, at least one."""

    form: str
    words: tuple[Word, ...]


@dataclass(frozen=True, slots=True)
class Analysis:
    """One text, punctuation left out; what a backend does not know is None.

    Args:
        lemmas: dictionary forms without capitals: one per word, or per morpheme where the backend
            takes words apart and gives each part its own.
        pos: universal part-of-speech tags beside them.
        words: how many words there are.
        morphemes: what the words are made of, in order, without capitals.
        constructs: how many nouns, numerals and adjectives are in construct state (smixut).
        anaphors: how many pronouns are written as suffixes.
        readings: for each word, in how many ways it can be taken apart.
        marks: punctuation, each with the number of lemmas before it.
    """

    lemmas: tuple[str, ...]
    pos: tuple[str, ...] | None = None
    words: int = 0
    morphemes: tuple[str, ...] | None = None
    constructs: int | None = None
    anaphors: int | None = None
    readings: tuple[int, ...] | None = None
    marks: Marks = ()


def analysis_of(tokens: Sequence[Token]) -> Analysis:
    """Read an analysis off Universal Dependencies.

    Construct state is the feature `Definite=Cons`. A pronominal suffix is a personal pronoun
    inside a token, behind anything but a conjunction or a subordinator.

    Args:
        tokens: of a text, in order.
    """
    kept = [token for token in tokens if any(word.pos != _PUNCTUATION for word in token.words)]
    words, marks = list[Word](), list[tuple[int, str]]()
    for word in (word for token in tokens for word in token.words):
        if word.pos == _PUNCTUATION:
            marks.append((len(words), word.form))
        else:
            words.append(word)
    return Analysis(
        # Each spelling once in memory: corpora hold millions of words.
        lemmas=tuple(intern((word.lemma or word.form).casefold()) for word in words),
        pos=tuple(intern(word.pos or "X") for word in words),
        words=len(kept),
        morphemes=tuple(intern(written(word.form)) for word in words),
        constructs=sum("Definite=Cons" in word.feats.split("|") for word in words),
        anaphors=sum(_suffixes(token) for token in kept),
        marks=tuple(marks),
    )


def join(parts: Sequence[Analysis]) -> Analysis:
    """Put the analyses of a text's sentences together; all of one backend that reads treebanks."""
    return Analysis(
        lemmas=tuple(chain.from_iterable(part.lemmas for part in parts)),
        pos=tuple(chain.from_iterable(part.pos or () for part in parts)),
        words=sum(part.words for part in parts),
        morphemes=tuple(chain.from_iterable(part.morphemes or () for part in parts)),
        constructs=sum(part.constructs or 0 for part in parts),
        anaphors=sum(part.anaphors or 0 for part in parts),
        marks=tuple(_shift(parts)),
    )


def _shift(parts: Sequence[Analysis]) -> Iterator[tuple[int, str]]:
    before = 0
    for part in parts:
        yield from ((before + place, mark) for place, mark in part.marks)
        before += len(part.lemmas)


def with_marks(units: Sequence[str], marks: Marks) -> list[str]:
    """Put punctuation back among lemmas, or among as many morphemes."""
    found: list[str] = []
    start = 0
    for place, mark in marks:
        found += [*units[start:place], mark]
        start = place
    return [*found, *units[start:]]


def written(form: str) -> str:
    """Take off the marks that some treebanks put on the side where a morpheme is joined."""
    return (form.strip("_") or form).casefold()


def _suffixes(token: Token) -> int:
    neighbours = zip(token.words, token.words[1:], strict=False)
    return sum(
        _is_personal(word) and before.pos not in _BEFORE_FREE_PRONOUNS
        for before, word in neighbours
    )


def _is_personal(word: Word) -> bool:
    return word.pos == "PRON" and "PronType=Prs" in word.feats.split("|")
