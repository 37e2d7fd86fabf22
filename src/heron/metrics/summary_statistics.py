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
looks novel then, as a comma makes another word); lemmas and morphemes are in
`heron.tasks.summarization.profile`.

Legend: N documents.
Source: Narayan et al. 2018 (novel n-grams), Bommasani and Cardie 2020 (compression), Hasan et al.
2021 (redundancy), as HeSum uses them (Tables 1, 2, 5 and 7). HeSum's text calls |S| / |A| the
compression ratio but prints 1 − |S| / |A|; its 95.48 % is a mean over documents, the ratio of its
mean lengths would be 97.67 %. It does not say whether types or tokens are counted,
nor what a word is; what comes nearest, `heron analyze data=hesum` measures.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from heron.base.errors import DataError, Problem
from heron.languages.words import folded_words
from heron.metrics.summary_counts import Tally, Tokens, average_share

Segment = Callable[[Sequence[str]], Sequence[Tokens]]

_AT_ONCE = 256  # documents


def by_words(texts: Sequence[str]) -> list[Tokens]:
    """Cut texts into words without capitals or punctuation."""
    return [folded_words(text) for text in texts]


def by_whitespace(texts: Sequence[str]) -> list[Tokens]:
    """Cut texts at white space only: punctuation and capitals make other words."""
    return [text.split() for text in texts]


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
    tally = Tally((count,))
    # Long articles are cut and forgotten part by part: only their vocabulary grows.
    for start in range(0, len(articles), _AT_ONCE):
        part = slice(start, start + _AT_ONCE)
        for article, summary in zip(segment(articles[part]), segment(summaries[part]), strict=True):
            tally.add(article, summary)
    return describe(tally, count, average)


def describe(tally: Tally, count: str = "type", average: str = "document") -> dict[str, float]:
    """Average what was counted; see `summary_statistics`."""
    shares = tally.shares(count)
    found = {name: average_share(pair[0], pair[1], average) for name, pair in shares.items()}
    article_N, summary_N = tally.lengths()
    in_articles, in_summaries = tally.vocabularies
    return {
        **found,
        "article_length": float(article_N.mean()),
        "summary_length": float(summary_N.mean()),
        "article_vocabulary": float(in_articles),
        "summary_vocabulary": float(in_summaries),
    }
