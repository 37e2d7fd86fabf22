"""Scores of a split's summaries: ROUGE, statistics, and what copying sentences would reach.

`lead3` (the article's first three sentences) is the baseline to beat for news. `oracle` (at most
three sentences that a greedy search finds with the reference in hand) is not a system but nearly a
ceiling for copying.

Legend: N items.
Source: Hasan et al. 2021 (XL-Sum) for `rouge1`, `rouge2`, `rougeL`, as HeSum reports them;
`heron.metrics.rouge_tokens` for `rouge1_heron` and so on; Nallapati et al. 2017 (SummaRuNNer),
section 3, for the greedy oracle.
"""

import math
import re
from array import array
from collections.abc import Sequence
from itertools import chain

from heron.languages.language import Language
from heron.metrics.names import COPIES, MEASURES, PROFILES, rouge_names
from heron.metrics.rouge import Floats, pair_scores, rouge
from heron.metrics.rouge_tokens import number_tokens
from heron.metrics.summary_statistics import SHARES, by_words, summary_statistics

EXTRACTIVE_VERSION = 2  # of what `extractive_scores` computes
LEAD = 3  # sentences

# A sentence ends at . ! ? or an ellipsis and what closes after it, before a space; not after an
# initial (א. ב. יהושע, I. L. Caragiale) or a number of a list. 。！？ need no space. Lines and
# bullets end one as well.
_END = re.compile(
    r"(?<=[.!?…؟۔।॥።։។။])(?<!\b[^\W\d_]\.)(?<!\b\d\.)(?<!\b\d\d\.)(?P<close>[\"'”’»)\]]*)\s+"
    r"|(?<=[。！？])(?P<quote>[」』”’）]*)\s*|[\n•]\s*"
)


def split_sentences(text: str) -> list[str]:
    """Split a text at sentence ends and line breaks; made for news, the same in every language."""
    marked = _END.sub(lambda end: (end["close"] or end["quote"] or "") + "\n", text)
    return [sentence for line in marked.split("\n") if (sentence := line.strip())]


def lead_text(sentences: Sequence[str]) -> str:
    """Join the first three sentences: the summary `lead3`."""
    return " ".join(sentences[:LEAD])


def greedy_oracle(
    sentences: Sequence[str], reference: str, language: Language, most: int = 3
) -> list[int]:
    """Add the sentence that raises ROUGE most, until none does or `most` are chosen.

    ROUGE is the mean F of ROUGE-1, 2 and L (profile `xlsum`).

    Returns:
        Rising positions; empty where no sentence shares a word with the reference.
    """
    (wanted, *known), _ = number_tokens([reference, *sentences], "xlsum", language)
    chosen: list[int] = []
    best = 0.0
    while len(chosen) < most:
        others = (place for place in range(len(known)) if place not in chosen)
        tried = [sorted([*chosen, place]) for place in others]  # in the article's order
        texts = [array("q", chain.from_iterable(known[i] for i in places)) for places in tried]
        # Rounded, so that of equal sentences the first one wins, not the rounding error.
        scores = pair_scores(texts, [wanted] * len(texts)).mean(axis=1).round(12)
        if scores.max(initial=0) <= best:
            break
        best, chosen = scores.max(), tried[scores.argmax()]
    return chosen


def item_rouge(
    predictions: Sequence[str],
    references: Sequence[str] | Sequence[Sequence[str]],
    language: Language,
) -> dict[str, Floats]:
    """Score N summaries by all of `rouge_names`; arguments and values as for `rouge`."""
    both = (rouge(predictions, references, profile, language) for profile in PROFILES)
    return dict(zip(rouge_names(), (f_N for each in both for f_N in each.values()), strict=True))


def describe_summaries(
    articles: Sequence[str], predictions: Sequence[str], references: Sequence[str] | None = None
) -> dict[str, float]:
    """Describe N summaries of N articles by `SHARES` of `heron.metrics.summary_statistics`.

    Returns:
        Fractions (types, means over documents); lengths in words, `summary_length` and, with
        references, `gold_length`. Undefined ones are left out.
    """
    found = summary_statistics(articles, predictions)
    names = ("summary_length", "compression", *SHARES)
    described = {name: found[name] for name in names if not math.isnan(found[name])}
    if references is not None:
        words = [len(tokens) for tokens in by_words(references)]
        described["gold_length"] = sum(words) / len(words)
    return described


def exchanged_scores(
    predictions: Sequence[str], references: Sequence[str], language: Language
) -> dict[str, float]:
    """Score summaries beside the references of other articles, half the rows away.

    A system that has only learnt the wording of summaries scores the same beside any reference.

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
    """Make the summaries `lead3` and `oracle` of N articles; N texts each."""
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
    """Average `item_rouge` of both `extractive_texts`: `lead3_rouge1`, `oracle_rouge1`, ..."""
    scores: dict[str, float] = {}
    for name, texts in extractive_texts(articles, references, language).items():
        items = item_rouge(texts, references, language)
        scores |= {f"{name}_{measure}": float(items[measure].mean()) for measure in items}
    return scores
