"""ROUGE-1, ROUGE-2 and ROUGE-L of summaries in any language.

The share of n-grams, or of the longest common subsequence of words, that a predicted text has in
common with a reference: of its own words (precision), of the reference's (recall), and the harmonic
mean of both (F), which is what papers report. What a word is decides everything: two profiles are
kept apart by name, see `heron.metrics.rouge_tokens`. `rouge1`, `rouge2`, `rougeL` are comparable
with papers that use XL-Sum's fork; `rouge1_heron` and so on compare words in one spelling.

Nothing is stemmed unless asked for. A text without any token scores 0 against every text, itself
included, as in the fork. Of several references, each score takes the one with the highest F.

Legend: N items.
Source: Lin 2004; https://github.com/csebuetnlp/xl-sum, multilingual_rouge_scoring, whose scores
`profile=xlsum` equals; Hyyrö 2004 for the longest common subsequence in machine words.
Deviates: the fork takes one reference; several are treated as in rouge_score 0.1.2.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from heron.base.errors import DataError, Problem
from heron.languages.language import Language
from heron.metrics.names import MEASURES, PROFILES
from heron.metrics.rouge_tokens import Stem, vocabulary

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
    holds it (a cleared bit is a step), and one addition carries all steps along. Python's integers
    have room for texts of any length.
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
    # Most words of two texts are not shared: only the others can make a match of any kind.
    left, left_pairs = _only(first, common)
    right, right_pairs = _only(second, common)
    if len(left) > len(right):
        left, right = right, left
    # A word that stands once in one of the texts is shared once.
    alone = len(left) == len(common)
    unigrams = len(left) if alone else shared_ngrams(left, right)
    bigrams = shared_ngrams(left_pairs, right_pairs) if left_pairs and right_pairs else 0
    return unigrams, bigrams, longest_common_subsequence(left, right)


def _only(ids: Ids, kept: set[int]) -> tuple[list[int], list[tuple[int, int]]]:
    """Take the tokens that are in `kept`, and the pairs of neighbours that both are."""
    places = [place for place, token in enumerate(ids) if token in kept]
    pairs = [(ids[place], ids[after]) for place, after in pairwise(places) if after == place + 1]
    return [ids[place] for place in places], pairs


def harmonic_mean(precision: Floats, recall: Floats) -> Floats:
    """Compute F; 0 where both are 0."""
    total = precision + recall
    return np.divide(2 * precision * recall, total, out=np.zeros_like(total), where=total > 0)


def rouge(
    predictions: Sequence[str],
    references: Sequence[str] | Sequence[Sequence[str]],
    profile: str,
    language: Language,
    stem: Stem | None = None,
) -> dict[str, Floats]:
    """Score every prediction by itself.

    Args:
        predictions: N texts.
        references: for each prediction its reference, or several.
        profile: `xlsum` or `heron`, how texts are cut into words.
        language: the texts' language.
        stem: shortens a word to its stem; None compares words as they are.

    Returns:
        float64 `[N]`, fractions: F as `rouge1`, `rouge2` and `rougeL`, beside each of them
        `rouge1_precision` and `rouge1_recall` and so on.

    Raises:
        ConfigError: an unknown profile.
        DataError: not one or more references for every prediction.
    """
    several = _check(predictions, references)
    ids = vocabulary(profile, language, stem).ids
    items, shared, lengths = [], [], []
    for item, (prediction, texts) in enumerate(zip(predictions, several, strict=True)):
        predicted = ids(prediction)
        for reference in map(ids, texts):
            items.append(item)
            shared.append(shared_counts(predicted, reference))
            lengths.append((len(predicted), len(reference)))
    return _fractions(np.array(items), np.array(shared), np.array(lengths))


def _check(
    predictions: Sequence[str], references: Sequence[str] | Sequence[Sequence[str]]
) -> list[Sequence[str]]:
    """Bring references to a list per prediction."""
    if len(predictions) != len(references):
        what = f"{len(predictions)} predictions, but references for {len(references)}"
        raise DataError(Problem("rouge", what, "one entry of references for each prediction"))
    several = [[entry] if isinstance(entry, str) else entry for entry in references]
    if empty := [item for item, texts in enumerate(several) if not texts]:
        raise DataError([Problem(f"rouge: item {item}", "no reference") for item in empty])
    return several


def _fractions(items: npt.NDArray, shared: npt.NDArray, lengths: npt.NDArray) -> dict[str, Floats]:
    """Turn counts per pair into fractions per item, by the reference with the highest F."""
    scores: dict[str, Floats] = {}
    for column, measure in enumerate(MEASURES):
        fewer = 1 if measure == "rouge2" else 0
        counts = shared.reshape(-1, 3)[:, column]
        precision, recall = counts / np.maximum(lengths.reshape(-1, 2) - fewer, 1).T
        f = harmonic_mean(precision, recall)
        # Sorted by item, then by falling F: an item's first pair is its best one.
        order = np.lexsort((-f, items))
        best = order[np.unique(items[order], return_index=True)[1]]
        named = {"": f, "_precision": precision, "_recall": recall}
        scores |= {measure + suffix: values[best] for suffix, values in named.items()}
    return scores


def rouge_scores(
    predictions: Sequence[str],
    references: Sequence[str] | Sequence[Sequence[str]],
    language: Language,
    profiles: Sequence[str] = PROFILES,
    stem: Stem | None = None,
) -> dict[str, float]:
    """Score a whole split: the mean F over its items.

    Args:
        predictions: N texts.
        references: for each prediction its reference, or several.
        language: the texts' language.
        profiles: which of `xlsum` and `heron` to report.
        stem: as in `rouge`.

    Returns:
        Fractions `rouge1`, `rouge2`, `rougeL` (xlsum) and `rouge1_heron`, `rouge2_heron`,
        `rougeL_heron`.

    Raises:
        ConfigError: an unknown profile.
        DataError: no prediction, or not one or more references for every prediction.
    """
    if not predictions:
        raise DataError(Problem("rouge", "no predictions", "a mean needs at least one"))
    means: dict[str, float] = {}
    for profile in profiles:
        scores = rouge(predictions, references, profile, language, stem)
        suffix = "" if profile == "xlsum" else f"_{profile}"
        means |= {measure + suffix: float(scores[measure].mean()) for measure in MEASURES}
    return means
