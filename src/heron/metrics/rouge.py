"""ROUGE-1, ROUGE-2 and ROUGE-L of summaries in any language.

Computed is F, the harmonic mean of precision and recall of n-grams, or of the longest common
subsequence of words. Two profiles define words, see `heron.metrics.rouge_tokens`: `rouge1`,
`rouge2`, `rougeL` are comparable with papers that use XL-Sum's fork; `rouge1_heron` and so on
compare words in one spelling.

Nothing is stemmed. A text without any token scores 0 against every text, itself included, as in the
fork.

Legend: N items, P pairs of an item and one of its references.
Source: Lin 2004; https://github.com/csebuetnlp/xl-sum, multilingual_rouge_scoring, whose scores
`profile=xlsum` equals; Hyyrö 2004 for the longest common subsequence in machine words.
Deviates: the fork takes one reference; several are treated as in rouge_score 0.1.2.
"""

from collections.abc import Hashable, Iterable, Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from heron.base.errors import DataError, Problem
from heron.languages.language import Language
from heron.metrics.names import MEASURES
from heron.metrics.rouge_tokens import vocabulary

Floats = npt.NDArray[np.float64]
Ids = Sequence[int]


def shared_ngrams(first: Iterable[Hashable], second: Iterable[Hashable]) -> int:
    """Count the n-grams that two texts have in common, each as often as both have it."""
    left: dict[Hashable, int] = {}
    for ngram in first:
        left[ngram] = left.get(ngram, 0) + 1
    shared = 0
    for ngram in filter(left.__contains__, second):
        if left[ngram]:
            left[ngram] -= 1
            shared += 1
    return shared


def longest_common_subsequence(shorter: Ids, longer: Ids) -> int:
    """Compute its length, one whole row of the usual table per token of `longer`.

    A row differs from its left neighbour by 0 or 1 everywhere, so an integer of `len(shorter)` bits
    holds it (a cleared bit is a step), and one addition carries all steps along.
    """
    everywhere = (1 << len(shorter)) - 1
    places: dict[int, int] = {}
    for place, token in enumerate(shorter):
        places[token] = places.get(token, 0) | 1 << place
    row = everywhere
    for token in filter(places.__contains__, longer):
        matches = row & places[token]
        row = (row + matches | row - matches) & everywhere
    return len(shorter) - row.bit_count()


def shared_counts(first: Ids, second: Ids) -> tuple[int, int, int]:
    """Count shared unigrams, shared bigrams and the longest common subsequence's words."""
    common = set(first).intersection(second)
    if not common:
        return 0, 0, 0
    # Most words of two texts are not shared: the others cannot match anything.
    left, left_pairs = _only(first, common)
    right, right_pairs = _only(second, common)
    if len(left) > len(right):
        left, right = right, left
    # Where one text has each common word once, all of them are shared once.
    once = len(left) == len(common)
    unigrams = len(left) if once else shared_ngrams(left, right)
    bigrams = shared_ngrams(left_pairs, right_pairs) if left_pairs and right_pairs else 0
    return unigrams, bigrams, longest_common_subsequence(left, right)


def _only(ids: Ids, kept: set[int]) -> tuple[list[int], list[tuple[int, int]]]:
    """Take the tokens that are in `kept`, and the pairs of neighbours that both are."""
    places = [place for place, token in enumerate(ids) if token in kept]
    pairs = [(ids[place], ids[after]) for place, after in pairwise(places) if after == place + 1]
    return [ids[place] for place in places], pairs


def rouge(
    predictions: Sequence[str],
    references: Sequence[str] | Sequence[Sequence[str]],
    profile: str,
    language: Language,
) -> dict[str, Floats]:
    """Score every prediction by itself.

    `references` has for each prediction its reference, or several: each score takes the best one.

    Returns:
        F as `rouge1`, `rouge2` and `rougeL`, fractions, float64 `[N]`.

    Raises:
        ConfigError: an unknown profile.
        DataError: not one or more references for every prediction.
    """
    if len(predictions) != len(references):
        what = f"{len(predictions)} predictions, but references for {len(references)}"
        raise DataError(Problem("rouge", what, "one entry of references for each prediction"))
    several = [[entry] if isinstance(entry, str) else entry for entry in references]
    if empty := [item for item, texts in enumerate(several) if not texts]:
        raise DataError([Problem(f"rouge: item {item}", "no reference") for item in empty])
    ids = vocabulary(profile, language).ids
    firsts: list[int] = []  # each prediction's first pair
    shared: list[tuple[int, int, int]] = []
    lengths: list[tuple[int, int]] = []
    for prediction, texts in zip(predictions, several, strict=True):
        predicted = ids(prediction)
        firsts.append(len(shared))
        for reference in map(ids, texts):
            shared.append(shared_counts(predicted, reference))
            lengths.append((len(predicted), len(reference)))
    f_P3 = _f(np.array(shared).reshape(-1, 3), np.array(lengths).reshape(-1, 2))
    best_N3 = np.maximum.reduceat(f_P3, firsts) if firsts else f_P3
    return {measure: best_N3[:, column].copy() for column, measure in enumerate(MEASURES)}


def _f(shared_P3: npt.NDArray, length_P2: npt.NDArray) -> Floats:
    """Compute F of each measure from shared and total counts; 0 where nothing is shared."""
    total_P32 = np.maximum(length_P2[:, None] - np.array([[0], [1], [0]]), 1)  # bigrams: one fewer
    precision_P3, recall_P3 = np.moveaxis(shared_P3[..., None] / total_P32, -1, 0)
    sum_P3 = precision_P3 + recall_P3
    nothing_P3 = np.zeros_like(sum_P3)
    return np.divide(2 * precision_P3 * recall_P3, sum_P3, out=nothing_P3, where=sum_P3 > 0)
