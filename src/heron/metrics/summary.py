"""Scores of a split's summaries: ROUGE, what they are like, and what copying sentences would reach.

Legend: N items.
Source: Hasan et al. 2021 (XL-Sum) for `rouge1`, `rouge2`, `rougeL`, as HeSum reports them;
`heron.metrics.rouge_tokens` for `rouge1_heron` and so on.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from heron.languages.language import Language
from heron.metrics.extractive import greedy_oracle, lead_text, split_sentences
from heron.metrics.names import COPIES, MEASURES, PROFILES, rouge_name
from heron.metrics.rouge import Floats, rouge
from heron.metrics.summary_statistics import by_words, summary_statistics

EXTRACTIVE_VERSION = 2  # of what `extractive_scores` computes
_DESCRIBED = (
    "summary_length",
    "compression",
    *(f"novel_{n}" for n in (1, 2, 3, 4)),
    *(f"redundancy_{n}" for n in (1, 2)),
)


def item_rouge(
    predictions: Sequence[str],
    references: Sequence[str] | Sequence[Sequence[str]],
    language: Language,
) -> dict[str, Floats]:
    """Score every summary by itself.

    Args:
        predictions: N texts.
        references: N texts, or N lists of texts; see `heron.metrics.rouge.rouge`.
        language: of both.

    Returns:
        float64 `[N]`, F as fractions: `rouge1`, `rouge2`, `rougeL` (xlsum), `rouge1_heron` and so
        on.
    """
    scores: dict[str, Floats] = {}
    for profile in PROFILES:
        found = rouge(predictions, references, profile, language)
        scores |= {rouge_name(measure, profile): found[measure] for measure in MEASURES}
    return scores


def describe_summaries(
    articles: Sequence[str], predictions: Sequence[str], references: Sequence[str] | None = None
) -> dict[str, float]:
    """Describe summaries beside their articles; see `heron.metrics.summary_statistics`.

    Args:
        articles: N texts.
        predictions: N texts.
        references: N texts, or None where there are none.

    Returns:
        Fractions `novel_1` to `novel_4`, `compression`, `redundancy_1` and `redundancy_2` (types,
        means over documents); lengths in words, `summary_length` and, with references,
        `gold_length`. Means of nothing are left out.
    """
    found = summary_statistics(articles, predictions)
    described = {name: found[name] for name in _DESCRIBED if not math.isnan(found[name])}
    if references is not None:
        words = [len(tokens) for tokens in by_words(references)]
        described["gold_length"] = sum(words) / len(words)
    return described


def exchanged_scores(
    predictions: Sequence[str], references: Sequence[str], language: Language
) -> dict[str, float]:
    """Score summaries beside the references of other articles, half the rows away.

    A system that reads its article scores far higher beside its own reference. One that has only
    learnt how summaries are worded scores the same beside any.

    Returns:
        `exchanged_rouge1`, `exchanged_rouge2`, `exchanged_rougeL` (xlsum); none for a single row.
    """
    half = len(references) // 2
    if not half:
        return {}
    found = rouge(predictions, [*references[half:], *references[:half]], "xlsum", language)
    return {f"exchanged_{measure}": float(found[measure].mean()) for measure in MEASURES}


def extractive_texts(
    articles: Sequence[str], references: Sequence[str], language: Language
) -> dict[str, list[str]]:
    """Make summaries of the articles' own sentences.

    Returns:
        N texts each: `lead3`, the article's first three sentences; `oracle`, the at most three
        that a greedy search with the reference in hand finds (for ROUGE of `xlsum`), no system but
        nearly a ceiling.
    """
    texts: dict[str, list[str]] = {name: [] for name in COPIES}
    for article, reference in zip(articles, references, strict=True):
        sentences = split_sentences(article)
        best = greedy_oracle(sentences, reference, language)
        oracle = " ".join(sentences[place] for place in best)
        for name, text in zip(COPIES, (lead_text(sentences), oracle), strict=True):
            texts[name].append(text)
    return texts


def extractive_scores(
    articles: Sequence[str], references: Sequence[str], language: Language
) -> dict[str, float]:
    """Score what copying sentences reaches, as a measure for systems that write.

    Returns:
        Means over the split of `item_rouge` of both `extractive_texts`: `lead3_rouge1`,
        `oracle_rouge1`, `lead3_rouge1_heron` and so on.
    """
    scores: dict[str, float] = {}
    for name, texts in extractive_texts(articles, references, language).items():
        items = item_rouge(texts, references, language)
        scores |= {f"{name}_{measure}": float(items[measure].mean()) for measure in items}
    return scores
