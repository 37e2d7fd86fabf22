"""Question words by language, in the clusters of ParaShoot's Table 3.

Words are spelt as `heron.metrics.span_profiles` leaves them: no capitals, points or punctuation.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

# In the order of the paper's table; a question without any of them is OTHER.
CLUSTERS = ("what", "which", "who", "when", "where", "how", "how_many", "why")
OTHER = "other"


@dataclass(frozen=True, slots=True)
class QuestionWords:
    """How one language asks.

    Args:
        phrases: cluster by question word, or phrase of several: "how many" comes before "how".
        prefixes: letters that may be written together with the word that follows; Hebrew's
            prepositions and its "and" (באיזו, in which; ומתי, and when).
    """

    phrases: dict[tuple[str, ...], str]
    prefixes: str = ""

    def longest(self) -> int:
        """Count the words of the longest phrase."""
        return max(map(len, self.phrases))

    def readings(self, word: str) -> Iterator[str]:
        """Read a word as it stands, and then without one and two of its prefixes."""
        yield word
        for _ in range(2):
            if len(word) < 2 or word[0] not in self.prefixes:
                return
            word = word[1:]
            yield word


def _clusters(**phrases: str) -> dict[tuple[str, ...], str]:
    """Read each cluster's phrases, parted by commas."""
    return {
        tuple(phrase.split()): cluster
        for cluster, listed in phrases.items()
        for phrase in listed.split(",")
    }


_ENGLISH = QuestionWords(
    _clusters(
        what="what, whats",
        which="which",
        who="who, whos, whom, whose",
        when="when, whens",
        where="where, wheres",
        how="how, hows",
        how_many="how many, how much, how long, how old, how far, how often, how large, how high",
        why="why, how come",
    )
)
# למה (why) and כמה (how many) stand here as words, so neither is read as a prefix with מה (what).
_HEBREW = QuestionWords(
    _clusters(
        what="מה, מהו, מהי, מהם, מהן",
        which="איזה, איזו, אילו, אלו, איזהו, איזוהי",
        who="מי, מיהו, מיהי, מיהם, מיהן",
        when="מתי",
        where="איפה, היכן, לאן, מאין, מניין, איה",
        how="איך, כיצד, הכיצד, איכה",
        how_many="כמה",
        why="מדוע, למה",
    ),
    prefixes="ובלמכ",
)
_ROMANIAN = QuestionWords(
    _clusters(
        what="ce",
        which="care, cărui, cărei, căror, căruia, căreia, cărora",
        who="cine, cui",
        when="când",
        where="unde, încotro",
        how="cum, în ce fel, în ce mod",
        how_many="cât, câtă, câți, câte",
        why="de ce, din ce cauză, din ce motiv",
    )
)

# A language that is not here has no clusters: all its questions are OTHER.
QUESTION_WORDS = {"en": _ENGLISH, "he": _HEBREW, "ro": _ROMANIAN}
