"""Numbers of one example that need nothing but its words: length and overlap."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from heron.base.errors import ConfigError, nearest
from heron.data.examples import Example
from heron.languages.words import TOKENIZERS


class Shape(NamedTuple):
    """Lengths and overlap of one example.

    Args:
        first: words of the premise, or of the only text.
        second: words of the hypothesis; None where there is one text.
        overlap: Jaccard overlap of the two texts' sets of words, a fraction; None likewise.
    """

    first: int
    second: int | None
    overlap: float | None

    @property
    def words(self) -> int:
        """Words of the whole example."""
        return self.first + (self.second or 0)


def find_tokenizer(name: str) -> Callable[[str], list[str]]:
    """Find a definition of a word, `words` or `whitespace`; see `heron.languages.words`.

    Raises:
        ConfigError: neither.
    """
    if name not in TOKENIZERS:
        raise ConfigError(f"words={name}: unknown.{nearest(name, TOKENIZERS)}")
    return TOKENIZERS[name]


def shape(example: Example, tokenize: Callable[[str], list[str]]) -> Shape:
    """Measure one example."""
    first = tokenize(example.text)
    if example.text_pair is None:
        return Shape(len(first), None, None)
    second = tokenize(example.text_pair)
    return Shape(len(first), len(second), jaccard(first, second))


def jaccard(one: Sequence[str], other: Sequence[str]) -> float:
    """Divide the number of distinct words in both texts by that in either; 0 without words."""
    first, second = set(one), set(other)
    return len(first & second) / max(len(first | second), 1)
