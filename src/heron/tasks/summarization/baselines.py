"""Extractive baselines: `lead`, `textrank`, and the upper bound `oracle`.

Shape suffixes: S sentences of an article, V distinct words.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from heron.base.errors import DataError, Problem
from heron.config.constraints import Count
from heron.data.examples import Example
from heron.languages import get_language
from heron.languages.words import folded_words
from heron.metrics.summary import greedy_oracle, split_sentences
from heron.tasks import Baseline, BaselineConfig
from heron.tasks.config import Config
from heron.tasks.summarization.predictions import SummaryPredictions
from heron.tasks.summarization.reader import as_given

_DAMPING = 0.85
_TOLERANCE = 1e-9


@dataclass
class ExtractiveConfig(BaselineConfig):
    """Sentences of the article: `lead` (the first), `textrank` (most like all others), `oracle`.

    `oracle` chooses greedily by the reference: an upper bound, no system.
    """

    sentences: Count = 3  # largest number of sentences


@dataclass(frozen=True, slots=True)
class ExtractiveBaseline:
    """Copies at most `sentences` sentences of an article; nothing is fitted."""

    name: str  # `lead`, `textrank` or `oracle`
    sentences: int
    language: str  # code of the articles' language
    notes: dict[str, Any] = field(default_factory=dict)

    def predict(self, examples: Sequence[Example], config: Config) -> SummaryPredictions:
        """See `Baseline`; raises a DataError for `oracle` without a reference."""
        if self.name == "oracle":
            message = "has no summary, and baseline=oracle chooses sentences by it"
            problems = [Problem(e.guid, message) for e in examples if e.target is None]
            if problems:
                raise DataError(problems)
        return SummaryPredictions(examples, [self._summary(example) for example in examples])

    def save(self, folder: Path) -> None:
        """Make an empty folder; the configuration has all settings."""
        folder.mkdir(parents=True, exist_ok=True)

    def _summary(self, example: Example) -> str:
        article, summary = as_given(example)  # copied sentences keep their spelling
        sentences = split_sentences(article)
        if self.name == "lead":
            return " ".join(sentences[: self.sentences])
        if self.name == "textrank":
            chosen = textrank(sentences, self.sentences)
        else:
            language = get_language(self.language)
            chosen = greedy_oracle(sentences, str(summary), language, self.sentences)
        return " ".join(sentences[position] for position in chosen)


def extractive_baseline(config: Config, source: Any) -> ExtractiveBaseline:
    """Build the baseline that the configuration names."""
    return ExtractiveBaseline(config.baseline.name, config.baseline.sentences, config.data.language)


EXTRACTIVE = Baseline(
    extractive_baseline, extractive_baseline, ("summarization",), options=ExtractiveConfig
)


def textrank(sentences: Sequence[str], count: int = 3) -> list[int]:
    """Find the positions of the `count` sentences that are most similar to all others; ascending.

    The first ones win ties.

    Args:
        sentences: of an article.
        count: how many to choose.
    """
    ranks = [round(rank, 9) for rank in rank_sentences(sentences).tolist()]
    best = sorted(range(len(ranks)), key=lambda position: -ranks[position])
    return sorted(best[:count])


def rank_sentences(sentences: Sequence[str]) -> np.ndarray:
    """Rank sentences by PageRank over their similarities; float64 [S] with sum 1.

    Source: Mihalcea and Tarau 2004.
    Deviates: similarity is the cosine of TF-IDF vectors, as in LexRank (Erkan and Radev 2004),
    because counts of shared words favour long sentences and common words.
    """
    size = len(sentences)
    if not size:
        return np.zeros(0)
    similar_SS = _similarities([Counter(folded_words(sentence)) for sentence in sentences])
    total_S1 = similar_SS.sum(axis=1, keepdims=True)
    # A sentence without similar ones distributes its rank to all sentences.
    shares_SS = similar_SS / np.where(total_S1 > 0, total_S1, 1)
    step_SS = np.where(total_S1 > 0, shares_SS, 1 / size)

    rank_S = np.full(size, 1 / size)
    for _ in range(1000):
        before_S = rank_S
        rank_S = (1 - _DAMPING) / size + _DAMPING * step_SS.T @ before_S
        if np.abs(rank_S - before_S).sum() < _TOLERANCE:
            break
    return rank_S


def _similarities(bags: Sequence[Counter[str]]) -> np.ndarray:
    """Compute the cosines of the sentences' TF-IDF vectors; float64 [S, S], 0 on the diagonal.

    Args:
        bags: how often each word occurs, for each sentence.
    """
    columns: dict[str, int] = {}
    for bag in bags:
        for word in bag:
            columns.setdefault(word, len(columns))
    counts_SV = np.zeros((len(bags), max(len(columns), 1)))
    for row, bag in enumerate(bags):
        for word, count in bag.items():
            counts_SV[row, columns[word]] = count

    sentences_V = (counts_SV > 0).sum(axis=0)
    idf_V = np.log((1 + len(bags)) / (1 + sentences_V))
    weights_SV = counts_SV * idf_V

    norm_S1 = np.linalg.norm(weights_SV, axis=1, keepdims=True)
    zeros_SV = np.zeros_like(weights_SV)
    unit_SV = np.divide(weights_SV, norm_S1, out=zeros_SV, where=norm_S1 > 0)
    similar_SS: np.ndarray = unit_SV @ unit_SV.T
    np.fill_diagonal(similar_SS, 0.0)
    return similar_SS
