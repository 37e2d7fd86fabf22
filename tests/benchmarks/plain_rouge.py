"""XL-Sum's fork of `rouge_score` in its plainest form, a restatement of its rules.

Every character is looked up, n-grams are in a `Counter`, and the whole table is filled for the
longest common subsequence.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Sequence

import numpy as np


def plain_tokens(text: str) -> list[str]:
    """Cut like the fork: character by character, no word looked up."""
    spaced, last = "", "Z"
    for char in text.lower():
        category = unicodedata.category(char)[0]
        if char in "\t\n\r" or category == "Z" or (category == "P" or char in "$+<=>^`|~"):
            spaced, last = spaced + " ", "Z"
        elif category != "C":
            joined = category == "M" or (category == last and category in "LN")
            spaced += char if joined else " " + char
            last = last if category == "M" else category
    return spaced.split()


def _f(shared: int, left: int, right: int) -> float:
    precision, recall = shared / max(left, 1), shared / max(right, 1)
    return 2 * precision * recall / (precision + recall) if shared else 0.0


def _plain_ngrams(left: list[str], right: list[str], n: int) -> float:
    counts = [
        Counter(tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1))
        for tokens in (left, right)
    ]
    shared = sum(min(counts[0][ngram], counts[1][ngram]) for ngram in counts[1])
    return _f(shared, counts[0].total(), counts[1].total())


def _plain_subsequence(left: list[str], right: list[str]) -> float:
    table = [[0] * (len(left) + 1) for _ in range(len(right) + 1)]
    for i in range(1, len(right) + 1):
        for j in range(1, len(left) + 1):
            if right[i - 1] == left[j - 1]:
                table[i][j] = table[i - 1][j - 1] + 1
            else:
                table[i][j] = max(table[i - 1][j], table[i][j - 1])
    return _f(table[-1][-1], len(left), len(right))


def plain(pairs: Sequence[tuple[str, str]]) -> np.ndarray:
    """Score in the plainest way."""
    scores = []
    for pair in pairs:
        left, right = map(plain_tokens, pair)
        ngrams = (_plain_ngrams(left, right, n) for n in (1, 2))
        scores.append((*ngrams, _plain_subsequence(left, right)))
    return np.array(scores)
