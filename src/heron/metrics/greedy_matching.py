"""The arithmetic of BERTScore: which token is most like which, weighed.

Each token of a text is matched with the most similar token of the other one. Precision is the
weighted mean of these similarities over the tokens of the candidate, recall over those of the
reference. Tokens that a tokenizer puts around every text weigh nothing, but can be matched.

Legend: K tokens of the candidate, L tokens of the reference, D hidden.
Source: Zhang et al. 2020 (BERTScore), section 3, and bert-score 0.3.13 for the details.
Deviates: bert-score pads the texts of a batch with similarity 0, so that a token whose best
similarity is negative counts 0 in some batches and not in others; here it never does. Its harmonic
mean of a positive and a negative number can be anything; here it is 0. There, the end token of T5
and GPT-2 weighs as much as a word; here nothing, as CLS and SEP do.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from torch import Tensor

Ids = np.ndarray  # int64


@dataclass(frozen=True, slots=True)
class Weights:
    """What tokens weigh, by their ids.

    Args:
        known: weights of some ids.
        other: that of all others.
    """

    known: dict[int, float]
    other: float

    def of(self, ids: Ids) -> np.ndarray:
        """Look the tokens of a text up; float64, one each."""
        return np.array([self.known.get(token, self.other) for token in ids.tolist()])


def even_weights(special: Iterable[int]) -> Weights:
    """Let every token weigh 1, but the special ones 0."""
    return Weights(dict.fromkeys(special, 0.0), 1.0)


def idf_weights(references: Sequence[Ids], special: Iterable[int]) -> Weights:
    """Weigh tokens by inverse document frequency, log((N + 1) / (n + 1)).

    Args:
        references: the token ids of N references; one that stands there twice counts twice.
        special: ids that weigh nothing; bert-score has that because all references have them.

    Returns:
        Natural logarithms; a token that no reference has weighs log(N + 1).
    """
    counts = Counter(token for ids in references for token in set(ids.tolist()))
    total = len(references) + 1
    known = {token: math.log(total / (count + 1)) for token, count in counts.items()}
    return Weights(known | dict.fromkeys(special, 0.0), math.log(total))


def match_tokens(
    candidate_KD: Tensor, reference_LD: Tensor, weights_K: np.ndarray, weights_L: np.ndarray
) -> tuple[float, float, float]:
    """Match the tokens of two texts.

    Args:
        candidate_KD: float32, of length 1 each.
        reference_LD: float32, of length 1 each.
        weights_K: float64, not all 0.
        weights_L: float64, not all 0.

    Returns:
        Precision and recall, cosines from -1 to 1, and their harmonic mean, F1; it is 0 where one
        of them is not positive.
    """
    similarity_KL = candidate_KD @ reference_LD.T
    precision = float(np.average(similarity_KL.amax(dim=1).double().numpy(), weights=weights_K))
    recall = float(np.average(similarity_KL.amax(dim=0).double().numpy(), weights=weights_L))
    both = min(precision, recall) > 0
    return precision, recall, 2 * precision * recall / (precision + recall) if both else 0.0
