"""Kinds of questions, answers and errors of extractive question answering, for breakdowns."""

from collections.abc import Sequence
from functools import partial

import numpy as np

from heron.languages.language import Language, QuestionWords
from heron.languages.words import folded_words
from heron.metrics.span import Tokens, language_profile

Offsets = tuple[int, int]  # start and (exclusive) end, in characters

# Questions by question word, in the order of ParaShoot's Table 3. One without any is OTHER.
CLUSTERS = ("what", "which", "who", "when", "where", "how", "how_many", "why")
OTHER = "other"

# How a prediction overlaps the gold answer, and the row of ParaShoot's Table 5.
OVERLAPS = {
    "equal": "Model = Annotation",
    "inside": "Model ⊂ Annotation",
    "contains": "Model ⊃ Annotation",
    "overlaps": "Model ∩ Annotation ≠ ∅",
    "disjoint": "Model ∩ Annotation = ∅",
}
MISSED = "missed"  # there is an answer, and the system gave none
UNANSWERABLE = "unanswerable"  # there is no answer, and the system gave one

# The largest number of words of each bucket but the last. ParaShoot calls questions of 4 to 7 words
# simple, longer ones complex.
ANSWER_LENGTHS = (1, 4, 8)
QUESTION_LENGTHS = (3, 7, 10)


def overlap_classes(
    predictions: Sequence[Offsets | None], golds: Sequence[Sequence[Offsets]]
) -> list[str]:
    """Classify how each prediction overlaps the gold answer, by character offsets.

    Of several golds, the one with the greatest F1 over characters counts. None is a
    system without an answer, an empty list of golds for a question without an answer.

    Returns:
        Keys of `OVERLAPS`, `missed` or `unanswerable`. It is `equal` if there is
        no answer and the system gave none.

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


def question_clusters(
    questions: Sequence[str], language: Language | None, *, reach: int = 3
) -> list[str]:
    """Name what each question asks for, by its first question word.

    Inflected forms and synonyms of a question word are in its cluster. Hebrew prefixes are removed
    (באיזו, in which).

    Args:
        language: of the questions; None, or one without a list of question words, gives `other`.
        reach: how many words from the beginning to search. 1 is the paper's definition; 3 also
            finds the word behind a preposition (Hebrew על מה, about what; Romanian la ce, at what).

    Returns:
        One of `CLUSTERS`, or `other`, for each question.

    Source: Keren and Levy 2021, Table 3.
    """
    if language is None or language.questions is None:
        return [OTHER] * len(questions)
    return [
        _cluster(words, language.questions, reach)
        for words in language_profile(language).tokens(questions)
    ]


def _cluster(words: Tokens, asked: QuestionWords, reach: int) -> str:
    for first in range(min(reach, len(words))):
        for length in range(asked.longest(), 0, -1):
            phrase = words[first : first + length]
            for opening in asked.readings(phrase[0]):
                if (opening, *phrase[1:]) in asked.phrases:
                    return asked.phrases[opening, *phrase[1:]]
    return OTHER


def asks_yes_or_no(question: str, language: Language) -> bool:
    """Tell whether a question asks for yes or no, by its first words.

    Source: ParaShoot, section 2.3, which discards them and does not say how they were found.
    """
    first, *rest = folded_words(question.replace("’", "'")) or [""]
    asked = language.questions
    if asked is None or first not in asked.yes_or_no:
        return False
    followed = question_clusters([" ".join(rest)], language, reach=2)
    return first not in asked.any_question or followed == [OTHER]


def length_buckets(texts: Sequence[str], longest: Sequence[int]) -> list[str]:
    """Name each text's bucket by its number of words (split at white space).

    `longest` has the largest number of words of each bucket but the last, see `bucket_names`.
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
