"""Kinds of questions, told by their words."""

from __future__ import annotations

from heron.languages.language import Language
from heron.languages.words import folded_words

# In the order of ParaShoot's Table 3; a question without any of them is OTHER.
CLUSTERS = ("what", "which", "who", "when", "where", "how", "how_many", "why")
OTHER = "other"


def asks_yes_or_no(question: str, language: Language) -> bool:
    """Tell whether a question asks for yes or no, by its first word.

    Source: ParaShoot, section 2.3 (yes/no questions were discarded; how they were found is not
    said).
    """
    first = folded_words(question.replace("’", "'"))[:1]
    return bool(first and language.questions and first[0] in language.questions.yes_or_no)
