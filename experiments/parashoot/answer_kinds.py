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
UNANSWERABLE = "unanswerable"  # unanswerable, but predicted an answer

# The largest number of words of each bucket but the last. ParaShoot calls questions of 4 to 7 words
# simple, longer ones complex.
ANSWER_LENGTHS = (1, 4, 8)
QUESTION_LENGTHS = (3, 7, 10)


def overlap_classes(
    predictions: Sequence[Offsets | None], golds: Sequence[Sequence[Offsets]]
) -> list[str]:
    """Classify how each prediction overlaps the gold answer, by character offsets.

    Of several golds, the one with the greatest character F1 counts. A prediction of
    None means "no answer"; an empty list of golds, an unanswerable question.

    Returns:
        Keys of `OVERLAPS`, `missed` or `unanswerable`; `equal` also for "no answer"
        to an unanswerable question.

    Source: Keren and Levy 2021, Table 5.
    """
    return [_overlap(*both) for both in zip(predictions, golds, strict=True)]


def _overlap(prediction: Offsets | None, golds: Sequence[Offsets]) -> str:
    if prediction is None or not golds:
        both = prediction is None and not golds
        return "equal" if both else MISSED if prediction is None else UNANSWERABLE
    start, end = prediction
    low, high = max(golds, key=partial(_character_f1, prediction))
    if (start, end) == (low, high):
        return "equal"
    if min(end, high) <= max(start, low):
        return "disjoint"
    if low <= start and end <= high:
        return "inside"
    return "contains" if start <= low and high <= end else "overlaps"


def _character_f1(one: Offsets, other: Offsets) -> float:
    shared = min(one[1], other[1]) - max(one[0], other[0])
    return 2 * max(shared, 0) / max(one[1] - one[0] + other[1] - other[0], 1)


def length_buckets(texts: Sequence[str], longest: Sequence[int]) -> list[str]:
    """Give each text the name of its length bucket, by words (split at white space).

    `longest` is the largest number of words of each bucket but the last, see `bucket_names`.
    """
    names = bucket_names(longest)
    words_N = [len(text.split()) for text in texts]
    return [names[bucket] for bucket in np.searchsorted(longest, words_N).tolist()]


def bucket_names(longest: Sequence[int]) -> list[str]:
    """Name buckets of lengths in order, such as `1`, `2 to 4`, `5 or more`."""
    starts = [1, *(end + 1 for end in longest)]
    spans = zip(starts, longest, strict=False)
    named = [str(end) if start == end else f"{start} to {end}" for start, end in spans]
    return [*named, f"{starts[-1]} or more"]
