"""Kinds of answers and of errors of extractive question answering, for breakdowns."""

from collections.abc import Sequence
from functools import partial

import numpy as np

Offsets = tuple[int, int]  # start and (exclusive) end, in characters

# How a prediction overlaps the gold answer: heron's name, and that in ParaShoot's Table 5.
OVERLAPS = {
    "equal": "Model = Annotation",
    "inside": "Model ⊂ Annotation",
    "contains": "Model ⊃ Annotation",
    "overlaps": "Model ∩ Annotation ≠ ∅",
    "disjoint": "Model ∩ Annotation = ∅",
}
MISSED = "missed"  # answerable, but predicted "no answer"
INVENTED = "invented"  # unanswerable, but predicted an answer

# The largest number of words of each bucket but the last. ParaShoot calls questions of 4 to 7 words
# simple, longer ones complex.
ANSWER_LENGTHS = (1, 4, 8)
QUESTION_LENGTHS = (3, 7, 10)


def overlap_classes(
    predictions: Sequence[Offsets | None], golds: Sequence[Sequence[Offsets]]
) -> list[str]:
    """Classify how each prediction overlaps the gold answer, by character offsets.

    Args:
        predictions: N spans; None means "no answer".
        golds: the gold answers of each; empty for an unanswerable question. Of several, the one
            with the greatest character F1 counts.

    Returns:
        Keys of `OVERLAPS`, `missed` or `invented`; `equal` also for "no answer"
        to an unanswerable question.

    Source: Keren and Levy 2021, Table 5.
    """
    pairs = zip(predictions, golds, strict=True)
    return [_overlap(prediction, spans) for prediction, spans in pairs]


def _overlap(prediction: Offsets | None, golds: Sequence[Offsets]) -> str:
    """Name the position of an answer beside the gold one with the greatest character F1."""
    if prediction is None:
        return MISSED if golds else "equal"
    if not golds:
        return INVENTED

    start, end = prediction
    low, high = max(golds, key=partial(_character_f1, prediction))
    if (start, end) == (low, high):
        return "equal"
    if min(end, high) <= max(start, low):
        return "disjoint"
    if low <= start and end <= high:
        return "inside"
    if start <= low and high <= end:
        return "contains"
    return "overlaps"


def _character_f1(prediction: Offsets, gold: Offsets) -> float:
    """Compute F1 of the characters that two spans share."""
    start, end = prediction
    low, high = gold
    shared = min(end, high) - max(start, low)
    lengths = (end - start) + (high - low)
    return 2 * max(shared, 0) / max(lengths, 1)


def length_buckets(texts: Sequence[str], longest: Sequence[int]) -> list[str]:
    """Give each text the name of its length bucket, by words (split at white space).

    Args:
        texts: N texts.
        longest: the largest number of words of each bucket but the last, see `bucket_names`.
    """
    names = bucket_names(longest)
    words_N = [len(text.split()) for text in texts]
    buckets_N = np.searchsorted(longest, words_N)
    return [names[bucket] for bucket in buckets_N]


def bucket_names(longest: Sequence[int]) -> list[str]:
    """Name buckets of lengths in order, such as `1`, `2 to 4`, `5 or more`."""
    names = []
    start = 1
    for end in longest:
        names.append(str(end) if start == end else f"{start} to {end}")
        start = end + 1
    return [*names, f"{start} or more"]
