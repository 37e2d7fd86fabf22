"""A prediction beside a gold answer: exact match, token F1 and TLNLS of all pairs of a split.

Legend: N questions, M pairs of a prediction and one of its golds, U distinct texts, W pairs of
words, K gold words that the prediction lacks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from heron.metrics.levenshtein import levenshtein
from heron.metrics.span_profiles import Tokens

Floats = npt.NDArray[np.float64]
Ids = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Pairs:
    """Every prediction beside each of its golds, as numbers of distinct texts.

    Args:
        texts: U distinct texts.
        prediction_M: for each pair the prediction's text.
        gold_M: for each pair the gold's text; the pairs of one question follow each other.
        start_N: for each question its first pair.
        squad_2: SQuAD 2.0's rules hold: giving nothing is right where there is nothing.
    """

    texts: list[str]
    prediction_M: Ids
    gold_M: Ids
    start_N: Ids
    squad_2: bool


def pair_up(predictions: Sequence[str], golds: Sequence[Sequence[str]], *, squad_2: bool) -> Pairs:
    """Number the distinct texts and lay out all pairs; a question without a gold has an empty one.

    Args:
        predictions: N answers.
        golds: N lists of right answers.
        squad_2: see `Pairs`.
    """
    number: dict[str, int] = {}
    prediction_M: list[int] = []
    gold_M: list[int] = []
    start_N: list[int] = []
    for prediction, answers in zip(predictions, golds, strict=True):
        start_N.append(len(gold_M))
        text = number.setdefault(prediction, len(number))
        for answer in answers or ("",):
            prediction_M.append(text)
            gold_M.append(number.setdefault(answer, len(number)))
    pair_ids = np.array(prediction_M, dtype=np.int64), np.array(gold_M, dtype=np.int64)
    return Pairs(list(number), *pair_ids, np.array(start_N, dtype=np.int64), squad_2)


def overlap_scores(tokens: Sequence[Tokens], pairs: Pairs) -> tuple[Floats, Floats]:
    """Compute exact match and F1 over tokens, counted as often as they occur.

    Args:
        tokens: of the U texts.
        pairs: what to compare.

    Returns:
        Exact match (0 or 1) and F1, fractions, each question's best: float64 `[N]` both.
    """
    form: dict[Tokens, int] = {}
    form_U = np.array([form.setdefault(one, len(form)) for one in tokens], dtype=np.int64)
    equal_M = form_U[pairs.prediction_M] == form_U[pairs.gold_M]
    given_M, right_M = _lengths(tokens, pairs)
    shared_M = np.where(equal_M, given_M, 0.0)
    differ_M = ~equal_M
    shared_M[differ_M] = _shared(tokens, pairs.prediction_M[differ_M], pairs.gold_M[differ_M])
    # The official order of operations, so that not even the last bit differs.
    precision_M, recall_M = shared_M / np.maximum(given_M, 1), shared_M / np.maximum(right_M, 1)
    sum_M = np.where(shared_M > 0, precision_M + recall_M, 1.0)
    f1_M = 2 * precision_M * recall_M / sum_M
    return _best(equal_M.astype(np.float64), tokens, pairs), _best(f1_M, tokens, pairs)


def _shared(tokens: Sequence[Tokens], prediction_M: Ids, gold_M: Ids) -> list[int]:
    """Count the tokens in both texts of each pair, as often as they are in both."""
    bags = [frozenset(one) for one in tokens]
    repeats = [len(bag) < len(one) for bag, one in zip(bags, tokens, strict=True)]
    found = []
    for one, other in zip(prediction_M.tolist(), gold_M.tolist(), strict=True):
        common = bags[one] & bags[other]
        if common and repeats[one] and repeats[other]:
            counts = (min(tokens[one].count(word), tokens[other].count(word)) for word in common)
            found.append(sum(counts))
        else:
            found.append(len(common))
    return found


def _lengths(tokens: Sequence[Tokens], pairs: Pairs) -> tuple[Floats, Floats]:
    """Count the tokens of each pair's prediction and of its gold."""
    length_U = np.fromiter(map(len, tokens), np.float64, len(tokens))
    return length_U[pairs.prediction_M], length_U[pairs.gold_M]


def _best(score_M: Floats, tokens: Sequence[Tokens], pairs: Pairs) -> Floats:
    """Keep each question's best pair; `[M]` to `[N]`."""
    if not len(score_M):
        return score_M
    if pairs.squad_2:
        given_M, right_M = _lengths(tokens, pairs)
        score_M = np.where((given_M == 0) & (right_M == 0), 1.0, score_M)
        # A gold of which nothing is left does not count beside one of which something is.
        some_N = np.logical_or.reduceat(right_M > 0, pairs.start_N)
        sizes_N = np.diff(pairs.start_N, append=len(score_M))
        score_M = np.where((right_M == 0) & np.repeat(some_N, sizes_N), 0.0, score_M)
    return np.maximum.reduceat(score_M, pairs.start_N)


def tlnls(tokens: Sequence[Tokens], pairs: Pairs) -> Floats:
    """Compute the token-level normalised Levenshtein similarity.

    Each token of the gold is set beside the token of the prediction that is most like it; the sum
    of these likenesses is divided by the number of tokens of whichever has more:
    sum over g in G of max over p in P of (1 - distance(g, p) / max(|g|, |p|)), / max(|G|, |P|),
    with the Levenshtein distance over characters. Swapping prediction and gold may change it.

    Args:
        tokens: of the U texts, normalised by SQuAD's rules.
        pairs: what to compare.

    Returns:
        float64 `[N]`, fractions, each question's best; 0 where only one of both has tokens.

    Source: Cohen et al. 2023 (HeQ).
    Deviates: a later benchmark (MRLEval) scores answers that are half digits or more by F1 instead,
    since 1948 and 1949 are 3/4 alike; this does not.
    """
    bags = [frozenset(one) for one in tokens]
    found_M = np.zeros(len(pairs.gold_M))
    word: dict[str, int] = {}
    missing_K: list[int] = []
    others_K: list[list[int]] = []
    pair_K: list[int] = []
    both = zip(pairs.prediction_M.tolist(), pairs.gold_M.tolist(), strict=True)
    for pair, (prediction, gold) in enumerate(both):
        given = bags[prediction]
        lacking = [token for token in tokens[gold] if token not in given]
        found_M[pair] = len(tokens[gold]) - len(lacking)
        if given and lacking:
            numbers = [word.setdefault(token, len(word)) for token in given]
            missing_K += [word.setdefault(token, len(word)) for token in lacking]
            others_K += [numbers] * len(lacking)
            pair_K += [pair] * len(lacking)
    if missing_K:
        likeness_K = _most_alike(list(word), missing_K, others_K)
        found_M += np.bincount(pair_K, likeness_K, minlength=len(found_M))
    longer_M = np.maximum(*_lengths(tokens, pairs))
    return _best(found_M / np.maximum(longer_M, 1), tokens, pairs)


def _most_alike(
    words: Sequence[str], missing_K: Sequence[int], others_K: Sequence[Sequence[int]]
) -> Floats:
    """Find each word's likeness to the most similar of some others, all given by number; `[K]`."""
    sizes_K = np.fromiter(map(len, others_K), np.int64, len(others_K))
    first_W = np.repeat(np.asarray(missing_K, dtype=np.int64), sizes_K)
    second_W = np.concatenate([np.asarray(others, dtype=np.int64) for others in others_K])
    # Words meet again and again: each meeting is looked at once.
    code, again_W = np.unique(first_W * len(words) + second_W, return_inverse=True)
    first, second = ([words[n] for n in side.tolist()] for side in np.divmod(code, len(words)))
    longest = [max(len(one), len(other)) for one, other in zip(first, second, strict=True)]
    likeness = 1 - levenshtein(first, second) / np.asarray(longest, dtype=np.float64)
    return np.maximum.reduceat(likeness[again_W], np.cumsum(sizes_K) - sizes_K)
