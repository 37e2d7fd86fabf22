"""Single words that give the label away, and the words that go with each class.

Legend: N examples, V words, C classes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from heron.audit import texts
from heron.audit.features import Feature
from heron.audit.findings import Finding
from heron.audit.rules import Ids, majority

_LEAST_ROWS = 10  # that hold a word, and at least this share of all:
_LEAST_SHARE = 0.002
_BEST = 5
_PER_CLASS = 8

Counts = npt.NDArray[np.int64]


class Vocabulary(NamedTuple):
    """The words of a field that are frequent enough to look at.

    Args:
        words: V.
        holds_NV: sparse 0/1 matrix: which example holds which word.
    """

    words: list[str]
    holds_NV: Any


def vocabulary(field_texts: Sequence[str]) -> Vocabulary:
    """Find the words that at least 10 texts and .2 % of them hold."""
    from sklearn.feature_extraction.text import CountVectorizer

    least = max(_LEAST_ROWS, int(_LEAST_SHARE * len(field_texts)))
    counter = CountVectorizer(analyzer=texts.words, binary=True, min_df=least, dtype=np.int64)
    try:
        holds_NV = counter.fit_transform(field_texts)
    except ValueError:  # no word is that frequent
        return Vocabulary([], None)
    return Vocabulary(counter.get_feature_names_out().tolist(), holds_NV.tocsr())


def best_words(found: Vocabulary, gold_N: Ids, fold_N: Ids, classes: int) -> list[str]:
    """Choose the words whose rule (class if present, class if absent) does best on held-out folds.

    Returns:
        At most five, the best first; only words that beat the majority class.
    """
    if not found.words:
        return []
    gold_NC = np.eye(classes, dtype=np.int64)[gold_N]
    usual = majority(gold_N, classes)
    gain_V = np.zeros(len(found.words), np.int64)
    for fold in np.unique(fold_N):
        rest, held = fold_N != fold, fold_N == fold
        if not rest.any():
            return []
        fitted = _present_and_absent(found.holds_NV[rest], gold_NC[rest])
        scored = _present_and_absent(found.holds_NV[held], gold_NC[held])
        for fitted_VC, scored_VC in zip(fitted, scored, strict=True):
            chosen_V = fitted_VC.argmax(1)
            right_V = np.take_along_axis(scored_VC, chosen_V[:, None], 1)[:, 0]
            gain_V += right_V - scored_VC[:, usual]
    order = (-gain_V).argsort(kind="stable")[:_BEST]
    return [found.words[i] for i in order if gain_V[i] > 0]


def word_feature(field: str, word: str, field_texts: Sequence[str]) -> Feature:
    """Whether each text holds a word, as a feature."""
    values = ["yes" if word in texts.words(text) else "no" for text in field_texts]
    return Feature("word", field, f"{field}: the word '{word}'", np.array(values))


def typical_words(
    split: str, field: str, found: Vocabulary, gold_N: Ids, labels: Sequence[str]
) -> list[Finding]:
    """List the words that go most with each class, by pointwise mutual information.

    The counts are smoothed by the least number of rows a word must have, so that rare words do not
    crowd the list.

    Source: Gururangan et al. 2018, "Annotation Artifacts in Natural Language Inference Data",
    section 3 (there with 100 for smoothing, on half a million rows).
    """
    if not found.words:
        return []
    counts_VC, _ = _present_and_absent(found.holds_NV, np.eye(len(labels), dtype=np.int64)[gold_N])
    share_C = np.bincount(gold_N, minlength=len(labels)) / len(gold_N)
    smooth = max(_LEAST_ROWS, int(_LEAST_SHARE * len(gold_N)))
    word_V = counts_VC.sum(1)
    # Smoothed towards the class's own share: a word that says nothing has 0 bits.
    likely_VC = (counts_VC + smooth * share_C) / (word_V + smooth)[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        bits_VC = np.where(share_C > 0, np.log2(likely_VC / share_C), -np.inf)
    measures = [
        {
            "class": labels[c],
            "word": found.words[v],
            "bits": float(bits_VC[v, c]),
            "rows": int(word_V[v]),
            "share of class": float(counts_VC[v, c] / word_V[v]),
            "share of class in all": float(share_C[c]),
        }
        for c in range(len(labels))
        for v in (-bits_VC[:, c]).argsort(kind="stable")[:_PER_CLASS]
        if bits_VC[v, c] > 0
    ]
    title = f"{split}: the words of the {field} that go most with each class"
    meaning = "Pointwise mutual information of word and class, smoothed; a text counts once."
    return [Finding(f"words.{field}", "info", title, measures, meaning=meaning)]


def _present_and_absent(holds_NV: Any, gold_NC: Counts) -> tuple[Counts, Counts]:
    """Count the classes of the rows with and without each word, both `[V, C]`."""
    present_VC = np.asarray(holds_NV.T @ gold_NC)
    return present_VC, gold_NC.sum(0) - present_VC
