"""ROUGE-1, ROUGE-2 and ROUGE-L of summaries in any language.

Computed is F, the harmonic mean of precision and recall of n-grams, or of the longest common
subsequence of words. Two profiles define words, see `heron.metrics.rouge_tokens`: `rouge1`,
`rouge2`, `rougeL` are comparable with papers that use XL-Sum's fork; `rouge1_heron` and so on
compare words in one spelling.

Nothing is stemmed. A text without any token scores 0 against every text, itself included, as in the
fork.

Legend: N items, P pairs of an item and one of its references.
Source: Lin 2004; https://github.com/csebuetnlp/xl-sum, multilingual_rouge_scoring, whose scores
`profile=xlsum` equals.
Deviates: the fork takes one reference; several are treated as in rouge_score 0.1.2.
"""

from collections.abc import Sequence
from itertools import accumulate, chain

import numpy as np
import numpy.typing as npt
from rapidfuzz.distance import LCSseq
from rapidfuzz.process import cpdist
from scipy.sparse import csr_array

from heron.languages.language import Language
from heron.metrics import require_rows
from heron.metrics.names import MEASURES
from heron.metrics.rouge_tokens import Ids, number_tokens

Floats = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]

_MOST_TOKENS = 1 << 31  # that a vocabulary numbers: the numbers of two tokens fit into one integer


def pair_scores(first: Sequence[Ids], second: Sequence[Ids]) -> Floats:
    """Compute F of ROUGE-1, 2 and L, float64 `[P, 3]`, from the P pairs' shared and own tokens."""
    length_P2 = np.array([list(map(len, texts)) for texts in (first, second)]).T
    total_P32 = np.maximum(length_P2[:, None] - np.array([[0], [1], [0]]), 1)  # bigrams: one fewer
    precision_P3, recall_P3 = np.moveaxis(
        shared_counts(first, second)[..., None] / total_P32, -1, 0
    )
    sum_P3 = precision_P3 + recall_P3
    nothing_P3 = np.zeros_like(sum_P3)
    return np.divide(2 * precision_P3 * recall_P3, sum_P3, out=nothing_P3, where=sum_P3 > 0)


def shared_counts(first: Sequence[Ids], second: Sequence[Ids]) -> Counts:
    """Count what the texts of each pair share, P in `first` and P in `second`.

    Returns:
        Unigrams and bigrams, each as often as both texts have it, and the tokens of the longest
        common subsequence; int64 `[P, 3]`.
    """
    ngrams_2P = _ngrams(first).minimum(_ngrams(second)).sum(axis=1)
    subsequence_P = cpdist(first, second, scorer=LCSseq.similarity, dtype=np.int64)
    return np.stack([*ngrams_2P.reshape(2, -1), subsequence_P], axis=-1)


def _ngrams(texts: Sequence[Ids]) -> csr_array:
    """Count n-grams: a row for each text's unigrams, then for each one's bigrams."""
    ids = np.frombuffer(b"".join(texts), np.int64)
    text = np.repeat(np.arange(len(texts)), list(map(len, texts)))
    inside = text[1:] == text[:-1]
    bigrams = (ids[:-1] * _MOST_TOKENS + ids[1:])[inside]
    rows = np.concatenate([text, text[1:][inside] + len(texts)])
    columns = np.concatenate([ids, bigrams])
    # Made of rows and columns, it adds up what has the same place.
    return csr_array((np.ones_like(rows), (rows, columns)), (2 * len(texts), _MOST_TOKENS**2))


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
        DataError: not one entry of references for every prediction.
    """
    require_rows("rouge", predictions, references)
    several = [[entry] if isinstance(entry, str) else entry for entry in references]
    assert all(several), "each prediction needs a reference"
    lengths = [len(texts) for texts in several]
    ids, _ = number_tokens([*predictions, *chain.from_iterable(several)], profile, language)
    predicted_P = [text for text, n in zip(ids, lengths, strict=False) for _ in range(n)]
    references_P = ids[len(predictions) :]
    f_P3 = pair_scores(predicted_P, references_P)
    firsts = [0, *accumulate(lengths)][:-1]  # each prediction's first pair
    best_N3 = np.maximum.reduceat(f_P3, firsts) if firsts else f_P3
    return {measure: best_N3[:, column].copy() for column, measure in enumerate(MEASURES)}
