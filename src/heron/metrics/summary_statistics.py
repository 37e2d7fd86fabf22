"""What summaries are like, without a reference: new wording, length, repetition.

- `novel_n`: the share of a summary's n-grams that its article lacks. `count="type"` counts every
  n-gram of a summary once, `"token"` as often as it stands there.
- `compression` (CMP): 1 − |summary| / |article|, in tokens.
- `redundancy_n` (RED): of a summary's n-grams, the share that repeats an earlier one:
  Σ(f − 1) / Σf over its distinct n-grams with frequencies f.

`average="document"` is the mean over documents; `"corpus"` pools them first, which gives long
documents more weight (for compression: 1 − mean |summary| / mean |article|). The two differ
widely, so a figure without its kind of average means little. A document with nothing to count
(a summary shorter than n, an empty article) is left out of that mean.

What a token is, is the caller's choice: `by_words`, `by_whitespace` as simple scripts do (more
looks novel then, as a comma makes another word), or `by_morphology` for a language whose words hold
several morphemes.

Legend: N documents.
Source: Narayan et al. 2018 (novel n-grams), Bommasani and Cardie 2020 (compression), Hasan et al.
2021 (redundancy), as HeSum uses them (Tables 1, 2, 5 and 7). HeSum's text calls |S| / |A| the
compression ratio but prints 1 − |S| / |A|; its 95.48 % is a mean over documents, the ratio of its
mean lengths would be 97.67 %. It does not say whether types or tokens are counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from heron.errors import ConfigError, DataError, Problem, nearest
from heron.languages.morphology import Morphology
from heron.languages.words import folded_words

Floats = npt.NDArray[np.float64]
Tokens = Sequence[str]
Segment = Callable[[Sequence[str]], Sequence[Tokens]]

COUNTS = ("type", "token")
AVERAGES = ("document", "corpus")
_AT_ONCE = 256  # documents


def by_words(texts: Sequence[str]) -> list[Tokens]:
    """Cut texts into words without capitals or punctuation."""
    return [folded_words(text) for text in texts]


def by_whitespace(texts: Sequence[str]) -> list[Tokens]:
    """Cut texts at white space only: punctuation and capitals make other words."""
    return [text.split() for text in texts]


def by_morphology(morphology: Morphology) -> Segment:
    """Cut texts into what a morphological backend takes for units, each as its lemma.

    With `stanza` these are morphemes (prefixes apart); the word-by-word backends give one lemma
    per word. Name the backend (`morphology.name`) beside every figure.
    """
    return lambda texts: [analysis.lemmas for analysis in morphology.analyse(texts)]


def ngrams(tokens: Tokens, n: int) -> Iterator[tuple[str, ...]]:
    """List the runs of `n` tokens, in order."""
    return zip(*(tokens[start:] for start in range(n)), strict=False)


def novel_ngrams(article: Tokens, summary: Tokens, n: int, count: str = "type") -> tuple[int, int]:
    """Count a summary's n-grams that its article lacks, and all of them.

    Raises:
        ConfigError: `count` is neither `type` nor `token`.
    """
    if count not in COUNTS:
        raise ConfigError(f"count={count}: cannot count so.{nearest(count, COUNTS)}")
    known = set(ngrams(article, n))
    found = list(ngrams(summary, n))
    counted = found if count == "token" else set(found)
    return sum(ngram not in known for ngram in counted), len(counted)


def repeated_ngrams(tokens: Tokens, n: int) -> tuple[int, int]:
    """Count the n-grams that stood earlier in the same text, and all of them."""
    found = list(ngrams(tokens, n))
    return len(found) - len(set(found)), len(found)


def average_share(parts: Floats, wholes: Floats, average: str = "document") -> float:
    """Average `parts / wholes` over documents.

    Args:
        parts: float64 `[N]`.
        wholes: float64 `[N]`; documents with 0 here are left out.
        average: `document`, the mean of the shares; `corpus`, the share of the sums.

    Returns:
        A fraction; nan where no document has anything to count.

    Raises:
        ConfigError: an unknown `average`.
    """
    if average not in AVERAGES:
        raise ConfigError(f"average={average}: no such mean.{nearest(average, AVERAGES)}")
    counted = wholes > 0
    if not counted.any():
        return float("nan")
    if average == "corpus":
        return float(parts[counted].sum() / wholes[counted].sum())
    return float((parts[counted] / wholes[counted]).mean())


def summary_statistics(
    articles: Sequence[str],
    summaries: Sequence[str],
    segment: Segment = by_words,
    count: str = "type",
    average: str = "document",
) -> dict[str, float]:
    """Describe pairs of an article and its summary; references and systems' outputs alike.

    Args:
        articles: N texts.
        summaries: N texts.
        segment: cuts texts into tokens.
        count: `type` or `token`, for novel n-grams.
        average: `document` or `corpus`, for all shares.

    Returns:
        Fractions `novel_1` to `novel_4`, `compression`, `redundancy_1`, `redundancy_2` (nan where
        no text is long enough); mean lengths in tokens, `article_length` and `summary_length`;
        distinct tokens of the whole collection, `article_vocabulary` and `summary_vocabulary`.

    Raises:
        ConfigError: an unknown `count` or `average`.
        DataError: no pair, or not one summary for every article.
    """
    if not articles or len(articles) != len(summaries):
        what = f"{len(articles)} articles and {len(summaries)} summaries"
        raise DataError(Problem("summary statistics", what, "expected one summary per article"))
    shares: dict[str, list[tuple[int, int]]] = {}
    in_articles: set[str] = set()
    in_summaries: set[str] = set()
    # Long articles are cut and forgotten part by part: only their vocabulary grows.
    for start in range(0, len(articles), _AT_ONCE):
        part = slice(start, start + _AT_ONCE)
        for article, summary in zip(segment(articles[part]), segment(summaries[part]), strict=True):
            in_articles.update(article)
            in_summaries.update(summary)
            for name, share in _shares(article, summary, count).items():
                shares.setdefault(name, []).append(share)
    columns = {name: np.array(pairs, dtype=np.float64).T for name, pairs in shares.items()}
    summary_length, article_length = columns["compression"]
    found = {
        name: average_share(parts, wholes, average) for name, (parts, wholes) in columns.items()
    }
    found["compression"] = 1 - found["compression"]
    return {
        **found,
        "article_length": float(article_length.mean()),
        "summary_length": float(summary_length.mean()),
        "article_vocabulary": float(len(in_articles)),
        "summary_vocabulary": float(len(in_summaries)),
    }


def _shares(article: Tokens, summary: Tokens, count: str) -> dict[str, tuple[int, int]]:
    """Count numerator and denominator of every share of one document."""
    return {
        **{f"novel_{n}": novel_ngrams(article, summary, n, count) for n in (1, 2, 3, 4)},
        "compression": (len(summary), len(article)),
        **{f"redundancy_{n}": repeated_ngrams(summary, n) for n in (1, 2)},
    }
