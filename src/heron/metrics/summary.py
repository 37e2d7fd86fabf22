"""Scores of a split's summaries: ROUGE, statistics, and those of extractive baselines.

Statistics need no reference:

- `novel_n`: the share of a summary's n-grams that its article lacks. `count="type"` counts each
  distinct n-gram once, `"token"` each occurrence.
- `compression` (CMP): 1 - |summary| / |article|, in tokens.
- `redundancy_n` (RED): the share of a summary's n-grams that repeat an earlier one:
  sum(f - 1) / sum(f) over its distinct n-grams with frequencies f.

`average="document"` is the mean over documents; `"corpus"` pools them first (for compression:
1 - mean |summary| / mean |article|). The two differ widely. A document with nothing to count (a
summary shorter than n, an empty article) is left out. Tokens are `by_words`, or `by_whitespace` as
in simple scripts (more looks novel then); lemmas and morphemes are in
`heron_tools.statistics.profiles`.

`lead3` (the article's first three sentences) is the baseline to beat for news. `oracle` (at most
three sentences that a greedy search chooses by the reference) is no system: it is close to the best
possible extractive summary.

Legend: N items.
Source: Hasan et al. 2021 (XL-Sum) for `rouge1`, `rouge2`, `rougeL`, as HeSum reports them;
`heron.metrics.rouge` for `rouge1_heron` and so on; Nallapati et al. 2017 (SummaRuNNer), section 3,
for the greedy oracle; Narayan et al. 2018 (novel n-grams), Bommasani and Cardie 2020 (compression),
Hasan et al. 2021 (redundancy), as HeSum uses them (Tables 1, 2, 5 and 7). HeSum's text calls
|S| / |A| the compression ratio but prints 1 - |S| / |A|; its 95.48 % is a mean over documents, the
ratio of its mean lengths would be 97.67 %. It defines neither words nor what is counted; `heron
analyze data=hesum` measures which definition comes nearest.
"""

from __future__ import annotations

import math
import re
from array import array
from collections.abc import Iterator, Sequence
from itertools import chain

import numpy as np

from heron.languages.language import Language
from heron.languages.words import folded_words
from heron.metrics import require_rows
from heron.metrics.arrays import Floats
from heron.metrics.names import COPIES, MEASURES, PROFILES
from heron.metrics.rouge import References, number_tokens, pair_scores, rouge

Tokens = Sequence[str]

COUNTS = ("type", "token")
AVERAGES = ("document", "corpus")
_NOVEL = (1, 2, 3, 4)
_REPEATED = (1, 2)
SHARES = ("novel_1", "novel_2", "novel_3", "novel_4", "compression", "redundancy_1", "redundancy_2")


def by_words(texts: Sequence[str]) -> list[Tokens]:
    """Split texts into case-folded words without punctuation."""
    return [folded_words(text) for text in texts]


def by_whitespace(texts: Sequence[str]) -> list[Tokens]:
    """Split texts at white space; punctuation and capitals stay."""
    return [text.split() for text in texts]


def ngrams(tokens: Tokens, n: int) -> Iterator[tuple[str, ...]]:
    """List the n-grams in order."""
    return zip(*(tokens[start:] for start in range(n)), strict=False)


class Tally:
    """Counts of n-grams, document by document; only the vocabulary keeps tokens in memory."""

    def __init__(self) -> None:
        self._rows: list[list[int]] = []
        self._articles: set[str] = set()
        self._summaries: set[str] = set()

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def vocabularies(self) -> tuple[int, int]:
        """Distinct tokens of all articles, and of all summaries."""
        return len(self._articles), len(self._summaries)

    @classmethod
    def merge(cls, tallies: Sequence[Tally]) -> Tally:
        """Join the counts of different documents."""
        merged = cls()
        for tally in tallies:
            merged._rows += tally._rows
            merged._articles |= tally._articles
            merged._summaries |= tally._summaries
        return merged

    def lengths(self) -> tuple[Floats, Floats]:
        """Tokens of each article, and of each summary, float64 `[N]`."""
        columns = np.array(self._rows, dtype=np.float64).reshape(len(self), -1)
        return columns[:, 1] + 0, columns[:, 1] - columns[:, 0]

    def add(self, article: Tokens, summary: Tokens) -> None:
        """Count one article and its summary.

        Args:
            article: its tokens.
            summary: its tokens.
        """
        self._articles.update(article)
        self._summaries.update(summary)
        row = [len(article) - len(summary), len(article)]
        for n in _REPEATED:
            tokens = list(ngrams(summary, n))
            row += [len(tokens) - len(set(tokens)), len(tokens)]

        for n in _NOVEL:
            known = set(ngrams(article, n))
            tokens = list(ngrams(summary, n))
            types = set(tokens)
            row += [len(types - known), len(types)]  # in the order of COUNTS
            row += [sum(ngram not in known for ngram in tokens), len(tokens)]

        self._rows.append(row)

    def shares(self, count: str = "type") -> dict[str, Floats]:
        """Give each share's parts and wholes, float64 `[2, N]`, by name (`SHARES`).

        `count`, of novel n-grams, is one of `COUNTS`.
        """
        pairs = np.array(self._rows, dtype=np.float64).reshape(len(self), -1, 2).transpose(1, 2, 0)
        # The pairs of `add`: compression, redundancy, then novelty in every way of counting.
        step = len(COUNTS)
        first = 1 + len(_REPEATED) + COUNTS.index(count)
        novel = range(first, first + step * len(_NOVEL), step)
        rows = (*novel, 0, 1, 2)
        return {name: pairs[row] for name, row in zip(SHARES, rows, strict=True)}


def average_share(parts: Floats, wholes: Floats, average: str = "document") -> float:
    """Average a share over documents; NaN where none has anything to count.

    Args:
        parts: numerators, float64 `[N]`.
        wholes: denominators, float64 `[N]`.
        average: one of `AVERAGES`.
    """
    numerators, denominators = fractions(parts, wholes, average)
    total = denominators.sum()
    return float(numerators.sum() / total) if total else float("nan")


def fractions(parts: Floats, wholes: Floats, average: str) -> tuple[Floats, Floats]:
    """Give each document a numerator and a denominator, whose sums make the average."""
    counted = wholes > 0
    if average == "corpus":
        return parts * counted, wholes
    shares = np.divide(parts, wholes, out=np.zeros_like(parts), where=counted)
    return shares, counted.astype(float)


EXTRACTIVE_VERSION = 4  # to be raised when `extractive_scores` gives other numbers: a cache key
LEAD = 3  # sentences

# A sentence ends at . ! ? or an ellipsis and what closes after it, before a space; not after an
# initial (א. ב. יהושע, I. L. Caragiale) or a number of a list. Marks that do nothing else need no
# space (Unicode's Sentence_Terminal): 。, danda, Ethiopic ። and ፧, N'Ko ߹, Syriac ܀, Mongolian ᠃,
# Javanese ꧉, Khmer ។ and ៕ (but in ។ល។, "etc."), and what is typed for ።:
# two word spaces, two colons. Lines and bullets end a sentence as well.
_MARKS = "。！？।॥።፧፨៕។။։܀܁܂߹᠃᠉᙮᱾᱿꓿꘎꘏꛳꛷꡶꡷꣎꣏꤯꧉꩝꩞꩟꫱꯫"
_ALONE = rf"(?:[{_MARKS}]|፡፡|(?<=[\u1200-\u135a])::)(?!\s*(?:[{_MARKS}]|[លប]\s*។))"
_STOP = r"(?<!\b[^\W\d_])(?<!\b\d)(?<!\b\d\d)\."
_END = re.compile(
    rf"(?=[.!?…؟۔፡:\n•{_MARKS}])(?:"  # no new rule, but a faster search
    rf"(?P<spaced>(?:[!?…؟۔]|{_STOP}|{_ALONE})[\"'”’»)\]」』）]*)(?:\s+|$)"
    rf"|(?P<alone>{_ALONE}[」』”’）]*)\s*|[\n•]\s*)"
)


def split_sentences(text: str) -> list[str]:
    """Split a text at sentence ends and line breaks; made for news, the same in every language."""
    marked = _END.sub(lambda end: (end["spaced"] or end["alone"] or "") + "\n", text)
    lines = [line.strip() for line in marked.split("\n")]
    return [line for line in lines if line]


def lead_text(sentences: Sequence[str]) -> str:
    """Join the first three sentences: the summary `lead3`."""
    return " ".join(sentences[:LEAD])


def greedy_oracle(
    sentences: Sequence[str], reference: str, language: Language, most: int = 3
) -> list[int]:
    """Add the sentence that raises ROUGE most, until none does or `most` are chosen.

    ROUGE is the mean F of ROUGE-1, 2 and L (profile `xlsum`).

    Args:
        sentences: of the article.
        reference: the summary to come close to.
        language: of the texts.
        most: sentences to choose.

    Returns:
        Ascending positions; empty where no sentence shares a word with the reference.
    """
    (wanted, *ids), _ = number_tokens([reference, *sentences], "xlsum", language)
    chosen: list[int] = []
    best = 0.0
    while len(chosen) < most:
        candidates = []
        for index in range(len(ids)):
            if index not in chosen:
                candidates.append(sorted([*chosen, index]))  # in the article's order
        texts = [array("q", chain.from_iterable(ids[i] for i in places)) for places in candidates]
        # Rounded, so that of equal sentences the first one wins, not the rounding error.
        scores = pair_scores(texts, [wanted] * len(texts)).mean(axis=1).round(12)
        if scores.max(initial=0) <= best:
            break
        best = scores.max()
        chosen = candidates[scores.argmax()]
    return chosen


def item_rouge(
    predictions: Sequence[str],
    references: References,
    language: Language,
) -> dict[str, Floats]:
    """Score N summaries by all of `rouge_names`.

    Args:
        predictions: N texts.
        references: for each its reference, or several.
        language: of the texts.

    Returns:
        F by name, fractions, float64 `[N]`.
    """
    scores = {}
    for profile in PROFILES:
        suffix = "" if profile == "xlsum" else f"_{profile}"
        for measure, f_N in rouge(predictions, references, profile, language).items():
            scores[measure + suffix] = f_N
    return scores


def describe_summaries(
    articles: Sequence[str], predictions: Sequence[str], references: Sequence[str]
) -> dict[str, float]:
    """Describe N summaries of N articles in words; types, means over documents.

    Args:
        articles: N texts.
        predictions: N summaries.
        references: N summaries by people.

    Returns:
        Mean lengths in words, `summary_length` and `gold_length`, and fractions by name
        (`SHARES`), without those that no text is long enough for.
    """
    require_rows("summary statistics", articles, predictions)
    tally = Tally()
    for article, summary in zip(articles, predictions, strict=True):
        tally.add(folded_words(article), folded_words(summary))

    shares = tally.shares()
    _, lengths = tally.lengths()
    described = {"summary_length": float(lengths.mean())}
    for name in ("compression", *SHARES):  # in the order of tables
        parts, wholes = shares[name]
        share = average_share(parts, wholes)
        if not math.isnan(share):
            described[name] = share

    gold_lengths = [len(folded_words(reference)) for reference in references]
    described["gold_length"] = sum(gold_lengths) / len(gold_lengths)
    return described


def exchanged_scores(
    predictions: Sequence[str], references: Sequence[str], language: Language
) -> dict[str, float]:
    """Score summaries against references of other articles, half the split away.

    A system that has only learnt the wording of summaries scores the same against any reference.

    Args:
        predictions: N summaries.
        references: N summaries by people, in the same order.
        language: of the texts.

    Returns:
        `exchanged_rouge1`, `exchanged_rouge2`, `exchanged_rougeL` (xlsum); none for a single row.
    """
    half = len(references) // 2
    if not half:
        return {}
    others = [*references[half:], *references[:half]]
    scores = rouge(predictions, others, "xlsum", language)
    return {f"exchanged_{measure}": float(scores[measure].mean()) for measure in MEASURES}


def extractive_texts(
    articles: Sequence[str], references: Sequence[str], language: Language
) -> dict[str, list[str]]:
    """Summarize N articles by their own sentences.

    Returns:
        The N texts of `lead3` and of `oracle`, by name.
    """
    leads = []
    oracles = []
    for article, reference in zip(articles, references, strict=True):
        sentences = split_sentences(article)
        leads.append(lead_text(sentences))
        best = greedy_oracle(sentences, reference, language)
        oracles.append(" ".join(sentences[index] for index in best))
    return dict(zip(COPIES, (leads, oracles), strict=True))


def extractive_scores(
    articles: Sequence[str], references: Sequence[str], language: Language
) -> dict[str, float]:
    """Average `item_rouge` of both `extractive_texts`: `lead3_rouge1`, `oracle_rouge1`, ..."""
    scores: dict[str, float] = {}
    for name, texts in extractive_texts(articles, references, language).items():
        for measure, score_N in item_rouge(texts, references, language).items():
            scores[f"{name}_{measure}"] = float(score_N.mean())
    return scores
