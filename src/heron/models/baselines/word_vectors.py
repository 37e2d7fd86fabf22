"""`WordVectors`: a vector for every word, by its own row or by its character n-grams.

Shape suffixes: V words, G n-gram buckets, D width, T texts, U different words.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from heron.languages.words import folded_words, words

# `BaselineConfig.words`.
SPLITTERS: Mapping[str, Callable[[str], list[str]]] = {
    "words": words,
    "folded": folded_words,
    "whitespace": str.split,
}


@dataclass(frozen=True, slots=True)
class WordVectors:
    """fastText's or plain word vectors; the arrays may be memory-mapped.

    Args:
        places: the row of each known word.
        vectors_VD: one row per known word (in fastText its n-grams are already in it), float32.
        ngrams_GD: one row per bucket of n-grams, float32; None for vectors without n-grams.
        shortest, longest: characters per n-gram, the marks of a word's two ends included.
    """

    places: dict[str, int]
    vectors_VD: np.ndarray
    ngrams_GD: np.ndarray | None = None
    shortest: int = 3
    longest: int = 6

    def find(self, words: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """Look words up.

        Args:
            words: U words, best each once.

        Returns:
            vectors_UD, float32, and known_U: whether there was anything to look up. A word that is
            neither known nor has n-grams is the zero vector.

        Source: Bojanowski et al. 2017; the same numbers as gensim's `FastTextKeyedVectors`.
        """
        vectors_UD = np.zeros((len(words), self.vectors_VD.shape[1]), dtype=np.float32)
        known_U = np.zeros(len(words), dtype=bool)
        for index, word in enumerate(words):
            if word in self.places:
                vectors_UD[index] = self.vectors_VD[self.places[word]]
            elif buckets := self._buckets(word):
                assert self.ngrams_GD is not None
                vectors_UD[index] = self.ngrams_GD[buckets].mean(axis=0)
            else:
                continue
            known_U[index] = True
        return vectors_UD, known_U

    def _buckets(self, word: str) -> list[int]:
        if self.ngrams_GD is None:
            return []
        from gensim.models.fasttext import ft_ngram_hashes

        return list(ft_ngram_hashes(word, self.shortest, self.longest, len(self.ngrams_GD)))


def mean_vectors(
    texts: Sequence[Sequence[str]], vectors: WordVectors
) -> tuple[np.ndarray, dict[str, int]]:
    """Take the mean vector of each text's words: the continuous bag of words.

    Args:
        texts: T texts, as their words; a word that occurs twice counts twice.
        vectors: where to look the words up.

    Returns:
        means_TD, float32 (zeros for a text without words), and counts of words: `words`,
        `without_vector` (they count as zero vectors), and `empty` texts.
    """
    from scipy.sparse import csr_array

    places: dict[str, int] = {}
    columns = np.asarray(
        [places.setdefault(word, len(places)) for words in texts for word in words], dtype=np.int64
    )
    vectors_UD, known_U = vectors.find(list(places))
    lengths_T = np.asarray([len(words) for words in texts], dtype=np.int64)
    starts = np.concatenate([[0], np.cumsum(lengths_T)])
    ones = np.ones(len(columns), dtype=np.float32)
    counts_TU = csr_array((ones, columns, starts), shape=(len(texts), len(places)))
    means_TD = counts_TU @ vectors_UD / np.maximum(lengths_T, 1)[:, None].astype(np.float32)
    return np.asarray(means_TD, dtype=np.float32), {
        "words": len(columns),
        "without_vector": int((~known_U[columns]).sum()),
        "empty": int((lengths_T == 0).sum()),
    }
