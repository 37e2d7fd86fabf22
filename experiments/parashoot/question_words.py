"""What a question asks for, by its question word, and whether it asks for yes or no."""

from collections.abc import Sequence

from heron.languages.language import Language, QuestionWords
from heron.languages.words import folded_words
from heron.metrics.span import language_profile

# Questions by question word, in the order of ParaShoot's Table 3. One without any is OTHER.
CLUSTERS = ("what", "which", "who", "when", "where", "how", "how_many", "why")
OTHER = "other"


def question_clusters(
    questions: Sequence[str], language: Language | None, *, reach: int = 3
) -> list[str]:
    """Name what each question asks for, by its first question word.

    Inflected forms and synonyms of a question word are in its cluster. Hebrew prefixes are removed
    (באיזו, in which).

    Args:
        questions: N texts.
        language: of the questions; None, or one without a list of question words, gives `other`.
        reach: how many words from the beginning to search. 1 is the paper's definition; 3 also
            finds the word after a preposition (Hebrew על מה, about what; Romanian la ce, at what).

    Returns:
        One of `CLUSTERS`, or `other`, for each question.

    Source: Keren and Levy 2021, Table 3.
    """
    if language is None or language.questions is None:
        return [OTHER] * len(questions)
    tokens = language_profile(language).tokens(questions)
    return [_cluster(words, language.questions, reach) for words in tokens]


def _cluster(words: Sequence[str], known: QuestionWords, reach: int) -> str:
    """Find the first question word or phrase; at one position, the longest phrase counts."""
    for first in range(min(reach, len(words))):
        for length in range(known.longest(), 0, -1):
            opening, *rest = words[first : first + length]
            for reading in known.readings(opening):
                phrase = (reading, *rest)
                if phrase in known.phrases:
                    return known.phrases[phrase]
    return OTHER


def asks_yes_or_no(question: str, language: Language) -> bool:
    """Tell whether a question asks for yes or no, by its first words.

    Args:
        question: the text.
        language: of the question; without a list of question words, no question does.

    Source: ParaShoot, section 2.3, which discards them and does not say how they were found.
    """
    known = language.questions
    words = folded_words(question.replace("’", "'"))
    if known is None or not words or words[0] not in known.yes_or_no:
        return False
    if words[0] not in known.any_question:
        return True

    # Such a word (Romanian "oare") opens any question: it asks for yes or no unless a question word
    # follows. `reach` is 2, because the first word is gone.
    rest = " ".join(words[1:])
    return question_clusters([rest], language, reach=2) == [OTHER]
