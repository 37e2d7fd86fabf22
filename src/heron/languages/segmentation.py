"""How well words are taken apart into morphemes, against a treebank."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from heron.languages.analysis import written
from heron.languages.conllu import Token


class Segmentation(NamedTuple):
    """Agreement with a treebank, all fractions.

    Args:
        precision: of the morphemes found, the share that the treebank has in that token.
        recall: of the treebank's morphemes, the share that was found.
        f1: their harmonic mean.
        whole: share of tokens that are taken apart exactly so.
        tokens: how many there were.
    """

    precision: float
    recall: float
    f1: float
    whole: float
    tokens: int


def compare_segments(
    tokens: Iterable[Token], split: Callable[[str], Sequence[str]]
) -> Segmentation:
    """Take the tokens of a treebank apart and compare with its words, token by token.

    Forms are compared without capitals and without the marks at joints; morphemes that are not
    written ("ה" in "בבית") count, so spelling alone cannot find all. Tokens without a letter are
    left out: nobody takes them apart.

    Args:
        tokens: of the treebank.
        split: from a token's form to its morphemes.

    Source: the aligned multiset score of work on Hebrew segmentation (More et al. 2019, "Joint
    transition-based models for morpho-syntactic parsing"), per token.
    """
    common = found = known = whole = count = 0
    for token in tokens:
        if not any(letter.isalpha() for letter in token.form):
            continue
        gold = [written(word.form) for word in token.words]
        parts = list(split(token.form))
        common += sum((Counter(gold) & Counter(parts)).values())
        found, known, count = found + len(parts), known + len(gold), count + 1
        whole += gold == parts
    precision, recall = common / max(found, 1), common / max(known, 1)
    f1 = 2 * common / max(found + known, 1)
    return Segmentation(precision, recall, f1, whole / max(count, 1), count)
